"""The gate's table: evidence -> verdict and reason."""

from __future__ import annotations

import dataclasses

import pytest

from bot.findings import blocker
from bot.verification.evidence import Evidence
from bot.verification.gate import REASONS, Verdict, decide
from sandbox.results.report import TestReport
from tests.unit.evidence_builder import ASSERTION, FAILING, good, report, reproducer, result

A, NEW = "t.py::a", "t.py::new"
IMPORT = result(NEW, "failed", exception="ImportError", short="ImportError: cannot import name 'fresh' from 'm'", frames=(("t.py", 1, "new"),))
OTHER = result(NEW, "failed", exception="ValueError", short="ValueError: other", frames=(("m.py", 9, "f"),))


def suites(**patched: object) -> Evidence:
    return good(patched=report(**{"t_a": "passed", "t_b": "passed", **patched}))  # type: ignore[arg-type]


CASES = {
    "complete evidence verifies": (good(), "verified"),
    "a failing base pass is a regression": (suites(t_a=result(A, "failed", **ASSERTION)), "regression"),
    "an error in a base pass is a regression": (suites(t_a="error"), "regression"),
    "a skipped base pass is a regression": (suites(t_a="skipped"), "regression"),
    "an expected failure is not a pass": (suites(t_a="xfailed"), "regression"),
    "an unexpected pass is another state": (suites(t_a="xpassed"), "regression"),
    "a base pass that never ran is a regression": (suites(t_a="missing"), "regression"),
    "a test gone from a collected file is tests removed": (good(patched=report(t_b="passed")), "tests_removed"),
    "an id that occurs more often is a regression": (good(patched=TestReport(
        results={**report(t_a="passed", t_b="passed").results, "t.py::a #2": result("t.py::a #2")}, complete=True, status=0)), "regression"),
    "a file that no longer collects is a regression": (good(patched=TestReport(uncollected={"t.py": "SyntaxError"}, complete=True, status=2)), "regression"),
    "a runner that dies is a regression": (good(patched=report(complete=False, t_a="passed", t_b="passed")), "regression"),
    "a bad exit status alone is a regression": (good(patched=report(status=3, t_a="passed", t_b="passed")), "regression"),
    "a test that hangs is a timeout": (suites(t_a=result(A, "failed", kind="timeout")), "timeout"),
    "a limit that held twice is a timeout": (good(patched_limit="time"), "timeout"),
    "memory that ran out twice is a resource": (good(patched_limit="memory"), "resource_exhausted"),
    "a limit of base is base's": (good(base_limit="time", patched_limit="time"), "base_broken"),
    "a forged record is tampering": (good(patched=dataclasses.replace(report(t_a="passed", t_b="passed"), broken="record 3")), "tampered"),
    "no pass on base is a broken base": (good(base=report(t_a="failed", t_b="failed", status=1)), "base_broken"),
    "tests that base can't run leave it broken": (good(base=TestReport(complete=True, status=5), patched=TestReport(complete=True, status=5)), "base_broken"),
    "skipped tests alone leave base broken": (good(base=report(t_a="skipped"), patched=report(t_a="skipped")), "base_broken"),
    "a base that does not collect is broken": (good(base=TestReport(uncollected={"t.py": "E"}, complete=True, status=2)), "base_broken"),
    "a touched test that fails needs review": (dataclasses.replace(suites(t_a="failed"), touched={A: "before: x"}), "needs_review"),
    "a touched test does not hide another's regression": (dataclasses.replace(suites(t_a="failed", t_b="failed"), touched={A: "x"}), "regression"),
    "unstable on base is no regression": (dataclasses.replace(suites(t_a="failed"), base_again={A: (result(A, "failed"),)}), "verified"),
    "mixed on patched is no regression": (dataclasses.replace(suites(t_a="failed"), base_again={A: (result(A),)}, patched_again={A: (result(A),)}), "verified"),
    "the same failure again is a regression": (
        dataclasses.replace(suites(t_a="failed"), base_again={A: (result(A),)}, patched_again={A: (result(A, "failed"),)}), "regression"),
    "no reproducer is inconclusive": (good(reproducer=None), "no_reproducer"),
    "no tests anywhere": (good(base=TestReport(complete=True, status=5), patched=TestReport(complete=True, status=5), reproducer=None, has_tests=False), "no_tests"),
    "prose alone": (Evidence(only_prose=True), "no_reproducer"),
    "an empty other suite can verify": (good(base=TestReport(complete=True, status=5), patched=TestReport(complete=True, status=5), has_tests=False), "verified"),
    "a reproducer that passes on base": (good(reproducer=reproducer(before="passed")), "reproducer_passes_on_base"),
    "a reproducer that still fails": (good(reproducer=reproducer(after=FAILING)), "reproducer_still_fails"),
    "a reproducer skipped with the change": (good(reproducer=reproducer(after="skipped")), "reproducer_still_fails"),
    "a reproducer gone with the change": (
        good(reproducer=reproducer(candidates=(NEW, "t.py::gone"), required=frozenset({"t.py::gone"}))), "reproducer_still_fails"),
    "one of several fails": (good(reproducer=reproducer(
        candidates=(NEW, "t.py::two"), required=frozenset({NEW, "t.py::two"}),
        base=tuple(report(t_new=FAILING, t_two=result("t.py::two", "failed", **ASSERTION)) for _ in range(5)),
        patched=tuple(report(t_new="passed", t_two="failed") for _ in range(5)))), "reproducer_still_fails"),
    "a reproducer that fails differently each time": (
        good(reproducer=reproducer(base=(report(t_new=FAILING), report(t_new=OTHER)))), "flaky"),
    "a reproducer that passes once on base": (good(reproducer=reproducer(base=(report(t_new=FAILING), report(t_new="passed")))), "flaky"),
    "a reproducer that fails once with the change": (good(reproducer=reproducer(patched=(report(t_new="passed"), report(t_new=FAILING)))), "flaky"),
    "a reproducer without an end is a timeout": (good(reproducer=reproducer(after=result(NEW, "failed", kind="timeout"))), "timeout"),
    "an import of a foreign name is a wrong reason": (good(reproducer=reproducer(before=IMPORT)), "reproducer_wrong_reason"),
    "an import of an added name is accepted": (good(reproducer=reproducer(before=IMPORT, added_names=frozenset({"fresh"}))), "verified"),
    "an added name without a check proves nothing": (
        good(reproducer=reproducer(before=IMPORT, added_names=frozenset({"fresh"}), asserting=frozenset())), "reproducer_wrong_reason"),
    "a reproducer that runs no changed line": (good(reproducer=reproducer(covered=0)), "reproducer_wrong_reason"),
    "unmeasured coverage is no reason": (good(reproducer=reproducer(covered=None)), "verified"),
    "a reproducer that never ran is not proof": (good(reproducer=reproducer(base=(), patched=())), "no_reproducer"),
    "a reproducer that ran once where more was asked is not proof": (good(reproducer=reproducer(patched=(report(t_new="passed"),))), "infrastructure"),
    "a suite that never ran is not proof": (good(patched=None), "infrastructure"),
    "a spent budget": (good(deadline=True), "budget_exhausted"),
    "a spent budget with a slow patched suite": (good(deadline=True, patched=dataclasses.replace(report(t_a="passed", t_b="passed"), seconds=60.0)), "timeout"),
    "a spent budget on base": (good(deadline=True, base=dataclasses.replace(report(complete=False), limit="deadline")), "budget_exhausted"),
    "a forged record on base is base's": (good(base=dataclasses.replace(report(t_a="passed"), broken="x")), "base_broken"),
    "an environment that can't be built": (Evidence(environment_failed="no"), "environment_failed"),
    "a fault of the machinery": (Evidence(infrastructure="no disk"), "infrastructure"),
    "a static sign lowers": (good(findings=(blocker("needs_review", "x"),)), "needs_review"),
}


