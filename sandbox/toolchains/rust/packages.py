"""The packages and workspaces of a tree, by their Cargo.toml files and folders."""

from __future__ import annotations

import fnmatch
import posixpath
import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sandbox.workspace import Tree

SKIPPED = re.compile(r"(^|/)(target|vendor|third_party|node_modules|\.[^/]*)/")
DOC = " (doc)"


@dataclass(frozen=True)
class Package:
    """One [package]: its folder ("" for the root), its name, its crate roots by kind (lib, bin, test, example), and whether it tests its documentation."""

    folder: str
    name: str
    roots: tuple[tuple[str, str], ...]
    edition: str = "2015"
    rust_version: str | None = None

    @property
    def library(self) -> str | None:
        """Its lib's crate root."""
        return next((path for kind, path in self.roots if kind == "lib"), None)


@dataclass(frozen=True)
class Workspace:
    """What one lock file is for: its root folder, and its members."""

    folder: str
    packages: tuple[Package, ...]


def parse(text: str) -> dict[str, Any]:
    """A manifest as data; empty where it can't be read."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}


def manifest_of(folder: str) -> str:
    """The path of a folder's manifest."""
    return posixpath.join(folder, "Cargo.toml")


def read_workspaces(tree: Tree) -> tuple[Workspace, ...]:
    """Every workspace, and every package that is in none, the outermost first."""
    paths = [path for path in tree if posixpath.basename(path) == "Cargo.toml" and not SKIPPED.search(path)]
    manifests = {posixpath.dirname(path): parse(tree.text(path) or "") for path in paths}
    packages = {folder: _package(tree, folder, data, manifests) for folder, data in manifests.items() if isinstance(data.get("package"), dict)}
    roots = sorted((folder for folder, data in manifests.items() if "workspace" in data), key=_depth)
    taken: set[str] = set()
    found = []
    for root in roots:
        members = _members(root, manifests)
        mine = [packages[folder] for folder in sorted(members, key=_depth) if folder in packages and folder not in taken]
        taken.update(package.folder for package in mine)
        if mine:
            found.append(Workspace(root, tuple(mine)))
    alone = [folder for folder in sorted(packages, key=_depth) if folder not in taken]
    found += [Workspace(folder, (packages[folder],)) for folder in alone]
    return tuple(sorted(found, key=lambda workspace: _depth(workspace.folder)))


def _depth(folder: str) -> tuple[int, str]:
    return (folder.count("/") + bool(folder), folder)


def _below(folder: str, root: str) -> bool:
    return not root or folder == root or folder.startswith(root + "/")


def _members(root: str, manifests: dict[str, dict[str, Any]]) -> set[str]:
    """Folders that a workspace names, its own, and path dependencies below it."""
    table = manifests[root].get("workspace") or {}
    patterns = [posixpath.normpath(posixpath.join(root, str(word))) for word in _list(table.get("members"))]
    excluded = [posixpath.normpath(posixpath.join(root, str(word))) for word in _list(table.get("exclude"))]
    below = [folder for folder in manifests if _below(folder, root)]
    members = {folder for folder in below if any(_matches(folder, pattern) for pattern in patterns)}
    members |= {root} if "package" in manifests[root] else set()
    members = {folder for folder in members if folder == root or not any(_below(folder, out) for out in excluded)}
    waiting = list(members)
    while waiting:
        folder = waiting.pop()
        for path in _path_dependencies(manifests[folder]):
            other = posixpath.normpath(posixpath.join(folder, path)).removeprefix(".").strip("/")
            is_new = other in manifests and other not in members and _below(other, root) and "workspace" not in manifests[other]
            if is_new and not any(_below(other, out) for out in excluded):
                members.add(other)
                waiting.append(other)
    return {folder for folder in members if folder == root or "workspace" not in manifests[folder]}


def _matches(folder: str, pattern: str) -> bool:
    """Whether a member's pattern names a folder; `*` does not cross a slash."""
    if pattern in (".", ""):
        return folder == ""
    return folder.count("/") == pattern.count("/") and fnmatch.fnmatchcase(folder, pattern)


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _path_dependencies(data: dict[str, Any]) -> Iterable[str]:
    tables = [data, *(table for table in (data.get("target") or {}).values() if isinstance(table, dict))]
    for table in tables:
        for key in ("dependencies", "dev-dependencies", "dev_dependencies", "build-dependencies", "build_dependencies"):
            for row in (table.get(key) or {}).values():
                if isinstance(row, dict) and isinstance(row.get("path"), str):
                    yield row["path"]


def _package(tree: Tree, folder: str, data: dict[str, Any], manifests: dict[str, dict[str, Any]]) -> Package:
    package = data["package"]
    return Package(folder, str(package.get("name", folder)), tuple(_roots(tree, folder, data)), _inherited(package, "edition", folder, manifests) or "2015",
                   _inherited(package, "rust-version", folder, manifests))


def _inherited(package: dict[str, Any], key: str, folder: str, manifests: dict[str, dict[str, Any]]) -> str | None:
    value = package.get(key)
    if isinstance(value, dict):
        around = [root for root, data in manifests.items() if "workspace" in data and _below(folder, root)]
        root = max(around, key=len, default=None)
        value = ((manifests[root].get("workspace") or {}).get("package") or {}).get(key) if root is not None else None
    return str(value) if value is not None else None


def _roots(tree: Tree, folder: str, data: dict[str, Any]) -> Iterable[tuple[str, str]]:
    """(kind, path) of crate roots: those that are named, and those at the usual places."""
    seen: set[str] = set()
    library = data.get("lib") if isinstance(data.get("lib"), dict) else {}
    rows = [("lib", str((library or {}).get("path", "src/lib.rs"))), ("bin", "src/main.rs")]
    for kind, usual in (("bin", "src/bin"), ("test", "tests"), ("example", "examples")):
        named = [row for row in _list(data.get(kind)) if isinstance(row, dict)]
        rows += [(kind, str(row["path"])) for row in named if "path" in row]
        if data["package"].get({"bin": "autobins", "test": "autotests", "example": "autoexamples"}[kind], True):
            rows += [(kind, path) for path in _usual(tree, folder, usual)]
        else:
            rows += [(kind, path) for row in named for path in (f"{usual}/{row.get('name')}.rs", f"{usual}/{row.get('name')}/main.rs")]
    for kind, path in rows:
        whole = posixpath.normpath(posixpath.join(folder, path))
        if whole in tree and whole not in seen:
            seen.add(whole)
            yield kind, whole


def _usual(tree: Tree, folder: str, usual: str) -> list[str]:
    start = posixpath.join(folder, usual) + "/"
    cut = len(folder) + 1 if folder else 0
    names = [path for path in tree if path.startswith(start) and path.endswith(".rs")]
    return sorted(path[cut:] for path in names if "/" not in path[len(start):] or re.fullmatch(r"[^/]+/main\.rs", path[len(start):]))


def group_path(group: str) -> str:
    """The crate root that a group's name begins with."""
    return re.sub(r" \([^()]*\)$", "", group)
