"""The modules and packages of a tree, by their go.mod files and folders."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass

from sandbox.workspace import Tree

IGNORED = re.compile(r"(^|/)(vendor|testdata|node_modules|[_.][^/]*)/")
MODULE = re.compile(r"^module\s+\"?([^\s\"]+)\"?", re.MULTILINE)
REQUIRED = re.compile(r"^\s*(?:require\s+)?([\w.~/-]+\.[\w.~/-]+)\s+(v[\w.+-]+)", re.MULTILINE)


@dataclass(frozen=True)
class Module:
    """One go.mod: its folder ("" for the root), its module path, its folders with Go files (from the root of the tree)."""

    directory: str
    path: str
    folders: tuple[str, ...]

    def import_path(self, folder: str) -> str:
        """Of a package's folder."""
        inside = folder[len(self.directory):].strip("/") if self.directory else folder
        return f"{self.path}/{inside}" if inside else self.path


def go_files(tree: Tree) -> list[str]:
    """Go files that `./...` reaches from some module."""
    return [path for path in tree if path.endswith(".go") and not IGNORED.search(path) and not posixpath.basename(path).startswith(("_", "."))]


def read_modules(tree: Tree) -> tuple[Module, ...]:
    """Every module that is no test data, the outermost first."""
    manifests = [path for path in tree if posixpath.basename(path) == "go.mod" and not IGNORED.search(path)]
    directories = sorted((posixpath.dirname(path) for path in manifests), key=lambda folder: (folder.count("/") + bool(folder), folder))
    folders: dict[str, set[str]] = {directory: set() for directory in directories}
    for path in go_files(tree):
        owner = module_around(posixpath.dirname(path), directories)
        if owner is not None:
            folders[owner].add(posixpath.dirname(path))
    found = []
    for directory in directories:
        match = MODULE.search(tree.text(posixpath.join(directory, "go.mod")) or "")
        if match:
            found.append(Module(directory, match[1], tuple(sorted(folders[directory]))))
    return tuple(found)


def module_around(folder: str, directories: list[str]) -> str | None:
    """The innermost module folder that a folder is in."""
    around = [directory for directory in directories if not directory or folder == directory or folder.startswith(directory + "/")]
    return max(around, key=len) if around else None


def groups_of_module(module: Module) -> dict[str, str]:
    """Folder -> group: the import path without a trailing /vN, unless another package has that name."""
    paths = {folder: module.import_path(folder) for folder in module.folders}
    taken = set(paths.values())
    groups = {}
    for folder, path in paths.items():
        plain = re.sub(r"/v\d+$", "", path)
        groups[folder] = path if plain != path and plain in taken else plain
    return groups


def requirements(text: str) -> dict[str, str]:
    """Module -> version, of the require lines of a go.mod (exclude and replace left out)."""
    text = re.sub(r"//[^\n]*", "", text)
    text = re.sub(r"^(exclude|replace|retract|godebug|tool|ignore)\s*(\([^)]*\)|[^\n]*)", "", text, flags=re.MULTILINE)
    return dict(REQUIRED.findall(text))
