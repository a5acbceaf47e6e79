"""The change's own tests, or those given as a test patch, as the reproducer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from bot.reproducers.repeats import repeat_both, repeat_limits
from bot.verification.bench import Bench, limits_beside
from bot.verification.evidence import Origin, Reproducer
from bot.verification.relevance import names_added
from sandbox.results.report import Outcome, TestReport, group_of
from sandbox.toolchains.touched import Touched
from sandbox.workspace import Tree, is_bytecode


def run_change_tests(bench: Bench, base: TestReport, repeat: int) -> Reproducer | None:
    """The reproducer from the tests that the change edits or the caller gives; None where there is none."""
    change, tests, plan = bench.change, bench.toolchain.tests, bench.plan
    changes = {**change.tests, **(change.given or {})}
    if not changes:
        return None
    touched = tests.touched(plan, change.base_tree, changes, change.rules)
    after = change.with_tests(patched=True)
    groups = bench.there(after, touched)
    if not groups:
        return None
    bench.say("the change's own tests")
    beside = limits_beside(bench.limits, base)
    before_tree = change.with_tests(patched=False)
    first = bench.run_watched("reproducer-1", after, before_tree, groups, bench.groups_request(groups), beside)
    first_base = bench.run("base", "reproducer-1", before_tree, bench.groups_request(bench.there(before_tree, groups)), beside)
    lost = _lost(bench, touched, first, base)
    names = list(dict.fromkeys([*_candidates(bench, touched, first, first_base, base), *lost]))
    required = frozenset(name for name in names if name in lost or _direct(bench, touched, name, base))
    candidates = tuple(name for name in names if name in required or not _same_on_both(name, first, first_base))
    origin = Origin.GIVEN if change.given else Origin.PATCH_TESTS
    if not candidates:
        return None
    broken = _broken(bench, base, first, groups, required)
    kept = sorted({group_of(name) for name in (*candidates, *broken)})
    request, limits = bench.groups_request(kept, (*candidates, *broken)), repeat_limits(bench, candidates, first)
    times = repeat - 1 if first.limit is None else min(1, repeat - 1)  # what runs into a limit twice is not waited for again
    on_base, on_patched = repeat_both(bench, before_tree, after, request, times, limits)
    beside_others = _fail_alone(candidates, first, on_patched)
    if beside_others:  # a test that needs what the others of its file leave behind is judged as the suite runs it: beside them
        on_base, on_patched = repeat_both(bench, before_tree, after, bench.groups_request(groups), times, beside)
    reproducer = Reproducer(
        origin=origin, beside_others=beside_others, times=repeat, candidates=candidates, required=required,
        base=(first_base, *on_base), patched=(first, *on_patched),
        given=frozenset(name for name in candidates if change.given and group_of(name) in _reach(bench, after, touched)),
        added_names=names_added(change.lines, change.source), asserting=frozenset(n for n in candidates if tests.asserts(plan, after, n)),
        test_files=frozenset(set(changes) | set(plan.test_files)), faults=bench.toolchain.faults,
        fresh=frozenset(name for name in candidates if name not in base.results or _names_what_is_missing(bench, touched, name, first_base, after)),
        broken=tuple(n for n in broken if not any((r := report.results.get(n)) is not None and r.passed for report in on_patched)))
    reproducer = _with_harness(bench, reproducer, kept)
    return measure(bench, reproducer, after, kept)


def _fail_alone(candidates: tuple[str, ...], first: TestReport, alone: tuple[TestReport, ...]) -> tuple[str, ...]:
    """Tests that pass with the change beside the others of its test files, and never alone."""
    return tuple(name for name in candidates if (r := first.results.get(name)) is not None and r.passed and alone
                 and not any((r := report.results.get(name)) is not None and r.passed for report in alone))


def _names_what_is_missing(bench: Bench, touched: Mapping[str, Touched], name: str, first_base: TestReport, after: Tree) -> bool:
    """Whether an edited test itself names what its package does not compile for on base."""
    group, unit = bench.toolchain.tests.unit_of(name)
    missing = bench.toolchain.faults.missing_name(first_base.uncollected.get(group, ""))
    if missing is None or unit not in touched[group].edited:
        return False
    return missing.rsplit(".", 1)[-1] in (bench.toolchain.tests.text(bench.plan, after, group, unit) or "")


def _broken(bench: Bench, base: TestReport, first: TestReport, groups: Sequence[str], required: frozenset[str]) -> tuple[str, ...]:
    """Base passes that the change leaves as they are and that fail beside its test files, though not beside base's: its helpers or data do that."""
    failing = [name for name in base.results if name not in required and base.results[name].passed
               and (r := first.results.get(name)) is not None and not r.passed]
    if not failing:
        return ()
    change = bench.change
    tree = change.patched_tree.with_changes({**(change.given or {}), **change.merged})
    beside_base = bench.run("patched", "beside-base-tests", tree, bench.groups_request(bench.there(tree, groups)))
    return tuple(name for name in failing if (r := beside_base.results.get(name)) is not None and r.passed)


