"""What a path is in a repository with Go modules."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence

from sandbox.toolchains.protocol import Changes
from sandbox.toolchains.shared_paths import in_data_folder, is_automation, is_prose
from sandbox.workspace import Tree

MANIFESTS = {"go.mod", "go.sum", "go.work", "go.work.sum"}
TESTDATA = re.compile(r"(^|/)testdata/")
VENDORED = re.compile(r"(^|/)vendor/")


class GoRules:
    """By names alone: the tool leaves a repository no choice."""

    def __init__(self, base: Tree, after: Tree) -> None:
        self._base = base

    def is_test_file(self, path: str) -> bool:
        """`_test.go`."""
        return path.endswith("_test.go") and not TESTDATA.search(path) and not VENDORED.search(path)

    def is_test(self, path: str) -> bool:
        """A test file, anything in testdata, and what is no Go in a folder of tests."""
        if VENDORED.search(path) or posixpath.basename(path) in MANIFESTS - {"go.mod", "go.sum"}:
            return False
        return path.endswith(("_test.go", ".golden")) or bool(TESTDATA.search(path)) or (not path.endswith(".go") and in_data_folder(path))

    def test_data(self, paths: Sequence[str]) -> list[str]:
        """None beside those in their folders: what a program embeds is the program."""
        return []

    def is_harness(self, path: str) -> bool:
        """Manifests, vendored modules, automation."""
        if TESTDATA.search(path):
            return False
        return posixpath.basename(path) in MANIFESTS or bool(VENDORED.search(path)) or is_automation(path)

    def is_manifest(self, path: str) -> bool:
        """Of modules and workspaces, and what is vendored by them."""
        return (posixpath.basename(path) in MANIFESTS and not TESTDATA.search(path)) or bool(VENDORED.search(path))

    def is_prose(self, path: str) -> bool:
        """Readme, documentation, licence, change log."""
        return is_prose(path) and not path.endswith(".go") and not TESTDATA.search(path)

    def shadowing(self, source: Changes, tests: Changes) -> list[tuple[str, str]]:
        """Nothing can: import paths are whole."""
        return []
