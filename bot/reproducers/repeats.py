"""The same run several times: on base in one box, on the patched side each in its own."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from bot.verification.bench import Bench
from sandbox.box import RunRequest
from sandbox.limits import Limits
from sandbox.results.report import TestReport
from sandbox.workspace import Tree


def repeat_limits(bench: Bench, names: tuple[str, ...], passing: TestReport) -> Limits:
    """Ten times the longest of these tests where they pass, 20 s at least: a test that never ends on base is not waited for again and again."""
    longest = max((r.seconds for name in names if (r := passing.results.get(name)) is not None and r.passed), default=bench.limits.test_s)
    return replace(bench.limits, test_s=min(bench.limits.test_s, max(20.0, 10 * longest)))


def repeat_both(
    bench: Bench, before: Tree, after: Tree, request: RunRequest, times: int, limits: Limits,
) -> tuple[tuple[TestReport, ...], tuple[TestReport, ...]]:
    """(base's reports, patched ones). Base: fresh processes in one box; patched: fresh boxes, as many at a time as there are places."""
    if times <= 0:
        return (), ()
    with ThreadPoolExecutor(times + 1, thread_name_prefix="repeat") as pool:
        base = pool.submit(_on_base, bench, before, request, times, limits)
        patched = [pool.submit(bench.run, "patched", f"reproducer-{place + 2}", after, request, limits) for place in range(times)]
        return base.result(), tuple(run.result() for run in patched)


def _on_base(bench: Bench, tree: Tree, request: RunRequest, times: int, limits: Limits) -> tuple[TestReport, ...]:
    with bench.box("base", tree, limits) as box:
        return tuple(bench.run_in(box, "base", f"reproducer-{place + 2}", request) for place in range(times))
