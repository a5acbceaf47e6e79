"""Which changed lines of Python source can run."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping

from sandbox.toolchains.python.syntax import parse_module
from sandbox.workspace import Tree


def coverable_lines(lines: Mapping[str, tuple[Collection[int], Collection[int]]], tree: Tree) -> dict[str, list[int]]:
    """Executable changed lines, by file: inside functions where there are such, else at module level. `lines`: {path: (added, cuts)}.

    A pure deletion counts by the function around it (at module level: by the statement that follows).
    """
    found: dict[str, list[int]] = {}
    for path, (added, cuts) in lines.items():
        text = tree.text(path)
        if text is None or not path.endswith(".py"):
            continue
        module = parse_module(text)
        if module is None:
            continue
        inner, outer = _statement_lines(module)
        wanted = {n for n in added if n in inner} | {n for cut in cuts for n in _function_around(module, cut) if n in inner}
        if not wanted:
            wanted = {n for n in (*added, *cuts) if n in outer}
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
