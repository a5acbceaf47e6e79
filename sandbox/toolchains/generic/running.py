"""The words of a test command."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sandbox.box import RunRequest
from sandbox.plan import Plan
from sandbox.results.report import TestReport
from sandbox.toolchains.generic.plan import WHOLE, CommandPlan, Form, of_command
from sandbox.workspace import Tree


class CommandRunner:
    """Files where each is a program of its own, else all as one."""

    def suite(self, plan: Plan, tree: Tree) -> RunRequest:
        """Everything."""
        mine = of_command(plan)
        files = tuple(path for path in mine.test_files if path in tree) if mine.form is Form.TAP_FILES else ()
        return self._request(mine, files, mine.test)

    def groups(self, plan: Plan, groups: Sequence[str]) -> RunRequest:
        """Some files; a command is always run whole."""
        mine = of_command(plan)
        files = tuple(groups) if mine.form is Form.TAP_FILES else ()
        return self._request(mine, files, " ".join((mine.test, *files)))

    def collect(self, plan: Plan, tree: Tree) -> RunRequest:
        """Built, nothing run."""
        return replace(self.suite(plan, tree), collect=True)

    def script(self, plan: Plan, root: str, place: str, name: str) -> RunRequest:
        """A program by its own first line, else the shell's."""
        mine = of_command(plan)
        return replace(self._request(mine, (), place), settings={**_settings(mine), "script": [place, name]}, wanted=(name,))

    def build_words(self, plan: Plan) -> list[str]:
        """As the plan has them."""
        return list(of_command(plan).build)

    def test_words(self, plan: Plan) -> list[str]:
        """As the plan has it."""
        return of_command(plan).test.split(" ")

    def again(self, plan: Plan, tree: Tree, cut: TestReport) -> RunRequest:
        """The same files."""
        return RunRequest(mode="command", args=cut.args)

    def _request(self, plan: CommandPlan, files: tuple[str, ...], shown: str) -> RunRequest:
        return RunRequest(mode="command", args=files, settings=_settings(plan), shown=(shown,))


def _settings(plan: CommandPlan) -> dict[str, object]:
    first = plan.test_files[0] if plan.test_files else next((choice.file for choice in plan.why if choice.file), "")
    return {"build": list(plan.build), "test": plan.test, "form": plan.form.value, "reports": list(plan.reports), "group": plan.group, "whole": WHOLE,
            "place": first, "directory": plan.directory}
