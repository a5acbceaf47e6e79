"""What a plan for Node holds beside the common part."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sandbox.plan import Plan


@dataclass(frozen=True)
class Suite:
    """One runner in one folder. `files`: groups (files that it runs, from the root of the tree); `patterns` and `ignored`: globs from the root that
    tell which files those are; `words`: options of its command; `named`: files as the command names them; `node`: options of Node itself."""

    folder: str
    runner: str
    files: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    node: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Build:
    """A command that makes, before the tests, what they read: its folder and its text for a shell."""

    folder: str
    command: str


@dataclass(frozen=True)
class NodePlan(Plan):
    """One installation. `manager`: npm, pnpm, yarn or berry; `manager_version`: the pinned one or a major; `lock`: its file, empty without one;
    `left_out`: development dependencies that no test needs; `compiled`: (folder of what is built, folder of its sources) pairs."""

    manager: str = "npm"
    manager_version: str = ""
    lock: str = ""
    suites: tuple[Suite, ...] = ()
    builds: tuple[Build, ...] = ()
    prebuilt: bool = False  # the builds are made once a side, beside the installation; else in each box, from the tests as well
    compiled: tuple[tuple[str, str], ...] = ()
    packages: tuple[str, ...] = ()  # folders of the packages that are installed together
    left_out: tuple[str, ...] = ()
    from_git: tuple[str, ...] = ()  # development dependencies that come from a Git host
    extra: tuple[str, ...] = ()
    in_browser: bool = False  # some tests run in a browser

    def of_environment(self) -> NodePlan:
        """Without the suites: they say what is run, not what is installed."""
        return replace(self, why=(), test_files=(), suites=(), arguments=())


def of_node(plan: Plan) -> NodePlan:
    """The plan as this toolchain's own. Raises TypeError for another's."""
    if not isinstance(plan, NodePlan):
        raise TypeError(f"not a plan for Node: {plan.toolchain}")
    return plan
