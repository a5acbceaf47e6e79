"""The same run several times: on base in one box, on the patched side each in its own."""

from __future__ import annotations

from bot.verification.bench import Bench
from sandbox.box import RunRequest
from sandbox.results.report import TestReport
from sandbox.workspace import Tree


def repeat_on_base(bench: Bench, tree: Tree, request: RunRequest, times: int) -> tuple[TestReport, ...]:
    """Fresh processes in one box."""
    if times <= 0:
        return ()
    with bench.box("reproducer", tree) as box:
        return tuple(bench.run_in(box, "reproducer", f"base-{place + 2}", request) for place in range(times))


def repeat_on_patched(bench: Bench, tree: Tree, request: RunRequest, times: int) -> tuple[TestReport, ...]:
    """Fresh boxes: what the change leaves behind can't help its next run."""
    return tuple(bench.run("reproducer", f"patched-{place + 2}", tree, request) for place in range(times))
