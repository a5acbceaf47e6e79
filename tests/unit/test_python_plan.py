"""A tree nobody prepared -> a plan."""

from __future__ import annotations

import datetime

import pytest

from sandbox.toolchains.python.added import added_requirements
from sandbox.toolchains.python.detect import detect, unguarded_imports
from sandbox.toolchains.python.metadata import read_metadata
from sandbox.toolchains.python.names import plugin_for_option
from sandbox.toolchains.python.paths import folders_of_tests, is_harness, is_prose, is_test_file, is_test_path, own_patterns
from sandbox.toolchains.python.plan import PythonPlan
from sandbox.workspace import REGULAR, File, Tree

AVAILABLE = ("3.7", "3.8", "3.9", "3.11", "3.12", "3.13")
TODAY = datetime.date(2026, 11, 1)
TEST = "def test_x():\n    assert True\n"


def tree(**files: str) -> Tree:
    return Tree({name.replace("__", "/").replace("_DOT_", "."): File(REGULAR, text.encode()) for name, text in files.items()})


def of(files: dict[str, str]) -> Tree:
    return Tree({name: File(REGULAR, text.encode()) for name, text in files.items()})


def plan(files: dict[str, str], date: str = "2026-10-20") -> PythonPlan:
    found = detect(of({"tests/test_x.py": TEST, **files}), datetime.date.fromisoformat(date), AVAILABLE, None, TODAY)
    assert found is not None
    return found


def lines(found: PythonPlan) -> list[str]:
    return [line for stage in found.stages for line in stage.lines]


@pytest.mark.parametrize(("project", "date", "wanted"), [
    ('requires-python = ">=3.9"', "2026-10-20", "3.13"),
    ('requires-python = ">=3.9,<3.12"', "2026-10-20", "3.11"),
    ('classifiers = ["Programming Language :: Python :: 3.8", "Programming Language :: Python :: 3.9"]', "2026-10-20", "3.9"),
    ("", "2019-08-21", "3.7"), ("", "2015-12-16", "3.7"), ("", "2021-07-03", "3.9"),
])
def test_the_interpreter_is_the_newest_that_was_settled_then(project: str, date: str, wanted: str) -> None:
    assert plan({"pyproject.toml": f'[project]\nname = "x"\nversion = "1"\n{project}\n'}, date).interpreters[0] == wanted


def test_test_extras_groups_and_files_are_found_by_name() -> None:
    found = plan({
        "pyproject.toml": '[project]\nname = "x"\nversion = "1"\n[project.optional-dependencies]\ntest = ["a"]\ndocs = ["b"]\n'
                          '[dependency-groups]\ntests = [{include-group = "more"}, "c"]\nmore = ["d"]\nlint = ["e"]\n',
        "requirements/tests.txt": "f==1 \\\n    --hash=sha256:00\n-r more.txt\n# g\n", "requirements/more.txt": "h\n-e .\n", "requirements/docs.txt": "i\n",
    })
    assert found.extras == ("test",)
    assert set(lines(found)) >= {"a", "c", "d", "f==1", "h"}
    assert not set(lines(found)) & {"b", "e", "i"}


def test_development_groups_serve_where_no_test_group_is() -> None:
    assert "z" in lines(plan({"pyproject.toml": '[project]\nname = "x"\nversion = "1"\n[dependency-groups]\ndev = ["z"]\ndocs = ["y"]\n'}))


def test_setup_py_is_read_and_not_run() -> None:
    found = plan({"setup.py": "import os\nos.abort()\nTESTS = ['a>=1']\nsetup(name='x', python_requires='>=3.8', extras_require={'test': TESTS + ['b']}, tests_require=['c'])"})
    assert set(lines(found)) >= {"a>=1", "b", "c"}


def test_poetry_constraints_become_specifiers() -> None:
    found = plan({"pyproject.toml": '[tool.poetry]\nname = "x"\n[tool.poetry.group.test.dependencies]\na = "^1.2"\nb = "~2.1"\nc = "*"\nd = {version = "^0.3", extras = ["q"]}\n'})
    assert set(lines(found)) >= {"a>=1.2,<2", "b>=2.1,<2.2", "c", "d[q]>=0.3,<0.4"}


