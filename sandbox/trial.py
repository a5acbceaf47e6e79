"""Trying an environment out: does it collect the tests, and what does it ask for by name."""

from __future__ import annotations

import re
from collections.abc import Mapping

from sandbox.box import RunRequest, open_box
from sandbox.docker import DockerEngine
from sandbox.environment_image import Environment
from sandbox.limits import Limits
from sandbox.plan import Plan
from sandbox.results.pytest_events import build_report
from sandbox.results.report import TestReport
from sandbox.toolchains.python.names import DISTRIBUTIONS, plugin_for_option
from sandbox.workspace import Tree, to_tar

TRIAL_S = 90.0
MODULE = re.compile(r"(?:ModuleNotFoundError|ImportError): No module named '?([\w.]+)'?")
ARGUMENTS = re.compile(r"unrecognized arguments: (.*)")


def trial(engine: DockerEngine, environment: Environment, tree: Tree, root: str, git: Mapping[str, bytes]) -> TestReport:
    """Collect the tests in a real box, without running one."""
    plan = environment.plan
    files = plan.test_files if plan and plan.framework == "unittest" else ()
    with open_box(engine, environment.image, root, to_tar(tree, git), Limits(collect_s=TRIAL_S)) as box:
        return build_report(box.run(RunRequest(args=("--collect-only", "-q", *files))), root)


def needs(report: TestReport, plan: Plan) -> list[str]:
    """What the trial asks for by name: modules that the project's own files or the fixed list know, plugins of options."""
    text = "\n".join([*report.uncollected.values(), report.internal, report.log[-20000:]])
    wanted: list[str] = []
    for module in MODULE.findall(text):
        top = module.split(".")[0]
        name = DISTRIBUTIONS.get(top) or next((n for n in plan.known_names if n.replace("-", "_") == top.lower().replace("-", "_")), None)
        if name:
            wanted.append(name)
    for words in ARGUMENTS.findall(text):
        wanted += [plugin for word in words.split() if (plugin := plugin_for_option(word))]
    return list(dict.fromkeys(wanted))



def worth(report: TestReport) -> int:
    """A rank of trials: the more that collects, the better; a file that does not counts against it."""
    return len(report.results) - 10 * len(report.uncollected)


def starts(report: TestReport, plan: Plan) -> bool:
    """Whether the trial collected what there is to collect, or there is nothing."""
    if report.limit == "time" and not report.uncollected:
        return True  # slow to collect on any interpreter
    if report.results:
        return len(report.uncollected) <= max(1, len(plan.test_files) // 3)
    return not report.uncollected and report.status == 5 and not report.internal
