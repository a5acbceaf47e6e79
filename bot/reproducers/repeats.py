"""The same run several times: on base in one box, on the patched side each in its own."""

from __future__ import annotations

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


def repeat_on_base(bench: Bench, tree: Tree, request: RunRequest, times: int, limits: Limits) -> tuple[TestReport, ...]:
    """Fresh processes in one box."""
    if times <= 0:
        return ()
    with bench.box("reproducer", tree, limits) as box:
        return tuple(bench.run_in(box, "reproducer", f"base-{place + 2}", request) for place in range(times))


def repeat_on_patched(bench: Bench, tree: Tree, request: RunRequest, times: int, limits: Limits) -> tuple[TestReport, ...]:
    """Fresh boxes: what the change leaves behind can't help its next run."""
    return tuple(bench.run("reproducer", f"patched-{place + 2}", tree, request, limits) for place in range(times))
