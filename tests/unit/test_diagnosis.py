"""Why a test fails, as a kind and in words."""

from __future__ import annotations

from typing import Any

import pytest

from bot.findings import Severity
from bot.verification.diagnosis import diagnose, first_lines, kind_of
from bot.verification.right_reason import failure_reason
from bot.verification.signature import signature
from sandbox.results.report import Outcome, TestResult
from sandbox.toolchains.python.words import FAULTS

INSIDE, OWN = ("m.py", 4, "f"), ("t.py", 9, "test_a")


def failed(exception: str | None = None, short: str = "", **more: Any) -> TestResult:
    values: dict[str, Any] = {"id": "t.py::test_a", "outcome": Outcome.FAILED, "file": "t.py", "line": 8, "exception": exception, "short": short, "frames": (OWN,)}
    return TestResult(**{**values, **more})


@pytest.mark.parametrize(("result", "kind"), [
    (failed("ModuleNotFoundError", "ModuleNotFoundError: No module named 'x'"), "missing_package"),
    (failed("ImportError", "ImportError: cannot import name 'x' from 'y'"), "hallucinated_api"),
    (failed("AttributeError", "AttributeError: module 'y' has no attribute 'x'"), "hallucinated_api"),
    (failed("TypeError", "TypeError: f() got an unexpected keyword argument 'x'"), "hallucinated_api"),
    (failed("SyntaxError", "SyntaxError: invalid syntax"), "syntax_error"), (failed("AssertionError", "assert 1 == 2"), "assertion"),
    (failed("Failed", "Failed: DID NOT RAISE"), "assertion"), (failed("ValueError", "ValueError: x"), "exception"), (failed("TypeError", "TypeError: x"), "exception"),
    (failed(kind="timeout"), "timeout"), (failed(kind="crash"), "crash"),
])
def test_each_failure_has_a_kind(result: TestResult, kind: str) -> None:
    assert kind_of(result) == kind


def test_a_diagnosis_names_place_words_and_the_frame_inside_the_change() -> None:
    result = failed("ValueError", "ValueError: bad", message="x\nE   ValueError: bad\nE\n", frames=(OWN, INSIDE, ("/usr/lib/json.py", 1, "g")), output="printed\nthis")
    finding = diagnose(result, ("m.py",), Severity.WARNING)
    assert (finding.paths, finding.tests) == (("m.py:4",), ("t.py::test_a",))
    assert finding.detail == "ValueError: bad\ninside the change: m.py:4 in f\noutput: printed this"


def test_a_name_that_a_package_does_not_have_comes_with_the_nearest_one() -> None:
    result = failed("AttributeError", "AttributeError: module 'json' has no attribute 'load_s'", nearest=("json", "2.0", "load_s", ["loads", "load"]))
    assert "json 2.0 has no load_s; it has loads, load" in diagnose(result, (), Severity.WARNING).detail


def test_words_come_from_the_marked_lines_first() -> None:
    assert first_lines(failed(message="def f():\n>  x\nE   assert 1 == 2\nE    +  where 1 = f()")) == "assert 1 == 2\n+  where 1 = f()"
    assert first_lines(failed(short="only this")) == "only this"


ADDED = {"added_names": frozenset({"fresh", "m"}), "test_files": frozenset({"t.py"})}


@pytest.mark.parametrize(("result", "wrong", "missing"), [
    (failed("AssertionError", "assert 1 == 2"), False, None),
    (failed("ValueError", "ValueError: x", frames=(OWN, INSIDE)), False, None),
    (failed("AttributeError", "AttributeError: module 'm' has no attribute 'fresh'"), False, "fresh"),
    (failed("AttributeError", "AttributeError: module 'm' has no attribute 'other'"), True, None),
    (failed("AttributeError", "AttributeError: 'NoneType' object has no attribute 'other'"), False, None),
    (failed("AttributeError", "AttributeError: module 'm' has no attribute 'other'", frames=(OWN, INSIDE)), False, None),
    (failed("ImportError", "ImportError: cannot import name 'other' from 'm'"), True, None),
    (failed("ModuleNotFoundError", "ModuleNotFoundError: No module named 'm.fresh'"), False, "m.fresh"),
    (failed("NameError", "NameError: name 'typo' is not defined"), True, None), (failed("SyntaxError", "SyntaxError: x"), True, None),
    (failed("TypeError", "TypeError: f() got an unexpected keyword argument 'fresh'"), False, "fresh"),
    (failed("fixture", message="E  fixture 'data' not found", outcome=Outcome.ERROR), True, None),
    (failed(kind="crash"), False, None),
])
def test_the_reason_of_a_base_failure(result: TestResult, wrong: bool, missing: str | None) -> None:
    reason = failure_reason(result, None, FAULTS, asserts=True, **ADDED)  # type: ignore[arg-type]
    assert (bool(reason.wrong), reason.missing) == (wrong, missing)


@pytest.mark.parametrize(("text", "asserts", "wrong"), [
    ("ImportError: cannot import name 'fresh' from 'm'", True, False), ("ImportError: cannot import name 'fresh' from 'm'", False, True),
    ("ImportError: cannot import name 'other' from 'm'", True, True), ("SyntaxError: bad", True, True), ("", True, True),
])
def test_the_reason_of_a_file_that_does_not_collect_on_base(text: str, asserts: bool, wrong: bool) -> None:
    assert bool(failure_reason(None, text, FAULTS, asserts=asserts, **ADDED).wrong) is wrong  # type: ignore[arg-type]


@pytest.mark.parametrize(("one", "other", "same"), [
    ("at 0x7f01 in 3 s", "at 0x8f02 in 14 s", True), ("/tmp/a1/x missing", "/tmp/b2/x missing", True), ("expected a", "expected b", False),
])
def test_a_signature_is_of_the_fault_and_not_of_the_run(one: str, other: str, same: bool) -> None:
    assert (signature(failed("ValueError", one)) == signature(failed("ValueError", other))) is same


def test_another_place_is_another_signature() -> None:
    assert signature(failed("ValueError", "x")) != signature(failed("ValueError", "x", frames=(OWN, INSIDE)))
