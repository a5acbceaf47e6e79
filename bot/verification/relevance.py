"""What in the tests has to do with a change: which files, which tests, which lines."""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Iterable, Mapping

from bot.changes.change import Change
from bot.changes.diff import ChangedLines
from bot.changes.touched import Touched, affected_by_data, changed_fixtures, compare, read_module
from sandbox.toolchains.python.paths import is_test_file
from sandbox.toolchains.python.syntax import parse_module
from sandbox.workspace import File, Tree


def touched_files(base: Tree, changes: Mapping[str, File | None]) -> dict[str, Touched]:
    """Test file -> what these test-side changes do to its tests; files that they do not reach are left out."""
    after = base.with_changes(changes)
    helpers = {path for path in changes if path.endswith(".py") and not is_test_file(path)}
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
            names |= changed_fixtures(base.text(helper), after.text(helper))
    return frozenset(names)


def nearest_first(test_files: Iterable[str], change: Change) -> tuple[str, ...]:
    """Test files by nearness to the change: its own, those named like a changed module, those next to one, the rest."""
    own = set(change.tests) | set(change.given or {})
    stems = {posixpath.basename(path).rsplit(".", 1)[0].strip("_") for path in change.source}
    folders = {posixpath.dirname(path) for path in change.source}

    def distance(path: str) -> tuple[int, str]:
        stem = posixpath.basename(path).removesuffix(".py").removeprefix("test_").removesuffix("_test").strip("_")
        if path in own:
            return 0, path
        if any(stem == s or (len(s) > 3 and (s in stem or stem in s)) for s in stems):
            return 1, path
        shared = max((len(posixpath.commonpath([folder, path])) if folder else 0 for folder in folders), default=0)
        return 1000 - shared, path

    return tuple(sorted(test_files, key=distance))


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
            function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            if isinstance(child, ast.stmt) and not isinstance(child, skipped) and not (isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)):
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
