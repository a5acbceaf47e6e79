"""What a path is in one Python repository, by its names and by what its tests and its source say of it."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence

from sandbox.toolchains.protocol import Changes
from sandbox.toolchains.python.metadata import read_metadata
from sandbox.toolchains.python.paths import folders_of_tests, is_harness, is_manifest, is_prose, is_test_file, is_test_path, own_patterns
from sandbox.toolchains.touched import affected_by_data
from sandbox.workspace import Tree

# Read at the root, or above a test file, and nowhere else.
ROOT_ONLY = {"setup.py", "manage.py", "runtests.py", "noxfile.py", "pyproject.toml", "setup.cfg", "tox.ini", "pytest.ini", "Makefile", ".env"}
ROOTS = ("src/", "lib/", "")
RUNNERS = ("pytest", "_pytest", "pluggy")


class PythonRules:
    """Bound to base and to what the change makes of it; the patterns are base's."""

    def __init__(self, base: Tree, after: Tree) -> None:
        self._base, self._after = base, after
        self._patterns = own_patterns(read_metadata(base).pytest_settings)
        self._folders = folders_of_tests([*base, *after], self._patterns)

    def is_test_file(self, path: str) -> bool:
        """By pytest's names, the repository's own, and those of folders of tests."""
        return path.endswith(".py") and is_test_file(path, self._patterns)

    def is_test(self, path: str) -> bool:
        """A test file, a conftest, or anything in a folder of tests; a product module that is only named like one is none."""
        return is_test_path(path, self._folders, self._patterns) and not self._is_product(path)

    def test_data(self, paths: Sequence[str]) -> list[str]:
        """Files of base outside every package that its tests name, by name or folder, and its source does not: what tests expect, not what it is."""
        packages = {path.split("/")[0] for path in self._base if path.endswith("/__init__.py")} | {"src", "lib"}
        wanted = [path for path in paths if path in self._base and not path.endswith(".py") and not is_manifest(path) and path.split("/")[0] not in packages]
        if not wanted:
            return []
        sides: dict[bool, list[str]] = {True: [], False: []}
        for path in self._base:
            if path.endswith(".py") and not is_harness(path):
                sides[is_test_path(path, self._folders, self._patterns)].append(self._base.text(path) or "")
        named = {side: [path for path in wanted if any(affected_by_data(text, frozenset({path}), stems=False) for text in texts)]
                 for side, texts in sides.items()}
        return [path for path in named[True] if path not in named[False]]

    def is_harness(self, path: str) -> bool:
        """By its name, unless it only has the name of one: a module of a package, or data with no test beside or below it."""
        return is_harness(path) and not self._only_named_so(path)

    def is_manifest(self, path: str) -> bool:
        """pyproject and its kin, requirements, locks."""
        return is_manifest(path)

    def is_prose(self, path: str) -> bool:
        """Readme, documentation, licence, change log."""
        return is_prose(path)

    def shadowing(self, source: Changes, tests: Changes) -> list[tuple[str, str]]:
        """New top-level modules that would be imported instead of the standard library, or of the code under test."""
        base = self._base
        tops = {top_module(path) for path in base} - {None}
        found = []
        for path, file in source.items():
            name = top_module(path)
            if file is not None and name and name not in tops and path not in base and (name in sys.stdlib_module_names or name in RUNNERS):
                found.append((f"a new top-level module shadows {name}: {path}", path))
        for path, file in tests.items():
            folder, _, base_name = path.rpartition("/")
            name = base_name.removesuffix(".py")
            inside_package = f"{folder}/__init__.py" in base or f"{folder}/__init__.py" in tests
            if file is None or path in base or not base_name.endswith(".py") or inside_package:
                continue
            if name in sys.stdlib_module_names or name in RUNNERS or (folder and name in tops and name not in ("__init__", "setup")):
                found.append((f"a new module of the tests shadows {name}: {path}", path))
        return found

    def _is_product(self, path: str) -> bool:
        """Whether a file outside the folders of tests is only named like a test: source that is no test imports it. A file of base is judged by base."""
        tree = self._base if path in self._base else self._after
        folder, _, name = path.rpartition("/")
        if path not in tree or is_test_path(f"{folder}/any", self._folders) or name == "conftest.py":
            return False
        imported = re.compile(rf"^\s*(from|import)\b.*\b{re.escape(name.removesuffix('.py'))}\b", re.MULTILINE)
        return any(imported.search(tree.text(other) or "") for other in tree
                   if other != path and other.endswith(".py") and not is_test_path(other, self._folders) and not is_harness(other))

    def _only_named_so(self, path: str) -> bool:
        folder, _, name = path.rpartition("/")
        if not folder or name not in ROOT_ONLY:
            return False
        if name.endswith(".py"):
            return f"{folder}/__init__.py" in self._base
        return not any(other.startswith(folder + "/") and other.endswith(".py") and is_test_file(other)
                       for tree in (self._base, self._after) for other in tree)


def top_module(path: str) -> str | None:
    """The name that an import statement would use for a path's package or module."""
    root = next(root for root in ROOTS if path.startswith(root))
    rest = path[len(root):].split("/")
    if len(rest) == 1:
        return rest[0].removesuffix(".py") if rest[0].endswith(".py") else None
    return rest[0] if path.endswith(".py") else None
