"""Given reproducers in Python: a test file in a folder of its own, or a plain script."""

from __future__ import annotations

import ast
from collections.abc import Collection

from sandbox.plan import Plan
from sandbox.toolchains.protocol import Placed
from sandbox.toolchains.python.syntax import parse_module
from sandbox.workspace import Tree


class PythonPlacing:
    """A fresh folder for each: its name is the file's group."""

    def reads(self, name: str) -> bool:
        """By the suffix."""
        return name.endswith(".py")

    def is_script(self, name: str, text: str) -> bool:
        """Whether it has no test by pytest's or unittest's names."""
        module = parse_module(text)
        if module is None:
            raise ValueError("not a Python file")
        return not _has_tests(module)

    def place(self, plan: Plan, tree: Tree, source: Collection[str], name: str, text: str, token: str, script: bool) -> Placed:
        """Alone in its folder, so that it meets no other file's names."""
        path = f"dualgate_{token}/{'run' if script else 'test'}_{token}.py"
        return Placed(path, path)


def _has_tests(module: ast.Module) -> bool:
    for node in module.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test"):
            return True
        if isinstance(node, ast.ClassDef) and any(isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef) and n.name.startswith("test") for n in node.body):
            return True
    return False
