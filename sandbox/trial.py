"""Trying an environment out: does it collect the tests."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from sandbox.box import open_box
from sandbox.docker import DockerEngine
from sandbox.environment_image import Environment
from sandbox.plan import Plan
from sandbox.results.events import build_report
from sandbox.results.report import TestReport
from sandbox.toolchains.protocol import Toolchain
from sandbox.workspace import Tree, to_tar

TRIAL_S = 90.0
SHARED = re.compile(r"cannot open shared object file|error while loading shared libraries|Could not find library|pkg-config[^\n]*not found"
                    r"|library '[^']+' not found")


def trial(engine: DockerEngine, environment: Environment, plan: Plan, toolchain: Toolchain, tree: Tree, root: str, git: Mapping[str, bytes]) -> TestReport:
    """Collect the tests in a real box, without running one."""
    request = replace(toolchain.runner.collect(plan, tree), environment=(*environment.variables, *plan.environment))
    with open_box(engine, environment.image, root, to_tar(tree, git), replace(toolchain.room, collect_s=TRIAL_S), services=plan.services) as box:
        return build_report(box.run(request), root)


def worth(report: TestReport) -> int:
    """A rank of trials: the more that collects, the better; a group that does not counts against it."""
    return len(report.results) - 10 * len(report.uncollected)


def lacks_library(report: TestReport) -> bool:
    """Whether the trial names a shared library or a program that Debian would have."""
    return any(SHARED.search(text) for text in (*report.uncollected.values(), report.internal))


def starts(report: TestReport, plan: Plan) -> bool:
    """Whether the trial collected what there is to collect, or there is nothing."""
    if report.limit == "time" and not report.uncollected:
        return True  # slow to collect on any interpreter
    if report.results:
        return len(report.uncollected) <= max(1, len(plan.test_files) // 3)
    return not report.uncollected and report.status == 5 and not report.internal
