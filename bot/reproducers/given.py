"""Reproducer files that the caller hands in: a test file of the framework, or a plain script (exit status 0 passes)."""

from __future__ import annotations

import ast
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from bot.changes.touched import ASSERTING
from bot.errors import BadInput
from bot.reproducers.from_tests import measure
from bot.verification.bench import Bench, limits_beside
from bot.verification.evidence import Origin, Reproducer
from bot.verification.relevance import names_added
from sandbox.box import Box, RunRequest
from sandbox.results.report import TestReport
from sandbox.toolchains.python.syntax import parse_module
from sandbox.workspace import REGULAR, File


@dataclass(frozen=True)
class GivenFile:
    """A reproducer: the name that the caller knows, its bytes, whether it is a script, and its place in the boxes."""

    name: str
    data: bytes
    script: bool
    place: str


def read_given(paths: tuple[Path, ...]) -> tuple[GivenFile, ...]:
    """Raises BadInput when a file can't be read or is not Python."""
    found = []
    for path in paths:
        try:
            data = path.read_bytes()
        except OSError as error:
            raise BadInput(f"can't read {path}: {error.strerror}") from error
        module = parse_module(data.decode("utf-8", "replace"))
        if module is None:
            raise BadInput(f"{path} is not a Python file")
        script = not _has_tests(module)
        token = secrets.token_hex(6)
        name = f"run_{token}.py" if script else f"test_{token}.py"
        found.append(GivenFile(path.name, data, script, f"dualgate_{token}/{name}"))
    if len({g.name for g in found}) != len(found):
        found = [replace(g, name=f"{place}:{g.name}") for place, g in enumerate(found, 1)]
    return tuple(found)


def _has_tests(module: ast.Module) -> bool:
    for node in module.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test"):
            return True
        if isinstance(node, ast.ClassDef) and any(isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef) and n.name.startswith("test") for n in node.body):
            return True
    return False


def run_given(bench: Bench, base_suite: TestReport, files: tuple[GivenFile, ...], repeat: int) -> Reproducer:
    """Every file on both sides, `repeat` times each."""
    bench.say("the given reproducer")
    extra = {g.place: File(REGULAR, g.data) for g in files}
    before = bench.change.base_tree.with_changes({**(bench.change.given or {}), **extra})
    after = bench.change.patched_tree.with_changes({**(bench.change.given or {}), **bench.change.merged, **extra})
    def one(side: str, place: int, box: Box | None) -> TestReport:
        label = f"reproducer-{place}"
        if box is not None:
            return _all(bench, files, lambda request: bench.run_in(box, side, label, request))
        return _all(bench, files, lambda request: bench.run(side, label, after, request, limits))

    limits = limits_beside(bench.limits, base_suite)
    with bench.box("base", before, limits) as shared:
        base = tuple(_until_a_limit(one("base", place, shared) for place in range(1, repeat + 1)))
    patched = tuple(_until_a_limit(one("patched", place, None) for place in range(1, repeat + 1)))
    names = tuple(dict.fromkeys(name for report in (*patched, *base) for name in report.results)) or tuple(g.name for g in files)
    for g in files:
        if not any(name.split("::")[0] == g.name for name in names):
            names = (*names, g.name)
    checking = {g.name for g in files if g.script or ASSERTING.search(g.data.decode("utf-8", "replace"))}
    asserting = frozenset(name for name in names if name.split("::")[0] in checking)
    reproducer = Reproducer(
        origin=Origin.GIVEN, times=repeat, candidates=names, required=frozenset(names), given=frozenset(names),
        each=tuple(g.name for g in files), base=base, patched=patched,
        added_names=names_added(bench.change.lines, bench.change.source), asserting=asserting,
        test_files=frozenset({g.name for g in files} | {g.place for g in files}))
    scripts = [g for g in files if g.script]
    if scripts:
        return replace(reproducer, covered=None)
    placed = replace(reproducer, candidates=tuple(_placed(name, files) for name in names), base=tuple(_renamed(r, files, back=True) for r in base),
                     patched=tuple(_renamed(r, files, back=True) for r in patched))
    measured = measure(bench, placed, after, [g.place for g in files])
    return replace(reproducer, coverable=measured.coverable, covered=measured.covered)


def _until_a_limit(reports: Iterator[TestReport]) -> Iterator[TestReport]:
    """What runs into a limit once is not waited for again."""
    for report in reports:
        yield report
        if report.limit is not None:
            return


def _all(bench: Bench, files: tuple[GivenFile, ...], run: Callable[[RunRequest], TestReport]) -> TestReport:
    """One pass over every file, as one report under the names that the caller knows."""
    tests = tuple(g.place for g in files if not g.script)
    reports = [run(RunRequest(args=tests))] if tests else []
    for g in files:
        if g.script:
            reports.append(run(RunRequest(mode="script", args=(f"{bench.environment.root}/{g.place}",), wanted=(g.name,))))
    first = reports[0]
    merged = replace(first, results={k: v for r in reports for k, v in r.results.items()},
                     uncollected={k: v for r in reports for k, v in r.uncollected.items()},
                     complete=all(r.complete for r in reports), limit=next((r.limit for r in reports if r.limit), None),
                     broken=next((r.broken for r in reports if r.broken), None), seconds=sum(r.seconds for r in reports))
    return _renamed(merged, files)


def _placed(name: str, files: tuple[GivenFile, ...]) -> str:
    return next((g.place + name[len(g.name):] for g in files if name == g.name or name.startswith(g.name + "::")), name)


def _renamed(report: TestReport, files: tuple[GivenFile, ...], back: bool = False) -> TestReport:
    """Random places back into the caller's names, or (`back`) the reverse."""
    pairs = [(g.name, g.place) if back else (g.place, g.name) for g in files]

    def rename(text: str) -> str:
        for old, new in pairs:
            if text == old or text.startswith(old + "::"):
                return new + text[len(old):]
        return text

    results = {rename(k): replace(v, id=rename(k), file=rename(v.file or ""), frames=tuple((rename(f[0]), f[1], f[2]) for f in v.frames))
               for k, v in report.results.items()}
    return replace(report, results=results, uncollected={rename(k): v for k, v in report.uncollected.items()})