@pytest.mark.parametrize(("evidence", "reason"), CASES.values(), ids=CASES.keys())
def test_reason(evidence: Evidence, reason: str) -> None:
    assert decide(evidence).reason == reason


def test_nothing_at_all_is_not_verified() -> None:
    assert decide(Evidence()).verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize("code", REASONS)
def test_every_blocker_keeps_good_evidence_from_verifying(code: str) -> None:
    assert decide(good(findings=(blocker(code, "x"),))).verdict is REASONS[code]


def test_an_earlier_reason_wins_and_both_are_listed() -> None:
    decision = decide(dataclasses.replace(good(reproducer=reproducer(after=FAILING)), patched=report(t_a="failed", t_b="passed")))
    assert decision.reason == "regression"
    assert {"regression", "reproducer_still_fails"} <= {f.code for f in decision.findings}


def test_counts_are_of_base() -> None:
    decision = decide(good(base=report(t_a="passed", t_b="failed"), patched=report(t_a="passed", t_b="passed")))
    assert (decision.pass_to_pass.passed, decision.pass_to_pass.already_failing) == (1, ("t.py::b",))


def test_a_flaky_failure_inside_the_change_is_inconclusive() -> None:
    failure = result(A, "failed", frames=(("t.py", 1, "a"), ("m.py", 4, "f")))
    evidence = dataclasses.replace(suites(t_a=failure), base_again={A: (result(A),)}, patched_again={A: (result(A),)})
    assert decide(evidence, ("m.py",)).reason == "flaky"


def test_tests_that_start_only_with_the_changes_conftest_need_review() -> None:
    with_harness = report(t_new="passed")
    evidence = good(reproducer=reproducer(after="error", with_harness=with_harness, harness_files=("conftest.py",)))
    decision = decide(evidence)
    assert (decision.reason, decision.fail_to_pass.status) == ("needs_review", "failed")


def test_a_suite_that_was_cut_on_base_says_so_though_the_patched_side_ran_all_of_it() -> None:
    decision = decide(good(base=dataclasses.replace(report(t_a="passed", t_b="passed"), cut=True)))
    assert "suite_cut" in {finding.code for finding in decision.findings}
