"""The tests of Python files: pytest's and unittest's, and examples in docstrings."""

from __future__ import annotations

import ast
import doctest
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress

from sandbox.plan import Plan
from sandbox.toolchains.protocol import Changes, Rules
from sandbox.toolchains.python.lines import coverable_lines
from sandbox.toolchains.python.paths import is_test_file
from sandbox.toolchains.python.syntax import parse_module
from sandbox.toolchains.python.touched import ASSERTING, asserts_something, changed_fixtures, compare, read_module, unit_of
from sandbox.toolchains.touched import Touched, Unit, affected_by_data
from sandbox.workspace import File, Tree

CHILDREN = re.compile(r"\bsubprocess\b|\bPopen\b|\bmultiprocessing\b|\bspawn|runpytest|\bscript_runner\b|\bcheck_output\b|\bProcessPool|\bos\.(system|fork)\b")


class PythonTests:
    """A group is a file, a unit `Class::test`."""

    def unit_of(self, test_id: str) -> tuple[str, str]:
        """(path, `Class::test`)."""
        return unit_of(test_id)

    def id_of(self, group: str, unit: str) -> str:
        """As pytest writes it."""
        return f"{group}::{unit}"

    def touched(self, plan: Plan, base: Tree, changes: Changes, rules: Rules) -> dict[str, Touched]:
        """By syntax trees."""
        return touched_files(base, changes, rules.is_test_file)

    def exists(self, plan: Plan, tree: Tree, group: str) -> bool:
        """Whether the file is there."""
        return group in tree

    def files_of(self, plan: Plan, tree: Tree, group: str) -> tuple[str, ...]:
        """The file itself."""
        return (group,) if group in tree else ()

    def groups_of(self, plan: Plan, tree: Tree, paths: Iterable[str]) -> tuple[str, ...]:
        """The files themselves."""
        return tuple(dict.fromkeys(path for path in paths if path.endswith(".py")))

    def units(self, plan: Plan, tree: Tree, group: str) -> tuple[str, ...] | None:
        """Tests by name."""
        module = read_module(tree.text(group) or "")
        return tuple(module.tests) if module.parsed else None

    def text(self, plan: Plan, tree: Tree, group: str, unit: str) -> str | None:
        """The lines of a test."""
        found = read_module(tree.text(group) or "").tests.get(unit)
        return found.text if found else None

    def asserts(self, plan: Plan, tree: Tree, test_id: str) -> bool:
        """By the words of pytest and unittest."""
        return asserts_something(tree, test_id)

    def checks(self, text: str) -> bool:
        """By the same words."""
        return bool(ASSERTING.search(text))

    def rewritten(self, base: Tree, source: Changes, passing: Iterable[str]) -> dict[str, str]:
        """Tests and examples of product modules."""
        return rewritten_tests(base, source, passing)

    def coverable(self, lines: Mapping[str, tuple[Collection[int], Collection[int]]], tree: Tree) -> dict[str, list[int]] | None:
        """By the statements of functions, then of modules."""
        return coverable_lines(lines, tree)

    def leaves_the_process(self, text: str) -> bool:
        """By the names of the modules that do."""
        return bool(CHILDREN.search(text))


def touched_files(base: Tree, changes: Mapping[str, File | None], is_test_file: Callable[[str], bool] = is_test_file) -> dict[str, Touched]:
    """Test file -> what these test-side changes do to its tests; files that they do not reach are left out."""
    after = base.with_changes(changes)
    helpers = {path for path in changes if path.endswith(".py")}
    data = frozenset(path for path in changes if not path.endswith(".py"))
    found: dict[str, Touched] = {}
    for path in sorted(set(base) | set(after)):
        if not (path.endswith(".py") and is_test_file(path)):
            continue
        old, new = base.text(path), after.text(path)
        elsewhere = _changed_helpers(path, new or old or "", helpers, base, after)
        if path in changes:
            touched = compare(old, new, elsewhere)
        elif elsewhere:
            touched = compare(old, old, elsewhere)
        else:
            touched = Touched()
        if data and affected_by_data(new or old or "", data):
            touched = touched.reaching(read_module(new or old or "").tests)
        if touched != Touched() or path in changes:
            found[path] = touched
    return found


def _changed_helpers(path: str, text: str, helpers: Iterable[str], base: Tree, after: Tree) -> frozenset[str]:
    """Names of fixtures and helpers of other files that changed and that this test file may use."""
    names: set[str] = set()
    for helper in helpers:
        if helper == path:
            continue
        folder, _, name = helper.rpartition("/")
        module = name.removesuffix(".py")
        in_reach = name == "conftest.py" and (not folder or path.startswith(folder + "/"))
        if name == "__init__.py":
            module = folder.rsplit("/", 1)[-1]
        if in_reach or re.search(rf"\b{re.escape(module)}\b", text):
            differ = changed_fixtures(base.text(helper), after.text(helper))
            names |= {*differ, module} if differ and name != "conftest.py" else differ
    return frozenset(names)


def rewritten_tests(base: Tree, source: Mapping[str, File | None], passing: Iterable[str]) -> dict[str, str]:
    """Base tests that live in files of the source patch, and that it edits, with what was there before: base's copy of them can't be run."""
    found: dict[str, str] = {}
    for name in passing:
        path, unit = unit_of(name)
        if path not in source:
            continue
        file = source[path]
        old, new = base.text(path) or "", file.data.decode("utf-8", "replace") if file else ""
        before, after = _unit(old, unit), _unit(new, unit)
        gone = sorted((doctest_examples(path, old) - doctest_examples(path, new)).elements()) if before is None else []
        if gone:
            found[name] = "\n".join(f">>> {source.strip()}\n{want.strip()}" for source, want in gone[:3])
        elif before is not None and (after is None or after.shape != before.shape or compare(old, new).touches(unit)):
            found[name] = before.text
    return found


def _unit(text: str, name: str) -> Unit | None:
    """A test of a module, or what a runner with patterns of its own takes for one; None for an example in a docstring."""
    module = read_module(text)
    return module.tests.get(name) or module.shared.get(name)


def doctest_examples(path: str, text: str) -> Counter[tuple[str, str]]:
    """Every example of a text, or of a module's strings, with the answer that it wants."""
    module = parse_module(text) if path.endswith(".py") else None
    strings = [node.value for node in ast.walk(module) if isinstance(node, ast.Constant) and isinstance(node.value, str)] if module else [text]
    found: Counter[tuple[str, str]] = Counter()
    for string in strings:
        if ">>>" in string:
            with suppress(ValueError):
                found.update((example.source, example.want) for example in doctest.DocTestParser().get_examples(string))
    return found
