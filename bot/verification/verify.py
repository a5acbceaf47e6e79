"""One verification, from a checkout to a verdict: read, plan, prepare, run, decide."""

from __future__ import annotations

import datetime
import fnmatch
import re
import secrets
import shlex
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from packaging.utils import canonicalize_name

from bot.changes.change import Change, Request, open_change, shadowed_modules
from bot.changes.git import GitRepository
from bot.errors import BadInput
from bot.findings import Finding, blocker, note, warning
from bot.ledger.run_store import RunStore
from bot.policy import PATH, Policy, read_policy
from bot.reproducers.given import GivenFile, read_given
from bot.settings import Settings
from bot.verification.bench import Bench
from bot.verification.evidence import Evidence
from bot.verification.gate import decide
from bot.verification.runs import gather
from bot.verification.verdict import Report, Timing, summarise
from sandbox import interpreters
from sandbox.docker import DockerEngine
from sandbox.environment import Workshop, prepare, rebuild
from sandbox.environment_image import Environment
from sandbox.errors import BuildFailed, EngineUnavailable, EnvironmentFailed, ImageUnavailable, UnknownPackage
from sandbox.limits import Limits
from sandbox.plan import Plan
from sandbox.toolchains.python.added import added_requirements, removed_distributions
from sandbox.toolchains.python.detect import detect, unguarded_imports
from sandbox.toolchains.python.metadata import read_metadata
from sandbox.toolchains.python.names import DISTRIBUTIONS
from sandbox.toolchains.python.paths import folders_of_tests, is_harness, is_test_path
from sandbox.workspace import Tree

Say = Callable[[str], None]


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


def today() -> datetime.date:
    """Today, UTC."""
    return datetime.datetime.now(datetime.UTC).date()


def tree_root(repository: str) -> str:
    """Where the tree stands in every box of a repository."""
    name = re.sub(r"[^A-Za-z0-9_.-]", "-", repository.rsplit("/", 1)[-1]).strip(".-") or "repository"
    return f"/repo/{name[:60]}"


def verify(order: Order, settings: Settings, store: RunStore, engine: DockerEngine, say: Say) -> Report:
    """The verdict on one change. Raises BadInput before anything runs, EngineUnavailable and ImageUnavailable before the first run."""
    started = time.monotonic()
    repository = GitRepository(order.repository)
    given = read_given(order.reproducers)
    if order.config:
        read_config(order.config, Tree())
    with open_change(repository, order.request) as change:
        engine.sweep()
        report = _judge(order, settings, store, engine, change, given, started, say)
    report = replace(report, timing=replace(report.timing, total_s=time.monotonic() - started))
    store.keep(report.run_id, report.to_json())
    return report


def _judge(
    order: Order, settings: Settings, store: RunStore, engine: DockerEngine, change: Change, given: tuple[GivenFile, ...], started: float, say: Say,
) -> Report:
    report = Report(
        run_id=order.run_id or engine.run_id, decision=decide(Evidence(findings=change.findings)), summary="", base=change.base, head=change.head,
        patch_sha256=change.patch_sha256, repository=change.repository, replay=replay_words(order))
    if change.stopped:
        return _decided(report, Evidence(findings=change.findings), change)
    if change.only_prose and not given:
        return _decided(report, Evidence(findings=change.findings, only_prose=True), change)
    side = change.base_tree.with_changes({**change.tests, **(change.given or {})})
    plan = detect(side, change.commit_date.date(), interpreters.available(), change.version, today(), change.base_tree)
    if plan is None:
        found = (*change.findings, blocker("no_tests", "no plan: nothing here is known to be tested (no Python file, no manifest)"))
        return _decided(report, Evidence(findings=found, has_tests=False), change)
    policy, file = read_config(order.config, change.base_tree)
    plan = policy.plan(plan, file)
    change = replace(change, findings=(*change.findings, *path_findings(policy, change), *manifest_findings(change)))
    report = replace(report, plan=plan)
    deadline = started + order.timeout_s
    begun = time.monotonic()
    environments = _environments(order, settings, engine, change, plan, deadline, say)
    report = replace(report, timing=Timing(environment_s=time.monotonic() - begun))
    if isinstance(environments, Evidence):
        return _decided(report, environments, change)
    base, patched, more = environments
    change = replace(change, findings=(*change.findings, *more))
    bench = Bench(
        engine=engine, environment=base, patched_environment=patched, plan=plan, change=change, folder=store.folder(report.run_id),
        cache=settings.data_dir / "suites", limits=policy.limits.over(Limits()), deadline=deadline, boxes=settings.max_boxes, say=say)
    try:
        evidence = gather(bench, given, order.repeat)
    except EngineUnavailable as error:
        if not bench.records:
            raise
        evidence = Evidence(findings=change.findings, infrastructure=str(error))
    seconds = bench.seconds
    timing = replace(report.timing, base_s=seconds.get("base", 0.0), patched_s=seconds.get("patched", 0.0), reproducer_s=seconds.get("reproducer", 0.0))
    return _decided(replace(report, environment=base, timing=timing, runs=tuple(bench.records)), evidence, change)


