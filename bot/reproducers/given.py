"""Reproducer files that the caller hands in: a test file of the framework, or a plain script (exit status 0 passes)."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from bot.changes.change import Change
from bot.errors import BadInput
from bot.reproducers.from_tests import measure
from bot.verification.bench import Bench, limits_beside
from bot.verification.evidence import Origin, Reproducer
from bot.verification.relevance import names_added
from sandbox.box import Box, RunRequest
from sandbox.plan import Plan
from sandbox.results.report import TestReport, group_of
from sandbox.toolchains.protocol import Placed, Toolchain
from sandbox.toolchains.python.toolchain import PYTHON
from sandbox.toolchains.registry import TOOLCHAINS
from sandbox.workspace import REGULAR, File, Tree


@dataclass(frozen=True)
class GivenFile:
    """A reproducer: the name that the caller knows, its bytes, its language, and whether it is a script."""

    name: str
    data: bytes
    toolchain: Toolchain
    script: bool

    @property
    def text(self) -> str:
        """Decoded."""
        return self.data.decode("utf-8", "replace")


@dataclass(frozen=True)
class _Standing:
    """A given file in its place in the boxes."""

    given: GivenFile
    placed: Placed

    def named(self, test_id: str, tests_of: Toolchain) -> str | None:
        """An id under the caller's name, or None for one that is not of this file."""
        group, unit = tests_of.tests.unit_of(test_id)
        if group != self.placed.group or (self.placed.units is not None and unit not in self.placed.units):
            return None
        return self.given.name + test_id[len(group):]


def read_given(paths: tuple[Path, ...]) -> tuple[GivenFile, ...]:
    """Raises BadInput when a file can't be read or is in no known language."""
    found = []
    for path in paths:
        try:
            data = path.read_bytes()
        except OSError as error:
            raise BadInput(f"can't read {path}: {error.strerror}") from error
        toolchain = next((one for one in TOOLCHAINS if one.placing.reads(path.name)), PYTHON)
        try:
            script = toolchain.placing.is_script(path.name, data.decode("utf-8", "replace"))
        except ValueError as error:
            raise BadInput(f"{path} is {error}") from error
        found.append(GivenFile(path.name, data, toolchain, script))
    if len({g.name for g in found}) != len(found):
        found = [replace(g, name=f"{place}:{g.name}") for place, g in enumerate(found, 1)]
    return tuple(found)


def run_given(bench: Bench, base_suite: TestReport, files: tuple[GivenFile, ...], repeat: int) -> Reproducer:
    """Every file on both sides, `repeat` times each."""
    bench.say("the given reproducer")
    standing = tuple(_Standing(given, place_of(given, bench.plan, bench.change)) for given in files)
    extra = {s.placed.path: File(REGULAR, s.given.data) for s in standing}
    before = bench.change.base_tree.with_changes({**(bench.change.given or {}), **extra})
    after = bench.change.patched_tree.with_changes({**(bench.change.given or {}), **bench.change.merged, **extra})

    groups = tuple(dict.fromkeys(s.placed.group for s in standing if not s.given.script))

    def one(side: str, place: int, box: Box | None) -> TestReport:
        label = f"reproducer-{place}"
        if box is not None:
            return _all(bench, standing, lambda request: bench.run_in(box, side, label, request))
        watched = groups if place == 1 else ()
        return _all(bench, standing, lambda request: bench.run_watched(label, after, before, watched if request.mode != "script" else (), request, limits))

    limits = limits_beside(bench.limits, base_suite)
    with bench.box("base", before, limits) as shared:
        base = tuple(_until_a_limit(one("base", place, shared) for place in range(1, repeat + 1)))
    patched = tuple(_until_a_limit(one("patched", place, None) for place in range(1, repeat + 1)))
    names = tuple(dict.fromkeys(name for report in (*patched, *base) for name in report.results)) or tuple(g.name for g in files)
    names += tuple(g.name for g in files if not any(group_of(name) == g.name for name in names))
    checking = {g.name for g in files if g.script or bench.toolchain.tests.checks(g.text)}
    reproducer = Reproducer(
        origin=Origin.GIVEN, times=repeat, candidates=names, required=frozenset(names), given=frozenset(names),
        each=tuple(g.name for g in files), base=base, patched=patched, added_names=names_added(bench.change.lines, bench.change.source),
        asserting=frozenset(name for name in names if group_of(name) in checking),
        test_files=frozenset({g.name for g in files} | set(extra)), faults=bench.toolchain.faults)
    return _measured(bench, reproducer, standing, after)


