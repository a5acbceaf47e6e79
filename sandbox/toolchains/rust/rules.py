"""What a path is in a repository with Rust packages."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence

from sandbox.toolchains.protocol import Changes
from sandbox.toolchains.rust.crate import Crate, read_crate
from sandbox.toolchains.rust.packages import Package, read_workspaces
from sandbox.toolchains.rust.source import holds_tests
from sandbox.toolchains.shared_paths import in_data_folder, is_automation, is_prose
from sandbox.workspace import Tree

MANIFESTS = {"Cargo.toml", "Cargo.lock"}
TOOLCHAIN_FILES = {"rust-toolchain", "rust-toolchain.toml"}
CONFIG_FOLDER = re.compile(r"(^|/)\.cargo/")
TEST_NAMES = re.compile(r"(^|/)(tests?|[^/]+_tests?|tests?_[^/]+)\.rs$")


class RustRules:
    """By the packages of base and of the change: which folders are theirs, which modules are compiled for tests alone."""

    def __init__(self, base: Tree, after: Tree) -> None:
        self._trees = (base, after)
        self._packages = [package for tree in self._trees for workspace in read_workspaces(tree) for package in workspace.packages]
        self._folders = {package.folder for package in self._packages}
        self._tested: dict[str, set[str]] = {}

    def is_test_file(self, path: str) -> bool:
        """A Rust file that holds tests, inline ones too, or an integration test."""
        if not path.endswith(".rs") or self._is_apart(path):
            return False
        return self._is_test_source(path) or any(holds_tests(tree.text(path) or "") for tree in self._trees)

    def is_test(self, path: str) -> bool:
        """Integration tests and all that is beside them, modules for tests alone, and data in folders of tests."""
        if self._is_apart(path) or self.is_harness(path):
            return False
        if path.endswith(".rs"):
            return self._is_test_source(path)
        return in_data_folder(self._inside(path)) or path.endswith((".snap", ".stderr", ".stdout"))

    def test_data(self, paths: Sequence[str]) -> list[str]:
        """None beside those in their folders: what a program includes is the program."""
        return []

    def is_harness(self, path: str) -> bool:
        """Manifests of packages, what configures cargo and the compiler, build scripts, automation."""
        name = posixpath.basename(path)
        if CONFIG_FOLDER.search(path) or name in TOOLCHAIN_FILES or is_automation(path):
            return True
        if name == "build.rs" and posixpath.dirname(path) in self._folders:
            return True
        return self.is_manifest(path)

    def is_manifest(self, path: str) -> bool:
        """Of a package or a workspace; those in folders of samples for tests are data."""
        if posixpath.basename(path) not in MANIFESTS:
            return False
        folder = posixpath.dirname(path)
        return folder in self._folders or not in_data_folder(self._inside(path))

    def is_prose(self, path: str) -> bool:
        """Readme, documentation, licence, change log, unless a source file includes it."""
        if not is_prose(path) or path.endswith(".rs") or in_data_folder(self._inside(path)):
            return False
        name = posixpath.basename(path)
        texts = [self._trees[0].text(other) or "" for other in self._trees[0] if other.endswith(".rs")]
        return not any("include_str!" in text and name in text for text in texts)

    def shadowing(self, source: Changes, tests: Changes) -> list[tuple[str, str]]:
        """A module file beside a folder of the same module does not compile; nothing else can shadow."""
        return []

    def _is_test_source(self, path: str) -> bool:
        package = self._package(path)
        if package is None:
            return False
        inside = path[len(package.folder) + 1:] if package.folder else path
        if inside.startswith("tests/") or any((kind, path) in package.roots for kind in ("test",)):
            return True
        return path in self._test_modules(package) or (bool(TEST_NAMES.search(inside)) and inside.startswith("src/") and not self._is_source(package, path))

    def _test_modules(self, package: Package) -> set[str]:
        """Files that only crates under test have."""
        if package.folder not in self._tested:
            crates = self._crates(package)
            tested = {path for crate in crates for path in crate.tested}
            self._tested[package.folder] = tested - {path for crate in crates for path in set(crate.files) - crate.tested}
        return self._tested[package.folder]

    def _is_source(self, package: Package, path: str) -> bool:
        return any(path in crate.files for crate in self._crates(package))

    def _crates(self, package: Package) -> list[Crate]:
        """Its library and programs, before and after."""
        same = [one for one in self._packages if one.folder == package.folder]
        roots = {root for one in same for kind, root in one.roots if kind in ("lib", "bin")}
        return [read_crate(tree, root) for tree in self._trees for root in sorted(roots)]

    def _package(self, path: str) -> Package | None:
        around = [package for package in self._packages if not package.folder or path.startswith(package.folder + "/")]
        return max(around, key=lambda package: len(package.folder), default=None)

    def _inside(self, path: str) -> str:
        package = self._package(path)
        return path[len(package.folder) + 1:] if package and package.folder else path

    def _is_apart(self, path: str) -> bool:
        return path.startswith("target/") or "/target/" in path
