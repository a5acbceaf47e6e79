"""Which runs, in what order: the suites on one lane, the reproducer on the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from bot.changes.change import Change
from bot.reproducers.from_base import run_mended_tests
from bot.reproducers.from_tests import run_change_tests
from bot.reproducers.given import GivenFile, run_given
from bot.verification.bench import Bench, limits_beside, needs_writable, now
from bot.verification.canaries import chosen_groups
from bot.verification.evidence import Evidence, Reproducer
from bot.verification.relevance import endless_elsewhere, near_files, nearest_first
from sandbox.limits import Limits
from sandbox.results.report import Outcome, TestReport, TestResult
from sandbox.toolchains.touched import Touched
from sandbox.workspace import Tree

SHARE = 0.35  # of the time left, for one side's suite: a suite that is longer is cut, and the verdict says so
RESUMES = 12
MANY = 300  # suspicious tests beyond which each is not rerun alone as well


def gather(bench: Bench, given_files: tuple[GivenFile, ...], repeat: int, share: float = SHARE) -> Evidence:
    """All runs of one plan. `share`: of the time left, for one side's suite. Raises the sandbox's errors."""
    change, tests = bench.change, bench.toolchain.tests
    base_tree = change.base_tree.with_changes(change.given or {})
    patched_tree = change.patched_tree.with_changes({**(change.given or {}), **change.merged})
    order = _order(bench, base_tree)
    bench.limits = replace(bench.limits, suite_s=min(bench.limits.suite_s, max(1.0, share * (bench.deadline - now()))))
    with ThreadPoolExecutor(2, thread_name_prefix="lane") as lanes:
        known = bench.cached_suite(base_tree, order)
        if known:
            base, bench.writable = known
            bench.say("base suite: cached")
            patched_run = lanes.submit(_patched_suite, bench, (base_tree, patched_tree), base, order)
            reproducer_run = lanes.submit(_reproducer, bench, base, given_files, repeat)
        else:
            base_run = lanes.submit(_base_suite, bench, base_tree, order)
            early = lanes.submit(_patched_suite, bench, (base_tree, patched_tree), None, order)
            base, again = base_run.result()
            usable = not again and early.result()[0].complete
            patched_run = lanes.submit(_rest_of, bench, (base_tree, patched_tree), base, early.result(), order) if usable else lanes.submit(
                _patched_suite, bench, (base_tree, patched_tree), base, order)
            reproducer_run = lanes.submit(_reproducer, bench, base, given_files, repeat)
        patched, limit = patched_run.result()
        _say_counts(bench, "patched", patched)
        touched = tests.touched(bench.plan, change.base_tree, change.tests, change.rules)
        base_again, patched_again = _again(bench, base_tree, patched_tree, base, patched)
        near = _near_the_change(bench, patched_tree, base_again, patched_again)
        own_copies = _own_copies(bench, base, patched, touched)
        reproducer = reproducer_run.result() or run_mended_tests(bench, base, patched, base_tree, patched_tree, repeat)
    limit = None if base.limit and base.limit == patched.limit else limit
    suspicious = [name for name in base.passing() if not _passes(patched, name)]
    return Evidence(
        faults=bench.toolchain.faults, base=base, patched=patched, base_again=base_again, patched_again=patched_again, near=near, reproducer=reproducer,
        own_copies=own_copies, canaries=bench.canaries() if base.results else (),
        rewritten=tests.rewritten(change.base_tree, change.source, base.passing()),
        touched=_touched_texts(bench, touched, suspicious), has_tests=_has_tests(change),
        base_limit=base.limit if base.limit not in (None, "deadline") and not base.complete else None, patched_limit=limit,
        deadline="deadline" in (base.limit, patched.limit, *(_limits(reproducer))))


def _order(bench: Bench, tree: Tree) -> tuple[str, ...]:
    """Groups of tests, those nearest to the change first."""
    return bench.toolchain.tests.groups_of(bench.plan, tree, nearest_first(bench.plan.test_files, bench.change))


def _has_tests(change: Change) -> bool:
    """Whether base has a test file that is not one of those given."""
    return any(change.rules.is_test_file(path) for path in change.base_tree if path not in (change.given or {}))


def run_base_suite(bench: Bench, tree: Tree) -> TestReport:
    """The suite on one tree alone, from the cache where it is known."""
    order = _order(bench, tree)
    known = bench.cached_suite(tree, order)
    return known[0] if known else _base_suite(bench, tree, order)[0]


def _limits(reproducer: Reproducer | None) -> list[str | None]:
    return [report.limit for report in (*reproducer.base, *reproducer.patched)] if reproducer else []


def _passes(report: TestReport, name: str) -> bool:
    result = report.results.get(name)
    return result is not None and result.passed


def _resumed(
    bench: Bench, side: str, tree: Tree, order: tuple[str, ...], report: TestReport, limits: Limits, expected: Callable[[TestResult], bool],
) -> TestReport:
    """The rest of a suite whose program died in a test where that is `expected`: one endless or fatal test costs one test."""
    for place in range(RESUMES):
        left = [name for name, r in report.results.items() if r.outcome is Outcome.MISSING]
        fatal = [r for r in report.results.values() if r.kind in ("crash", "timeout")]
        if report.broken or report.limit not in (None, "time") or not left or not fatal or not expected(fatal[-1]):
            break
        bench.say(f"{side} suite: it died in {fatal[-1].id}, going on with the {len(left)} tests behind it")
        more = bench.run(side, f"suite-resumed-{place + 1}", tree, bench.suite_request(tree, order, left), limits)
        report = replace(more, results={**report.results, **more.results}, uncollected={**report.uncollected, **more.uncollected},
                         collected=tuple(dict.fromkeys([*report.collected, *more.collected])), seconds=report.seconds + more.seconds)
    return report


def _rest_of(
    bench: Bench, trees: tuple[Tree, Tree], base: TestReport, early: tuple[TestReport, str | None], order: tuple[str, ...],
) -> tuple[TestReport, str | None]:
    """A patched suite that was begun beside base's, with what base reached in its time and this one did not."""
    report, limit = early
    left = [name for name in base.results if name not in report.results] if report.cut else []
    if not left:
        return report, limit
    more, again = _patched_suite(bench, trees, replace(base, results={name: base.results[name] for name in left}, cut=True), order)
    return replace(more, results={**report.results, **more.results}, seconds=report.seconds + more.seconds), limit or again


