"""Records -> report."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.box import RawRun
from sandbox.results.events import build_report
from sandbox.results.report import Outcome, TestReport

ROOT = "/repo/x"


def phase(when: str = "call", outcome: str = "passed", **more: Any) -> dict[str, Any]:
    return {"k": "phase", "i": 0, "when": when, "outcome": outcome, "seconds": 0.1, **more}


def run(*records: dict[str, Any], limit: str | None = None, exited: bool = True, ended: bool = True) -> TestReport:
    head: list[dict[str, Any]] = [{"k": "items", "items": [["t.py::a", "t.py", 3], ["t.py::b", "t.py", 9]]}, {"k": "start", "i": 0}]
    tail: list[dict[str, Any]] = ([{"k": "end", "i": 0}] if ended else []) + ([{"k": "exit", "status": 0}] if exited else [])
    return build_report(RawRun(records=[*head, *records, *tail], status=0, limit=limit), ROOT)


SETUP, CALL, TEARDOWN = phase("setup"), phase(), phase("teardown")


@pytest.mark.parametrize(("records", "outcome"), [
    ([SETUP, CALL, TEARDOWN], Outcome.PASSED),
    ([SETUP, phase(outcome="failed"), TEARDOWN], Outcome.FAILED),
    ([phase("setup", "failed"), TEARDOWN], Outcome.ERROR),
    ([SETUP, CALL, phase("teardown", "failed")], Outcome.ERROR),
    ([phase("setup", "skipped"), TEARDOWN], Outcome.SKIPPED),
    ([SETUP, phase(outcome="skipped", wasxfail="why"), TEARDOWN], Outcome.XFAILED),
    ([SETUP, phase(outcome="passed", wasxfail="why"), TEARDOWN], Outcome.XPASSED),
    ([SETUP, TEARDOWN], Outcome.ERROR),
    ([], Outcome.ERROR),
])
def test_an_outcome_is_worked_out_from_all_phases(records: list[dict[str, Any]], outcome: Outcome) -> None:
    assert run(*records).results["t.py::a"].outcome is outcome


def test_a_crash_fails_the_running_test_and_leaves_the_rest_missing() -> None:
    report = run(SETUP, exited=False, ended=False)
    assert [(r.outcome, r.kind) for r in report.results.values()] == [(Outcome.FAILED, "crash"), (Outcome.MISSING, None)]
    assert not report.complete


def test_a_hang_is_told_from_a_crash() -> None:
    assert run(SETUP, exited=False, ended=False, limit="time").results["t.py::a"].kind == "timeout"


def test_a_pass_before_the_program_died_in_the_same_test_is_no_pass() -> None:
    assert run(SETUP, CALL, exited=False, ended=False).results["t.py::a"].outcome is Outcome.FAILED


def test_a_suite_that_stopped_itself_is_cut() -> None:
    report = run(SETUP, CALL, TEARDOWN)
    assert report.cut
    assert list(report.results) == ["t.py::a"]


def test_a_report_survives_json() -> None:
    report = run(SETUP, phase(outcome="failed", frames=[["/repo/x/m.py", 4, "f"]], nearest=["m", "1", "x", ["y"]]), TEARDOWN)
    assert TestReport.from_json(report.to_json()) == report
    assert report.results["t.py::a"].frames == (("m.py", 4, "f"),)
