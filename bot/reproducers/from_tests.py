"""The change's own tests, or those given as a test patch, as the reproducer."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from bot.changes.change import Change
from bot.changes.touched import Touched, asserts_something, read_module, unit_of
from bot.reproducers.repeats import repeat_both, repeat_limits
from bot.verification.bench import Bench, limits_beside
from bot.verification.evidence import Origin, Reproducer
from bot.verification.relevance import coverable_lines, names_added, touched_files
from sandbox.results.report import Outcome, TestReport
from sandbox.toolchains.python.paths import is_bytecode, is_manifest
from sandbox.workspace import Tree

CHILDREN = re.compile(r"\bsubprocess\b|\bPopen\b|\bmultiprocessing\b|\bspawn|runpytest|\bscript_runner\b|\bcheck_output\b|\bProcessPool|\bos\.(system|fork)\b")


def run_change_tests(bench: Bench, base: TestReport, repeat: int) -> Reproducer | None:
    """The reproducer from the tests that the change edits or the caller gives; None where there is none."""
    change = bench.change
    changes = {**change.tests, **(change.given or {})}
    if not changes:
        return None
    touched = touched_files(change.base_tree, changes, change.patterns)
    after = change.with_tests(patched=True)
    files = [path for path in touched if path in after]
    if not files:
        return None
    bench.say("the change's own tests")
    beside = limits_beside(bench.limits, base)
    first = bench.run("patched", "reproducer-1", after, bench.files_request(files), beside)
    before_tree = change.with_tests(patched=False)
    first_base = bench.run("base", "reproducer-1", before_tree, bench.files_request([f for f in files if f in before_tree]), beside)
    lost = _lost(first, base, change)
    names = list(dict.fromkeys([*_candidates(touched, first, first_base, base, given=change.given is not None), *lost]))
    required = frozenset(name for name in names if name in lost or _direct(touched, name, base, change))
    candidates = tuple(name for name in names if name in required or not _same_on_both(name, first, first_base))
    origin = Origin.GIVEN if change.given else Origin.PATCH_TESTS
    if not candidates:
        return None
    broken = _broken(bench, base, first, files, required)
    kept = sorted({name.split("::")[0] for name in (*candidates, *broken)})
    request, limits = bench.files_request(kept, (*candidates, *broken)), repeat_limits(bench, candidates, first)
    times = repeat - 1 if first.limit is None else min(1, repeat - 1)  # what runs into a limit twice is not waited for again
    on_base, on_patched = repeat_both(bench, before_tree, after, request, times, limits)
    beside_others = _fail_alone(candidates, first, on_patched)
    if beside_others:  # a test that needs what the others of its file leave behind is judged as the suite runs it: beside them
        on_base, on_patched = repeat_both(bench, before_tree, after, bench.files_request(files), times, beside)
    reproducer = Reproducer(
        origin=origin, beside_others=beside_others, times=repeat, candidates=candidates, required=required,
        base=(first_base, *on_base), patched=(first, *on_patched),
        given=frozenset(name for name in candidates if change.given and name.split("::")[0] in _reach(change.given, touched)),
        added_names=names_added(change.lines, change.source), asserting=frozenset(n for n in candidates if asserts_something(after, n)),
        test_files=frozenset(set(changes) | set(bench.plan.test_files)),
        broken=tuple(n for n in broken if not any((r := report.results.get(n)) is not None and r.passed for report in on_patched)))
    reproducer = _with_harness(bench, reproducer, kept)
    return measure(bench, reproducer, after, kept)


def _fail_alone(candidates: tuple[str, ...], first: TestReport, alone: tuple[TestReport, ...]) -> tuple[str, ...]:
    """Tests that pass with the change beside the others of its test files, and never alone."""
    return tuple(name for name in candidates if (r := first.results.get(name)) is not None and r.passed and alone
                 and not any((r := report.results.get(name)) is not None and r.passed for report in alone))


def _broken(bench: Bench, base: TestReport, first: TestReport, files: Sequence[str], required: frozenset[str]) -> tuple[str, ...]:
    """Base passes that the change leaves as they are and that fail beside its test files, though not beside base's: its helpers or data do that."""
    failing = [name for name in base.results if name not in required and base.results[name].passed
               and (r := first.results.get(name)) is not None and not r.passed]
    if not failing:
        return ()
    change = bench.change
    tree = change.patched_tree.with_changes({**(change.given or {}), **change.merged})
    beside_base = bench.run("reproducer", "beside-base-tests", tree, bench.files_request([path for path in files if path in tree]))
    return tuple(name for name in failing if (r := beside_base.results.get(name)) is not None and r.passed)