def _reach(bench: Bench, after: Tree, touched: Mapping[str, Touched]) -> set[str]:
    """Groups of the given patch, or reached by its data and helpers."""
    given = bench.change.given or {}
    if all(bench.change.rules.is_test_file(path) for path in given):
        return set(bench.toolchain.tests.groups_of(bench.plan, after, given))
    return set(touched)


def _candidates(bench: Bench, touched: Mapping[str, Touched], first: TestReport, first_base: TestReport, base: TestReport) -> list[str]:
    """Ids that the change added, edited or reached; tests of a group that no longer collects by what its base copy held."""
    names: list[str] = []
    for name in dict.fromkeys([*first.results, *first_base.results]):
        group, unit = bench.toolchain.tests.unit_of(name)
        what = touched.get(group)
        if what is None:
            continue
        fresh = bench.change.given is None and name not in base.results and (unit in what.affected or what.everything)
        if what.is_own(unit) or what.touches(unit) or fresh:
            names.append(name)
    return names


def _lost(bench: Bench, touched: Mapping[str, Touched], first: TestReport, base: TestReport) -> list[str]:
    """Ids of tests in files of the change, or given, that the patched side can't collect: none of them may get lost without a word.

    Left out: groups that base's own suite can't collect either, and those in folders of samples, which it does not enter.
    """
    change, tests, plan = bench.change, bench.toolchain.tests, bench.plan
    after, changed, names = change.with_tests(patched=True), {**change.tests, **(change.given or {})}, []
    samples = _samples(bench, base)
    for group in first.uncollected:
        files = [path for path in tests.files_of(plan, after, group) if path in changed]
        if not files or files[0].rpartition("/")[0] in samples or (group in base.uncollected and tests.exists(plan, change.base_tree, group)):
            continue
        units = tests.units(plan, after, group)
        if units is not None and bench.toolchain.faults.compiled and group in touched:
            units = tuple(unit for unit in units if unit in touched[group].new or unit in touched[group].edited) or units
        names += [tests.id_of(group, unit) for unit in units] if units is not None else [group]
    return names


def _samples(bench: Bench, base: TestReport) -> set[str]:
    """Folders of source files that base's suite does not look for tests in; where packages are compiled it enters all of them."""
    if bench.toolchain.faults.compiled:
        return set()
    entered = {group.rpartition("/")[0] for group in (*base.collected, *base.uncollected)}
    return {path.rpartition("/")[0] for path in bench.change.base_tree if bench.toolchain.owns(path)} - entered


def _direct(bench: Bench, touched: Mapping[str, Touched], name: str, base: TestReport) -> bool:
    """Whether the test's own source is new or edited, or the id itself is new (data files that bring cases)."""
    group, unit = bench.toolchain.tests.unit_of(name)
    what = touched[group]
    if what.is_own(unit):
        return True
    return bench.change.given is None and name not in base.results


def _same_on_both(name: str, first: TestReport, first_base: TestReport) -> bool:
    """A test that was only reached and behaves alike on both sides says nothing."""
    one, other = first.results.get(name), first_base.results.get(name)
    return one is not None and other is not None and one.outcome is other.outcome


def _with_harness(bench: Bench, reproducer: Reproducer, groups: Sequence[str]) -> Reproducer:
    """Where required tests do not start with base's harness files, one run with the change's: shown, never proof."""
    harness = tuple(path for path in bench.change.frozen if not bench.change.rules.is_manifest(path) and not is_bytecode(path))
    last = reproducer.patched[-1]
    failing = [name for name in reproducer.required if (r := last.results.get(name)) is None or r.outcome is Outcome.ERROR]
    if not harness or not failing:
        return reproducer
    tree = bench.change.with_tests(patched=True, harness=True)
    report = bench.run("patched", "reproducer-with-its-harness", tree, bench.groups_request(groups, failing))
    return replace(reproducer, with_harness=report, harness_files=harness)


def measure(bench: Bench, reproducer: Reproducer, tree: Tree, groups: Sequence[str]) -> Reproducer:
    """How many changed lines the fail-to-pass tests run: one more run, traced. Not measured where tests start other processes."""
    lines = bench.coverable(tree)
    if lines is None:
        return replace(reproducer, coverable=None, covered=None)
    total = sum(map(len, lines.values()))
    passed = [name for name in reproducer.candidates if all((r := report.results.get(name)) is not None and r.passed for report in reproducer.patched)
              and not any((r := report.results.get(name)) is not None and r.passed for report in reproducer.base)]
    if not total or not passed:
        return replace(reproducer, coverable=total)
    alone = None if reproducer.beside_others else passed
    report = bench.run("patched", "reproducer-traced", tree, bench.groups_request(groups, alone, lines))
    ran = sum(len(numbers) for numbers in report.executed.values()) if report.executed is not None else None
    tests = bench.toolchain.tests
    files = {path for name in passed for path in tests.files_of(bench.plan, tree, group_of(name))}
    if ran == 0 and any(tests.leaves_the_process(tree.text(path) or "") for path in files):
        ran = None
    return replace(reproducer, coverable=total, covered=ran)
