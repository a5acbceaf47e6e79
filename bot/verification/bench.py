"""Where the runs of one verification are made: one environment, new boxes, a log of each, the clock."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bot.changes.change import Change
from bot.verification.canaries import Canary, calibrated, told_apart
from sandbox import inside
from sandbox.box import Box, RunRequest, open_box
from sandbox.docker import DockerEngine
from sandbox.environment_image import Environment
from sandbox.limits import Limits
from sandbox.plan import Plan
from sandbox.results.events import build_report
from sandbox.results.report import TestReport, group_of
from sandbox.toolchains.canaries import Planted
from sandbox.toolchains.protocol import Toolchain
from sandbox.toolchains.registry import toolchain_of
from sandbox.workspace import LINK, Tree, to_tar

CACHE_FORMAT = 7
ATTESTED = 64  # files of a change that a box names by their sums
READ_ONLY = re.compile(r"[Pp]ermission denied|PermissionError|EACCES|EROFS|[Rr]ead-only file system|readonly database|unable to open database file")


@dataclass(frozen=True)
class RunRecord:
    """One line of `evidence.runs`."""

    side: str
    command: str
    exit_status: int | None
    seconds: float
    image: str
    log: str

    def to_json(self) -> dict[str, Any]:
        """The contract's shape."""
        return {"side": self.side, "command": self.command, "exit_status": self.exit_status, "seconds": round(self.seconds, 3),
                "image": self.image, "log": self.log}


@dataclass(frozen=True)
class Watched:
    """Canaries of one patched run, and where they can be tried on base."""

    canaries: tuple[Canary, ...]
    before: Tree
    groups: tuple[str, ...]


