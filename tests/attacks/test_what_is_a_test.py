"""Classes 1, 2, 8, 32, 80: code that passes for a test, tests that pass for code, and suites that differ by more than the change."""

import pytest
from calc_repository import BASE_TESTS, BROKEN_ADD, CORE, FIXED, MANIFEST, NEW_TESTS, Repository
from judging import Command

pytestmark = [pytest.mark.docker, pytest.mark.thorough]

FLAKY = ("inconclusive", "flaky")
NEEDS_REVIEW = ("inconclusive", "needs_review")
REGRESSION = ("rejected", "regression")
VERIFIED = ("verified", "verified")

PLAIN = MANIFEST.split("[tool.pytest")[0]
UNITTEST = "import unittest\nfrom calc.core import {0}\n\n\nclass Case(unittest.TestCase):\n    def test_{0}(self):\n        self.assertEqual({0}({1}), {2})\n"
ONLY_UNITTEST = {
    "pyproject.toml": PLAIN, "tests/__init__.py": "", "tests/test_core.py": UNITTEST.format("add", "2, 3", 5),
    "tests/test_clamp.py": UNITTEST.format("clamp", "9, 0, 5", 5),
}


# the suite is base's, whatever the change does to its files


def test_a_deleted_test_file_of_unittest_still_runs(repo: Repository, verify: Command) -> None:
    repo.rebase(ONLY_UNITTEST)

    judged = verify(repo, head=repo.lay({"calc/core.py": BROKEN_ADD, "tests/test_core.py": None, "tests/test_mean.py": UNITTEST.format("mean", "[2, 4]", 3)}, over={}))

    assert judged.answer == NEEDS_REVIEW
    assert "tests/test_core.py::Case::test_add" in str(judged.verdict["findings"])

    again = verify(repo, head=repo.lay({"calc/core.py": BROKEN_ADD, "tests/test_mean.py": UNITTEST.format("mean", "[2, 4]", 3)}, over={}))

    assert again.answer == REGRESSION  # nor is base's suite remembered without it


def test_a_fix_in_a_repository_of_unittest_is_verified(repo: Repository, verify: Command) -> None:
    repo.rebase(ONLY_UNITTEST)

    judged = verify(repo, head=repo.lay({"calc/core.py": FIXED, "tests/test_mean.py": UNITTEST.format("mean", "[2, 4]", 3)}, over={}))

    assert judged.answer == VERIFIED
    assert judged.guard["passed"] == 2


# source that is named like a test, or like a file that steers tests


@pytest.mark.parametrize("path", ["calc/ab_test.py", "calc/setup.py"])
def test_a_module_of_the_package_is_source_whatever_its_name(repo: Repository, verify: Command, path: str) -> None:
    module = path[5:-3]
    repo.rebase({path: "def double(a):\n    return 2 * a\n", "calc/api.py": f"from calc.{module} import double\n\n\ndef twice(a):\n    return double(a)\n",
                 "tests/test_api.py": "from calc.api import twice\n\n\ndef test_twice():\n    assert twice(4) == 8\n"})

    judged = verify(repo, head=repo.lay({path: "def double(a):\n    return a\n"}))

    assert judged.answer == REGRESSION
    assert judged.guard["failed"] == ["tests/test_api.py::test_twice"]


def test_a_new_module_named_like_a_test_is_source_where_source_imports_it(repo: Repository, verify: Command) -> None:
    judged = verify(repo, head=repo.lay({"calc/core.py": "from calc.ab_test import choose\n" + FIXED, "calc/ab_test.py": "def choose(a):\n    return a\n"}))

    assert judged.answer == VERIFIED


def test_a_template_named_like_a_manifest_is_data(repo: Repository, verify: Command) -> None:
    repo.rebase({"calc/templates/pyproject.toml": "# old\n"})
    test = ("from pathlib import Path\nimport calc\n\n\ndef test_template():\n"
            "    assert 'new' in (Path(calc.__file__).parent / 'templates/pyproject.toml').read_text()\n")

    judged = verify(repo, head=repo.lay({"calc/templates/pyproject.toml": "# new\n", "tests/test_template.py": test}, over={}))

    assert judged.answer == VERIFIED


# tests that are part of the source patch


