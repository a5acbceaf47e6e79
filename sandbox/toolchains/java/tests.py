"""The tests of Java classes, read as text."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable, Mapping

from sandbox.plan import Plan
from sandbox.toolchains.java.plan import SUFFIXES, group_at, of_java, places_of
from sandbox.toolchains.java.source import ASSERTING, JAVA_TEXT, bodies, holds_tests, read_class, superclasses
from sandbox.toolchains.protocol import Changes, Rules
from sandbox.toolchains.source_text import code_alone, shape, without_comments
from sandbox.toolchains.touched import Module, Touched, affected_by_data, compare_modules
from sandbox.workspace import Tree

UNIT_NAME = re.compile(r"[\w$]+")


class JavaTests:
    """A group is a class that a file is named for, below its module's folder; a unit one of its methods, `Inner::method` in a nested class."""

    def unit_of(self, test_id: str) -> tuple[str, str]:
        """(group, unit): without parameters and indices."""
        group, _, name = test_id.partition("#")
        group, *inner = group.split("$")
        match = UNIT_NAME.match(name)
        return group, "::".join([*inner, match[0] if match else ""])

    def id_of(self, group: str, unit: str) -> str:
        """As the reports write it."""
        *inner, name = unit.split("::")
        return f"{'$'.join([group, *inner])}#{name}"

    def touched(self, plan: Plan, base: Tree, changes: Changes, rules: Rules) -> dict[str, Touched]:
        """Method by method in the files of the change; helpers reach the classes that name them, data files those that name the file."""
        after = base.with_changes(changes)
        helpers = {_stem(path) for path in changes if path.endswith(SUFFIXES) and _code(base, path) != _code(after, path)}
        data = frozenset(path for path in changes if not path.endswith(SUFFIXES))
        found: dict[str, Touched] = {}
        for path in dict.fromkeys([*_test_sources(plan, base), *_test_sources(plan, after)]):
            group = group_at(plan, path)
            what = _touched(path, base, after, path in changes, helpers, data)
            if group is not None and what is not None:
                found[group] = what
        return found

    def exists(self, plan: Plan, tree: Tree, group: str) -> bool:
        """Whether its file is there."""
        return bool(self.files_of(plan, tree, group))

    def files_of(self, plan: Plan, tree: Tree, group: str) -> tuple[str, ...]:
        """The file that is named for the class."""
        return tuple(path for path in places_of(plan, group) if path in tree)[:1]

    def groups_of(self, plan: Plan, tree: Tree, paths: Iterable[str]) -> tuple[str, ...]:
        """The classes that they are named for."""
        return tuple(dict.fromkeys(group for path in paths if (group := group_at(plan, path)) is not None))

    def units(self, plan: Plan, tree: Tree, group: str) -> tuple[str, ...] | None:
        """Test methods by name; None for other languages."""
        module = self._module(plan, tree, group)
        return tuple(module.tests) if module is not None and module.parsed else None

    def text(self, plan: Plan, tree: Tree, group: str, unit: str) -> str | None:
        """The lines of a method with its annotations."""
        module = self._module(plan, tree, group)
        found = module.tests.get(unit) if module is not None else None
        return found.text if found else None

    def asserts(self, plan: Plan, tree: Tree, test_id: str) -> bool:
        """By the words of the usual libraries."""
        text = self.text(plan, tree, *self.unit_of(test_id))
        return text is None or self.checks(text)

    def checks(self, text: str) -> bool:
        """By the same words."""
        return bool(ASSERTING.search(text))

    def rewritten(self, base: Tree, source: Changes, passing: Iterable[str]) -> dict[str, str]:
        """None: tests are never in a file of the source."""
        return {}

    def coverable(self, lines: Mapping[str, tuple[Collection[int], Collection[int]]], tree: Tree) -> dict[str, list[int]] | None:
        """Lines of bodies that hold code; a pure deletion counts by the body around it. Java's alone: what other compilers make has lines of its own."""
        if not all(path.endswith(".java") for path in lines):
            return None
        found = {}
        for path, (added, cuts) in lines.items():
            text = tree.text(path)
            if text is None:
                continue
            code, spans = code_alone(text, JAVA_TEXT).split("\n"), bodies(text)
            wanted = {n for n in added if any(n in span for span in spans)}
            wanted |= {n for cut in cuts for span in spans if cut in span or cut == span.stop for n in span}
            wanted = {n for n in wanted if n <= len(code) and re.search(r"\w", code[n - 1])}
            if wanted:
                found[path] = sorted(wanted)
        return found

    def leaves_the_process(self, text: str) -> bool:
        """By the classes that do."""
        return "ProcessBuilder" in text or ".exec(" in text

    def _module(self, plan: Plan, tree: Tree, group: str) -> Module | None:
        path = next(iter(self.files_of(plan, tree, group)), None)
        return _read(tree, path) if path is not None else None


def _stem(path: str) -> str:
    return posixpath.basename(path).rsplit(".", 1)[0]


def _code(tree: Tree, path: str) -> str | None:
    """A file's text without comments; None where there is none."""
    text = tree.text(path)
    return shape(without_comments(text, JAVA_TEXT)) if text is not None else None


def _read(tree: Tree, path: str) -> Module:
    return read_class(tree.text(path) or "", _stem(path) if path.endswith(".java") else "")


def _test_sources(plan: Plan, tree: Tree) -> list[str]:
    roots = tuple(root + "/" for module in of_java(plan).modules for root in module.test_roots)
    return [path for path in tree if path.startswith(roots) and path.endswith(SUFFIXES)]


def _touched(path: str, base: Tree, after: Tree, own: bool, helpers: set[str], data: frozenset[str]) -> Touched | None:
    text = after.text(path) or base.text(path) or ""
    others = {name for name in helpers - {_stem(path)} if name in text}
    named = bool(data) and affected_by_data(text, data)
    if not (own or others or named) or not (holds_tests(text) or superclasses(text) & others):
        return None
    others = {name for name in others if re.search(rf"\b{re.escape(name)}\b", code_alone(text, JAVA_TEXT))}
    old, new = (_read(tree, path) for tree in (base, after))
    what = compare_modules(old, new, frozenset(others))
    if superclasses(text) & others:  # inherited tests stand in no file of this class
        what = Touched(what.new, what.edited, what.deleted, what.affected, everything=True)
    if named:
        what = what.reaching({*new.tests, *old.tests})
    return what if own or what != Touched() else None
