"""What became of the canaries: tests of ours among the real ones, that must fail, be skipped or pass. Judged without effects."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from bot.findings import Finding, blocker, counted, note
from sandbox.results.report import Outcome, TestReport, group_of
from sandbox.toolchains.canaries import Planted

NEAREST = 3
OTHERS = 2
BAD = (Outcome.FAILED, Outcome.ERROR)
QUIET = (Outcome.SKIPPED, Outcome.XFAILED)


@dataclass(frozen=True)
class Canary:
    """One of them. `base`: what it did on base, where that had to be asked; `patched` None: it did not report though its neighbours did."""

    id: str
    expected: Outcome
    patched: Outcome | None
    base: Outcome | None = None
    calibrated: bool = False

    @property
    def honest(self) -> bool:
        """Whether the patched side tells no better of it than it is: one that must fail may fail in any way, any may fail beside a real regression."""
        return self.patched in BAD or (self.patched is not None and _class(self.patched) == _class(self.expected))

    @property
    def lies(self) -> bool:
        """Whether the patched side makes it look better than base does."""
        return not self.honest and self.calibrated and self.base is not None and _class(self.base) == _class(self.expected)


def _class(outcome: Outcome) -> str:
    return "bad" if outcome in BAD else "quiet" if outcome in QUIET else "good"


def chosen_groups(order: Sequence[str], seed: str) -> tuple[str, ...]:
    """The groups nearest to the change, and some of the others."""
    rest = list(order[NEAREST:])
    return (*order[:NEAREST], *random.Random(seed).sample(rest, min(OTHERS, len(rest))))


def told_apart(report: TestReport, planted: Planted) -> tuple[TestReport, tuple[Canary, ...]]:
    """(the report as if there had been no canary, what they did). The exit status of a suite where only they failed is that of one that passes."""
    if not planted:
        return report, ()
    results = {name: result for name, result in report.results.items() if name not in planted.expected}
    heard = {group_of(name) for name, result in results.items() if result.outcome is not Outcome.MISSING}
    canaries = tuple(
        Canary(name, expected, report.results[name].outcome if name in report.results else None) for name, expected in planted.expected.items()
        if _counts(name, report, heard))
    ours = [report.results[name] for name in planted.expected if name in report.results]
    only_they = not any(result.failed for result in results.values()) and any(result.failed for result in ours)
    return replace(report, results=results, status=0 if report.status == 1 and only_they else report.status), canaries


def _counts(name: str, report: TestReport, heard: set[str]) -> bool:
    """Whether its silence, or its voice, means something: in a run that came to its end, in a group that reported."""
    result = report.results.get(name)
    if result is None:
        return report.complete and not report.cut and group_of(name) in heard and group_of(name) not in report.died
    return result.outcome is not Outcome.MISSING and result.kind is None


def calibrated(canaries: Sequence[Canary], base: TestReport) -> tuple[Canary, ...]:
    """With what the doubtful ones did on base."""
    return tuple(canary if canary.honest else replace(
        canary, base=base.results[canary.id].outcome if canary.id in base.results else None, calibrated=base.complete) for canary in canaries)


def judge_canaries(canaries: Sequence[Canary]) -> list[Finding]:
    """`tampered` for those that the change makes look better than they are; a note where some say nothing, or where there are none."""
    found: list[Finding] = []
    lying = [canary for canary in canaries if canary.lies]
    if lying:
        words = "; ".join(f"{c.id}: {c.base} on base, {c.patched or 'not reported'} with the change" for c in lying[:5])
        found.append(blocker("tampered", f"with the change, tests of ours among the real ones are reported better than they are: {words}",
                             tuple(dict.fromkeys(group_of(c.id) for c in lying)), tuple(c.id for c in lying)))
    silent = [canary for canary in canaries if not canary.honest and not canary.lies]
    if silent:
        found.append(note("canaries_silent", f"{counted(silent)} of ours among the real ones say nothing here: they do not behave on base either"))
    heard = len(canaries) - len(lying) - len(silent)
    if heard:
        found.append(note("canaries", f"{heard} tests of ours among the real ones failed, were skipped and passed as they must"))
    return found
