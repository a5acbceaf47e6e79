"""Environment images: built once a key, tried out in a box, mended by what the trial shows, kept."""

from __future__ import annotations

import datetime
import fcntl
import hashlib
import json
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sandbox import images
from sandbox.box import RunRequest, open_box
from sandbox.build_container import BuildContainer, open_build
from sandbox.docker import DockerEngine
from sandbox.errors import EnvironmentFailed, ImageUnavailable, UnknownPackage
from sandbox.limits import Limits
from sandbox.plan import Plan
from sandbox.results.pytest_events import build_report
from sandbox.results.report import TestReport
from sandbox.toolchains.python.install import ENV, Ladder
from sandbox.toolchains.python.names import DISTRIBUTIONS, plugin_for_option
from sandbox.workspace import Tree, to_tar

RECIPE = 6  # raise when the way an environment is made changes
META_LABEL = "dualgate.environment"
BUILD_VARIABLES = {
    "UV_CACHE_DIR": "/tmp/uv", "UV_LINK_MODE": "copy", "UV_NO_PROGRESS": "1", "UV_PYTHON_DOWNLOADS": "never", "UV_NO_CONFIG": "1",
    "UV_HTTP_TIMEOUT": "120", "VIRTUAL_ENV": ENV, "PIP_DISABLE_PIP_VERSION_CHECK": "1",
}
GENERATED = (
    "cd {root} && find . -type f -newer /tmp/started ! -path './.git/*' ! -path '*/__pycache__/*' ! -path './build/*' ! -path './.eggs/*'"
    " | sed 's,^./,,' | sort | comm -23 - /tmp/listed > /tmp/generated;"
    " mkdir -p /opt/overlay && tar -c -T /tmp/generated | tar -x -C /opt/overlay && wc -l < /tmp/generated"
)
LISTING = (
    "import json,os,sysconfig\n"
    "p=sysconfig.get_path('purelib'); t=set()\n"
    "for d in os.listdir(p):\n"
    "    if d.endswith(('.dist-info','.egg-info','.pth','.egg-link','__pycache__')) or d.startswith('_'): continue\n"
    "    t.add(d.split('.')[0])\n"
    "print(json.dumps(sorted(t)))"
)
MODULE = re.compile(r"(?:ModuleNotFoundError|ImportError): No module named '?([\w.]+)'?")
ARGUMENTS = re.compile(r"unrecognized arguments: (.*)")
Say = Callable[[str], None]


@dataclass(frozen=True)
class Environment:
    """A ready image. `modules`: top-level names that are installed in it; `cached`: nothing had to be installed."""

    key: str
    image: str
    reference: str
    python: str
    cached: bool
    seconds: float
    root: str
    tried: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    compiled: bool = False
    plan: Plan | None = None


@dataclass(frozen=True)
class Workshop:
    """What building needs from the host: where to keep locks, the CA bundle, the time allowed."""

    data_dir: Path
    ca_bundle: Path | None = None
    budget_s: float = 1500.0

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
    total = hashlib.sha256(f"{RECIPE}\0{base}\0".encode())
    total.update(json.dumps(replace(plan, why=(), test_files=()).to_json(), sort_keys=True).encode())
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
    started = time.monotonic()
    base = images.bootstrap(engine)
    key = environment_key(plan, tree, base, (*added, root), today)
    reference = f"{images.ENVIRONMENT}:{key}"
    with workshop.one_builder(key):
        cached = _from_cache(engine, workshop, reference, key, root, plan)
        if cached:
            return cached
        tried: list[str] = []
        best: tuple[Environment, TestReport] | None = None
        for version in plan.interpreters[:3]:
            say(f"environment: Python {version}, installing")
            try:
                found = _build(engine, workshop, plan, tree, root, version, key, git, added, started, say)
            except ImageUnavailable as error:
                tried.append(f"Python {version}: {error}")
                last = EnvironmentFailed(str(error))
                continue
            except UnknownPackage:
                raise
            except EnvironmentFailed as error:
                tried += [f"Python {version}: {error}", *error.tried[-6:]]
                last = error
                continue
            if best is None or _worth(found[1]) > _worth(best[1]):
                best = found
            if _starts(found[1], plan):
                break
            tried.append(f"Python {version}: the tests do not start")
        if best is None:
            raise EnvironmentFailed(str(last), tuple(tried), last.tail)
        environment = best[0]
        _tag(engine, environment)
        images.drop_untagged(engine)
        workshop.touch(reference)
        return replace(environment, seconds=time.monotonic() - started, tried=(*tried, *environment.tried))


def _worth(report: TestReport) -> int:
    return len(report.results) - 10 * len(report.uncollected)


