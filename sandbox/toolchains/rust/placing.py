"""Given reproducers in Rust: an integration test of a package, or an example of its own."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection

from sandbox.plan import Plan
from sandbox.toolchains.protocol import Placed
from sandbox.toolchains.rust.packages import Package
from sandbox.toolchains.rust.plan import of_rust
from sandbox.toolchains.rust.source import TEST_MARK, code_of, items
from sandbox.workspace import Tree

MAIN = re.compile(r"\bfn\s+main\s*\(")


class RustPlacing:
    """The names of the crates that it uses say which package it is meant for."""

    def reads(self, name: str) -> bool:
        """By the suffix."""
        return name.endswith(".rs")

    def is_script(self, name: str, text: str) -> bool:
        """Whether it is a program without a test."""
        if TEST_MARK.search(text):
            return False
        if not items(text) or not MAIN.search(code_of(text)):
            raise ValueError("neither a test file (it has no #[test] function) nor a program (it has no main function)")
        return True

    def place(self, plan: Plan, tree: Tree, source: Collection[str], name: str, text: str, token: str, script: bool) -> Placed:
        """In the package whose library it uses; of several the one that the change edits, else the outermost."""
        packages = [package for package in of_rust(plan).packages if package.library]
        if not packages:
            raise ValueError("no package here has a library that a test could use")
        package = min(packages, key=lambda one: (not _names(text, one), not _is_edited(one, source), one.folder.count("/"), one.folder))
        path = posixpath.join(package.folder, "examples" if script else "tests", f"dualgate_{token}.rs")
        return Placed(path, path)


def _names(text: str, package: Package) -> bool:
    return bool(re.search(rf"\b{re.escape(package.name.replace('-', '_'))}\s*::|\bextern\s+crate\s+{re.escape(package.name.replace('-', '_'))}\b", text))


def _is_edited(package: Package, source: Collection[str]) -> bool:
    return any(not package.folder or path.startswith(package.folder + "/") for path in source)