def test_a_lock_file_pins_and_several_versions_do_not() -> None:
    lock = '[[package]]\nname = "a"\nversion = "1"\n[[package]]\nname = "b"\nversion = "1"\n[[package]]\nname = "b"\nversion = "2"\n'
    assert plan({"pyproject.toml": '[project]\nname = "x"\nversion = "1"\n', "uv.lock": lock}).constraints == ("a==1",)


@pytest.mark.parametrize(("date", "wanted"), [("2026-10-20", None), ("2021-05-01", datetime.date(2021, 5, 2))])
def test_old_commits_are_resolved_as_of_their_day(date: str, wanted: datetime.date | None) -> None:
    assert plan({}, date).exclude_newer == wanted


def test_plugins_come_from_configuration_marks_and_fixtures() -> None:
    found = plan({"pytest.ini": "[pytest]\naddopts = --cov=x -n auto\nasyncio_mode = auto\n", "tests/test_y.py": "def test_m(mocker):\n    pass\n"})
    assert set(lines(found)) >= {"pytest-cov", "pytest-xdist", "pytest-asyncio", "pytest-mock"}


def test_imports_of_tests_are_installed_only_by_the_fixed_list_or_the_projects_own_words() -> None:
    found = plan({"tests/test_y.py": "import yaml\nimport leftpad\nimport known_thing\nimport os\nimport x\n", "x.py": "", "requirements.txt": "known-thing\n"})
    assert "pyyaml" in lines(found)
    assert "known_thing" in lines(found)
    assert not {"leftpad", "os", "x"} & set(lines(found))


def test_workflow_steps_are_hints() -> None:
    found = read_metadata(of({".github/workflows/ci.yml": "jobs:\n  t:\n    steps:\n      - run: pip install -e .[test] extra-thing\n      - run: pytest\n", "pyproject.toml": ""}))
    assert found.ci_extras == ["test"]
    assert "extra-thing" in found.ci


def test_each_choice_names_its_file_and_line() -> None:
    found = plan({"pyproject.toml": '[project]\nname = "x"\nversion = "1"\n\n[project.optional-dependencies]\ntest = ["a"]\n'})
    assert ("extra", "pyproject.toml", 6) in [(c.choice, c.file, c.line) for c in found.why]


@pytest.mark.parametrize("text", ["[project\n", "[tool.poetry]\ndependencies = 3\n", '[project]\nname = 3\noptional-dependencies = "x"\n'])
def test_a_broken_manifest_is_a_fault_and_not_an_end(text: str) -> None:
    assert plan({"pyproject.toml": text}).toolchain == "python"


def test_unittest_is_told_from_pytest() -> None:
    files = {"tests/test_x.py": "import unittest\n\nclass T(unittest.TestCase):\n    def test_a(self):\n        pass\n"}
    assert plan(files).framework == "unittest"


def test_the_suite_is_bases_where_a_change_takes_files_away_or_brings_another_framework() -> None:
    base = of({"tests/test_x.py": "import unittest\n\nclass T(unittest.TestCase):\n    def test_a(self):\n        pass\n"})
    found = detect(of({"tests/test_y.py": TEST}), TODAY, AVAILABLE, None, TODAY, base)
    assert found is not None
    assert (found.framework, found.test_files) == ("unittest", ("tests/test_x.py", "tests/test_y.py"))


@pytest.mark.parametrize(("patterns", "path", "wanted"), [
    ("check_*.py", "pkg/check_a.py", True), ("*_spec.py", "spec/a_spec.py", True), ("*.py", "pkg/a.py", False), ("check_*.py", "pkg/a.py", False),
    ("conf*.py", "conftest.py", False),
])
def test_names_of_test_files_are_the_repositorys_own(patterns: str, path: str, wanted: bool) -> None:
    assert is_test_file(path, own_patterns({"python_files": patterns})) is wanted


def test_nothing_python_is_no_plan() -> None:
    assert detect(of({"README.md": "x"}), TODAY, AVAILABLE, None, TODAY) is None


