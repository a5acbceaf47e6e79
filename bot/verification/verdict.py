"""The verdict: the gate's decision with all that a reader or a machine needs, as `dualgate/verdict/v1`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bot.findings import counted
from bot.verification.bench import RunRecord
from bot.verification.diagnosis import first_lines
from bot.verification.evidence import Evidence, Origin, Reproducer
from bot.verification.gate import Decision, Verdict
from sandbox.environment_image import Environment
from sandbox.plan import Plan
from sandbox.results.report import Outcome, TestReport, TestResult
from sandbox.toolchains.registry import toolchain_of

SCHEMA = "dualgate/verdict/v1"
EXIT_STATUS = {Verdict.VERIFIED: 0, Verdict.REJECTED: 1, Verdict.INCONCLUSIVE: 3}
COST = {"usd": 0.0, "input_tokens": 0, "output_tokens": 0, "cached_tokens": 0, "requests": 0, "by_model": []}


@dataclass(frozen=True)
class Timing:
    """Seconds of each phase; 0 for one that did not run."""

    environment_s: float = 0.0
    base_s: float = 0.0
    patched_s: float = 0.0
    reproducer_s: float = 0.0
    total_s: float = 0.0

    def to_json(self) -> dict[str, float]:
        """The contract's shape."""
        return {name: round(value, 3) for name, value in vars(self).items()}


@dataclass(frozen=True)
class Planned:
    """One plan of a verification: its environment, its evidence, its runs, seconds by phase."""

    plan: Plan
    environment: Environment | None = None
    evidence: Evidence = field(default_factory=Evidence)
    runs: tuple[RunRecord, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Report:
    """Everything about one verification."""

    run_id: str
    decision: Decision
    summary: str
    base: str
    head: str | None
    patch_sha256: str
    repository: str
    planned: tuple[Planned, ...] = ()
    timing: Timing = Timing()
    runs: tuple[RunRecord, ...] = ()
    replay: str = ""

    @property
    def exit_status(self) -> int:
        """0 verified, 1 rejected, 3 inconclusive."""
        return EXIT_STATUS[self.decision.verdict]

    def to_json(self) -> dict[str, Any]:
        """The verdict's contract."""
        decision = self.decision
        return {
            "schema": SCHEMA, "run": self.run_id, "verdict": decision.verdict.value, "reason": decision.reason, "summary": self.summary,
            "findings": [finding.to_json() for finding in decision.findings], "base": self.base, "head": self.head,
            "patch_sha256": self.patch_sha256, "repository": self.repository,
            "plans": [plan_json(row.plan, row.environment) for row in self.planned],
            "gates": {"fail_to_pass": decision.fail_to_pass.to_json(), "pass_to_pass": decision.pass_to_pass.to_json()},
            "tests": [row for place, planned in enumerate(self.planned) for row in rows(planned.evidence, place)],
            "timing": self.timing.to_json(), "cost": {**COST, "seconds": round(self.timing.total_s, 3)},
            "evidence": {"runs": [run.to_json() for run in self.runs], "replay": self.replay},
        }


def plan_json(plan: Plan, environment: Environment | None) -> dict[str, Any]:
    """One of the contract's `plans`."""
    toolchain = toolchain_of(plan)
    release = environment.release if environment else plan.interpreters[0]
    return {
        "toolchain": plan.toolchain, "framework": plan.framework, "directory": plan.directory or ".", "image": environment.image if environment else None,
        "environment_key": environment.key if environment else None, "environment_cached": environment.cached if environment else None,
        "runtime": "runc", "version": release, **({"python": release} if plan.toolchain == "python" else {}),
        "install": toolchain.manifests.words(plan), "build": toolchain.runner.build_words(plan), "test": toolchain.runner.test_words(plan),
        "tried": list(environment.tried) if environment else [], "dropped": list(environment.dropped) if environment else [],
    }


def rows(evidence: Evidence, plan: int = 0) -> list[dict[str, Any]]:
    """The contract's `tests` of one plan: pass-to-pass rows of base, fail-to-pass rows of the change or of what was given."""
    table: list[dict[str, Any]] = []
    reproducer = evidence.reproducer
    if evidence.base is not None:
        before = evidence.base
        after = evidence.patched or TestReport()
        for name in before.results:
            flaky = _again_differs(evidence, name)
            table.append(_row(name, before.results.get(name), after.results.get(name), evidence.patched is not None, "base", flaky))
        for name in after.results:
            if name not in before.results:
                table.append(_row(name, None, after.results[name], True, "base", False))
    if reproducer is not None and reproducer.base and reproducer.patched:
        table += _reproducer_rows(reproducer)
    return [{**row, "plan": plan} for row in table]


def _reproducer_rows(reproducer: Reproducer) -> list[dict[str, Any]]:
    table = []
    for name in reproducer.candidates:
        before, after = [r.results.get(name) for r in reproducer.base], [r.results.get(name) for r in reproducer.patched]
        origin = "given" if name in reproducer.given or reproducer.origin is Origin.GIVEN else "change"
        flaky = len({_word(r) for r in before}) > 1 or len({_word(r) for r in after}) > 1
        uncollected = before[0] is None and bool(reproducer.base[0].uncollected)
        row = _row(name, before[0], after[0], True, origin, flaky)
        if uncollected and not flaky and after[0] is not None and after[0].passed:
            row["category"], row["base"] = "F2P", "error"
        table.append(row)
    return table


def _again_differs(evidence: Evidence, name: str) -> bool:
    if name not in evidence.base_again and name not in evidence.patched_again:
        return False
    before, after = evidence.base_again.get(name, ()), evidence.patched_again.get(name, ())
    return any(r is None or not r.passed for r in before) or any(r is not None and r.passed for r in after)


def _word(result: TestResult | None) -> str | None:
    return result.outcome.value if result is not None and result.outcome is not Outcome.MISSING else None


def _row(name: str, before: TestResult | None, after: TestResult | None, ran: bool, source: str, flaky: bool) -> dict[str, Any]:
    shown = next((r for r in (after, before) if r is not None), None)
    bad = next((r for r in (after, before) if r is not None and r.failed), None)
    told = bad or shown
    return {
        "id": name, "base": _word(before), "patched": _word(after), "category": "FLAKY" if flaky else _category(before, after, ran), "plan": 0, "from": source,
        "file": shown.file if shown else None, "line": told.failing_line if told else None, "message": first_lines(bad)[:1000] if bad else None,
        "seconds": shown.seconds if shown else None,
    }


def _category(before: TestResult | None, after: TestResult | None, ran: bool) -> str | None:
    if not ran:
        return None
    if before is None:
        return "NEW"
    if after is None or after.outcome is Outcome.MISSING:
        return "GONE" if before.passed else "F2F"
    return ("P" if before.passed else "F") + "2" + ("P" if after.passed else "F")


def summarise(decision: Decision) -> str:
    """One line that stands by itself."""
    f2p, p2p = decision.fail_to_pass, decision.pass_to_pass
    if decision.verdict is Verdict.VERIFIED:
        fail, succeed = ("fails", "passes") if len(f2p.passed) == 1 else ("fail", "pass")
        proof = f"{counted(f2p.passed)} {fail} on base and {succeed} with the change"
        guard = f"{p2p.passed} that passed before still pass" if p2p.status == "passed" else "the repository has no other test"
        return f"verified: {proof}; {guard}"
    detail = next((f.detail.splitlines()[0] for f in decision.findings if f.code == decision.reason and f.severity.value == "blocker"), "")
    return f"{decision.verdict.value}: {decision.reason.replace('_', ' ')}" + (f" - {detail}" if detail else "")
