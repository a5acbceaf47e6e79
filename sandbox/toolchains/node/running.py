"""The words of the test runners."""

from __future__ import annotations

import posixpath
import shlex
from collections.abc import Sequence
from dataclasses import replace

from sandbox.box import RunRequest
from sandbox.plan import Plan
from sandbox.results.report import TestReport
from sandbox.toolchains.node.plan import NodePlan, Suite, of_node
from sandbox.workspace import Tree

SHOWN = {"node_test": ["node", "--test"], "script": ["node"], "vitest": ["vitest", "run"]}


class NodeRunner:
    """Groups are test files; the driver is told every suite, and which of their files to run."""

    def suite(self, plan: Plan, tree: Tree) -> RunRequest:
        """Every suite."""
        return self._request(of_node(plan), ())

    def groups(self, plan: Plan, groups: Sequence[str]) -> RunRequest:
        """Some files."""
        return self._request(of_node(plan), tuple(groups) or ("(none)",), *groups)

    def collect(self, plan: Plan, tree: Tree) -> RunRequest:
        """A start of the suite: most of these runners know their tests only by running them."""
        return replace(self._request(of_node(plan), ()), collect=True)

    def script(self, plan: Plan, root: str, place: str, name: str) -> RunRequest:
        """A program of its own."""
        mine = of_node(plan)
        node = next((list(suite.node) for suite in mine.suites if suite.node), [])
        return replace(self._request(mine, ()), settings={**_settings(mine), "script": [place, name], "node": node}, wanted=(name,),
                       shown=("node", place))

    def build_words(self, plan: Plan) -> list[str]:
        """The steps before the tests."""
        return [build.command if not build.folder else f"cd {build.folder} && {build.command}" for build in of_node(plan).builds]

    def test_words(self, plan: Plan) -> list[str]:
        """Of the suites, one after the other."""
        words: list[str] = []
        for suite in of_node(plan).suites:
            words += [*(["&&"] if words else []), *(["cd", suite.folder, "&&"] if suite.folder else []), *_words(suite)]
        return words

    def again(self, plan: Plan, tree: Tree, cut: TestReport) -> RunRequest:
        """The same files."""
        return self._request(of_node(plan), cut.args)

    def _request(self, plan: NodePlan, args: tuple[str, ...], *shown: str) -> RunRequest:
        suites = [suite for suite in plan.suites if not shown or any(group in suite.files for group in shown)] or list(plan.suites)
        words = [word for suite in suites[:1] for word in _words(suite)]
        return RunRequest(mode="node", args=args, settings=_settings(plan), shown=(*(words if shown else self.test_words(plan)), *shown))


def _words(suite: Suite) -> list[str]:
    return [*SHOWN.get(suite.runner, [suite.runner]), *suite.words, *map(shlex.quote, suite.named)]


def _settings(plan: NodePlan) -> dict[str, object]:
    suites = [{"folder": suite.folder, "runner": suite.runner, "files": list(suite.files), "words": list(suite.words), "node": list(suite.node),
               "environment": [list(pair) for pair in suite.environment], "named": list(suite.named)} for suite in plan.suites]
    builds = [{"folder": build.folder, "command": build.command} for build in (() if plan.prebuilt else plan.builds)]
    return {"suites": suites, "builds": builds, "directory": posixpath.normpath(plan.directory) if plan.directory else ""}
