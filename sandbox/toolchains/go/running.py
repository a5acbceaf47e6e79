"""The words of `go test`."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from dataclasses import replace

from sandbox.box import RunRequest
from sandbox.plan import Plan
from sandbox.results.report import TestReport
from sandbox.toolchains.go.plan import GoPlan, of_go
from sandbox.workspace import Tree

KEPT_CACHE, OWN_CACHE = "/opt/env/gocache", "/tmp/gocache"


class GoRunner:
    """Groups are packages; the driver is told all of the module's, and which of them to run."""

    def suite(self, plan: Plan, tree: Tree) -> RunRequest:
        """All packages."""
        return self._request(of_go(plan), (), "./...")

    def groups(self, plan: Plan, groups: Sequence[str]) -> RunRequest:
        """Some packages."""
        mine = of_go(plan)
        folders = [_inside(mine, folder) for folder, _, group in mine.packages if group in groups]
        return self._request(mine, tuple(groups) or ("(none)",), *[f"./{folder}" if folder else "." for folder in folders])

    def collect(self, plan: Plan, tree: Tree) -> RunRequest:
        """Compiled and listed."""
        return replace(self._request(of_go(plan), (), "-list", ".", "./..."), collect=True)

    def script(self, plan: Plan, root: str, place: str, name: str) -> RunRequest:
        """A main package of its own."""
        mine = of_go(plan)
        return replace(self._request(mine, (), ""), settings={**_settings(mine), "script": [place, name]}, wanted=(name,), shown=("go", "run", place))

    def build_words(self, plan: Plan) -> list[str]:
        """Nothing: the tool compiles what it tests."""
        return []

    def test_words(self, plan: Plan) -> list[str]:
        """In the module's folder."""
        return ["go", "test", *plan.arguments, "./..."]

    def again(self, plan: Plan, tree: Tree, cut: TestReport) -> RunRequest:
        """The same packages."""
        return RunRequest(mode="go", args=cut.args)

    def _request(self, plan: GoPlan, args: tuple[str, ...], *shown: str) -> RunRequest:
        return RunRequest(mode="go", args=args, settings=_settings(plan), shown=("go", "test", *plan.arguments, *shown))


def _settings(plan: GoPlan) -> dict[str, object]:
    packages = [[_inside(plan, folder) or ".", path, group] for folder, path, group in plan.packages]
    return {"directory": plan.directory, "packages": packages, "flags": list(plan.arguments), "cache": [KEPT_CACHE, OWN_CACHE]}


def _inside(plan: GoPlan, folder: str) -> str:
    return posixpath.relpath(folder or ".", plan.directory or ".").removeprefix(".") if folder != plan.directory else ""