def _base_suite(bench: Bench, tree: Tree, order: tuple[str, ...]) -> tuple[TestReport, bool]:
    """(report, whether the tree must be writable). Run a second time where that is cheap, to see what is unstable."""
    bench.say("base suite")
    report = bench.run("base", "suite", tree, bench.suite_request(tree, order))
    if report.limit == "time" and not report.results:
        near = bench.toolchain.tests.groups_of(bench.plan, tree, near_files(nearest_first(bench.plan.test_files, bench.change), bench.change))
        bench.say(f"base suite: it does not collect in time; only {', '.join(near[:5])}")
        report = replace(bench.run("base", "suite-near", tree, bench.groups_request(near)), cut=True)
    report = _resumed(bench, "base", tree, order, report, bench.limits, lambda _: True)
    writable = False
    if needs_writable(report):
        bench.writable = True
        second = bench.run("base", "suite-writable", tree, bench.suite_request(tree, order))
        writable = len(second.passing()) > len(report.passing())
        bench.writable = writable
        report = second if writable else report
    if report.complete and report.results:
        bench.keep_suite(tree, order, report)
    _say_counts(bench, "base", report)
    return report, writable


def _say_counts(bench: Bench, side: str, report: TestReport) -> None:
    bench.say(f"{side} suite: {len(report.passing())} pass, {sum(r.failed for r in report.results.values())} fail, {report.seconds:.1f} s")


def _patched_suite(bench: Bench, trees: tuple[Tree, Tree], base: TestReport | None, order: tuple[str, ...]) -> tuple[TestReport, str | None]:
    """(report, limit that held twice). A hang or an exhausted resource is tried again in a new box, on what had no end. `trees`: base's, patched."""
    bench.say("patched suite")
    before, tree = trees
    endless = endless_elsewhere(base, near_files(nearest_first(bench.plan.test_files, bench.change), bench.change)) if base is not None else frozenset()
    wanted = tuple(name for name in base.results if name not in endless) if base is not None and (base.cut or endless) else None
    limits = limits_beside(bench.limits, base)
    request = bench.suite_request(tree, order, wanted)
    if base is not None and base.cut:
        request = replace(request, args=bench.toolchain.runner.again(bench.plan, tree, base).args)
    report = bench.run_watched("suite", tree, before, chosen_groups(order, bench.seed), request, limits)
    if base is not None:
        known = base.results
        report = _resumed(bench, "patched", tree, order, report, limits, lambda r: r.id in known and known[r.id].kind in ("crash", "timeout"))
    beside_base = base is None and not report.results  # base may not collect in time either: the run is made again when that is known
    if report.limit in (None, "deadline") or (base is not None and base.limit) or beside_base:
        return report, None
    unfinished = [name for name, r in report.results.items() if not r.passed]
    # What grows from test to test (memory, files, processes) would fit in twice, half and half.
    request = bench.suite_request(tree, order, unfinished if report.results and report.limit == "time" else wanted)
    second = bench.run("patched", "suite-again", tree, request, limits)
    if second.limit in (None, "deadline"):
        return replace(second, results={**report.results, **second.results}, seconds=report.seconds + second.seconds), None
    return report, report.limit


