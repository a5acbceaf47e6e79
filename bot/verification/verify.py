"""One verification, from a checkout to a verdict: read, plan, prepare, run, decide."""

from __future__ import annotations

import datetime
import fnmatch
import secrets
import shlex
import time
from dataclasses import dataclass, replace
from pathlib import Path

from bot.changes.change import Change, Request
from bot.changes.git import GitRepository
from bot.changes.reading import open_change
from bot.errors import BadInput
from bot.findings import Finding, blocker
from bot.ledger.run_store import RunStore
from bot.policy import PATH, Policy, read_policy
from bot.reproducers.given import GivenFile, place_of, read_given
from bot.settings import Settings
from bot.verification.bench import Bench
from bot.verification.coarseness import coarse_findings
from bot.verification.dependencies import lock_findings
from bot.verification.evidence import Evidence
from bot.verification.gate import decide_all
from bot.verification.joining import Part
from bot.verification.missing_packages import missing_package_findings
from bot.verification.plans import no_plan, place_for, plans_of, title_of, touched_plans
from bot.verification.preparing import Preparation, Prepared, Say, manifest_findings, today
from bot.verification.runs import SHARE, gather
from bot.verification.verdict import Planned, Report, Timing, summarise
from sandbox.docker import DockerEngine
from sandbox.errors import EngineUnavailable
from sandbox.plan import Plan
from sandbox.toolchains.registry import toolchain_of
from sandbox.workspace import Tree


@dataclass(frozen=True)
class Order:
    """What a caller asks for. `timeout_s`: wall clock of everything; `repeat`: reproducer runs a side."""

    repository: Path
    request: Request
    reproducers: tuple[Path, ...] = ()
    config: Path | None = None
    repeat: int = 5
    timeout_s: float = 3600.0
    run_id: str = ""  # the engine's, where one process makes one verification


def new_run_id() -> str:
    """An id that can't be guessed, sortable by day."""
    return f"{datetime.datetime.now(datetime.UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(6)}"


def verify(order: Order, settings: Settings, store: RunStore, engine: DockerEngine, say: Say) -> Report:
    """The verdict on one change. Raises BadInput before anything runs, EngineUnavailable and ImageUnavailable before the first run."""
    started = time.monotonic()
    repository = GitRepository(order.repository)
    given = read_given(order.reproducers)
    if order.config:
        read_config(order.config, Tree())
    with open_change(repository, order.request) as change:
        engine.sweep()
        report = _Verification(order, settings, store, engine, given, started + order.timeout_s, say).judge(change)
    report = replace(report, timing=replace(report.timing, total_s=time.monotonic() - started))
    store.keep(report.run_id, report.to_json())
    return report


