"""What in the tests has to do with a change: which files, which tests, which lines."""

from __future__ import annotations

import ast
import doctest
import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress

from bot.changes.change import Change
from bot.changes.diff import ChangedLines
from bot.changes.touched import Touched, Unit, affected_by_data, changed_fixtures, compare, read_module, unit_of
from sandbox.toolchains.python.paths import is_test_file
from sandbox.toolchains.python.syntax import parse_module
from sandbox.workspace import File, Tree

FAR = 100


def touched_files(base: Tree, changes: Mapping[str, File | None], patterns: tuple[str, ...] = ()) -> dict[str, Touched]:
    """Test file -> what these test-side changes do to its tests; files that they do not reach are left out."""
    after = base.with_changes(changes)
    helpers = {path for path in changes if path.endswith(".py")}
    data = frozenset(path for path in changes if not path.endswith(".py"))
    found: dict[str, Touched] = {}
    for path in sorted(set(base) | set(after)):
        if not (path.endswith(".py") and is_test_file(path, patterns)):
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
            every = frozenset(read_module(new or old or "").tests) - touched.new - touched.edited
            touched = Touched(touched.new, touched.edited, touched.deleted, touched.affected | every, touched.everything)
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


def rewritten_tests(change: Change, passing: Iterable[str]) -> dict[str, str]:
    """Base tests that live in files of the source patch, and that it edits, with what was there before: base's copy of them can't be run."""
    found: dict[str, str] = {}
    for name in passing:
        path, unit = unit_of(name)
        if path not in change.source:
            continue
        file = change.source[path]
        old, new = change.base_tree.text(path) or "", file.data.decode("utf-8", "replace") if file else ""
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


def nearest_first(test_files: Iterable[str], change: Change) -> tuple[str, ...]:
    """Test files by nearness to the change: its own, those named like a changed module, those next to one, the rest."""
    return tuple(sorted(test_files, key=lambda path: (_distance(path, change), path)))


def near_files(ordered: tuple[str, ...], change: Change) -> tuple[str, ...]:
    """The change's own test files and those named like a changed module; where there is none, the three nearest."""
    return tuple(path for path in ordered if _distance(path, change) < FAR) or ordered[:3]


def _distance(path: str, change: Change) -> int:
    if path in change.tests or path in (change.given or {}):
        return 0
    stem = posixpath.basename(path).removesuffix(".py").removeprefix("test_").removesuffix("_test").strip("_")
    stems = {posixpath.basename(other).rsplit(".", 1)[0].strip("_") for other in change.source}
    if any(stem == s or (len(s) > 3 and (s in stem or stem in s)) for s in stems):
        return 1
    folders = {posixpath.dirname(other) for other in change.source}
    return FAR - max((len(posixpath.commonpath([folder, path])) if folder else 0 for folder in folders), default=0) + 1000


def names_added(lines: Mapping[str, ChangedLines], source: Mapping[str, File | None]) -> frozenset[str]:
    """Identifiers on the added source lines, and the module names of new files."""
    words = {word for change in lines.values() for line in change.added.values() for word in re.findall(r"[A-Za-z_]\w*", line)}
    words |= {part.removesuffix(".py") for path in source for part in path.split("/")}
    return frozenset(words)


def coverable_lines(lines: Mapping[str, ChangedLines], tree: Tree) -> dict[str, list[int]]:
    """Executable changed lines of Python source, by file: inside functions where there are such, else at module level.

    A pure deletion counts by the function around it (at module level: by the statement that follows).
    """
    found: dict[str, list[int]] = {}
    for path, change in lines.items():
        text = tree.text(path)
        if text is None or not path.endswith(".py"):
            continue
        module = parse_module(text)
        if module is None:
            continue
        inner, outer = _statement_lines(module)
        wanted = {n for n in change.added if n in inner} | {n for cut in change.cuts for n in _function_around(module, cut) if n in inner}
        if not wanted:
            wanted = {n for n in (*change.added, *change.cuts) if n in outer}
        if wanted:
            found[path] = sorted(wanted)
    return found


def _statement_lines(module: ast.Module) -> tuple[set[int], set[int]]:
    """(first lines of statements inside functions, of those outside), definitions, imports and docstrings left out."""
    inner: set[int] = set()
    outer: set[int] = set()
    skipped = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal)

    def walk(node: ast.AST, inside: bool) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
                continue
            function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            if isinstance(child, ast.stmt) and not isinstance(child, skipped):
                span = range(child.lineno, (child.end_lineno or child.lineno) + 1) if not hasattr(child, "body") else range(child.lineno, child.lineno + 1)
                (inner if inside else outer).update(span)
            if isinstance(child, ast.expr) and inside:
                inner.add(child.lineno)
            walk(child, inside or function)

    walk(module, False)
    return inner, outer


def _function_around(module: ast.Module, line: int) -> range:
    spans = [range(node.lineno, (node.end_lineno or node.lineno) + 1) for node in ast.walk(module)
             if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.lineno <= line <= (node.end_lineno or node.lineno) + 1]
    return min(spans, key=len) if spans else range(0)
