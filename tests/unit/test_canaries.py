"""What the canaries say: a table."""

from __future__ import annotations

import pytest

from bot.verification.canaries import Canary, calibrated, chosen_groups, judge_canaries, told_apart
from sandbox.results.report import Outcome, TestReport, TestResult
from sandbox.toolchains.canaries import Planted

NAME = "test_a.py::test_x_y"
FAILED, PASSED, SKIPPED, ERROR = Outcome.FAILED, Outcome.PASSED, Outcome.SKIPPED, Outcome.ERROR


def report(complete: bool = True, status: int = 1, **outcomes: Outcome) -> TestReport:
    names = {f"test_a.py::{name}": outcome for name, outcome in outcomes.items()}
    return TestReport(results={name: TestResult(name, outcome) for name, outcome in names.items()}, complete=complete, status=status)


@pytest.mark.parametrize(("expected", "base", "patched", "code"), [
    (FAILED, FAILED, FAILED, "canaries"),
    (FAILED, ERROR, ERROR, "canaries"),
    (FAILED, FAILED, PASSED, "tampered"),
    (FAILED, ERROR, PASSED, "tampered"),
    (FAILED, FAILED, SKIPPED, "tampered"),
    (FAILED, FAILED, None, "tampered"),
    (FAILED, PASSED, PASSED, "canaries_silent"),  # it does not behave on base either
    (FAILED, None, None, "canaries_silent"),
    (SKIPPED, SKIPPED, PASSED, "tampered"),
    (SKIPPED, SKIPPED, FAILED, "canaries"),
    (PASSED, PASSED, PASSED, "canaries"),
    (PASSED, PASSED, FAILED, "canaries"),  # a regression is told by the real tests
    (PASSED, PASSED, SKIPPED, "tampered"),
])
def test_one_that_looks_better_than_it_is(expected: Outcome, base: Outcome | None, patched: Outcome | None, code: str) -> None:
    on_base = report(**({"test_x_y": base} if base else {}))
    found = judge_canaries(calibrated((Canary(NAME, expected, patched),), on_base))
    assert [finding.code for finding in found] == [code]


def test_nothing_is_said_of_tampering_where_base_was_not_heard() -> None:
    assert [f.code for f in judge_canaries((Canary(NAME, FAILED, PASSED),))] == ["canaries_silent"]
    assert [f.code for f in judge_canaries(calibrated((Canary(NAME, FAILED, PASSED),), report(complete=False, test_x_y=FAILED)))] == ["canaries_silent"]


def test_the_report_is_told_without_them() -> None:
    told, canaries = told_apart(report(test_real=PASSED, test_x_y=FAILED), Planted({}, {NAME: FAILED}))
    assert list(told.results) == ["test_a.py::test_real"]
    assert told.status == 0
    assert canaries == (Canary(NAME, FAILED, FAILED),)


def test_the_exit_status_stays_where_a_real_test_fails_or_none_of_ours_does() -> None:
    assert told_apart(report(test_real=FAILED, test_x_y=FAILED), Planted({}, {NAME: FAILED}))[0].status == 1
    assert told_apart(report(test_real=PASSED, test_x_y=PASSED), Planted({}, {NAME: PASSED}))[0].status == 1
    assert told_apart(report(status=3, test_real=PASSED, test_x_y=FAILED), Planted({}, {NAME: FAILED}))[0].status == 3


def test_silence_counts_only_beside_a_voice() -> None:
    planted = Planted({}, {NAME: FAILED})
    assert told_apart(report(test_real=PASSED), planted)[1] == (Canary(NAME, FAILED, None),)
    assert told_apart(report(), planted)[1] == ()
    assert told_apart(report(complete=False, test_real=PASSED), planted)[1] == ()


def test_the_nearest_groups_and_some_others() -> None:
    order = tuple(f"test_{number}.py" for number in range(20))
    chosen = chosen_groups(order, "seed")
    assert chosen[:3] == order[:3]
    assert len(set(chosen)) == 5
    assert chosen != chosen_groups(order, "other")
    assert chosen_groups(order[:2], "seed") == order[:2]
