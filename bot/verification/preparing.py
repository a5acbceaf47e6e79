"""The environments of one plan: base's, and the patched side's where the change adds dependencies or edits what an installation generates from."""

from __future__ import annotations

import datetime
import re
import time
from collections.abc import Callable
from dataclasses import dataclass

from bot.changes.change import Change
from bot.findings import Finding, Severity, blocker, note, warning
from bot.settings import Settings
from bot.verification.dependencies import look_up
from bot.verification.evidence import Evidence
from sandbox.docker import DockerEngine
from sandbox.environment import Workshop, prepare, rebuild
from sandbox.environment_image import Environment
from sandbox.errors import BuildFailed, EngineUnavailable, EnvironmentFailed, ImageUnavailable, UnknownPackage
from sandbox.plan import Plan
from sandbox.toolchains.python.rules import top_module
from sandbox.toolchains.registry import toolchain_of

Say = Callable[[str], None]
LONGEST_S = 1500.0


def today() -> datetime.date:
    """Today, UTC."""
    return datetime.datetime.now(datetime.UTC).date()


def tree_root(repository: str) -> str:
    """Where the tree stands in every box of a repository."""
    name = re.sub(r"[^A-Za-z0-9_.-]", "-", repository.rsplit("/", 1)[-1]).strip(".-") or "repository"
    return f"/repo/{name[:60]}"


@dataclass(frozen=True)
class Prepared:
    """Both sides' environments, and what was found on the way."""

    base: Environment
    patched: Environment
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class Preparation:
    """What preparing needs to know."""

    settings: Settings
    engine: DockerEngine
    change: Change
    plan: Plan
    deadline: float
    say: Say

    @property
    def workshop(self) -> Workshop:
        """With the time that is left."""
        left = max(1.0, min(LONGEST_S, self.deadline - time.monotonic()))
        return Workshop(self.settings.data_dir, self.settings.trusted_ca(), self.settings.install_hosts, budget_s=left, disk_gb=self.settings.install_gb)

    def environments(self) -> Prepared | Evidence:
        """Both environments, or the evidence that there is none. Raises EngineUnavailable."""
        change, added = self.change, _added(self.change, self.plan)
        try:
            looked_up = look_up(added, self.plan, self.settings, today())
            if any(finding.severity is Severity.BLOCKER for finding in looked_up):
                return Evidence(findings=tuple(looked_up))
            base = self._prepare(())
            patched = base
            if added:
                self.say(f"environment with {', '.join(added)}")
                patched = self._prepare(added)
        except UnknownPackage as error:
            return Evidence(findings=(blocker("hallucinated_dependency", f"the change adds a dependency on {error.name}, which its registry does not have"),))
        except EnvironmentFailed as error:
            if time.monotonic() >= self.deadline:
                return Evidence(deadline=True)
            return Evidence(environment_failed=f"{error}\ntried: {'; '.join(error.tried)}\n{error.tail}")
        except ImageUnavailable as error:
            raise EngineUnavailable(str(error)) from error
        more = [note("dependencies_added", f"the patched side has its own environment with {', '.join(added)}")] if added else []
        more += looked_up
        if change.build_inputs and base.generated:
            built = self._rebuilt(patched)
            if isinstance(built, Evidence):
                return built
            patched = built
        more += shadowed_modules(change, base.modules)
        if base.dropped:
            more.append(warning("requirements_dropped", f"could not be installed: {'; '.join(base.dropped[:12])}"))
        if self.plan.services_missing:
            more.append(warning("services_missing", f"CI starts beside the tests what can't be had here: {', '.join(self.plan.services_missing)}"))
        if refused := tuple(dict.fromkeys((*base.refused, *patched.refused))):
            more.append(note("hosts_refused", f"the installation asked for hosts that are not on its list: {', '.join(refused[:12])}"))
        return Prepared(base, patched, tuple(more))

    def _prepare(self, added: tuple[str, ...]) -> Environment:
        change = self.change
        return prepare(self.engine, self.workshop, self.plan, change.base_tree, tree_root(change.repository), git=change.git_files, today=today(), added=added,
                       say=self.say)

    def _rebuilt(self, base: Environment) -> Environment | Evidence:
        """The patched side's environment with its own extension modules. What base can't build this way either is no fault of the change."""
        change = self.change

        def build(patched: bool) -> Environment:
            tree = change.patched_tree if patched else change.base_tree
            return rebuild(self.engine, self.workshop, base, self.plan, tree, change.build_inputs, git=change.git_files, say=self.say)

        try:
            return build(True)
        except BuildFailed as error:
            try:
                build(False)
            except BuildFailed:
                return Evidence(environment_failed=f"the extension modules can't be built without a network\n{error}")
            return Evidence(findings=(blocker("build_failed", f"the change does not compile\n{error}", change.build_inputs),))


def _added(change: Change, plan: Plan) -> tuple[str, ...]:
    if not change.frozen:
        return ()
    return toolchain_of(plan).manifests.added(plan, change.base_tree, change.base_tree.with_changes(change.frozen))


def manifest_findings(change: Change, plan: Plan) -> list[Finding]:
    """What no run would show, since the manifests are base's."""
    changed = change.base_tree.with_changes(change.frozen)
    faults = toolchain_of(plan).manifests.faults(plan, change.base_tree, changed, change.patched_tree)
    return [blocker("needs_review", fault.detail, fault.paths) for fault in faults]


def shadowed_modules(change: Change, installed: tuple[str, ...]) -> list[Finding]:
    """New top-level modules of the source that would be imported instead of an installed distribution's."""
    own = {top_module(path) for path in change.base_tree}
    new = {path: name for path, file in change.source.items() if file is not None and (name := top_module(path)) and name not in own}
    return [blocker("tampered", f"a new top-level module shadows the installed {name}: {path}", (path,)) for path, name in new.items() if name in installed]
