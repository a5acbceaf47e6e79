"""What a toolchain is: one value a language, each part of it a small protocol that the rest of the code asks.

A *group* is what the runner collects as one and all of a test's id before `::` (a file, a Go package); a *unit* is one test of it in the source,
without parameters and subtests.
"""

from __future__ import annotations

import datetime
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from sandbox.box import RunRequest
from sandbox.build_container import BuildContainer, Step
from sandbox.docker import DockerEngine
from sandbox.limits import Limits
from sandbox.plan import Plan
from sandbox.results.report import TestReport
from sandbox.toolchains.canaries import Planted
from sandbox.toolchains.faults import Faults, Signs
from sandbox.toolchains.touched import Touched
from sandbox.workspace import File, Tree

Changes = Mapping[str, File | None]
ROOM = Limits()


@dataclass(frozen=True)
class Divided:
    """A changed file that holds source and tests. `source`: the change's source with base's tests; `tests`: base's source with the change's tests;
    `lines`: those of the changed file that are tests."""

    source: File
    tests: File
    lines: frozenset[int]


@dataclass(frozen=True)
class Sight:
    """What a plan is made from beside the tree.

    `version`: the last tag's, for projects that ask Git for theirs. `before`: base, where the tree holds a change's tests as well: its test files
    belong to the suite whatever the change does to them. `changed`: paths of the change, where there are more parts than can be run.
    """

    commit_date: datetime.date
    today: datetime.date
    version: str | None = None
    before: Tree | None = None
    changed: frozenset[str] = frozenset()


class Rules(Protocol):
    """What a path is in one repository. `base` has told which patterns and folders are its own."""

    def is_test_file(self, path: str) -> bool:
        """Whether a runner would look for tests in this file."""
        ...

    def is_test(self, path: str) -> bool:
        """Whether a path belongs to the tests: a test file, a helper or data of theirs."""
        ...

    def test_data(self, paths: Sequence[str]) -> list[str]:
        """Those of these paths, none a test by its name, that tests read and the source does not."""
        ...

    def is_harness(self, path: str) -> bool:
        """Whether a file steers how tests are found, started or judged, or how the environment is made: base's version is used."""
        ...

    def is_manifest(self, path: str) -> bool:
        """Whether the environment is made from this file."""
        ...

    def is_prose(self, path: str) -> bool:
        """Whether no plan reads this file."""
        ...

    def shadowing(self, source: Changes, tests: Changes) -> list[tuple[str, str]]:
        """(what is wrong, path) of new files that would be loaded instead of the runner, a library or the code under test."""
        ...


class Tests(Protocol):
    """The tests of a tree, read as text."""

    def unit_of(self, test_id: str) -> tuple[str, str]:
        """(group, unit) of an id."""
        ...

    def id_of(self, group: str, unit: str) -> str:
        """The id of a unit."""
        ...

    def touched(self, plan: Plan, base: Tree, changes: Changes, rules: Rules) -> dict[str, Touched]:
        """Group -> what these test-side changes do to its tests; groups that they do not reach are left out."""
        ...

    def exists(self, plan: Plan, tree: Tree, group: str) -> bool:
        """Whether there is such a group in a tree."""
        ...

    def files_of(self, plan: Plan, tree: Tree, group: str) -> tuple[str, ...]:
        """Its test files."""
        ...

    def groups_of(self, plan: Plan, tree: Tree, paths: Iterable[str]) -> tuple[str, ...]:
        """The groups that test files belong to, in the same order, each once."""
        ...

    def units(self, plan: Plan, tree: Tree, group: str) -> tuple[str, ...] | None:
        """Its units; None where its source can't be read."""
        ...

    def text(self, plan: Plan, tree: Tree, group: str, unit: str) -> str | None:
        """The source of a unit."""
        ...

    def asserts(self, plan: Plan, tree: Tree, test_id: str) -> bool:
        """Whether a test goes on to check something; unknown counts as yes."""
        ...

    def checks(self, text: str) -> bool:
        """The same of a whole file."""
        ...

    def rewritten(self, base: Tree, source: Changes, passing: Iterable[str]) -> dict[str, str]:
        """Base tests that live in files of the source patch, and that it edits, with what was there before: base's copy of them can't be run."""
        ...

    def coverable(self, lines: Mapping[str, tuple[Collection[int], Collection[int]]], tree: Tree) -> dict[str, list[int]] | None:
        """Lines that can run, of those that a change adds and those that it cuts something before ({path: (added, cuts)}); None: not measured here."""
        ...

    def leaves_the_process(self, text: str) -> bool:
        """Whether a test starts other processes, whose lines are not counted."""
        ...


