"""Several plans, one verdict: the table."""

from __future__ import annotations

import dataclasses

import pytest

from bot.findings import Severity, note
from bot.verification.evidence import Evidence
from bot.verification.gate import decide, decide_all
from bot.verification.joining import Part
from sandbox.results.report import TestReport
from tests.unit.evidence_builder import FAILING, good, report, reproducer

QUIET = good(reproducer=None)
REGRESSED = good(patched=report(t_a="failed", t_b="passed"), reproducer=None)
UNBUILT = Evidence(environment_failed="no compiler")
BROKEN = good(base=report(t_a="failed", t_b="failed", status=1), reproducer=None)
EMPTY = good(base=TestReport(complete=True, status=5), patched=TestReport(complete=True, status=5), reproducer=None, has_tests=False)
ON_BASE = good(reproducer=reproducer(before="passed"))
STILL = good(reproducer=reproducer(after=FAILING))
GIVEN_ON_BASE = good(reproducer=reproducer(before="passed", given=frozenset({"t.py::new"})))
NEVER = good(patched=None, reproducer=None)

CASES = {
    "one plan proves and the other still passes": ((good(), True), (QUIET, False), "verified"),
    "the second plan may be the one that proves": ((QUIET, True), (good(), True), "verified"),
    "a regression in a plan that the change does not touch rejects": ((good(), True), (REGRESSED, False), "regression"),
    "no plan proves anything": ((QUIET, True), (QUIET, True), "no_reproducer"),
    "new tests of one plan that pass on base are no matter beside a proof": ((good(), True), (ON_BASE, True), "verified"),
    "new tests of every plan that pass on base prove nothing": ((ON_BASE, True), (ON_BASE, True), "reproducer_passes_on_base"),
    "a given file that passes on base is the caller's fault whatever the other plan shows": ((good(), True), (GIVEN_ON_BASE, True), "reproducer_passes_on_base"),
    "every plan's own tests must pass": ((good(), True), (STILL, True), "reproducer_still_fails"),
    "an environment of a plan that the change does not touch is a warning": ((good(), True), (UNBUILT, False), "verified"),
    "an environment of a plan that the change touches decides": ((good(), True), (UNBUILT, True), "environment_failed"),
    "no environment at all decides": ((UNBUILT, False), (UNBUILT, False), "environment_failed"),
    "a broken base of an untouched plan is a warning": ((good(), True), (BROKEN, False), "verified"),
    "a broken base of a touched plan decides": ((good(), True), (BROKEN, True), "base_broken"),
    "a plan that has no other tests leaves the other's gate": ((good(), True), (EMPTY, True), "verified"),
    "a suite that never ran is no proof": ((good(), True), (NEVER, False), "infrastructure"),
}


@pytest.mark.parametrize(("one", "other", "reason"), CASES.values(), ids=CASES.keys())
def test_reason(one: tuple[Evidence, bool], other: tuple[Evidence, bool], reason: str) -> None:
    parts = tuple(Part(evidence, touched, "a plan") for evidence, touched in (one, other))
    assert decide_all(parts).reason == reason
    assert decide_all(parts[::-1]).reason == reason


def test_both_gates_are_of_all_plans() -> None:
    decision = decide_all((Part(good()), Part(REGRESSED)))
    assert (decision.pass_to_pass.status, decision.pass_to_pass.passed, decision.pass_to_pass.failed) == ("failed", 3, ("t.py::a",))
    assert decision.fail_to_pass.passed == ("t.py::new",)


def test_an_unavailable_plan_is_named() -> None:
    decision = decide_all((Part(good()), Part(UNBUILT, False, "go in tools")))
    assert [(f.code, f.severity) for f in decision.findings if "go in tools" in f.detail] == [("plan_unavailable", Severity.WARNING)]


def test_findings_on_the_change_are_listed_once() -> None:
    shared = note("lfs", "pointers")
    parts = tuple(Part(dataclasses.replace(evidence, findings=(shared,))) for evidence in (good(), QUIET))
    assert decide_all(parts, (), (shared,)).findings.count(shared) == 1


def test_one_plan_alone_is_judged_as_ever() -> None:
    assert decide_all((Part(good()),)) == decide(good())
    assert decide_all((Part(dataclasses.replace(good(), base=None)),)).reason == "infrastructure"
