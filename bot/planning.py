"""`dualgate plan`: what would be run for a repository, why, and whether it works."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.changes.change import Change
from bot.changes.git import GitRepository
from bot.changes.reading import boxable, version_of
from bot.ledger.run_store import RunStore
from bot.policy import Policy
from bot.reporting.escape import plain
from bot.settings import Settings
from bot.verification.bench import Bench
from bot.verification.diagnosis import first_lines
from bot.verification.plans import no_plan, plans_of, title_of
from bot.verification.preparing import today, tree_root
from bot.verification.runs import run_base_suite
from bot.verification.verdict import plan_json
from bot.verification.verify import read_config
from sandbox.docker import DockerEngine
from sandbox.environment import Workshop, prepare
from sandbox.environment_image import Environment
from sandbox.errors import EngineUnavailable, EnvironmentFailed, ImageUnavailable
from sandbox.plan import Plan
from sandbox.results.report import Outcome, TestReport
from sandbox.toolchains.registry import JointRules, toolchain_of, toolchains_in


@dataclass(frozen=True)
class PlanRequest:
    """The caller's words."""

    repository: Path
    revision: str
    run: bool
    config: Path | None
    timeout_s: float


@dataclass(frozen=True)
class Tried:
    """One plan and, where it was run, its base suite; `failed`: why its environment could not be made."""

    plan: Plan
    environment: Environment | None = None
    report: TestReport | None = None
    environment_s: float = 0.0
    failed: str = ""
    unstable: int = 0

    def to_json(self) -> dict[str, Any]:
        """A plan of the verdict, with the reasons for each choice."""
        return {**plan_json(self.plan, self.environment), "why": [vars(choice) for choice in self.plan.why]}

    def run_json(self) -> dict[str, Any]:
        """The counts of its run."""
        report = self.report or TestReport()
        return {
            "toolchain": self.plan.toolchain, "framework": self.plan.framework,
            "passed": report.count(Outcome.PASSED, Outcome.XPASSED),
            "failed": report.count(Outcome.FAILED), "errors": report.count(Outcome.ERROR) + len(report.uncollected),
            "skipped": report.count(Outcome.SKIPPED, Outcome.XFAILED), "unstable": self.unstable,
            "environment_s": round(self.environment_s, 3), "suite_s": round(report.seconds, 3), "first_error": first_error(report) or self.failed or None,
        }

    @property
    def reason(self) -> str:
        """Why this plan shows nothing; empty where a test passed."""
        if self.failed:
            return "environment_failed"
        report = self.report or TestReport()
        if report.count(Outcome.PASSED):
            return ""
        return "no_tests" if not report.results and not report.uncollected else "base_broken"

    def lines(self) -> list[str]:
        """For a person."""
        lines = [f"  {c.choice:<20} {plain(c.value)}" + (f"   ({c.file}:{c.line})" if c.file else "") for c in self.plan.why]
        if self.environment:
            made = "cached" if self.environment.cached else f"built in {self.environment_s:.1f} s"
            lines.append(f"  environment          {toolchain_of(self.plan).installer.title} {self.environment.release}, {made}")
            lines += [f"  not installed        {plain(row)}" for row in self.environment.dropped]
        lines += [f"  not set up           {plain(line)}" for line in self.failed.splitlines()]
        if self.report is not None:
            run = self.run_json()
            counts = ", ".join(f"{run[word]} {word}" for word in ("passed", "failed", "errors", "skipped"))
            lines.append(f"  suite                {counts}, {run['suite_s']:.1f} s")
            lines += ["  first error          " + plain(line) for line in (run["first_error"] or "").splitlines()[:6]]
        return lines