@dataclass
class Bench:
    """Makes runs and keeps their logs. Safe from several threads; at most `boxes` at a time."""

    engine: DockerEngine
    environment: Environment
    patched_environment: Environment
    plan: Plan
    change: Change
    folder: Path  # of this verification, for logs
    cache: Path
    limits: Limits
    deadline: float
    boxes: int
    say: Callable[[str], None]
    writable: bool = False
    records: list[RunRecord] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    seed: str = field(default_factory=lambda: secrets.token_hex(8))  # of the canaries' names and places
    _watched: list[Watched] = field(default_factory=list)
    _archives: dict[str, bytes] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _places: threading.Semaphore = field(init=False)

    def __post_init__(self) -> None:
        self._places = threading.Semaphore(self.boxes)

    @property
    def toolchain(self) -> Toolchain:
        """The plan's."""
        return toolchain_of(self.plan)

    def environment_of(self, side: str) -> Environment:
        """The patched side (its suite and its reproducer) has its own where the change adds dependencies or edits compiled sources."""
        return self.patched_environment if side == "patched" else self.environment

    @contextmanager
    def box(self, side: str, tree: Tree, limits: Limits | None = None) -> Iterator[Box]:
        """A new box of a side with a tree in it, when there is a place."""
        environment = self.environment_of(side)
        archive = self._archive(tree)
        room, services = limits or self.limits, self.plan.services
        with self._places, open_box(self.engine, environment.image, environment.root, archive, room, self.writable, services, self._attested(tree)) as box:
            yield box

    def _attested(self, tree: Tree) -> dict[str, str]:
        """What tells the sides apart: the changed files of a tree, by their sha256, so that base can't be taken for the patched side."""
        paths = sorted({*self.change.source, *self.change.tests} & set(tree))[:ATTESTED]
        return {path: hashlib.sha256(tree[path].data).hexdigest() for path in paths if tree[path].mode != LINK and path.isprintable()}

    def _archive(self, tree: Tree) -> bytes:
        with self._lock:
            if tree.digest not in self._archives:
                self._archives[tree.digest] = to_tar(tree, self.change.git_files)
            return self._archives[tree.digest]

    def run_in(self, box: Box, side: str, label: str, request: RunRequest) -> TestReport:
        """One run in an open box; logged under its side (base or patched), timed under it or, by its label, as the reproducer's."""
        environment = self.environment_of(side)
        run = box.run(replace(request, deadline=self.deadline, environment=(*environment.variables, *self.plan.environment)))
        report = build_report(run, environment.root)
        with self._lock:
            number = len(self.records) + 1
            log = self.folder / "logs" / f"{number:02d}-{side}-{label}.log"
            log.parent.mkdir(parents=True, exist_ok=True)
            log.write_text(run.log or "", encoding="utf-8")
            command = " ".join(request.command)
            self.records.append(RunRecord(side, command, run.status, run.seconds, environment.image, str(log)))
            phase = "reproducer" if label.startswith("reproducer") else side
            self.seconds[phase] = self.seconds.get(phase, 0.0) + run.seconds
        return report

    def run(self, side: str, label: str, tree: Tree, request: RunRequest, limits: Limits | None = None) -> TestReport:
        """One run in a box of its own."""
        with self.box(side, tree, limits) as box:
            return self.run_in(box, side, label, request)

    def run_watched(
        self, label: str, tree: Tree, before: Tree, groups: Sequence[str], request: RunRequest, limits: Limits | None = None,
    ) -> TestReport:
        """One patched run with canaries in some groups, reported without them. `before`: base's tree of the same run. Where base's own way of
        planting does not compile beside the change, the run is made again without."""
        planted = self.planted(tree, groups)
        if not planted:
            return self.run("patched", label, tree, request, limits)
        wanted = (*request.wanted, *planted.expected) if request.wanted is not None else None
        report = self.run("patched", label, tree.with_changes(planted.files), replace(request, wanted=wanted), limits)
        if any(group in report.uncollected for group in groups):
            return self.run("patched", f"{label}-plain", tree, request, limits)
        told, canaries = told_apart(report, planted)
        with self._lock:
            self._watched.append(Watched(canaries, before, tuple(groups)))
        return told

    def planted(self, tree: Tree, groups: Sequence[str]) -> Planted:
        """Canaries of this verification in some groups of a tree; none where the toolchain has none."""
        canaries = self.toolchain.canaries
        return canaries.plant(self.plan, tree, groups, self.seed) if canaries is not None else Planted()

    def canaries(self) -> tuple[Canary, ...]:
        """All of them so far; the doubtful ones are tried on base first."""
        with self._lock:
            watched = tuple(self._watched)
        return tuple(canary for one in watched for canary in self._calibrated(one))

    def _calibrated(self, watched: Watched) -> tuple[Canary, ...]:
        if all(canary.honest for canary in watched.canaries):
            return watched.canaries
        planted = self.planted(watched.before, watched.groups)
        request = self.groups_request(self.there(watched.before, watched.groups), tuple(planted.expected))
        return calibrated(watched.canaries, self.run("base", "canaries", watched.before.with_changes(planted.files), request))

    def suite_request(self, tree: Tree, order: tuple[str, ...] | None = None, wanted: Sequence[str] | None = None) -> RunRequest:
        """The whole suite as the repository configures it."""
        return replace(self.toolchain.runner.suite(self.plan, tree), order=order, wanted=tuple(wanted) if wanted is not None else None)

    def groups_request(self, groups: Sequence[str], wanted: Sequence[str] | None = None, trace: dict[str, list[int]] | None = None) -> RunRequest:
        """Some groups of tests; `wanted` narrows to exact ids."""
        return replace(self.toolchain.runner.groups(self.plan, groups), wanted=tuple(wanted) if wanted is not None else None, trace=trace)

    def there(self, tree: Tree, groups: Iterable[str]) -> list[str]:
        """Those of some groups that a tree has."""
        return [group for group in groups if self.toolchain.tests.exists(self.plan, tree, group)]

    def groups_with(self, tree: Tree, test_ids: Iterable[str]) -> list[str]:
        """Groups of some ids that a tree has, each once, by name."""
        return self.there(tree, sorted({group_of(name) for name in test_ids}))

    def coverable(self, tree: Tree) -> dict[str, list[int]] | None:
        """Changed lines that can run on the patched side, by file; None where that is not measured."""
        lines = {path: (tuple(changed.added), changed.cuts) for path, changed in self.change.lines.items() if self.toolchain.owns(path)}
        return self.toolchain.tests.coverable(lines, tree)

    def cached_suite(self, tree: Tree, order: tuple[str, ...]) -> tuple[TestReport, bool] | None:
        """(report, whether the tree had to be writable) of an earlier base suite on the same tree, environment and limits."""
        for name in (self._suite_key(tree, ()), self._suite_key(tree, order)):
            path = self.cache / f"{name}.json.gz"
            try:
                data = json.loads(gzip.decompress(path.read_bytes()))
                return TestReport.from_json(data["report"]), bool(data["writable"])
            except (OSError, ValueError, KeyError, TypeError):
                continue
        return None

    def keep_suite(self, tree: Tree, order: tuple[str, ...], report: TestReport) -> None:
        """Keep a complete base suite; one that was cut short counts only for changes with the same order."""
        self.cache.mkdir(parents=True, exist_ok=True)
        path = self.cache / f"{self._suite_key(tree, order if report.cut else ())}.json.gz"
        temporary = path.with_suffix(f".{threading.get_ident()}")
        temporary.write_bytes(gzip.compress(json.dumps({"report": report.to_json(), "writable": self.writable}).encode(), 3))
        temporary.replace(path)

    def _suite_key(self, tree: Tree, order: tuple[str, ...]) -> str:
        room = int(self.limits.suite_s // 300) if order else 0
        words = [str(CACHE_FORMAT), inside.digest(), tree.digest, self.environment.image, repr(replace(self.limits, suite_s=0)), str(room), *order]
        return hashlib.sha256("\0".join(words).encode()).hexdigest()[:32]


def needs_writable(report: TestReport) -> bool:
    """Whether tests fail because they may not write into the tree: by their words, or, where none passes, perhaps (not every library hands an error on)."""
    if not report.passing() and any(r.failed for r in report.results.values()):
        return True
    texts = [*(r.message for r in report.results.values() if r.failed), *report.uncollected.values(), report.internal]
    return any(READ_ONLY.search(text) for text in texts)


def now() -> float:
    """The clock of deadlines."""
    return time.monotonic()


def limits_beside(limits: Limits, base: TestReport | None) -> Limits:
    """Room of several times what base took: enough for a slow machine, not for a sleeper."""
    if base is None or not base.complete:
        return limits
    longest = max((r.seconds for r in base.results.values()), default=0.0)
    return replace(limits, test_s=min(limits.test_s, max(60.0, 10 * longest)), suite_s=max(4 * base.seconds + 60, 120.0),
                   collect_s=min(limits.collect_s, max(90.0, 5 * base.seconds)))
