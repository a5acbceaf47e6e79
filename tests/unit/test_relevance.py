"""Which lines and tests a change is about."""

from __future__ import annotations

import datetime

import pytest

from bot.changes.change import Change
from bot.verification.relevance import endless_elsewhere, near_files, nearest_first
from sandbox.results.report import Outcome, TestReport, TestResult
from sandbox.toolchains.python.lines import coverable_lines
from sandbox.toolchains.python.tests import doctest_examples, touched_files
from sandbox.workspace import REGULAR, File, Tree

TEXT = '"""Doc."""\nimport os\n\nLIMIT = 3\n\n\ndef f(x):\n    """Say."""\n    if x:\n        return 1\n    return 2\n\n\nclass C:\n    y = 1\n'


def tree(**files: str) -> Tree:
    return Tree({name.replace("__", "/") + ".py": File(REGULAR, text.encode()) for name, text in files.items()})


@pytest.mark.parametrize(("added", "cuts", "wanted"), [
    ({9, 10}, (), [9, 10]), ({7, 8, 9}, (), [9]), ({2}, (), []), ({4}, (), [4]), ({4, 9}, (), [9]), (set(), (10,), [9, 10, 11]), ({15}, (), [15]), ({3}, (), []),
])
def test_lines_that_can_run_are_those_of_function_bodies_first(added: set[int], cuts: tuple[int, ...], wanted: list[int]) -> None:
    lines = {"m.py": (added, cuts)}
    assert coverable_lines(lines, tree(m=TEXT)).get("m.py", []) == wanted


BASE = tree(tests__test_a="from tests.helper import make\n\n\ndef test_a(thing):\n    assert make()\n", tests__test_b="def test_b():\n    assert open('data/b.txt')\n",
            tests__helper="def make():\n    return 1\n", tests__conftest="import pytest\n\n\n@pytest.fixture\ndef thing():\n    return 1\n")


@pytest.mark.parametrize(("path", "text", "reached"), [
    ("tests/helper.py", "def make():\n    return 2\n", {"tests/test_a.py"}),
    ("tests/conftest.py", "import pytest\n\n\n@pytest.fixture\ndef thing():\n    return 2\n", {"tests/test_a.py"}),
    ("tests/data/b.txt", "x", {"tests/test_b.py"}), ("tests/other/c.bin", "x", set()),
])
def test_tests_are_reached_through_helpers_fixtures_and_data(path: str, text: str, reached: set[str]) -> None:
    touched = touched_files(BASE, {path: File(REGULAR, text.encode())})
    assert {name for name, what in touched.items() if what.affected} == reached


def test_examples_of_a_module_end_with_their_string() -> None:
    text = 'def f():\n    """Say.\n\n    >>> f()\n    1\n    """\n    return 1\n'
    assert doctest_examples("m.py", text) == {("f()\n", "1\n"): 1}
    assert doctest_examples("m.py", text.replace("return 1", "return 2")) == doctest_examples("m.py", text)
    assert doctest_examples("m.rst", ">>> f()\n1\n") == {("f()\n", "1\n"): 1}


def test_the_nearest_files_are_the_changes_own_and_those_named_like_what_it_edits() -> None:
    change = Change(repository="r", base="b", head=None, commit_date=datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC), version=None, base_tree=BASE,
                    source={"pkg/reader.py": None}, tests={"tests/test_own.py": None})
    ordered = nearest_first(("tests/test_far.py", "tests/test_own.py", "tests/test_reader.py"), change)
    assert near_files(ordered, change) == ("tests/test_own.py", "tests/test_reader.py")


@pytest.mark.parametrize(("seconds", "left_out"), [(15.0, {"b.py::endless", "c.py::endless"}), (5.0, set())])
def test_what_has_no_end_on_base_is_not_waited_for_again_but_near_the_change(seconds: float, left_out: set[str]) -> None:
    rows = [TestResult(f"{name}.py::endless", Outcome.FAILED, f"{name}.py", seconds=seconds, kind="timeout") for name in "abc"]
    rows.append(TestResult("b.py::fails", Outcome.FAILED, "b.py", seconds=seconds))
    assert endless_elsewhere(TestReport(results={row.id: row for row in rows}), ("a.py",)) == left_out