@dataclass(frozen=True)
class _Verification:
    """What all steps of one verification need."""

    order: Order
    settings: Settings
    store: RunStore
    engine: DockerEngine
    given: tuple[GivenFile, ...]
    deadline: float
    say: Say

    def judge(self, change: Change) -> Report:
        """The steps, until one of them ends it."""
        report = Report(
            run_id=self.order.run_id or self.engine.run_id, decision=decide_all((), (), change.findings), summary="", base=change.base, head=change.head,
            patch_sha256=change.patch_sha256, repository=change.repository, replay=replay_words(self.order))
        if change.stopped:
            return _decided(report, (Part(Evidence()),), change)
        if change.only_prose and not self.given:
            return _decided(report, (Part(Evidence(only_prose=True)),), change)
        policy, file = read_config(self.order.config, change.base_tree)
        side = change.base_tree.with_changes({**change.tests, **(change.given or {})})
        paths = [*change.source, *change.tests, *change.frozen, *(change.given or {})]
        plans = plans_of(side, change.commit_date.date(), change.version, policy, file, today(), change.base_tree, paths)
        if not plans:
            return _decided(report, (Part(Evidence(findings=(blocker("no_tests", no_plan(side)),), has_tests=False)),), change)
        more = [finding for plan in plans for finding in manifest_findings(change, plan)]
        change = replace(change, findings=(*change.findings, *path_findings(policy, change), *lock_findings(change, self.settings), *dict.fromkeys(more)))
        return self._run(replace(report, planned=tuple(Planned(plan) for plan in plans)), plans, policy, change)

    def _run(self, report: Report, plans: tuple[Plan, ...], policy: Policy, change: Change) -> Report:
        """Every plan's environments first, then every plan's runs."""
        whose = [place_for(plans, given.toolchain.name, given.name) for given in self.given]
        for given, place in zip(self.given, whose, strict=True):
            place_of(given, plans[place], change)
        begun = time.monotonic()
        prepared = [Preparation(self.settings, self.engine, change, plan, self.deadline, self.say).environments() for plan in plans]
        report = replace(report, timing=Timing(environment_s=time.monotonic() - begun))
        touched = touched_plans(plans, change)
        planned, parts = [], []
        for place, (plan, environments) in enumerate(zip(plans, prepared, strict=True)):
            mine = tuple(file for file, its in zip(self.given, whose, strict=True) if its == place)
            if isinstance(environments, Evidence):
                row, evidence = Planned(plan), environments
            else:
                row, evidence = self._gather(report, place, plan, environments, mine, policy, change, SHARE / (len(plans) - place))
            planned.append(replace(row, evidence=evidence))
            parts.append(Part(evidence, place in touched or bool(mine), title_of(plan)))
        runs = tuple(record for row in planned for record in row.runs)
        return _decided(replace(report, planned=tuple(planned), timing=_timed(report.timing, planned), runs=runs), tuple(parts), change)

    def _gather(
        self, report: Report, place: int, plan: Plan, prepared: Prepared, given: tuple[GivenFile, ...], policy: Policy, change: Change, share: float,
    ) -> tuple[Planned, Evidence]:
        folder = self.store.folder(report.run_id)
        bench = Bench(
            engine=self.engine, environment=prepared.base, patched_environment=prepared.patched, plan=plan, change=change,
            folder=folder if len(report.planned) == 1 else folder / f"plan-{place}", cache=self.settings.data_dir / "suites",
            limits=policy.limits.over(toolchain_of(plan).room), deadline=self.deadline, boxes=self.settings.max_boxes, say=self.say)
        try:
            evidence = gather(bench, given, self.order.repeat, share)
            evidence = replace(evidence, findings=(
                *evidence.findings, *coarse_findings(plan, evidence), *missing_package_findings(evidence, plan, change, self.settings)))
        except EngineUnavailable as error:
            if not bench.records and place == 0:
                raise
            evidence = Evidence(infrastructure=str(error))
        planned = Planned(plan, environment=prepared.base, runs=tuple(bench.records), seconds=dict(bench.seconds))
        return planned, replace(evidence, findings=(*prepared.findings, *evidence.findings))


def _timed(timing: Timing, planned: list[Planned]) -> Timing:
    def total(phase: str) -> float:
        return sum(row.seconds.get(phase, 0.0) for row in planned)

    return replace(timing, base_s=total("base"), patched_s=total("patched"), reproducer_s=total("reproducer"))


def _decided(report: Report, parts: tuple[Part, ...], change: Change) -> Report:
    decision = decide_all(parts, tuple(change.source), change.findings)
    return replace(report, decision=decision, summary=summarise(decision))


def read_config(given: Path | None, base: Tree) -> tuple[Policy, str]:
    """(policy, its file): the caller's, else base's, else the defaults. Raises BadInput."""
    if given is not None:
        try:
            return read_policy(given.read_text(encoding="utf-8"), str(given)), str(given)
        except (OSError, UnicodeDecodeError) as error:
            raise BadInput(f"can't read {given}: {error}") from error
    return read_policy(base.text(PATH) or "", PATH), PATH


def path_findings(policy: Policy, change: Change) -> list[Finding]:
    """What the repository's own path rules say of a change."""
    paths = [*change.source, *change.tests, *change.frozen]
    found = [path for path in paths if any(fnmatch.fnmatch(path, pattern) for pattern in policy.paths.protected)]
    outside = [path for path in paths if policy.paths.allowed and not any(fnmatch.fnmatch(path, pattern) for pattern in policy.paths.allowed)]
    rows = [blocker("needs_review", f"a protected path is edited: {path}", (path,)) for path in found]
    return rows + [blocker("needs_review", f"a path outside the allowed ones is edited: {path}", (path,)) for path in outside]


def replay_words(order: Order) -> str:
    """The command that repeats a verification."""
    words = ["dualgate", "verify", str(order.repository), "--base", order.request.base]
    for name, value in (("--head", order.request.head), ("--patch", order.request.patch), ("--test-patch", order.request.test_patch)):
        words += [name, str(value)] if value is not None else []
    for path in order.reproducers:
        words += ["--reproducer", str(path)]
    if order.config is not None:
        words += ["--config", str(order.config)]
    if order.repeat != 5:
        words += ["--repeat", str(order.repeat)]
    return shlex.join(words)
