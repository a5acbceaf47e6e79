"""The gate: evidence -> decision. Pure; `verified` is only ever its answer to two complete sets of evidence."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum

from bot.findings import Finding, Severity, blocker, note
from bot.verification.canaries import judge_canaries
from bot.verification.evidence import Evidence, FailToPass, PassToPass
from bot.verification.fail_to_pass import judge_fail_to_pass
from bot.verification.joining import Judged, Part, join
from bot.verification.pass_to_pass import judge_pass_to_pass


class Verdict(StrEnum):
    """The three answers."""

    VERIFIED = "verified"
    REJECTED = "rejected"
    INCONCLUSIVE = "inconclusive"


# Reasons in their order of precedence; the first that a blocker bears decides.
REASONS: dict[str, Verdict] = {
    "forbidden_path": Verdict.REJECTED, "patch_does_not_apply": Verdict.REJECTED, "hallucinated_dependency": Verdict.REJECTED,
    "environment_failed": Verdict.INCONCLUSIVE, "base_broken": Verdict.INCONCLUSIVE, "build_failed": Verdict.REJECTED,
    "tampered": Verdict.REJECTED, "timeout": Verdict.REJECTED, "resource_exhausted": Verdict.REJECTED, "regression": Verdict.REJECTED,
    "tests_removed": Verdict.REJECTED, "reproducer_still_fails": Verdict.REJECTED, "needs_review": Verdict.INCONCLUSIVE,
    "infrastructure": Verdict.INCONCLUSIVE, "budget_exhausted": Verdict.INCONCLUSIVE, "flaky": Verdict.INCONCLUSIVE,
    "reproducer_wrong_reason": Verdict.INCONCLUSIVE, "reproducer_passes_on_base": Verdict.INCONCLUSIVE,
    "no_tests": Verdict.INCONCLUSIVE, "no_reproducer": Verdict.INCONCLUSIVE,
}


# Reasons that explain by themselves why evidence is missing.
SETTLED = {"forbidden_path", "patch_does_not_apply", "hallucinated_dependency", "environment_failed", "base_broken", "build_failed", "infrastructure",
           "budget_exhausted"}


@dataclass(frozen=True)
class Decision:
    """The gate's answer: both gates, every finding, and the first reason that holds."""

    verdict: Verdict
    reason: str
    fail_to_pass: FailToPass
    pass_to_pass: PassToPass
    findings: tuple[Finding, ...]


def decide(evidence: Evidence, changed: Collection[str] = ()) -> Decision:
    """Judge the evidence of one plan. `changed`: source paths of the change, for the diagnosis."""
    return decide_all((Part(evidence),), changed)


def decide_all(parts: Sequence[Part], changed: Collection[str] = (), shared: Sequence[Finding] = ()) -> Decision:
    """Judge the evidence of every plan as one. `shared`: findings on the change itself."""
    judged = [_judge(part, changed) for part in parts]
    joint = join(judged)
    findings = list(dict.fromkeys([*shared, *joint.findings]))
    f2p, p2p = joint.fail_to_pass, joint.pass_to_pass
    only_prose = any(part.evidence.only_prose for part in parts)
    if only_prose:
        findings.append(note("nothing_to_run", "the change touches only files that no plan reads"))
    has_tests = any(part.evidence.has_tests for part in parts) or only_prose
    findings += _completeness(has_tests, f2p, findings)
    reasons = {finding.code for finding in findings if finding.severity is Severity.BLOCKER}
    for reason, verdict in REASONS.items():
        if reason in reasons:
            return Decision(verdict, reason, f2p, p2p, tuple(findings))
    if f2p.status != "passed" or p2p.status not in ("passed", "empty"):
        findings.append(blocker("infrastructure", f"the evidence is not complete: fail-to-pass {f2p.status}, pass-to-pass {p2p.status}"))
        return Decision(Verdict.INCONCLUSIVE, "infrastructure", f2p, p2p, tuple(findings))
    return Decision(Verdict.VERIFIED, "verified", f2p, p2p, tuple(findings))


def _judge(part: Part, changed: Collection[str]) -> Judged:
    evidence = part.evidence
    f2p, of_f2p = judge_fail_to_pass(evidence.reproducer, changed)
    p2p, of_p2p = judge_pass_to_pass(evidence, changed)
    return Judged(part, f2p, p2p, (*evidence.findings, *_ends(evidence), *judge_canaries(evidence.canaries), *of_f2p, *of_p2p))


def _ends(evidence: Evidence) -> list[Finding]:
    """How the machinery and the limits ended it."""
    found: list[Finding] = []
    if evidence.environment_failed:
        found.append(blocker("environment_failed", evidence.environment_failed))
    if evidence.infrastructure:
        found.append(blocker("infrastructure", evidence.infrastructure))
    if evidence.base_limit:
        found.append(blocker("base_broken", f"the base suite runs into its limit ({evidence.base_limit})"))
    elif evidence.patched_limit:
        code = "timeout" if evidence.patched_limit == "time" else "resource_exhausted"
        found.append(blocker(code, f"with the change the tests run into a limit, twice: {evidence.patched_limit}"))
    if evidence.deadline:
        found.append(_deadline(evidence))
    if evidence.base and evidence.base.broken:
        return [*found, blocker("base_broken", f"on base something else writes to the report channel: {evidence.base.broken}")]
    patched = [evidence.patched, *(evidence.reproducer.patched if evidence.reproducer else ())]
    broken = next((report.broken for report in patched if report and report.broken), None)
    if broken:
        found.append(blocker("tampered", f"with the change something else writes to the report channel: {broken}"))
    return found


def _deadline(evidence: Evidence) -> Finding:
    base, patched = evidence.base, evidence.patched
    if base and patched and base.complete and patched.seconds >= max(3 * base.seconds, 10):
        return blocker("timeout", f"with the change the suite had run {patched.seconds:.0f} s (base: {base.seconds:.0f} s) when the time was spent")
    return blocker("budget_exhausted", "the time for the whole verification was spent")


def _completeness(has_tests: bool, f2p: FailToPass, findings: list[Finding]) -> list[Finding]:
    """What is missing from the evidence, where nothing else explains it."""
    decided = any(f.severity is Severity.BLOCKER and f.code in SETTLED for f in findings)
    if decided:
        return []
    if not has_tests and f2p.status in ("missing", "not_run"):
        return [blocker("no_tests", "the repository has no tests and the change adds none")]
    if f2p.status in ("missing", "not_run"):
        return [blocker("no_reproducer", "nothing shows the defect: the change brings no test, and no reproducer was given")]
    return []