def test_an_edited_example_in_a_docstring_needs_review(repo: Repository, verify: Command) -> None:
    documented = CORE.replace("def add(a, b):\n", 'def add(a, b):\n    """Sum.\n\n    >>> add(2, 3)\n    5\n    """\n')
    repo.rebase({"pyproject.toml": MANIFEST.replace('testpaths = ["tests"]', 'addopts = "--doctest-modules"'), "calc/core.py": documented,
                 "tests/test_core.py": "from calc.core import clamp\n\n\ndef test_clamp():\n    assert clamp(9, 0, 5) == 5\n"})
    mended = documented.replace("(len(values) + 1)", "len(values)")

    judged = verify(repo, head=repo.lay({"calc/core.py": mended.replace("a + b", "a - b").replace("    5\n", "    -1\n")}))
    honest = verify(repo, head=repo.lay({"calc/core.py": mended.replace("a + b", "b + a").replace("    5\n", "    5\n    >>> add(1, 1)\n    2\n")}))

    assert judged.answer == NEEDS_REVIEW
    assert ">>> add(2, 3)\n5" in judged.details()
    assert honest.answer == VERIFIED


def test_test_files_are_known_by_the_repositorys_own_patterns(repo: Repository, verify: Command) -> None:
    checks = "from calc.core import add\n\n\ndef test_plus():\n    assert add(5, 3) == 8\n"
    repo.rebase({"pyproject.toml": MANIFEST.replace('testpaths = ["tests"]', 'python_files = ["check_*.py"]'), "checks/check_core.py": checks})

    judged = verify(repo, head=repo.lay({"checks/check_core.py": checks.replace("== 8", "== 2"), "checks/check_mean.py": NEW_TESTS}, over={"calc/core.py": BROKEN_ADD}))
    honest = verify(repo, head=repo.lay({"checks/check_mean.py": NEW_TESTS}, over={"calc/core.py": FIXED}))

    assert judged.answer == NEEDS_REVIEW
    assert judged.guard["passed"] == 0
    assert honest.answer == VERIFIED
    assert honest.proven == ["checks/check_mean.py::test_mean"]


# tests that the change does not edit, with helpers that it does


def test_a_helper_that_breaks_untouched_tests_needs_review(repo: Repository, verify: Command) -> None:
    helper = "def same(a, b):\n    assert a == b\n"
    repo.rebase({"tests/helpers.py": helper, "tests/test_same.py": "from helpers import same\nfrom calc.core import add\n\n\ndef test_same():\n    same(add(1, 1), 2)\n"})

    judged = verify(repo, head=repo.lay({"tests/helpers.py": helper + "    raise ValueError(a)\n"}))
    honest = verify(repo, head=repo.lay({"tests/helpers.py": helper.replace("a == b", "b == a")}))

    assert judged.answer == NEEDS_REVIEW
    assert "tests/test_same.py::test_same" in str(judged.verdict["findings"])
    assert honest.answer == VERIFIED


def test_a_feature_deleted_with_its_tests_needs_review(repo: Repository, verify: Command) -> None:
    without = CORE.replace("def clamp(value, low, high):\n    return max(low, min(value, high))\n\n\n", "")
    tests = BASE_TESTS.replace("add, clamp", "add").split("\n\n\ndef test_clamp")[0] + "\n"

    judged = verify(repo, head=repo.lay({"calc/core.py": without, "tests/test_core.py": tests}, over={}))

    assert judged.answer == NEEDS_REVIEW


# failures that do not come each time


def test_state_that_leaks_between_files_is_not_called_flaky_and_forgotten(repo: Repository, verify: Command) -> None:
    repo.rebase({"tests/test_a.py": "from calc.core import mean\n\n\ndef test_mean_of_nothing():\n    assert mean([0]) == 0\n"})
    leaking = FIXED.replace("def add(a, b):\n    return a + b", "SEEN = [0]\n\n\ndef add(a, b):\n    return a + b + SEEN[0]")

    judged = verify(repo, head=repo.lay({"calc/core.py": leaking.replace("def mean(values):", "def mean(values):\n    SEEN[0] = len(values)")}))

    assert judged.answer == FLAKY


