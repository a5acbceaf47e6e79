"""The words of pytest: the suite, some files, what only collects, a plain script."""

from __future__ import annotations

from collections.abc import Sequence

from sandbox.box import RunRequest
from sandbox.plan import Plan
from sandbox.results.report import TestReport
from sandbox.workspace import Tree


class PytestRunner:
    """Groups are files; unittest's are named, since pytest would not look for all of them."""

    def suite(self, plan: Plan, tree: Tree) -> RunRequest:
        """With the arguments that the repository's configuration names."""
        return RunRequest(args=(*plan.arguments, *_named(plan, tree)))

    def groups(self, plan: Plan, groups: Sequence[str]) -> RunRequest:
        """Files by path."""
        return RunRequest(args=tuple(groups))

    def collect(self, plan: Plan, tree: Tree) -> RunRequest:
        """Imported, not run."""
        return RunRequest(args=("--collect-only", "-q", *(plan.test_files if plan.framework == "unittest" else ())), collect=True)

    def script(self, plan: Plan, root: str, place: str, name: str) -> RunRequest:
        """In the environment's interpreter."""
        return RunRequest(mode="script", args=(f"{root}/{place}",), wanted=(name,))

    def build_words(self, plan: Plan) -> list[str]:
        """Nothing: the tree is imported as it stands."""
        return []

    def test_words(self, plan: Plan) -> list[str]:
        """With unittest's files by name."""
        return ["pytest", *plan.arguments, *(plan.test_files if plan.framework == "unittest" else ())]

    def again(self, plan: Plan, tree: Tree, cut: TestReport) -> RunRequest:
        """Its options, and those of its files that are there."""
        return RunRequest(args=tuple(word for word in cut.args if word in tree or not word.endswith(".py")))


def _named(plan: Plan, tree: Tree) -> tuple[str, ...]:
    return tuple(path for path in plan.test_files if path in tree) if plan.framework == "unittest" else ()
