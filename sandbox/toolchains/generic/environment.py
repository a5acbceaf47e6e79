"""How an environment for a test command is made: Debian with the usual tools, and the packages that CI installs."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sandbox import images
from sandbox.build_container import BuildContainer, Step
from sandbox.docker import DockerEngine
from sandbox.plan import Plan
from sandbox.results.report import TestReport
from sandbox.toolchains.generic.plan import CommandPlan, of_command
from sandbox.toolchains.protocol import Ground
from sandbox.toolchains.system_packages import install_packages
from sandbox.workspace import Tree

PACKAGES = ("cmake", "meson", "ninja-build", "autoconf", "automake", "libtool", "bats", "libgtest-dev", "libgmock-dev", "catch2",
            "check", "bc", "jq", "curl", "zip")


@dataclass
class CommandLadder:
    """One rung: packages."""

    build: BuildContainer
    plan: CommandPlan
    budget_s: float
    tried: list[str] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    variables: dict[str, str] = field(default_factory=dict)
    _started: float = field(default_factory=time.monotonic)

    def install(self) -> None:
        """What can't be had is named, and left out."""
        left = self.budget_s - (time.monotonic() - self._started)
        tried, dropped = install_packages(self.build, self.plan.packages, left)
        self.tried += tried
        self.dropped += dropped

    def added(self, lines: Sequence[str]) -> None:
        """Nothing is ever added."""

    def asked(self, names: Sequence[str]) -> None:
        """Nothing is ever asked for."""


class CommandInstaller:
    """Debian's compilers and build tools."""

    title = "Debian"
    recipe = 1

    def base(self, engine: DockerEngine) -> str:
        """With the tools that such repositories are built and tested by."""
        return images.bootstrap(engine, more=PACKAGES)

    def ground(self, engine: DockerEngine, release: str) -> Ground:
        """The base image."""
        return Ground(self.base(engine), "/bin/sh", release)

    def variables(self, plan: Plan) -> Mapping[str, str]:
        """None."""
        return {}

    def ladder(self, build: BuildContainer, plan: Plan, tree: Tree, root: str, ground: Ground, budget_s: float) -> CommandLadder:
        """The rung."""
        return CommandLadder(build, of_command(plan), budget_s)

    def needs(self, report: TestReport, plan: Plan) -> list[str]:
        """Nothing."""
        return []

    def release(self, build: BuildContainer) -> str:
        """Debian's."""
        return build.step(["cat", "/etc/debian_version"], 30).output.strip()

    def modules(self, build: BuildContainer) -> tuple[str, ...]:
        """None."""
        return ()

    def overlay(self, build: BuildContainer, root: str) -> tuple[str, bool]:
        """Each run builds for itself."""
        return "nothing is generated in the tree", False

    def rebuild(self, build: BuildContainer, root: str) -> Step:
        """Never needed: nothing is generated."""
        return build.step(["/bin/true"], 10)