def _again(
    bench: Bench, base_tree: Tree, patched_tree: Tree, base: TestReport, patched: TestReport,
) -> tuple[dict[str, tuple[TestResult | None, ...]], dict[str, tuple[TestResult | None, ...]]]:
    """Base passes that do not pass now, rerun in new boxes, with their files and alone, on both sides."""
    suspicious = [name for name in base.results if base.results[name].passed and not _passes(patched, name)]
    if not suspicious or patched.limit == "deadline" or not any(name in patched.results or patched.complete for name in suspicious):
        return {}, {}
    bench.say(f"{len(suspicious)} tests differ: running them again on both sides")
    limits = limits_beside(bench.limits, base)
    sides: dict[str, list[TestReport]] = {"base": [], "patched": []}
    for side, tree in (("base", base_tree), ("patched", patched_tree)):
        groups = bench.groups_with(tree, suspicious)
        if not groups:
            continue
        sides[side].append(bench.run(side, "again-1", tree, bench.groups_request(groups), limits))
        if len(suspicious) <= MANY:
            sides[side].append(bench.run(side, "again-2", tree, bench.groups_request(groups, suspicious), limits))
    return ({name: tuple(r.results.get(name) for r in sides["base"]) for name in suspicious},
            {name: tuple(r.results.get(name) for r in sides["patched"]) for name in suspicious})


def _near_the_change(
    bench: Bench, tree: Tree, base_again: Mapping[str, tuple[TestResult | None, ...]], patched_again: Mapping[str, tuple[TestResult | None, ...]],
) -> frozenset[str]:
    """Tests that do not fail each time with the change, or not only with it, and whose files may run changed lines; unsure counts."""
    mixed = [name for name in patched_again if any(r is not None and r.passed for r in patched_again[name])
             or not all(r is not None and r.passed for r in base_again.get(name, ()))]
    lines, groups = bench.coverable(tree), bench.groups_with(tree, mixed)
    if lines is None:
        return frozenset(mixed) if any(bench.toolchain.owns(path) for path in bench.change.source) else frozenset()
    if not lines or not groups:
        return frozenset()
    report = bench.run("patched", "again-traced", tree, bench.groups_request(groups, trace=lines))
    ran = report.executed is None or any(report.executed.values())
    return frozenset(mixed) if ran else frozenset()


def _own_copies(bench: Bench, base: TestReport, patched: TestReport, touched: Mapping[str, Touched]) -> frozenset[str]:
    """Base passes that pass in the change's version of a file whose base version no longer collects: a feature that goes with its tests."""
    tree = bench.change.with_tests(patched=True)
    groups = bench.there(tree, [group for group in patched.uncollected if group in touched and group not in base.uncollected])
    if not groups:
        return frozenset()
    report = bench.run("patched", "own-copies", tree, bench.groups_request(groups))
    return frozenset(report.passing() & base.passing())


def _reproducer(bench: Bench, base: TestReport, given_files: tuple[GivenFile, ...], repeat: int) -> Reproducer | None:
    bench.say("reproducer")
    own = run_change_tests(bench, base, repeat)
    given = run_given(bench, base, given_files, repeat) if given_files else None
    found = both(given, own) if given and own else given or own
    bench.say(f"reproducer: done, {len(found.candidates) if found else 0} tests")
    return found


def both(given: Reproducer, own: Reproducer) -> Reproducer:
    """Given files prove; the change's own tests must pass beside them."""
    return replace(
        given, candidates=(*given.candidates, *own.candidates), required=given.required | own.required, given=given.given | own.given,
        base=_side_by_side(given.base, own.base), patched=_side_by_side(given.patched, own.patched), asserting=given.asserting | own.asserting,
        test_files=given.test_files | own.test_files, covered=max((n for n in (given.covered, own.covered) if n is not None), default=None),
        with_harness=own.with_harness, harness_files=own.harness_files, broken=own.broken)


def _side_by_side(one: tuple[TestReport, ...], other: tuple[TestReport, ...]) -> tuple[TestReport, ...]:
    return tuple(
        replace(a, results={**a.results, **b.results}, uncollected={**a.uncollected, **b.uncollected}, complete=a.complete and b.complete,
                limit=a.limit or b.limit, broken=a.broken or b.broken)
        for a, b in zip(one, other, strict=False))


def _touched_texts(bench: Bench, touched: Mapping[str, Touched], names: list[str]) -> dict[str, str]:
    """Suspicious base tests that the change touched -> their old and new source, for the reader."""
    texts: dict[str, str] = {}
    change, tests = bench.change, bench.toolchain.tests
    after = change.base_tree.with_changes(change.tests)
    for name in names:
        group, unit = tests.unit_of(name)
        given = change.given and any(path in change.given for path in tests.files_of(bench.plan, change.base_tree, group))
        if group not in touched or given or not touched[group].touches(unit):
            continue
        old, new = (tests.text(bench.plan, tree, group, unit) for tree in (change.base_tree, after))
        known = old is not None or new is not None
        texts[name] = f"before:\n{old or '(not found)'}\nafter:\n{new or '(deleted)'}" if known else "which of the test files it runs is not known"
    return texts