class Runner(Protocol):
    """The words of the test runner."""

    def suite(self, plan: Plan, tree: Tree) -> RunRequest:
        """The whole suite as the repository configures it."""
        ...

    def groups(self, plan: Plan, groups: Sequence[str]) -> RunRequest:
        """Some groups."""
        ...

    def collect(self, plan: Plan, tree: Tree) -> RunRequest:
        """Everything found and compiled, nothing run."""
        ...

    def script(self, plan: Plan, root: str, place: str, name: str) -> RunRequest:
        """One file of the tree as a plain script, its only test named `name`."""
        ...

    def build_words(self, plan: Plan) -> list[str]:
        """What each run builds before its tests, as a person would type it."""
        ...

    def test_words(self, plan: Plan) -> list[str]:
        """The suite's command, as a person would type it."""
        ...

    def again(self, plan: Plan, tree: Tree, cut: TestReport) -> RunRequest:
        """What a suite that was cut had named, on another tree."""
        ...


@dataclass(frozen=True)
class Placed:
    """Where a given reproducer stands in the boxes: its path, its group, and its units where others share the group (None: all are its own)."""

    path: str
    group: str
    units: frozenset[str] | None = None


class Placing(Protocol):
    """Reproducer files that a caller hands in."""

    def reads(self, name: str) -> bool:
        """Whether a file of this name is this toolchain's."""
        ...

    def is_script(self, name: str, text: str) -> bool:
        """Whether it is a plain script and no test file. Raises ValueError for what is neither."""
        ...

    def place(self, plan: Plan, tree: Tree, source: Collection[str], name: str, text: str, token: str, script: bool) -> Placed:
        """A place that collides with nothing, where the runner collects it. `source`: paths that the change edits. Raises ValueError where there is none."""
        ...


class Installed(Protocol):
    """What is known of an installation. `tried` is what a person reads when it fails; `dropped` what had to be left out; `variables`: of every run."""

    tried: list[str]
    dropped: list[str]
    variables: dict[str, str]


class Ladder(Installed, Protocol):
    """An installation into one build container, rung by rung."""

    def install(self) -> None:
        """All stages. Raises EnvironmentFailed with the last lines of the real error."""
        ...

    def added(self, lines: Sequence[str]) -> None:
        """Requirements that a change adds. Raises UnknownPackage, EnvironmentFailed."""
        ...

    def asked(self, names: Sequence[str]) -> None:
        """What a trial asked for by name."""
        ...


@dataclass(frozen=True)
class Ground:
    """What an installation begins from: an image, the program of the wanted release in it, and the release."""

    image: str
    program: str
    release: str