def _starts(report: TestReport, plan: Plan) -> bool:
    """Whether the trial collected what there is to collect, or there is nothing."""
    if report.results:
        return len(report.uncollected) <= max(1, len(plan.test_files) // 3)
    return not report.uncollected and report.status == 5 and not report.internal


def _from_cache(engine: DockerEngine, workshop: Workshop, reference: str, key: str, root: str, plan: Plan) -> Environment | None:
    image = images.image_id(engine, reference)
    if image is None:
        return None
    meta = json.loads(images.inspect(engine, reference)["Config"]["Labels"][META_LABEL])
    workshop.touch(reference)
    return Environment(
        key=key, image=image, reference=reference, python=meta["python"], cached=True, seconds=0.0, root=root, tried=tuple(meta["tried"]),
        dropped=tuple(meta["dropped"]), modules=tuple(meta["modules"]), compiled=meta["compiled"], plan=plan)


def _build(
    engine: DockerEngine, workshop: Workshop, plan: Plan, tree: Tree, root: str, version: str, key: str, git: Mapping[str, bytes],
    added: tuple[str, ...], started: float, say: Say,
) -> tuple[Environment, TestReport]:
    """Install, try the tests out, install what the trial asks for, up to three times."""
    image, python = images.with_python(engine, version)
    tmpfs = {root: "rw,exec,size=4g,mode=755", "/tmp": "rw,exec,size=6g,mode=1777"}
    variables = {**BUILD_VARIABLES, **_version_variables(plan)}
    with open_build(engine, image, tmpfs, workshop.ca_bundle, variables) as build:
        _lay_out(build, tree, root, git)
        left = workshop.budget_s - (time.monotonic() - started)
        ladder = Ladder(build, plan, root, python, version, budget_s=left)
        ladder.install()
        ladder.added(list(added))
        for _ in range(3):
            environment = _commit(build, ladder, key, version, root, plan)
            say("environment: trying the tests out")
            report = trial(engine, environment, tree, root, git)
            needs = _needs(report, plan)
            if not needs:
                break
            say(f"environment: the tests ask for {', '.join(needs)}")
            ladder.requirements("asked for by the tests", needs)
            ladder.finish()
    return environment, report


def _version_variables(plan: Plan) -> dict[str, str]:
    """For projects whose version comes from Git: the last tag's, in each tool's own word."""
    if not plan.version:
        return {}
    return {"PBR_VERSION": plan.version, "POETRY_DYNAMIC_VERSIONING_BYPASS": plan.version, "SETUPTOOLS_SCM_PRETEND_VERSION": plan.version,
            "PDM_BUILD_SCM_VERSION": plan.version}


def _lay_out(build: BuildContainer, tree: Tree, root: str, git: Mapping[str, bytes]) -> None:
    build.need(["tar", "-x", "--no-same-owner", "-C", root, "-f", "-"], 300, to_tar(tree, git))
    build.need(["/bin/sh", "-c", f"cd {root} && find . -type f | sed 's,^./,,' | sort > /tmp/listed; touch /tmp/started; sleep 0.02"], 120)


def _commit(build: BuildContainer, ladder: Ladder, key: str, version: str, root: str, plan: Plan) -> Environment:
    generated = build.need(["/bin/sh", "-c", GENERATED.format(root=root)], 120)
    compiled = build.step(["/bin/sh", "-c", "grep -qE '\\.(so|pyd)$' /tmp/generated"], 30).ok
    listing = build.step([f"{ENV}/bin/python", "-c", LISTING], 60)
    modules = json.loads(listing.output.strip().splitlines()[-1]) if listing.ok else []
    release = build.step([f"{ENV}/bin/python", "-c", "import sys;print(sys.version.split()[0])"], 30).output.strip()
    tried = [*ladder.tried, f"files that the installation generated in the tree: {generated.output.strip()}"]
    meta: dict[str, Any] = {"python": release, "tried": tried[-60:], "dropped": ladder.dropped, "modules": modules, "compiled": compiled}
    image = build.commit(images.ENVIRONMENT, key, {images.KIND_LABEL: "environment", META_LABEL: json.dumps(meta)})
    return Environment(
        key=key, image=image, reference=f"{images.ENVIRONMENT}:{key}", python=release, cached=False, seconds=0.0, root=root, tried=tuple(tried),
        dropped=tuple(ladder.dropped), modules=tuple(modules), compiled=compiled, plan=plan)


def _tag(engine: DockerEngine, environment: Environment) -> None:
    """The key names the best trial's image, whichever was kept last."""
    engine.api.tag(environment.image, images.ENVIRONMENT, environment.key, force=True)


def trial(engine: DockerEngine, environment: Environment, tree: Tree, root: str, git: Mapping[str, bytes]) -> TestReport:
    """Collect the tests in a real box, without running one."""
    plan = environment.plan
    files = plan.test_files if plan and plan.framework == "unittest" else ()
    with open_box(engine, environment.image, root, to_tar(tree, git), Limits()) as box:
        return build_report(box.run(RunRequest(args=("--collect-only", "-q", *files))), root)


def _needs(report: TestReport, plan: Plan) -> list[str]:
    """What the trial asks for by name: modules that the project's own files or the fixed list know, plugins of options."""
    text = "\n".join([*report.uncollected.values(), report.internal, report.log[-20000:]])
    wanted: list[str] = []
    for module in MODULE.findall(text):
        top = module.split(".")[0]
        name = DISTRIBUTIONS.get(top) or next((n for n in plan.known_names if n.replace("-", "_") == top.lower().replace("-", "_")), None)
        if name:
            wanted.append(name)
    for words in ARGUMENTS.findall(text):
        wanted += [plugin for word in words.split() if (plugin := plugin_for_option(word))]
    have = {line.split(": ")[1] for line in report.command if ": " in line}
    return [name for name in dict.fromkeys(wanted) if name not in have]