@dataclass(frozen=True)
class PlanResult:
    """Every plan of a repository, run or not."""

    repository: str
    commit: str
    tried: tuple[Tried, ...] = ()
    ran: bool = False
    reason: str = ""
    summary: str = ""

    @property
    def exit_status(self) -> int:
        """0: a plan was found (and, if run, at least one test passed); 3: not so."""
        return 3 if self.reason else 0

    def to_json(self) -> dict[str, Any]:
        """`dualgate/plan/v1`."""
        run = [one.run_json() for one in self.tried if one.report is not None] if self.ran else []
        return {"schema": "dualgate/plan/v1", "repository": self.repository, "commit": self.commit, "plans": [one.to_json() for one in self.tried],
                "run": run or None, "reason": self.reason or None, "summary": self.summary}

    def text(self) -> str:
        """For a person."""
        lines = [self.summary]
        for one in self.tried:
            lines += [f" {title_of(one.plan)}"] if len(self.tried) > 1 else []
            lines += one.lines()
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
    tag, name, date = repository.last_tag(commit), repository.name(), repository.commit_date(commit)
    plans = plans_of(tree, date.date(), version_of(tag), policy, file, today())
    if not plans:
        return PlanResult(name, commit, reason="no_tests", summary=f"{name}: {no_plan(tree)}")
    if not request.run:
        words = [f"{plan.framework} with {toolchain_of(plan).installer.title} {plan.interpreters[0]}, {len(plan.test_files)} test files" for plan in plans]
        return PlanResult(name, commit, tuple(Tried(plan) for plan in plans), summary=f"{name}: {'; '.join(words)}")
    engine.sweep()
    with repository.scratch() as scratch:
        files = scratch.one_commit(commit, tag)
        change = Change(repository=name, base=commit, head=None, commit_date=date, version=version_of(tag), base_tree=tree, git_files=files,
                        rules=JointRules(tree, tree, toolchains_in(tree)))
        runs = _Runs(settings, store, engine, change, policy, started + request.timeout_s, say)
        return _summed(name, commit, tuple(runs.run(plan, place) for place, plan in enumerate(plans)))


@dataclass(frozen=True)
class _Runs:
    """What all plans' runs need."""

    settings: Settings
    store: RunStore
    engine: DockerEngine
    change: Change
    policy: Policy
    deadline: float
    say: Callable[[str], None]

    def run(self, plan: Plan, place: int) -> Tried:
        """The environment, and the base suite in it."""
        started, change = time.monotonic(), self.change
        left = max(1.0, min(1500.0, self.deadline - started))
        workshop = Workshop(self.settings.data_dir, self.settings.trusted_ca(), self.settings.install_hosts, budget_s=left, disk_gb=self.settings.install_gb)
        try:
            root = tree_root(change.repository)
            environment = prepare(self.engine, workshop, plan, change.base_tree, root, git=change.git_files, today=today(), say=self.say)
        except EnvironmentFailed as error:
            words = f"the environment can't be built: {error}\n" + "\n".join(error.tried) + "\n" + error.tail
            return Tried(plan, environment_s=time.monotonic() - started, failed=words)
        except ImageUnavailable as error:
            raise EngineUnavailable(str(error)) from error
        seconds = time.monotonic() - started
        bench = Bench(
            engine=self.engine, environment=environment, patched_environment=environment, plan=plan, change=change,
            folder=self.store.folder(self.engine.run_id) / f"plan-{place}", cache=self.settings.data_dir / "suites",
            limits=self.policy.limits.over(toolchain_of(plan).room), deadline=self.deadline, boxes=self.settings.max_boxes, say=self.say)
        return Tried(plan, environment, run_base_suite(bench, change.base_tree), seconds)


def _summed(name: str, commit: str, tried: tuple[Tried, ...]) -> PlanResult:
    reports = [one.report for one in tried if one.report is not None]
    passed, total = sum(report.count(Outcome.PASSED) for report in reports), sum(len(report.results) for report in reports)
    reason = "" if passed else tried[0].reason
    summary = f"{name}: {passed} of {total} tests pass on {commit[:12]}" if reports else f"{name}: {tried[0].failed.splitlines()[0]}"
    return PlanResult(name, commit, tried, True, reason, summary)