class Installer(Protocol):
    """How an environment is made."""

    title: str  # of the language, for people
    recipe: int  # raise when the way an environment is made changes

    def base(self, engine: DockerEngine) -> str:
        """Id of the base image that environments are keyed by, made on demand. Raises ImageUnavailable."""
        ...

    def ground(self, engine: DockerEngine, release: str) -> Ground:
        """The image to begin from, made on demand. Raises ImageUnavailable."""
        ...

    def variables(self, plan: Plan) -> Mapping[str, str]:
        """Of the build container."""
        ...

    def ladder(self, build: BuildContainer, plan: Plan, tree: Tree, root: str, ground: Ground, budget_s: float) -> Ladder:
        """The installation, not yet begun."""
        ...

    def needs(self, report: TestReport, plan: Plan) -> list[str]:
        """What a trial asks for by name."""
        ...

    def release(self, build: BuildContainer) -> str:
        """The exact release that was installed."""
        ...

    def modules(self, build: BuildContainer) -> tuple[str, ...]:
        """Top-level names that installed libraries are loaded by, where a file of the tree could take their place."""
        ...

    def overlay(self, build: BuildContainer, root: str) -> tuple[str, bool]:
        """Lay what belongs into the tree of each box into /opt/overlay; (words for people, whether a change may have to make some of it anew)."""
        ...

    def rebuild(self, build: BuildContainer, root: str) -> Step:
        """Make anew what the installation generated, with no network."""
        ...


@dataclass(frozen=True)
class ManifestFault:
    """What no run would show, since the manifests are base's."""

    detail: str
    paths: tuple[str, ...]


class Manifests(Protocol):
    """What a change does to the tables of dependencies."""

    def added(self, plan: Plan, base: Tree, changed: Tree) -> tuple[str, ...]:
        """Requirements that the changed manifests add, in the words of the toolchain."""
        ...

    def faults(self, plan: Plan, base: Tree, changed: Tree, patched: Tree) -> list[ManifestFault]:
        """A manifest that can't be read, a library that is no longer declared and still used."""
        ...

    def words(self, plan: Plan) -> list[str]:
        """The installation, a line a stage, as a person would type it."""
        ...


class Detect(Protocol):
    """Reads a tree."""

    def __call__(self, tree: Tree, sight: Sight) -> Sequence[Plan]:
        """Its plans of this toolchain, none where it has nothing to do with it."""
        ...


class MakeRules(Protocol):
    """Binds the rules to a repository."""

    def __call__(self, base: Tree, after: Tree) -> Rules:
        """`after`: base with the change."""
        ...


class Divide(Protocol):
    """Tells tests from source in one file."""

    def __call__(self, before: File | None, after: File) -> Divided | None:
        """None where neither version of a source file holds tests."""
        ...


class GeneratedFrom(Protocol):
    """What the installation makes files of the tree from."""

    def __call__(self, plan: Plan, tree: Tree) -> Sequence[str]:
        """Paths beside the manifests; empty where nothing is made, or the environment's key has them."""
        ...


class Canaries(Protocol):
    """Tests of ours inside copies of real test files."""

    def plant(self, plan: Plan, tree: Tree, groups: Sequence[str], seed: str) -> Planted:
        """In the files of some groups; the same seed gives the same names and places. What can't be read is left as it is."""
        ...


class Configure(Protocol):
    """Lays the repository's own words over a plan."""

    def __call__(self, plan: Plan, given: Given, file: str) -> Plan:
        """Raises ValueError for words that make no sense here."""
        ...


@dataclass(frozen=True)
class Given:
    """A repository's own words for one plan (`plans` of dualgate.yml); None and empty where it says nothing."""

    version: str | None = None
    install: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    test: str | None = None


@dataclass(frozen=True)
class Toolchain:
    """One language: `suffixes` are those of its source files; `divide`: where tests stand in source files;
    `generated_from`: where an environment holds what is built from the sources; `room`: the limits of its boxes, where a
    repository gives none; `installs_packages`: its own ladder installs Debian packages that CI names."""

    name: str
    suffixes: tuple[str, ...]
    detect: Detect
    configure: Configure
    rules: MakeRules
    tests: Tests
    runner: Runner
    placing: Placing
    installer: Installer
    manifests: Manifests
    faults: Faults
    signs: Signs
    divide: Divide | None = None
    generated_from: GeneratedFrom | None = None
    room: Limits = ROOM
    installs_packages: bool = False
    canaries: Canaries | None = None

    def owns(self, path: str) -> bool:
        """Whether a path is source text of this language."""
        return path.endswith(self.suffixes)
