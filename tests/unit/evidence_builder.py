"""Small evidence for the gate's tables."""

from __future__ import annotations

from typing import Any

from bot.verification.evidence import Evidence, Origin, Reproducer
from sandbox.results.report import Outcome, TestReport, TestResult
from sandbox.toolchains.python.words import FAULTS


def result(name: str, outcome: str = "passed", **more: Any) -> TestResult:
    return TestResult(id=name, outcome=Outcome(outcome), file=name.split("::")[0], line=1, **more)


def report(complete: bool = True, status: int = 0, **outcomes: str | TestResult) -> TestReport:
    """`t_a="passed"` is the test `t.py::a`."""
    results = {}
    for key, value in outcomes.items():
        name = "t.py::" + key.removeprefix("t_")
        results[name] = value if isinstance(value, TestResult) else result(name, value)
    return TestReport(results=results, collected=("t.py",), complete=complete, status=status, seconds=1.0)


ASSERTION = {"exception": "AssertionError", "short": "assert 1 == 2", "message": "E   assert 1 == 2", "frames": (("t.py", 3, "new"),)}
FAILING = result("t.py::new", "failed", **ASSERTION)


def reproducer(before: Any = FAILING, after: Any = "passed", times: int = 5, **more: Any) -> Reproducer:
    values: dict[str, Any] = {
        "origin": Origin.PATCH_TESTS, "times": 2, "candidates": ("t.py::new",), "required": frozenset({"t.py::new"}),
        "base": tuple(report(t_new=before) for _ in range(times)), "patched": tuple(report(t_new=after) for _ in range(times)),
        "asserting": frozenset({"t.py::new"}), "test_files": frozenset({"t.py"}), "coverable": 2, "covered": 1, "faults": FAULTS,
    }
    return Reproducer(**{**values, **more})


def good(**more: Any) -> Evidence:
    """Complete evidence of a verified change; keywords replace parts of it."""
    values: dict[str, Any] = {"base": report(t_a="passed", t_b="passed"), "patched": report(t_a="passed", t_b="passed"), "reproducer": reproducer()}
    return Evidence(**{**values, **more})