def place_of(given: GivenFile, plan: Plan, change: Change) -> Placed:
    """Its place in the boxes, under a new random name each time. Raises BadInput where the repository has none for it."""
    try:
        return given.toolchain.placing.place(plan, change.base_tree, tuple(change.source), given.name, given.text, secrets.token_hex(6), given.script)
    except ValueError as error:
        raise BadInput(f"{given.name}: {error}") from error


def _measured(bench: Bench, reproducer: Reproducer, standing: tuple[_Standing, ...], after: Tree) -> Reproducer:
    """With the changed lines that the files run; not measured for scripts."""
    if any(s.given.script for s in standing):
        return replace(reproducer, covered=None)
    placed = replace(reproducer, candidates=tuple(_placed(name, standing) for name in reproducer.candidates),
                     base=tuple(_back(report, standing) for report in reproducer.base), patched=tuple(_back(report, standing) for report in reproducer.patched))
    measured = measure(bench, placed, after, tuple(dict.fromkeys(s.placed.group for s in standing)))
    return replace(reproducer, coverable=measured.coverable, covered=measured.covered)


def _until_a_limit(reports: Iterator[TestReport]) -> Iterator[TestReport]:
    """What runs into a limit once is not waited for again."""
    for report in reports:
        yield report
        if report.limit is not None:
            return


def _all(bench: Bench, standing: tuple[_Standing, ...], run: Callable[[RunRequest], TestReport]) -> TestReport:
    """One pass over every file, as one report under the names that the caller knows."""
    runner, tests = bench.toolchain.runner, [s for s in standing if not s.given.script]
    units = [bench.toolchain.tests.id_of(s.placed.group, unit) for s in tests if s.placed.units for unit in sorted(s.placed.units)]
    reports = [run(bench.groups_request(tuple(dict.fromkeys(s.placed.group for s in tests)), units or None))] if tests else []
    reports += [run(runner.script(bench.plan, bench.environment.root, s.placed.path, s.given.name)) for s in standing if s.given.script]
    first = reports[0]
    merged = replace(first, results={k: v for r in reports for k, v in r.results.items()},
                     uncollected={k: v for r in reports for k, v in r.uncollected.items()},
                     complete=all(r.complete for r in reports), limit=next((r.limit for r in reports if r.limit), None),
                     broken=next((r.broken for r in reports if r.broken), None), seconds=sum(r.seconds for r in reports))
    return _known(merged, standing, bench.toolchain)


def _known(report: TestReport, standing: tuple[_Standing, ...], toolchain: Toolchain) -> TestReport:
    """Random places under the caller's names."""

    def name(test_id: str) -> str:
        return next((known for s in standing if (known := s.named(test_id, toolchain)) is not None), test_id)

    def file(path: str) -> str:
        return next((s.given.name for s in standing if path == s.placed.path), path)

    results = {name(k): replace(v, id=name(k), file=file(v.file or ""), frames=tuple((file(f[0]), f[1], f[2]) for f in v.frames))
               for k, v in report.results.items()}
    uncollected = {known: text for group, text in report.uncollected.items()
                   for known in ([s.given.name for s in standing if s.placed.group == group] or [group])}
    return replace(report, results=results, uncollected=uncollected)


def _placed(name: str, standing: tuple[_Standing, ...]) -> str:
    return next((s.placed.group + name[len(s.given.name):] for s in standing if group_of(name) == s.given.name), name)


def _back(report: TestReport, standing: tuple[_Standing, ...]) -> TestReport:
    return replace(report, results={_placed(k, standing): v for k, v in report.results.items()})