def _decided(report: Report, evidence: Evidence, change: Change) -> Report:
    decision = decide(evidence, tuple(change.source))
    return replace(report, decision=decision, evidence=evidence, summary=summarise(decision))


def _environments(
    order: Order, settings: Settings, engine: DockerEngine, change: Change, plan: Plan, deadline: float, say: Say,
) -> tuple[Environment, Environment, tuple[Finding, ...]] | Evidence:
    """(base's, the patched side's, findings), or the evidence that there is none."""
    workshop = Workshop(settings.data_dir, settings.trusted_ca(), budget_s=max(1.0, min(1500.0, deadline - time.monotonic())))
    root = tree_root(change.repository)
    added = _added(change, plan)
    try:
        base = prepare(engine, workshop, plan, change.base_tree, root, git=change.git_files, today=today(), say=say)
        patched = base
        if added:
            say(f"environment with {', '.join(added)}")
            patched = prepare(engine, workshop, plan, change.base_tree, root, git=change.git_files, today=today(), added=added, say=say)
    except UnknownPackage as error:
        found = blocker("hallucinated_dependency", f"the change adds a dependency on {error.name}, which its registry does not have")
        return Evidence(findings=(*change.findings, found))
    except EnvironmentFailed as error:
        if time.monotonic() >= deadline:
            return Evidence(findings=change.findings, deadline=True)
        detail = f"{error}\ntried: {'; '.join(error.tried)}\n{error.tail}"
        return Evidence(findings=change.findings, environment_failed=detail)
    except ImageUnavailable as error:
        raise EngineUnavailable(str(error)) from error
    more: list[Finding] = []
    if added:
        more.append(note("dependencies_added", f"the patched side has its own environment with {', '.join(added)}"))
    if change.build_inputs and base.generated:
        built = _rebuilt(engine, workshop, patched, plan, change, say)
        if isinstance(built, Evidence):
            return built
        patched = built
    more += shadowed_modules(change, base.modules)
    if base.dropped:
        more.append(warning("requirements_dropped", f"could not be installed: {'; '.join(base.dropped[:12])}"))
    return base, patched, tuple(more)


def _rebuilt(engine: DockerEngine, workshop: Workshop, base: Environment, plan: Plan, change: Change, say: Say) -> Environment | Evidence:
    """The patched side's environment with its own extension modules. What base can't build this way either is no fault of the change."""
    try:
        return rebuild(engine, workshop, base, plan, change.patched_tree, change.build_inputs, git=change.git_files, say=say)
    except BuildFailed as error:
        try:
            rebuild(engine, workshop, base, plan, change.base_tree, change.build_inputs, git=change.git_files, say=say)
        except BuildFailed:
            return Evidence(findings=change.findings, environment_failed=f"the extension modules can't be built without a network\n{error}")
        return Evidence(findings=(*change.findings, blocker("build_failed", f"the change does not compile\n{error}", change.build_inputs)))


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


def _added(change: Change, plan: Plan) -> tuple[str, ...]:
    if not change.frozen:
        return ()
    before = read_metadata(change.base_tree)
    after = read_metadata(change.base_tree.with_changes(change.frozen))
    return added_requirements(before, after, plan.extras)


def manifest_findings(change: Change) -> list[Finding]:
    """What no run would show, since the manifests are base's: one that can't be read, a distribution that is no longer declared and still imported."""
    if not change.frozen:
        return []
    tree, folders = change.patched_tree, folders_of_tests(change.patched_tree)
    base, changed = read_metadata(change.base_tree), read_metadata(change.base_tree.with_changes(change.frozen))
    removed = removed_distributions(base, changed)
    faults = [fault for fault in changed.faults if fault not in base.faults]
    found = [blocker("needs_review", f"the change's manifest can't be read: {fault}", (fault.split(":")[0],)) for fault in faults]
    for name in removed:
        modules = {module for module, other in DISTRIBUTIONS.items() if canonicalize_name(other) == name} | {name.replace("-", "_")}
        users = [path for path in tree if path.endswith(".py") and not is_test_path(path, folders)
                 and not is_harness(path) and modules & set(unguarded_imports(tree.text(path) or ""))]
        if users:
            found.append(blocker("needs_review", f"the change no longer declares {name}, which {users[0]} imports", tuple(users[:10])))
    return found


def replay_words(order: Order) -> str:
    """The command that repeats a verification."""
    words = ["dualgate", "verify", str(order.repository), "--base", order.request.base]
    for name, value in (("--head", order.request.head), ("--patch", order.request.patch), ("--test-patch", order.request.test_patch)):
        words += [name, str(value)] if value is not None else []
    for path in order.reproducers:
        words += ["--reproducer", str(path)]
    if order.repeat != 5:
        words += ["--repeat", str(order.repeat)]
    return shlex.join(words)

