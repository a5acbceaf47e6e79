"""The words of `cargo`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sandbox.box import RunRequest
from sandbox.plan import Plan
from sandbox.results.report import TestReport
from sandbox.toolchains.rust.plan import RustPlan, of_rust
from sandbox.workspace import Tree

KEPT_TARGET, OWN_TARGET = "/opt/env/target", "/tmp/target"


class RustRunner:
    """Everything is built on every run, as the tool itself knows what is stale; groups choose the programs that are started."""

    def suite(self, plan: Plan, tree: Tree) -> RunRequest:
        """All members."""
        return self._request(of_rust(plan), ())

    def groups(self, plan: Plan, groups: Sequence[str]) -> RunRequest:
        """Some crates."""
        return self._request(of_rust(plan), tuple(groups) or ("(none)",), "--", *groups)

    def collect(self, plan: Plan, tree: Tree) -> RunRequest:
        """Compiled and listed."""
        return replace(self._request(of_rust(plan), (), "--", "--list"), collect=True)

    def script(self, plan: Plan, root: str, place: str, name: str) -> RunRequest:
        """An example of its own."""
        mine = of_rust(plan)
        settings = {**_settings(mine), "script": [place, name]}
        return replace(self._request(mine, ()), settings=settings, wanted=(name,), shown=("cargo", "run", "--example", place))

    def build_words(self, plan: Plan) -> list[str]:
        """Nothing: the tool compiles what it tests."""
        return []

    def test_words(self, plan: Plan) -> list[str]:
        """In the workspace's folder."""
        return ["cargo", "test", "--workspace", *of_rust(plan).features[0].split(), *plan.arguments]

    def again(self, plan: Plan, tree: Tree, cut: TestReport) -> RunRequest:
        """The same crates."""
        return self._request(of_rust(plan), cut.args)

    def _request(self, plan: RustPlan, args: tuple[str, ...], *shown: str) -> RunRequest:
        return RunRequest(mode="cargo", args=args, settings=_settings(plan), shown=(*self.test_words(plan), *shown))


def _settings(plan: RustPlan) -> dict[str, object]:
    return {"directory": plan.directory, "flags": list(plan.arguments), "target": [KEPT_TARGET, OWN_TARGET]}
