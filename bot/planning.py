"""`dualgate plan`: what would be run for a repository, why, and whether it works."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.changes.change import Change, boxable, version_of
from bot.changes.git import GitRepository
from bot.ledger.run_store import RunStore
from bot.policy import Policy
from bot.reporting.escape import plain
from bot.settings import Settings
from bot.verification.bench import Bench
from bot.verification.diagnosis import first_lines
from bot.verification.runs import run_base_suite
from bot.verification.verdict import plans_json
from bot.verification.verify import read_config, today, tree_root
from sandbox import interpreters
from sandbox.docker import DockerEngine
from sandbox.environment import Workshop, prepare
from sandbox.environment_image import Environment
from sandbox.errors import EngineUnavailable, EnvironmentFailed, ImageUnavailable
from sandbox.limits import Limits
from sandbox.plan import Plan
from sandbox.results.report import Outcome, TestReport
from sandbox.toolchains.python.detect import detect


@dataclass(frozen=True)
class PlanRequest:
    """The caller's words."""

    repository: Path
    revision: str
    run: bool
    config: Path | None
    timeout_s: float


@dataclass(frozen=True)
class PlanResult:
    """The plan and, where it was run, the base suite."""

    repository: str
    commit: str
    plan: Plan | None
    environment: Environment | None = None
    report: TestReport | None = None
    environment_s: float = 0.0
    reason: str = ""
    summary: str = ""
    unstable: int = 0

    @property
    def exit_status(self) -> int:
        """0: a plan was found (and, if run, at least one test passed); 3: not so."""
        return 3 if self.reason else 0

    def to_json(self) -> dict[str, Any]:
        """`dualgate/plan/v1`."""
        plans = plans_json(self.plan, self.environment)
        for row in plans:
            row["why"] = [vars(choice) for choice in self.plan.why] if self.plan else []
        return {"schema": "dualgate/plan/v1", "repository": self.repository, "commit": self.commit, "plans": plans,
                "run": [self._run()] if self.report is not None else None, "reason": self.reason or None, "summary": self.summary}

    def _run(self) -> dict[str, Any]:
        report = self.report or TestReport()
        plan = self.plan
        return {
            "toolchain": plan.toolchain if plan else None, "framework": plan.framework if plan else None,
            "passed": report.count(Outcome.PASSED, Outcome.XPASSED),
            "failed": report.count(Outcome.FAILED), "errors": report.count(Outcome.ERROR) + len(report.uncollected),
            "skipped": report.count(Outcome.SKIPPED, Outcome.XFAILED), "unstable": self.unstable,
            "environment_s": round(self.environment_s, 3), "suite_s": round(report.seconds, 3), "first_error": first_error(report),
        }

    def text(self) -> str:
        """For a person."""
        lines = [self.summary]
        if self.plan:
            lines += [f"  {c.choice:<20} {plain(c.value)}" + (f"   ({c.file}:{c.line})" if c.file else "") for c in self.plan.why]
        if self.environment:
            made = "cached" if self.environment.cached else f"built in {self.environment_s:.1f} s"
            lines.append(f"  environment          Python {self.environment.python}, {made}")
            lines += [f"  not installed        {plain(row)}" for row in self.environment.dropped]
        if self.report is not None:
            run = self._run()
            counts = ", ".join(f"{run[word]} {word}" for word in ("passed", "failed", "errors", "skipped"))
            lines.append(f"  suite                {counts}, {run['suite_s']:.1f} s")
            if run["first_error"]:
                lines += ["  first error          " + plain(line) for line in run["first_error"].splitlines()[:6]]
        return "\n".join(lines)


def first_error(report: TestReport) -> str | None:
    """The first failing test or file with the first lines of its message."""
    for file, text in report.uncollected.items():
        return f"{file}: " + "\n".join([line for line in text.splitlines() if line.strip()][-4:])
    bad = next((r for r in report.results.values() if r.failed), None)
    if bad is not None:
        return f"{bad.id}: {first_lines(bad)}"
    if not report.results and report.status == 5:
        return None
    if not report.results and (report.internal or report.log):
        return "\n".join((report.internal or report.log).strip().splitlines()[-6:])
    return None


def plan_repository(request: PlanRequest, settings: Settings, store: RunStore, engine: DockerEngine, say: Callable[[str], None]) -> PlanResult:
    """Raises BadInput; with `run` the sandbox's errors too."""
    started = time.monotonic()
    repository = GitRepository(request.repository)
    commit = repository.commit(request.revision)
    tree, _ = boxable(repository.tree(commit).tree)
    policy, file = read_config(request.config, tree)
    tag = repository.last_tag(commit)
    date = repository.commit_date(commit)
    plan = detect(tree, date.date(), interpreters.available(), version_of(tag), today())
    name = repository.name()
    if plan is None:
        return PlanResult(name, commit, None, reason="no_tests", summary=f"{name}: no plan: no Python file and no manifest")
    plan = policy.plan(plan, file)
    if not request.run:
        return PlanResult(name, commit, plan, summary=f"{name}: {plan.framework} with Python {plan.interpreters[0]}, {len(plan.test_files)} test files")
    engine.sweep()
    with repository.scratch() as scratch:
        files = scratch.one_commit(commit, tag)
        change = Change(repository=name, base=commit, head=None, commit_date=date, version=plan.version, base_tree=tree, git_files=files)
        return _run(request, settings, store, engine, change, plan, policy, started, say)


def _run(
    request: PlanRequest, settings: Settings, store: RunStore, engine: DockerEngine, change: Change, plan: Plan, policy: Policy, started: float,
    say: Callable[[str], None],
) -> PlanResult:
    name, commit = change.repository, change.base
    workshop = Workshop(settings.data_dir, settings.trusted_ca(), budget_s=min(1500.0, request.timeout_s))
    try:
        environment = prepare(engine, workshop, plan, change.base_tree, tree_root(name), git=change.git_files, today=today(), say=say)
    except EnvironmentFailed as error:
        return PlanResult(name, commit, plan, environment_s=time.monotonic() - started, reason="environment_failed",
                          summary=f"{name}: the environment can't be built: {error}\n" + "\n".join(error.tried) + "\n" + error.tail)
    except ImageUnavailable as error:
        raise EngineUnavailable(str(error)) from error
    seconds = time.monotonic() - started
    bench = Bench(
        engine=engine, environment=environment, patched_environment=environment, plan=plan, change=change, folder=store.folder(engine.run_id),
        cache=settings.data_dir / "suites", limits=policy.limits.over(Limits()), deadline=started + request.timeout_s, boxes=settings.max_boxes, say=say)
    report = run_base_suite(bench, change.base_tree)
    passed = report.count(Outcome.PASSED)
    reason = "" if passed else ("no_tests" if not report.results and not report.uncollected else "base_broken")
    return PlanResult(name, commit, plan, environment, report, seconds, reason, f"{name}: {passed} of {len(report.results)} tests pass on {commit[:12]}")
