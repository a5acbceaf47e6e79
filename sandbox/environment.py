"""Environment images: built once a key, tried out in a box, mended by what the trial shows, kept."""

from __future__ import annotations

import datetime
import fcntl
import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from sandbox import images
from sandbox.build_container import open_build
from sandbox.docker import DockerEngine
from sandbox.egress import DEFAULT_HOSTS, WayOut, open_egress
from sandbox.environment_image import Environment, keep, kept, lay_out
from sandbox.errors import BuildFailed, EnvironmentFailed, HostUnreachable, ImageUnavailable, UnknownPackage
from sandbox.plan import Plan
from sandbox.results.report import TestReport
from sandbox.toolchains.displays import PACKAGES
from sandbox.toolchains.protocol import Toolchain
from sandbox.toolchains.registry import toolchain_of
from sandbox.toolchains.system_packages import install_packages, wanted_packages
from sandbox.trial import lacks_library, starts, trial, worth
from sandbox.workspace import Tree

MOST_ASKED = 12
PAUSE_S = 10.0
Say = Callable[[str], None]


@dataclass(frozen=True)
class Workshop:
    """What building needs from the host: where to keep locks, the CA bundle, hosts beside the public registries, the time and the disk allowed."""

    data_dir: Path
    ca_bundle: Path | None = None
    hosts: tuple[str, ...] = ()
    budget_s: float = 1500.0
    disk_gb: float = 24.0

    @contextmanager
    def one_builder(self, key: str) -> Iterator[None]:
        """Two jobs that need one key build it once: a lock between processes."""
        folder = self.data_dir / "environments"
        folder.mkdir(parents=True, exist_ok=True)
        with open(folder / f"{key}.lock", "w", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def touch(self, reference: str) -> None:
        """Remember that an image was used now (labels can't change)."""
        path = self.data_dir / "environments" / "last-used.json"
        used = self.last_used()
        used[reference] = time.time()
        temporary = path.with_suffix(f".{os.getpid()}")
        temporary.write_text(json.dumps(used), encoding="utf-8")
        temporary.replace(path)

    def last_used(self) -> dict[str, float]:
        """Image reference -> seconds since 1970."""
        path = self.data_dir / "environments" / "last-used.json"
        try:
            used: dict[str, float] = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return used


def environment_key(plan: Plan, tree: Tree, base: str, added: tuple[str, ...], today: datetime.date) -> str:
    """sha256 over everything the image is made from. Undated plans change with the ISO week."""
    total = hashlib.sha256(f"{toolchain_of(plan).installer.recipe}\0{base}\0".encode())
    total.update(json.dumps(plan.of_environment().to_json(), sort_keys=True).encode())
    for path in plan.manifests:
        total.update(path.encode() + b"\0" + hashlib.sha256(tree[path].data).digest())
    total.update("\0".join(added).encode())
    if plan.exclude_newer is None:
        total.update("-".join(map(str, today.isocalendar()[:2])).encode())
    return total.hexdigest()[:24]


def prepare(
    engine: DockerEngine, workshop: Workshop, plan: Plan, tree: Tree, root: str, *, git: Mapping[str, bytes], today: datetime.date,
    added: tuple[str, ...] = (), say: Say = lambda _: None,
) -> Environment:
    """The environment of a plan: from the cache, or built, tried out and kept.

    `added`: requirements that a change adds, already looked at by the caller. Raises EnvironmentFailed, UnknownPackage, ImageUnavailable.
    """
    environment = _installed(engine, workshop, plan, tree, root, git, today, added, say)
    generated_from = toolchain_of(plan).generated_from
    inputs = tuple(generated_from(plan, tree)) if generated_from else ()
    if not inputs:
        return environment
    started = time.monotonic()
    try:
        built = rebuild(engine, workshop, environment, plan, tree, inputs, git=git, say=say)
    except BuildFailed as error:
        raise EnvironmentFailed("the build fails without a network", environment.tried, str(error)) from error
    return replace(built, cached=environment.cached and built.cached, seconds=environment.seconds + time.monotonic() - started)


def _installed(
    engine: DockerEngine, workshop: Workshop, plan: Plan, tree: Tree, root: str, git: Mapping[str, bytes], today: datetime.date,
    added: tuple[str, ...], say: Say,
) -> Environment:
    started = time.monotonic()
    base = toolchain_of(plan).installer.base(engine)
    key = environment_key(plan, tree, base, (*added, root), today)
    reference = f"{images.ENVIRONMENT}:{key}"
    with workshop.one_builder(key):
        cached = kept(engine, key, root, plan)
        if cached:
            workshop.touch(reference)
            return cached
        try:
            environment = _best(engine, workshop, plan, tree, root, key, git, added, started, say)
            engine.api.tag(environment.image, images.ENVIRONMENT, key, force=True)
        finally:
            images.drop_trials(engine)
        workshop.touch(reference)
        return replace(environment, seconds=time.monotonic() - started)


def _best(
    engine: DockerEngine, workshop: Workshop, plan: Plan, tree: Tree, root: str, key: str, git: Mapping[str, bytes], added: tuple[str, ...],
    started: float, say: Say,
) -> Environment:
    """The environment, of those with the plan's interpreters, that the tests do best in."""
    toolchain = toolchain_of(plan)
    tried: list[str] = []
    best: tuple[Environment, TestReport] | None = None
    wanted = () if toolchain.installs_packages else tuple(one.name for one in wanted_packages(tree))
    attempts: list[tuple[str, tuple[str, ...]]] = [(version, ()) for version in plan.interpreters[:3]]
    if wanted:
        attempts.append((plan.interpreters[0], wanted))  # last: most of what CI installs is for other jobs than the tests
    while attempts:
        version, packages = attempts.pop(0)
        named = f"{toolchain.installer.title} {version}" + (" with the packages of CI" if packages else "")
        say(f"environment: {named}, installing")
        try:
            found = _twice(lambda version=version, packages=packages: _build(  # type: ignore[misc]
                engine, workshop, toolchain, plan, tree, root, version, key, git, added, started, say, packages), say)
        except ImageUnavailable as error:
            tried.append(f"{named}: {error}")
            last = EnvironmentFailed(str(error))
            continue
        except UnknownPackage:
            raise
        except EnvironmentFailed as error:
            tried += [f"{named}: {error}", *error.tried[-6:]]
            last = error
            continue
        if best is None or worth(found[1]) > worth(best[1]):
            best = found
        if wanted and not packages and lacks_library(found[1]):
            attempts = [(version, wanted)]
        elif starts(found[1], plan):
            break
        tried.append(f"{named}: the tests do not start")
    if best is None:
        raise EnvironmentFailed(str(last), tuple(tried), last.tail)
    return replace(best[0], tried=(*tried, *best[0].tried))


def _twice(attempt: Callable[[], tuple[Environment, TestReport]], say: Say) -> tuple[Environment, TestReport]:
    """A registry that is away for a moment costs a pause, not a verdict. Raises what the second attempt raises."""
    try:
        return attempt()
    except HostUnreachable as error:
        say(f"environment: {error}; trying once more in {PAUSE_S:.0f} s")
        time.sleep(PAUSE_S)
        return attempt()


@contextmanager
def told(way: WayOut) -> Iterator[None]:
    """A failed installation says which hosts it was refused; where one of the list did not answer it is no fault of the repository."""
    try:
        yield
    except EnvironmentFailed as error:
        if dead := way.unreachable():
            raise HostUnreachable(f"the installation needs {', '.join(dead[:6])}, which can't be reached") from error
        error.tried += tuple(f"refused: {target} is not on the list of hosts (DUALGATE_INSTALL_HOSTS)" for target in way.refused()[:12])
        raise


def _build(
    engine: DockerEngine, workshop: Workshop, toolchain: Toolchain, plan: Plan, tree: Tree, root: str, version: str, key: str, git: Mapping[str, bytes],
    added: tuple[str, ...], started: float, say: Say, packages: tuple[str, ...] = (),
) -> tuple[Environment, TestReport]:
    """Install, try the tests out, install what the trial asks for, up to three times."""
    installer = toolchain.installer
    ground = installer.ground(engine, version)
    tmpfs = {root: "rw,exec,size=4g,mode=755", "/tmp": "rw,exec,size=6g,mode=1777"}
    variables = installer.variables(plan)
    with (
        open_egress(engine, DEFAULT_HOSTS, workshop.hosts) as way,
        open_build(engine, ground.image, tmpfs, workshop.ca_bundle, {**variables, **way.variables}, network=way.network,
                   disk_gb=workshop.disk_gb) as build,
        told(way),
    ):
        lay_out(build, tree, root, git)
        left = workshop.budget_s - (time.monotonic() - started)
        ladder = installer.ladder(build, plan, tree, root, ground, left)
        tried, dropped = install_packages(build, (*packages, *(PACKAGES if plan.display else ())), left)
        ladder.tried += tried
        ladder.dropped += dropped
        ladder.install()
        ladder.added(list(added))
        if ladder.dropped and (dead := way.unreachable()):
            raise HostUnreachable(f"{', '.join(dead[:6])} can't be reached, and without it {', '.join(ladder.dropped[:6])} would be missing")
        asked: set[str] = set()
        while True:
            environment = keep(build, installer, ladder, key, root, plan, on_trial=True, refused=way.refused())
            say("environment: trying the tests out")
            report = trial(engine, environment, plan, toolchain, tree, root, git)
            more = [name for name in installer.needs(report, plan) if name not in asked]
            if not more or len(asked) > MOST_ASKED:
                break
            say(f"environment: the tests ask for {', '.join(more)}")
            asked.update(more)
            ladder.asked(more)
    return environment, report


@dataclass
class _Rebuilt:
    """What stands for the ladder of an environment that was made from another one."""

    tried: list[str]
    dropped: list[str]
    variables: dict[str, str]


def rebuild(
    engine: DockerEngine, workshop: Workshop, base: Environment, plan: Plan, tree: Tree, inputs: tuple[str, ...], *, git: Mapping[str, bytes],
    say: Say = lambda _: None,
) -> Environment:
    """The environment of a side whose generated files (extension modules, tables, bundles) are made from other inputs: base's packages, no network.

    `inputs`: the files that differ from those of `base`. Raises BuildFailed with the last lines of the compiler.
    """
    installer = toolchain_of(plan).installer
    sources = hashlib.sha256("".join(f"{path}\0{tree[path].data!r}" for path in inputs if path in tree).encode()).hexdigest()
    key = hashlib.sha256(f"{installer.recipe}\0{base.key}\0{sources}".encode()).hexdigest()[:24]
    with workshop.one_builder(key):
        here = kept(engine, key, base.root, plan)
        if here:
            return here
        say("environment: building from the sources")
        tmpfs = {base.root: "rw,exec,size=4g,mode=755", "/tmp": "rw,exec,size=4g,mode=1777"}
        with open_build(engine, base.image, tmpfs, None, installer.variables(plan), network="none") as build:
            build.need(["rm", "-rf", "/opt/overlay"], 60)
            lay_out(build, tree, base.root, git)
            done = installer.rebuild(build, base.root)
            if not done.ok:
                raise BuildFailed("\n".join(done.output.strip().splitlines()[-30:]))
            made = _Rebuilt([*base.tried, "built from the sources: ok"], list(base.dropped), dict(base.variables))
            return keep(build, installer, made, key, base.root, plan)
