"""Given reproducers in Java: a test class in the package that it names."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection

from sandbox.plan import Plan
from sandbox.toolchains.java.plan import group_at, of_java
from sandbox.toolchains.java.source import JAVA_TEXT, holds_tests, read_class
from sandbox.toolchains.protocol import Placed
from sandbox.toolchains.source_text import code_alone
from sandbox.workspace import Tree

PACKAGE = re.compile(r"^\s*package\s+([\w.]+)\s*;", re.MULTILINE)
MAIN = re.compile(r"\bstatic\s+(?:final\s+)?void\s+main\s*\(|^\s*void\s+main\s*\(", re.MULTILINE)


class JavaPlacing:
    """javac wants a public class in a file of its name: the file keeps its own, in a package that has no such class."""

    def reads(self, name: str) -> bool:
        """By the suffix."""
        return name.endswith(".java")

    def is_script(self, name: str, text: str) -> bool:
        """Whether it is a program without a test."""
        if holds_tests(text):
            return False
        if not MAIN.search(code_alone(text, JAVA_TEXT)):
            raise ValueError("neither a test class (it has no @Test method) nor a program (it has no main method)")
        return True

    def place(self, plan: Plan, tree: Tree, source: Collection[str], name: str, text: str, token: str, script: bool) -> Placed:
        """In the module that has its package: of several the one that the change edits."""
        stem = posixpath.basename(name).removesuffix(".java")
        if script:
            raise ValueError("a plain Java program has no class path of its own to run with: give a test class")
        match = PACKAGE.search(code_alone(text, JAVA_TEXT))
        folder = match[1].replace(".", "/") if match else ""
        roots = [(module, root) for module in of_java(plan).modules for root in module.test_roots[:1]]
        if not roots:
            raise ValueError("no module here has a folder of tests")
        _, root = min(roots, key=lambda row: (not _has(tree, row[0].folder, folder), not _edited(row[0].folder, source), row[0].folder))
        path = posixpath.join(root, folder, f"{stem}.java")
        if path in tree:
            raise ValueError(f"{path} is there already: the class must have a name of its own")
        return Placed(path, group_at(plan, path) or stem, frozenset(read_class(text, stem).tests) or None)


def _has(tree: Tree, module: str, package: str) -> bool:
    start = module + "/" if module else ""
    return any(path.startswith(start + "src/") and f"/{package}/" in path for path in tree)


def _edited(module: str, source: Collection[str]) -> bool:
    return any(not module or path.startswith(module + "/") for path in source)