def test_guarded_imports_do_not_count() -> None:
    assert unguarded_imports("import a\ntry:\n    import b\nexcept ImportError:\n    b = None\nif 1:\n    import c\ndef f():\n    import d\n") == ["a"]


@pytest.mark.parametrize(("option", "plugin"), [("--cov=x", "pytest-cov"), ("-n4", "pytest-xdist"), ("--cov-report=xml", "pytest-cov"), ("-q", None), ("--tb=short", None)])
def test_options_lead_to_their_plugin(option: str, plugin: str | None) -> None:
    assert plugin_for_option(option) == plugin


PATHS = ["src/a.py", "tests/test_a.py", "tests/data/x.toml", "django/test/client.py", "django/test/__init__.py", "pkg/tests/test_b.py", "testing/test_c.py"]


@pytest.mark.parametrize(("path", "wanted"), [
    ("tests/data/new.toml", True), ("pkg/tests/helpers.py", True), ("django/test/client.py", False), ("src/test_here.py", True), ("testing/x.py", True),
    ("src/a.py", False), ("conftest.py", True), ("pkg/testing.py", False),
])
def test_what_belongs_to_the_tests(path: str, wanted: bool) -> None:
    assert is_test_path(path, folders_of_tests(PATHS)) is wanted


@pytest.mark.parametrize("path", ["conftest.py", "a/b/conftest.py", "pytest.ini", "setup.cfg", "x.pth", "a/__pycache__/m.pyc", "evil.dist-info/entry_points.txt", "sitecustomize.py",
                                  "requirements-dev.txt", "requirements/test.txt", ".github/workflows/ci.yml", "tox.ini", "uv.lock"])
def test_harness_files_are_bases(path: str) -> None:
    assert is_harness(path)


@pytest.mark.parametrize(("path", "wanted"), [("README.md", True), ("docs/x.rst", True), ("LICENSE", True), ("docs/conf.py", False), ("requirements.txt", False), ("m.py", False)])
def test_prose_is_read_by_no_plan(path: str, wanted: bool) -> None:
    assert is_prose(path) is wanted


def test_added_requirements_are_new_names_and_new_bounds() -> None:
    before = read_metadata(of({"pyproject.toml": '[project]\nname = "x"\nversion = "1"\ndependencies = ["a", "b>=1"]\n'}))
    after = read_metadata(of({"pyproject.toml": '[project]\nname = "x"\nversion = "2"\ndependencies = ["A", "b>=2", "c"]\n'}))
    assert added_requirements(before, after, ()) == ("b>=2", "c")


def test_what_tests_would_skip_without_is_installed_where_the_project_names_it() -> None:
    text = 'import pytest\n\n\ndef test_wide():\n    pytest.importorskip("wcwidth")\n    import numpy as np\n    import leftpad\n'
    found = plan({"tests/test_y.py": text, "tox.ini": "[testenv:extra]\ndeps =\n    wcwidth\n    numpy\n"})
    assert set(lines(found)) >= {"wcwidth", "numpy"}
    assert "leftpad" not in lines(found)


def test_files_that_unittest_would_find_are_tests_only_below_a_tests_folder() -> None:
    assert is_test_path("tests/testspans.py", folders_of_tests(["tests/testspans.py"]))
    assert not is_test_path("pkg/testing.py", folders_of_tests(["pkg/testing.py"]))


NOX = """import nox

@nox.session(python=["3.10", "3.12"])
def tests(session):
    session.install("-r", "requirements/ci.txt")
    session.install("-e", ".[async]", "responses>=0.20", "--upgrade")
    session.run("pytest", *session.posargs)

@nox.session
def lint(session):
    session.install("black")
"""


def test_sessions_of_nox_are_read() -> None:
    found = read_metadata(Tree({"noxfile.py": File(REGULAR, NOX.encode()), "requirements/ci.txt": File(REGULAR, b"flaky\n")}))
    assert found.tox == ["responses>=0.20"]
    assert found.mentioned == ["black"]
    assert found.ci_extras == ["async"]
    assert found.origins["file:requirements/ci.txt"] == ("noxfile.py", 5)
