"""The tests of Go packages, read as text."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterable, Mapping

from sandbox.plan import Plan
from sandbox.toolchains.go.plan import folder_of, of_go
from sandbox.toolchains.go.source import ASSERTING, function_lines, functions_around, read_package
from sandbox.toolchains.protocol import Changes, Rules
from sandbox.toolchains.touched import Module, Touched, affected_by_data, compare_modules
from sandbox.workspace import Tree


class GoTests:
    """A group is a package by its import path, a unit a test function."""

    def unit_of(self, test_id: str) -> tuple[str, str]:
        """(group, test function); a subtest's is its function."""
        group, _, name = test_id.partition("::")
        return group, name.split("/", 1)[0]

    def id_of(self, group: str, unit: str) -> str:
        """As the driver writes it."""
        return f"{group}::{unit}"

    def touched(self, plan: Plan, base: Tree, changes: Changes, rules: Rules) -> dict[str, Touched]:
        """Function by function over all test files of a package; data files reach the package around them, and those that name them."""
        after = base.with_changes(changes)
        groups = {folder: group for folder, _, group in of_go(plan).packages}
        data = [path for path in changes if not path.endswith("_test.go")]
        reached: dict[str, set[str]] = {}
        for path in data:
            around = _around(posixpath.dirname(path), set(groups), after)
            if around is not None:
                reached.setdefault(around, set()).add(path)
        found: dict[str, Touched] = {}
        for folder, group in groups.items():
            old, new = _module(base, folder), _module(after, folder)
            changed = any(posixpath.dirname(path) == folder for path in changes if path.endswith("_test.go"))
            touched = compare_modules(old, new) if changed else Touched()
            named = data and any(affected_by_data(after.text(path) or "", frozenset(data), stems=False) for path in _files(after, folder))
            if folder in reached or named:
                touched = touched.reaching({*new.tests, *old.tests})
            if changed or touched != Touched():
                found[group] = touched
        return found

    def exists(self, plan: Plan, tree: Tree, group: str) -> bool:
        """Whether the package has test files."""
        return bool(self.files_of(plan, tree, group))

    def files_of(self, plan: Plan, tree: Tree, group: str) -> tuple[str, ...]:
        """Those of its folder."""
        folder = folder_of(plan, group)
        return _files(tree, folder) if folder is not None else ()

    def groups_of(self, plan: Plan, tree: Tree, paths: Iterable[str]) -> tuple[str, ...]:
        """The packages of their folders."""
        groups = {folder: group for folder, _, group in of_go(plan).packages}
        folders = dict.fromkeys(posixpath.dirname(path) for path in paths if path.endswith("_test.go"))
        return tuple(groups[folder] for folder in folders if folder in groups)

    def units(self, plan: Plan, tree: Tree, group: str) -> tuple[str, ...] | None:
        """Test functions by name."""
        folder = folder_of(plan, group)
        return tuple(_module(tree, folder).tests) if folder is not None else None

    def text(self, plan: Plan, tree: Tree, group: str, unit: str) -> str | None:
        """The lines of a test function."""
        folder = folder_of(plan, group)
        found = _module(tree, folder).tests.get(unit) if folder is not None else None
        return found.text if found else None

    def asserts(self, plan: Plan, tree: Tree, test_id: str) -> bool:
        """By the words of `testing` and of the usual libraries."""
        group, unit = self.unit_of(test_id)
        text = self.text(plan, tree, group, unit)
        return text is None or self.checks(text)

    def checks(self, text: str) -> bool:
        """By the same words."""
        return bool(ASSERTING.search(text))

    def rewritten(self, base: Tree, source: Changes, passing: Iterable[str]) -> dict[str, str]:
        """None: tests are never in a file of the source."""
        return {}

    def coverable(self, lines: Mapping[str, tuple[Collection[int], Collection[int]]], tree: Tree) -> dict[str, list[int]] | None:
        """Lines of function bodies; a pure deletion counts by the function around it."""
        found = {}
        for path, (added, cuts) in lines.items():
            text = tree.text(path)
            if text is None or not path.endswith(".go"):
                continue
            inside = function_lines(text)
            wanted = {n for n in added if n in inside} | {n for cut in cuts for n in functions_around(text, cut) if n in inside}
            if wanted:
                found[path] = sorted(wanted)
        return found

    def leaves_the_process(self, text: str) -> bool:
        """By the package that does."""
        return '"os/exec"' in text


def _files(tree: Tree, folder: str) -> tuple[str, ...]:
    return tuple(sorted(path for path in tree if path.endswith("_test.go") and posixpath.dirname(path) == folder))


def _module(tree: Tree, folder: str) -> Module:
    return read_package(tree.text(path) or "" for path in _files(tree, folder))


def _around(folder: str, folders: set[str], tree: Tree) -> str | None:
    """The innermost package with tests around a folder."""
    while True:
        if folder in folders and _files(tree, folder):
            return folder
        if not folder:
            return None
        folder = posixpath.dirname(folder)
