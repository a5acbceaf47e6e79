"""Real installations."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.repository import BASE, FIX, NEW_TEST, PYPROJECT, TESTS, commit, make, run, verify

pytestmark = pytest.mark.docker


def plan_run(repo: Path, *args: str) -> dict:  # type: ignore[type-arg]
    target = repo.parent / "plan.json"
    run("plan", repo, "--run", "--json", target, *args)
    found: dict = json.loads(target.read_text(encoding="utf-8"))  # type: ignore[type-arg]
    return found


def test_a_python_that_the_host_does_not_have_comes_from_a_debian_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "none"))
    monkeypatch.setenv("HOME", str(tmp_path))
    make(tmp_path / "r", {**BASE, "pyproject.toml": PYPROJECT.replace('version = "1"\n', 'version = "1"\nrequires-python = ">=3.12"\n')})
    found = plan_run(tmp_path / "r")
    assert found["plans"][0]["python"].startswith("3.13")
    assert found["run"][0]["passed"] == 2


def test_unittest_files_of_any_name_are_run(tmp_path: Path) -> None:
    text = "import unittest\nfrom stats import span\n\n\nclass Spans(unittest.TestCase):\n    def test_span(self):\n        self.assertEqual(span([1, 2]), 1)\n"
    make(tmp_path / "r", {**BASE, "test_stats.py": None or text.replace("[1, 2]", "[1, 3]").replace(", 1)", ", 2)"), "tests/testspans.py": text, "tests/__init__.py": ""})
    assert plan_run(tmp_path / "r")["run"][0]["passed"] == 2


def test_a_version_from_the_last_tag_and_a_generated_file_reach_the_boxes(tmp_path: Path) -> None:
    files = {
        "pyproject.toml": '[project]\nname = "tagged"\ndynamic = ["version"]\n[build-system]\nrequires = ["setuptools", "setuptools-scm"]\n'
                          'build-backend = "setuptools.build_meta"\n[tool.setuptools_scm]\nversion_file = "src/tagged/_version.py"\n',
        "src/tagged/__init__.py": "from tagged._version import version\n",
        "tests/test_version.py": "import tagged\nfrom importlib.metadata import version\n\n\ndef test_version():\n    assert tagged.version == version('tagged') == '3.2.1'\n",
    }
    make(tmp_path / "r", dict(files))
    from tests.repository import git

    git(tmp_path / "r", "tag", "v3.2.1")
    assert plan_run(tmp_path / "r")["run"][0]["passed"] == 1


def test_a_suite_that_writes_beside_its_tests_gets_room_and_cannot_replace_files(tmp_path: Path) -> None:
    text = ("from pathlib import Path\n\nHERE = Path(__file__).parent\n\n\ndef test_writes():\n    (HERE / 'out.txt').write_text('x')\n\n\n"
            "def test_cannot_replace():\n    try:\n        Path(__file__).unlink()\n    except PermissionError:\n        return\n    raise AssertionError('replaced')\n")
    make(tmp_path / "r", {**BASE, "test_stats.py": text})
    row = plan_run(tmp_path / "r")["run"][0]
    assert (row["passed"], row["failed"]) == (2, 0)


C = ('#include <Python.h>\nstatic PyObject *one(PyObject *s, PyObject *a) { return PyLong_FromLong(1); }\n'
     'static PyMethodDef m[] = {{"one", one, METH_NOARGS, ""}, {0}};\nstatic struct PyModuleDef d = {PyModuleDef_HEAD_INIT, "fast", 0, -1, m};\n'
     'PyMODINIT_FUNC PyInit_fast(void) { return PyModule_Create(&d); }\n')
EXTENSION: dict[str, str | None] = {
    "setup.py": "from setuptools import Extension, setup\nsetup(name='fast', version='1', ext_modules=[Extension('fast', ['fast.c'])])\n", "fast.c": C,
    "test_fast.py": "import fast\n\n\ndef test_there():\n    assert fast.one\n",
}


@pytest.mark.parametrize(("source", "reason"), [
    (C.replace("FromLong(1)", "FromLong(2)"), "verified"), (C.replace("FromLong(1)", "FromLong(3)"), "reproducer_still_fails"), (C + "no c\n", "build_failed")])
def test_an_extension_module_is_built_from_each_sides_sources(tmp_path: Path, source: str, reason: str) -> None:
    make(tmp_path / "fast", EXTENSION)
    commit(tmp_path / "fast", {"fast.c": source, "test_fast.py": str(EXTENSION["test_fast.py"]) + "\n\ndef test_two():\n    assert fast.one() == 2\n"})
    answer = verify(tmp_path / "fast", "--base", "HEAD~1", "--head", "HEAD", "--repeat", "2")
    assert answer.reason == reason, answer.output


def test_an_installation_that_cannot_work_says_what_was_tried_and_the_real_error(tmp_path: Path) -> None:
    broken = PYPROJECT.replace('requires = ["setuptools"]', 'requires = ["setuptools", "dualgate-no-such-build-tool"]') + ""
    repo = tmp_path / "r"
    make(repo, {**BASE, "pyproject.toml": broken, "stats.py": "import nowhere_to_be_found\n" + str(BASE["stats.py"])})
    commit(repo, {"stats.py": "import nowhere_to_be_found\n" + FIX, "test_stats.py": NEW_TEST})
    answer = verify(repo, "--base", "HEAD~1", "--head", "HEAD", "--repeat", "2")
    assert (answer.status, answer.reason) == (3, "base_broken")
    assert "nowhere_to_be_found" in answer.output
    assert any("editable: failed" in row for row in answer.verdict["plans"][0]["tried"])


def test_a_dependency_that_the_change_adds_is_installed_for_its_side(tmp_path: Path) -> None:
    repo = tmp_path / "r"
    make(repo)
    commit(repo, {"pyproject.toml": PYPROJECT.replace('version = "1"\n', 'version = "1"\ndependencies = ["more-itertools"]\n'),
                  "stats.py": "import more_itertools\n\n\n" + FIX + "\n\nONE = more_itertools.one\n", "test_stats.py": NEW_TEST})
    answer = verify(repo, "--base", "HEAD~1", "--head", "HEAD", "--repeat", "2")
    assert (answer.reason, "dependencies_added" in answer.codes()) == ("verified", True)


def test_a_dependency_that_does_not_exist_is_hallucinated(tmp_path: Path) -> None:
    repo = tmp_path / "r"
    make(repo)
    commit(repo, {"pyproject.toml": PYPROJECT.replace('version = "1"\n', 'version = "1"\ndependencies = ["dualgate-no-such-package-anywhere"]\n'),
                  "stats.py": FIX, "test_stats.py": NEW_TEST})
    answer = verify(repo, "--base", "HEAD~1", "--head", "HEAD")
    assert (answer.status, answer.reason) == (1, "hallucinated_dependency")


GENERATING: dict[str, str | None] = {
    "setup.py": "import json\nfrom setuptools import setup\ntable = json.load(open('calc/table.json'))\n"
                "open('calc/_table.py', 'w').write(f'TABLE = {table!r}\\n')\nsetup(name='calc', version='1', packages=['calc'])\n",
    "calc/__init__.py": "from calc._table import TABLE\n\n\ndef price(name):\n    return TABLE[name]\n", "calc/table.json": '{"a": 1, "b": 3}',
    "tests/test_calc.py": "from calc import price\n\n\ndef test_a():\n    assert price('a') == 1\n",
}


@pytest.mark.parametrize(("table", "reason"), [('{"a": 1, "b": 2}', "verified"), ('{"a": 9, "b": 2}', "regression")])
def test_a_file_that_the_installation_generates_is_made_anew_from_the_changes_data(tmp_path: Path, table: str, reason: str) -> None:
    make(tmp_path / "calc", GENERATING)
    commit(tmp_path / "calc", {"calc/table.json": table, "tests/test_calc.py": str(GENERATING["tests/test_calc.py"]) + "\n\ndef test_b():\n    assert price('b') == 2\n"})
    answer = verify(tmp_path / "calc", "--base", "HEAD~1", "--head", "HEAD", "--repeat", "2")
    assert answer.reason == reason, answer.output


@pytest.mark.parametrize(("body", "settings", "words"), [
    ("import time\ntime.sleep(3600)\n", {}, "is spent"),
    pytest.param("open('/root/fill', 'wb').writelines(bytes(1 << 20) for _ in range(4000))\n", {"DUALGATE_INSTALL_GB": "0.5"}, "DUALGATE_INSTALL_GB", marks=pytest.mark.thorough),
    pytest.param("import sys\nwhile True: sys.stderr.write('x' * 65536)\n", {}, "failed", marks=pytest.mark.thorough),
], ids=["hangs", "fills the disk", "never stops talking"])
def test_an_installation_that_means_harm_ends_in_time_and_leaves_nothing(tmp_path: Path, body: str, settings: dict[str, str], words: str) -> None:
    repo = tmp_path / "harm"
    head = make(repo, {"setup.py": f"{body}from setuptools import setup\nsetup(name='harm', py_modules=['stats'])\n", "stats.py": FIX, "test_stats.py": TESTS})
    done = run("plan", repo, "--rev", head, "--run", "--timeout", "60", env=settings)
    assert done.returncode == 3, done.stderr
    assert "environment" in done.stdout
    assert words in done.stdout + done.stderr
