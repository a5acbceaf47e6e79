"""The words of `gradle`."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from dataclasses import replace

from sandbox.box import RunRequest
from sandbox.plan import Plan
from sandbox.results.report import TestReport
from sandbox.toolchains.gradle.script import BOX, PLAIN, script
from sandbox.toolchains.java.plan import JavaPlan, group_at, of_java
from sandbox.workspace import Tree

KEPT_HOME, OWN_HOME, OWN_BUILD, ADDED = "/opt/env/gradle-home", "/tmp/gradle-home", "/tmp/build", "/opt/env/added.json"

NOTES, OWN_NOTES = (".gradle", ".kotlin"), "/tmp/notes"  # what is written beside a build's sources, and where it really goes


class GradleRunner:
    """Groups are classes; the driver is told all that there are, and which of them to run."""

    def suite(self, plan: Plan, tree: Tree) -> RunRequest:
        """The `test` task of every project."""
        return self._request(of_java(plan), tree, ())

    def groups(self, plan: Plan, groups: Sequence[str]) -> RunRequest:
        """Some classes."""
        words = [word for group in groups for word in ("--tests", posixpath.basename(group))]
        return self._request(of_java(plan), None, tuple(groups) or ("(none)",), *words)

    def collect(self, plan: Plan, tree: Tree) -> RunRequest:
        """Compiled."""
        return replace(self._request(of_java(plan), tree, ()), collect=True, shown=("gradle", "--offline", *plan.arguments, "testClasses"))

    def script(self, plan: Plan, root: str, place: str, name: str) -> RunRequest:
        """None: `JavaPlacing` takes no scripts."""
        raise ValueError("Gradle runs no plain programs")

    def build_words(self, plan: Plan) -> list[str]:
        """Nothing: the tool compiles what it tests."""
        return []

    def test_words(self, plan: Plan) -> list[str]:
        """In the build's folder."""
        return ["gradle", "--offline", "--continue", *plan.arguments, "test"]

    def again(self, plan: Plan, tree: Tree, cut: TestReport) -> RunRequest:
        """The same classes."""
        return self._request(of_java(plan), tree, cut.args)

    def _request(self, plan: JavaPlan, tree: Tree | None, args: tuple[str, ...], *shown: str) -> RunRequest:
        return RunRequest(mode="gradle", args=args, settings=_settings(plan, tree), shown=(*self.test_words(plan), *shown))


def _settings(plan: JavaPlan, tree: Tree | None) -> dict[str, object]:
    paths = [path for path in plan.test_files if tree is None or path in tree]
    return {
        "directory": plan.directory, "modules": [[module.folder, module.name, list(module.test_roots)] for module in plan.modules],
        "tests": [[group, path] for path in paths if (group := group_at(plan, path)) is not None], "flags": [*PLAIN, *plan.arguments],
        "home": [OWN_HOME, KEPT_HOME], "build": OWN_BUILD, "notes": [*NOTES, "build"], "added": ADDED, "script": script(BOX),
    }
