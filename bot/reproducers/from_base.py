"""Base's own tests that fail before the change and pass with it: a reproducer that the repository already had."""

from __future__ import annotations

from bot.reproducers.from_tests import measure
from bot.reproducers.repeats import repeat_both, repeat_limits
from bot.verification.bench import Bench
from bot.verification.evidence import Origin, Reproducer
from bot.verification.relevance import names_added
from sandbox.results.report import TestReport, group_of
from sandbox.workspace import Tree


def run_mended_tests(bench: Bench, base: TestReport, patched: TestReport, base_tree: Tree, patched_tree: Tree, repeat: int) -> Reproducer | None:
    """The reproducer, repeated on both sides; None where no failing test of base passes now.

    Its origin is `given`: neither the change nor anyone who wrote it had a hand in these tests.
    """
    names = tuple(name for name, r in base.results.items() if r.failed and (now := patched.results.get(name)) is not None and now.passed)
    if not names:
        return None
    bench.say(f"{len(names)} tests of base that failed pass now: running them again")
    groups, tests = sorted({group_of(name) for name in names}), bench.toolchain.tests
    request, limits = bench.groups_request(groups, names), repeat_limits(bench, names, patched)
    on_base, on_patched = repeat_both(bench, base_tree, patched_tree, request, repeat - 1, limits)
    reproducer = Reproducer(
        origin=Origin.GIVEN, times=repeat, candidates=names, required=frozenset(), base=(base, *on_base), patched=(patched, *on_patched),
        added_names=names_added(bench.change.lines, bench.change.source),
        asserting=frozenset(name for name in names if tests.asserts(bench.plan, base_tree, name)), test_files=frozenset(bench.plan.test_files),
        faults=bench.toolchain.faults)
    return measure(bench, reproducer, patched_tree, groups)
