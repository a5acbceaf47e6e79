"""The tests of a command: by file where each file is a program of its own, else all as one."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping

from sandbox.plan import Plan
from sandbox.toolchains.generic.plan import WHOLE, Form, of_command
from sandbox.toolchains.protocol import Changes, Rules
from sandbox.toolchains.touched import Module, Touched, Unit, compare_modules
from sandbox.workspace import Tree

BATS_TEST = re.compile(r"^@test\s+(?P<quote>['\"])(?P<name>.*)(?P=quote)\s*\{\s*$")
CHECKS = re.compile(
    r"\b(assert|expect|check|require|ok|is|like|cmp_ok|is_deeply|fail|die|exit|abort|test|diff|cmp|run|grep|EXPECT_\w+|ASSERT_\w+|REQUIRE)\b|\[\s|==")


class CommandTests:
    """A group is a test file, or the whole command."""

    def unit_of(self, test_id: str) -> tuple[str, str]:
        """(group, the rest)."""
        group, _, name = test_id.partition("::")
        return group, name

    def id_of(self, group: str, unit: str) -> str:
        """As the driver writes it."""
        return f"{group}::{unit}"

    def touched(self, plan: Plan, base: Tree, changes: Changes, rules: Rules) -> dict[str, Touched]:
        """Test by test in files of bats; a file of another kind is touched as a whole, and data touch every file."""
        mine, after = of_command(plan), base.with_changes(changes)
        if mine.form is not Form.TAP_FILES:
            return {mine.group: Touched(edited=frozenset({WHOLE}), everything=True)}
        groups = [path for path in dict.fromkeys([*plan.test_files, *changes]) if _is_program(path) and (path in base or path in after)]
        if any(not _is_program(path) for path in changes):
            return {path: Touched(everything=True) for path in groups}
        return {path: _compared(base.text(path), after.text(path), path) for path in groups if path in changes}

    def exists(self, plan: Plan, tree: Tree, group: str) -> bool:
        """Whether the file is there; a command always is."""
        return of_command(plan).form is not Form.TAP_FILES or group in tree

    def files_of(self, plan: Plan, tree: Tree, group: str) -> tuple[str, ...]:
        """The file, or all test files."""
        if of_command(plan).form is not Form.TAP_FILES:
            return plan.test_files
        return (group,) if group in tree else ()

    def groups_of(self, plan: Plan, tree: Tree, paths: Iterable[str]) -> tuple[str, ...]:
        """The files themselves, or the command."""
        if of_command(plan).form is not Form.TAP_FILES:
            return (of_command(plan).group,)
        return tuple(dict.fromkeys(path for path in paths if _is_program(path)))

    def units(self, plan: Plan, tree: Tree, group: str) -> tuple[str, ...] | None:
        """Names of bats' tests; nothing else says them in its text."""
        return tuple(_bats(tree.text(group) or "").tests) if group.endswith(".bats") else None

    def text(self, plan: Plan, tree: Tree, group: str, unit: str) -> str | None:
        """The lines of a bats test, else the whole file."""
        text = tree.text(group)
        if text is None or not group.endswith(".bats"):
            return text
        found = _bats(text).tests.get(unit)
        return found.text if found else None

    def asserts(self, plan: Plan, tree: Tree, test_id: str) -> bool:
        """By the words that such files check with."""
        group, unit = self.unit_of(test_id)
        text = self.text(plan, tree, group, unit)
        return text is None or self.checks(text)

    def checks(self, text: str) -> bool:
        """By the same words."""
        return bool(CHECKS.search(text))

    def rewritten(self, base: Tree, source: Changes, passing: Iterable[str]) -> dict[str, str]:
        """None: tests are never in a file of the source."""
        return {}

    def coverable(self, lines: Mapping[str, tuple[Collection[int], Collection[int]]], tree: Tree) -> dict[str, list[int]] | None:
        """Not measured: any program may run anything."""
        return None

    def leaves_the_process(self, text: str) -> bool:
        """Always: a test file is a program."""
        return True


def _is_program(path: str) -> bool:
    return path.endswith((".t", ".bats"))


def _compared(old: str | None, new: str | None, path: str) -> Touched:
    if path.endswith(".bats"):
        return compare_modules(_bats(old or ""), _bats(new or ""))
    return Touched(everything=True)


def _bats(text: str) -> Module:
    """Tests by their names; what stands between them is shared by all."""
    module, name, lines, shared = Module(), None, [], []
    for line in text.split("\n"):
        match = BATS_TEST.match(line)
        if match:
            name, lines = match["name"], [line]
        elif name is not None:
            lines.append(line)
            if line.rstrip() == "}":
                module.tests[name] = Unit("\n".join(lines), frozenset(re.findall(r"\w+", "\n".join(lines))), "\n".join(lines))
                name = None
        else:
            shared.append(line)
    module.shared["(head)"] = Unit("\n".join(shared).strip(), frozenset(), "\n".join(shared), autouse=True)
    return module