def _reach(given: Mapping[str, object], touched: Mapping[str, Touched]) -> set[str]:
    """Test files of the given patch, or reached by its data and helpers."""
    return set(touched) if any(not path.endswith(".py") or path not in touched for path in given) else set(given)


def _candidates(touched: Mapping[str, Touched], first: TestReport, first_base: TestReport, base: TestReport, given: bool) -> list[str]:
    """Ids that the change added, edited or reached; tests of a file that no longer collects by what its base copy held."""
    names: list[str] = []
    for name in dict.fromkeys([*first.results, *first_base.results]):
        path, unit = unit_of(name)
        what = touched.get(path)
        if what is None:
            continue
        fresh = not given and name not in base.results and (unit in what.affected or what.everything)
        if unit in what.new or unit in what.edited or what.touches(unit) or fresh:
            names.append(name)
    return names


def _lost(first: TestReport, base: TestReport, change: Change) -> list[str]:
    """Ids of tests in files of the change, or given, that the patched side can't collect: none of them may get lost without a word.

    Left out: files that base's own suite can't collect either, and those in folders of samples, which it does not enter.
    """
    names: list[str] = []
    entered = {path.rpartition("/")[0] for path in (*base.collected, *base.uncollected)}
    samples = {path.rpartition("/")[0] for path in change.base_tree if path.endswith(".py")} - entered
    after = change.with_tests(patched=True)
    for path in {**change.tests, **(change.given or {})}:
        if path not in first.uncollected or path.rpartition("/")[0] in samples or (path in change.base_tree and path in base.uncollected):
            continue
        module = read_module(after.text(path) or "")
        names += [f"{path}::{unit}" for unit in module.tests] if module.parsed else [path]
    return names


def _direct(touched: Mapping[str, Touched], name: str, base: TestReport, change: Change) -> bool:
    """Whether the test's own source is new or edited, or the id itself is new (data files that bring cases)."""
    path, unit = unit_of(name)
    what = touched[path]
    if unit in what.new or unit in what.edited:
        return True
    return change.given is None and name not in base.results


def _same_on_both(name: str, first: TestReport, first_base: TestReport) -> bool:
    """A test that was only reached and behaves alike on both sides says nothing."""
    one, other = first.results.get(name), first_base.results.get(name)
    return one is not None and other is not None and one.outcome is other.outcome


def _with_harness(bench: Bench, reproducer: Reproducer, files: Sequence[str]) -> Reproducer:
    """Where required tests do not start with base's harness files, one run with the change's: shown, never proof."""
    harness = tuple(path for path in bench.change.frozen if not is_manifest(path) and not is_bytecode(path))
    last = reproducer.patched[-1]
    failing = [name for name in reproducer.required if (r := last.results.get(name)) is None or r.outcome is Outcome.ERROR]
    if not harness or not failing:
        return reproducer
    tree = bench.change.with_tests(patched=True, harness=True)
    report = bench.run("patched", "reproducer-with-its-harness", tree, bench.files_request(files, failing))
    return replace(reproducer, with_harness=report, harness_files=harness)


def measure(bench: Bench, reproducer: Reproducer, tree: Tree, args: Sequence[str]) -> Reproducer:
    """How many changed lines the fail-to-pass tests run: one more run, traced. Not measured where tests start other processes."""
    lines = coverable_lines(bench.change.lines, tree)
    total = sum(map(len, lines.values()))
    passed = [name for name in reproducer.candidates if all((r := report.results.get(name)) is not None and r.passed for report in reproducer.patched)
              and not any((r := report.results.get(name)) is not None and r.passed for report in reproducer.base)]
    if not total or not passed:
        return replace(reproducer, coverable=total)
    alone = None if reproducer.beside_others else passed
    report = bench.run("patched", "reproducer-traced", tree, bench.files_request(args, alone, lines))
    ran = sum(len(numbers) for numbers in report.executed.values()) if report.executed is not None else None
    if ran == 0 and any(CHILDREN.search(tree.text(path) or "") for path in {name.split("::")[0] for name in passed}):
        ran = None
    return replace(reproducer, coverable=total, covered=ran)
