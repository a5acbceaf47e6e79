"""Several plans, one verdict: their gates joined. Pure.

A regression in any plan rejects. The defect must be shown in at least one plan, and every plan's own required tests must pass. A plan that can't be set
up, or that is broken on base, counts only where the change touches its files or no other plan ran.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bot.findings import Finding, Severity, warning
from bot.verification.evidence import Evidence, FailToPass, PassToPass

UNAVAILABLE = ("environment_failed", "base_broken")
# Of one plan's new tests, where another plan's prove the change: worth reading, and no more.
PROVEN_ELSEWHERE = ("reproducer_passes_on_base", "reproducer_wrong_reason")


@dataclass(frozen=True)
class Part:
    """The evidence of one plan. `touched`: whether a file of the change is one of its own; `title`: the plan, for people."""

    evidence: Evidence
    touched: bool = True
    title: str = ""


@dataclass(frozen=True)
class Judged:
    """One plan's two gates, and everything found."""

    part: Part
    fail_to_pass: FailToPass
    pass_to_pass: PassToPass
    findings: tuple[Finding, ...]

    def blockers(self) -> set[str]:
        """Codes of what decides."""
        return {finding.code for finding in self.findings if finding.severity is Severity.BLOCKER}


@dataclass(frozen=True)
class Joint:
    """All plans' gates as two."""

    fail_to_pass: FailToPass
    pass_to_pass: PassToPass
    findings: tuple[Finding, ...]


def join(judged: Sequence[Judged]) -> Joint:
    """The gates of every plan that counts."""
    ran = [one for one in judged if not one.blockers() & set(UNAVAILABLE)]
    kept, found = [], list[Finding]()
    for one in judged:
        if one in ran or one.part.touched or not ran:
            kept.append(one)
        else:
            found += [_unavailable(one, finding) for finding in one.findings if finding.severity is Severity.BLOCKER]
    proven = any(one.fail_to_pass.status == "passed" for one in kept)
    kept = [_lowered(one) if proven else one for one in kept]
    found = [finding for one in kept for finding in one.findings] + found
    return Joint(_fail_to_pass([one.fail_to_pass for one in kept]), _pass_to_pass([one.pass_to_pass for one in kept]), tuple(found))


def _unavailable(one: Judged, finding: Finding) -> Finding:
    return warning("plan_unavailable", f"{one.part.title}: {finding.code.replace('_', ' ')}: {finding.detail}", finding.paths, finding.tests)


def _lowered(one: Judged) -> Judged:
    """A plan whose new tests prove nothing beside one whose tests do; files that a caller gave must each prove something."""
    reproducer = one.part.evidence.reproducer
    if one.fail_to_pass.status == "passed" or one.fail_to_pass.failed or (reproducer is not None and reproducer.given):
        return one
    findings = tuple(replace(f, severity=Severity.WARNING) if f.code in PROVEN_ELSEWHERE and f.severity is Severity.BLOCKER else f for f in one.findings)
    others = {f.code for f in findings if f.severity is Severity.BLOCKER}
    status = "failed" if others - set(UNAVAILABLE) and one.fail_to_pass.status == "failed" else "missing"
    return replace(one, findings=findings, fail_to_pass=replace(one.fail_to_pass, status=status))


def _fail_to_pass(gates: Sequence[FailToPass]) -> FailToPass:
    """The worst that a plan's own tests did; else passed where one plan's did; else whether any was there."""
    status = _first([gate.status for gate in gates], ("failed", "passed", "not_run", "missing"), "not_run")
    origin = next((g.origin for g in gates if g.status == status and g.origin), next((g.origin for g in gates if g.origin), None))
    return FailToPass(status, origin, tuple(name for g in gates for name in g.passed), tuple(name for g in gates for name in g.failed))


def _pass_to_pass(gates: Sequence[PassToPass]) -> PassToPass:
    """One plan that regresses, or that did not run, speaks for all; a plan without other tests only where all are."""
    status = _first([gate.status for gate in gates], ("failed", "not_run", "passed", "empty"), "not_run")

    def all_of(field: str) -> tuple[str, ...]:
        return tuple(name for gate in gates for name in getattr(gate, field))

    return PassToPass(status, sum(gate.passed for gate in gates), all_of("failed"), all_of("missing"), all_of("flaky"), all_of("already_failing"),
                      all_of("skipped_now"))


def _first(there: Sequence[str], order: Sequence[str], otherwise: str) -> str:
    return next((status for status in order if status in there), otherwise)
