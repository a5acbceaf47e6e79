"""How finely the results of a plan are told. Pure."""

from __future__ import annotations

from bot.findings import Finding, warning
from bot.verification.evidence import Evidence
from sandbox.plan import Plan
from sandbox.toolchains.generic.plan import WHOLE, CommandPlan


def coarse_findings(plan: Plan, evidence: Evidence) -> tuple[Finding, ...]:
    """A warning where a whole command is one test: a change may trade one failure for another unseen."""
    if not isinstance(plan, CommandPlan) or evidence.base is None or not evidence.base.results:
        return ()
    if any(not name.endswith(f"::{WHOLE}") for name in evidence.base.results):
        return ()
    words = f"`{plan.test}` tells nothing of single tests: its exit status is all that was compared"
    return (warning("coarse_results", words, tests=tuple(evidence.base.results)[:10]),)
