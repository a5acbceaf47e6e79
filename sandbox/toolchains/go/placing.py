"""Given reproducers in Go: a test file in the folder of its package, or a main package of its own."""

from __future__ import annotations

import posixpath
from collections.abc import Collection

from sandbox.plan import Plan
from sandbox.toolchains.go.plan import of_go
from sandbox.toolchains.go.source import package_name, read_package
from sandbox.toolchains.protocol import Placed
from sandbox.workspace import Tree


class GoPlacing:
    """Go compiles by folder: the package clause says which one it is meant for."""

    def reads(self, name: str) -> bool:
        """By the suffix."""
        return name.endswith(".go")

    def is_script(self, name: str, text: str) -> bool:
        """Whether it is a main package without a test."""
        package = package_name(text)
        if not package:
            raise ValueError("not a Go file: it has no package clause")
        if read_package([text]).tests:
            return False
        if package != "main":
            raise ValueError("neither a test file (it has no Test function) nor a main package")
        return True

    def place(self, plan: Plan, tree: Tree, source: Collection[str], name: str, text: str, token: str, script: bool) -> Placed:
        """Of several packages of that name: the one that the change edits, else the first with tests."""
        mine = of_go(plan)
        if script:
            path = posixpath.join(mine.directory, f"dualgate_{token}", "main.go")
            return Placed(path, path)
        package = package_name(text).removesuffix("_test")
        named = [(folder, group) for folder, _, group in mine.packages if _package_of(tree, folder) == package]
        if not named:
            raise ValueError(f"there is no package {package} in {mine.module}")
        edited = {posixpath.dirname(path) for path in source}
        tested = {posixpath.dirname(path) for path in mine.test_files}
        folder, group = min(named, key=lambda row: (row[0] not in edited, row[0] not in tested, row[0].count("/"), row[0]))
        return Placed(posixpath.join(folder, f"dualgate_{token}_test.go"), group, frozenset(read_package([text]).tests))


def _package_of(tree: Tree, folder: str) -> str:
    """The name of a folder's package, its external tests' left out."""
    files = sorted((path for path in tree if path.endswith(".go") and posixpath.dirname(path) == folder), key=lambda path: path.endswith("_test.go"))
    return next((name.removesuffix("_test") for path in files if (name := package_name(tree.text(path) or "")) and name != "documentation"), "")