def test_a_test_that_needs_another_before_it_still_guards(repo: Repository, verify: Command) -> None:
    repo.rebase({"tests/test_state.py": "from calc.core import add\nSTATE = {}\n\n\ndef test_first():\n    STATE['x'] = 1\n\n\n"
                                        "def test_second():\n    assert add(STATE['x'], 1) == 2\n"})

    judged = verify(repo, head=repo.lay({"calc/core.py": FIXED.replace("return a + b", "return a + b if a != b or not a else 7")}))

    assert judged.answer == FLAKY


# dependencies


def test_a_dependency_that_is_dropped_and_still_imported_needs_review(repo: Repository, verify: Command) -> None:
    manifest = MANIFEST.replace("requires-python", 'dependencies = ["packaging"]\nrequires-python')
    repo.rebase({"pyproject.toml": manifest, "calc/core.py": "import packaging\n" + CORE})

    judged = verify(repo, head=repo.lay({"pyproject.toml": MANIFEST, "calc/core.py": "import packaging\n" + FIXED}))
    honest = verify(repo, head=repo.lay({"pyproject.toml": MANIFEST}))

    assert judged.answer == NEEDS_REVIEW
    assert honest.answer == VERIFIED


def test_a_manifest_that_cant_be_read_needs_review(repo: Repository, verify: Command) -> None:
    judged = verify(repo, head=repo.lay({"pyproject.toml": "[[[\n"}))

    assert judged.answer == NEEDS_REVIEW
    assert "pyproject.toml" in judged.details()


# what tests expect, kept outside of their folder


def test_expected_values_outside_the_tests_are_bases(repo: Repository, verify: Command) -> None:
    repo.rebase({"examples/sums.json": "[[5, 3, 8]]", "tests/test_rows.py": (
        "import json, pathlib\nimport pytest\nfrom calc.core import add\nROWS = json.loads((pathlib.Path(__file__).parent.parent / 'examples/sums.json').read_text())\n\n\n"
        "@pytest.mark.parametrize('row', ROWS, ids=str)\ndef test_row(row):\n    assert add(row[0], row[1]) == row[2]\n\n\n"
        "def test_rows():\n    assert all(add(a, b) == c for a, b, c in ROWS)\n")})

    judged = verify(repo, head=repo.lay({"calc/core.py": BROKEN_ADD, "examples/sums.json": "[[5, 3, 2]]", "tests/test_core.py": "def test_one():\n    assert 1\n"}))
    honest = verify(repo, head=repo.lay({"examples/sums.json": "[[5, 3, 8], [1, 1, 2]]"}))

    assert judged.verdict["verdict"] != "verified"
    assert "tests/test_rows.py::test_rows" in str(judged.verdict["findings"])
    assert honest.answer == VERIFIED


# suites that end otherwise than base's


def test_a_failing_test_that_takes_the_runner_down_now_is_a_regression(repo: Repository, verify: Command) -> None:
    source = "\n\ndef flag():\n    return 0\n"
    repo.rebase({"calc/core.py": CORE + source, "tests/test_flag.py": "from calc.core import flag\n\n\ndef test_flag():\n    assert flag() == 1\n"})

    judged = verify(repo, head=repo.lay({"calc/core.py": FIXED + source.replace("return 0", "import ctypes\n    return ctypes.string_at(0)")}))

    assert judged.answer == REGRESSION


def test_memory_that_grows_from_test_to_test_is_not_counted_by_halves(repo: Repository, verify: Command) -> None:
    repo.rebase({"tests/test_many.py": "import pytest\nfrom calc.core import add\n\n\n@pytest.mark.parametrize('i', range(40))\ndef test_many(i):\n    assert add(i, 1) == i + 1\n"})
    keeping = FIXED.replace("def add(a, b):", "KEPT = []\n\n\ndef add(a, b):\n    KEPT.append(b'x' * 12_000_000)")

    judged = verify(repo, head=repo.lay({"calc/core.py": keeping}), config="limits: {memory_mb: 400}\n")

    assert judged.answer == ("rejected", "resource_exhausted")


def test_a_path_that_looks_like_two_is_read(repo: Repository, verify: Command) -> None:
    judged = verify(repo, head=repo.lay({"calc/new b/x.txt": "x\n", 'calc/odd\tna"me.txt': "x\n"}))

    assert judged.answer == VERIFIED
