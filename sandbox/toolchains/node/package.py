"""package.json files of a tree: what they say, and which are installed together."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import yaml

from sandbox.toolchains.node.globs import matches
from sandbox.toolchains.shared_paths import in_data_folder
from sandbox.workspace import Tree

TABLES = ("dependencies", "devDependencies", "optionalDependencies", "peerDependencies")
GIT_HOST = re.compile(r"(git(\+\w+)?:|git@|github:|gitlab:|bitbucket:|gist:|https?://(www\.)?(github|gitlab)\.com/|[\w-][\w.-]*/[\w.-]+(#|$))")
SHELL_SCRIPT = re.compile(r"[\w./-]+\.(?:sh|bash)\b")
APART = re.compile(r"(^|/)(node_modules|bower_components|\.yarn|examples?|samples?|templates?|benchmarks?)/")


@dataclass(frozen=True)
class Package:
    """One package.json: its folder ("" for the root), its data, its text; `shells`: shell scripts that its own scripts run, from its folder, path -> text."""

    folder: str
    data: Mapping[str, Any]
    text: str
    shells: Mapping[str, str] = field(default_factory=dict)

    @property
    def path(self) -> str:
        return posixpath.join(self.folder, "package.json")

    @property
    def name(self) -> str:
        return str(self.data.get("name") or "")

    @cached_property
    def scripts(self) -> dict[str, str]:
        table = self.data.get("scripts")
        return {str(k): v for k, v in table.items() if isinstance(v, str)} if isinstance(table, dict) else {}

    def table(self, name: str) -> dict[str, str]:
        """A table of dependencies: name -> range."""
        table = self.data.get(name)
        return {str(k): v for k, v in table.items() if isinstance(v, str)} if isinstance(table, dict) else {}

    @property
    def from_git(self) -> tuple[str, ...]:
        """Development dependencies that come from a Git host and no registry."""
        return tuple(name for name, wanted in self.table("devDependencies").items() if GIT_HOST.match(wanted))

    def requires(self, name: str) -> bool:
        """Whether some table has a package."""
        return any(name in self.table(table) for table in TABLES)

    def line(self, word: str) -> int:
        """The line that a key stands in, from 1."""
        return next((number for number, line in enumerate(self.text.split("\n"), 1) if f'"{word}"' in line), 1)


def read_package(tree: Tree, folder: str) -> Package | None:
    """The package of a folder; None where there is none that can be read."""
    text = tree.text(posixpath.join(folder, "package.json"))
    try:
        data = json.loads((text or "").removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return None
    return Package(folder, data, text or "", _shells(tree, folder, data)) if isinstance(data, dict) else None


def _shells(tree: Tree, folder: str, data: Mapping[str, Any]) -> dict[str, str]:
    scripts = data.get("scripts")
    words = [word for line in scripts.values() if isinstance(line, str) for word in SHELL_SCRIPT.findall(line)] if isinstance(scripts, dict) else []
    found = {posixpath.normpath(word): tree.text(posixpath.normpath(posixpath.join(folder, word))) for word in words}
    return {path: shell for path, shell in found.items() if shell is not None}


def read_packages(tree: Tree) -> dict[str, Package]:
    """Folder -> package, the outermost first; samples and test data are left out, where the workspace does not name their folder."""
    folders = sorted((posixpath.dirname(path) for path in tree if posixpath.basename(path) == "package.json"),
                     key=lambda f: (f.count("/") + bool(f), f))
    root = read_package(tree, "")
    named = tuple(pattern for pattern in (_workspaces(tree, root) if root else []) if in_data_folder(pattern.split("*")[0] + "/"))
    kept = [folder for folder in folders if not APART.search(folder + "/")
            and (not in_data_folder(folder + "/") or matches(folder, tuple(_pattern("", one) for one in named)))]
    return {folder: package for folder in kept if (package := read_package(tree, folder)) is not None}


def members(tree: Tree, root: Package, packages: Mapping[str, Package]) -> tuple[str, ...]:
    """Folders of the packages of a workspace, the root's own first."""
    patterns = tuple(_pattern(root.folder, one) for one in _workspaces(tree, root))
    inside = [folder for folder in packages if folder != root.folder and matches(folder, patterns)]
    return (root.folder, *inside)


def _pattern(folder: str, word: str) -> str:
    sign = "!" if word.startswith("!") else ""
    return sign + posixpath.normpath(posixpath.join(folder, word.removeprefix("!").rstrip("/")))


def _workspaces(tree: Tree, root: Package) -> list[str]:
    words = root.data.get("workspaces")
    if isinstance(words, dict):
        words = words.get("packages")
    found = [str(word) for word in words] if isinstance(words, list) else []
    for name in ("pnpm-workspace.yaml", "lerna.json"):
        text = tree.text(posixpath.join(root.folder, name))
        if text is None:
            continue
        try:
            data = yaml.safe_load(text)
        except (yaml.YAMLError, ValueError, RecursionError):
            continue
        more = data.get("packages") if isinstance(data, dict) else None
        found += [str(word) for word in more] if isinstance(more, list) and not found else []
    return found
