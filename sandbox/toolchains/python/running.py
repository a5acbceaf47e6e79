"""The words of Python's runners: the suite, some files, what only collects, a plain script."""

from __future__ import annotations

from collections.abc import Sequence

from sandbox.box import RunRequest
from sandbox.plan import Plan
from sandbox.results.report import TestReport
from sandbox.toolchains.python.django import ADMIN
from sandbox.toolchains.python.plan import of_python
from sandbox.workspace import Tree


class PythonRunner:
    """Groups are files. pytest, or the script that starts Django's runner; unittest's files are named, since pytest would not look for all of them."""

    def suite(self, plan: Plan, tree: Tree) -> RunRequest:
        """With the arguments that the repository's configuration names."""
        return _django(plan, ()) or RunRequest(args=(*plan.arguments, *_named(plan, tree)))

    def groups(self, plan: Plan, groups: Sequence[str]) -> RunRequest:
        """Files by path."""
        return _django(plan, groups) or RunRequest(args=tuple(groups))

    def collect(self, plan: Plan, tree: Tree) -> RunRequest:
        """Imported, not run."""
        args = ("--collect-only", "-q", *(plan.test_files if plan.framework == "unittest" else ()))
        return _django(plan, (), collect=True) or RunRequest(args=args, collect=True)

    def script(self, plan: Plan, root: str, place: str, name: str) -> RunRequest:
        """In the environment's interpreter."""
        return RunRequest(mode="script", args=(f"{root}/{place}",), wanted=(name,))

    def build_words(self, plan: Plan) -> list[str]:
        """Nothing: the tree is imported as it stands."""
        return []

    def test_words(self, plan: Plan) -> list[str]:
        """With unittest's files by name."""
        django = _django(plan, ())
        return list(django.shown) if django else ["pytest", *plan.arguments, *(plan.test_files if plan.framework == "unittest" else ())]

    def again(self, plan: Plan, tree: Tree, cut: TestReport) -> RunRequest:
        """Its options, and those of its files that are there."""
        args = tuple(word for word in cut.args if word in tree or not word.endswith(".py"))
        return _django(plan, args) or RunRequest(args=args)


def _django(plan: Plan, files: Sequence[str], collect: bool = False) -> RunRequest | None:
    """The request where Django's runner is the plan's; no file means all of them."""
    run = of_python(plan).django
    if run is None:
        return None
    shown = ("cd", run.folder, "&&") if run.folder else ()
    script = run.script[len(run.folder) + 1:] if run.folder and run.script.startswith(run.folder + "/") else run.script
    return RunRequest(
        mode="django", args=tuple(files), collect=collect, shown=(*shown, "python", *(ADMIN.split() if run.script == ADMIN else (script,)), *run.words, *files),
        settings={"script": run.script, "folder": run.folder, "words": list(run.words)})


def _named(plan: Plan, tree: Tree) -> tuple[str, ...]:
    return tuple(path for path in plan.test_files if path in tree) if plan.framework == "unittest" else ()
