"""Which package manager a repository is installed by, at which version."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass

from sandbox.toolchains.node.package import Package
from sandbox.workspace import Tree

LOCKS = (("pnpm", "pnpm-lock.yaml"), ("yarn", "yarn.lock"), ("npm", "package-lock.json"), ("npm", "npm-shrinkwrap.json"))
OF_PNPM = {"5": "7", "6": "8", "9": "10"}  # the lock file's version -> the newest major that keeps it
OF_BERRY = {"4": "2", "5": "3", "6": "3", "7": "4", "8": "4"}
PINNED = re.compile(r"(npm|pnpm|yarn)@(\d[\w.-]*)")


@dataclass(frozen=True)
class Manager:
    """npm, pnpm, yarn (1) or berry (2 and newer); a version or a major, empty for ours; the lock file's path, empty without one."""

    name: str
    version: str = ""
    lock: str = ""


def manager_of(tree: Tree, package: Package) -> Manager:
    """By the pin in package.json, else by the lock file."""
    there = [(name, path) for name, file in LOCKS if (path := posixpath.join(package.folder, file)) in tree]
    pinned = PINNED.match(str(package.data.get("packageManager") or ""))
    if pinned:
        lock = next((path for name, path in there if name == pinned[1]), "")
        berry = pinned[1] == "yarn" and not pinned[2].startswith(("0.", "1."))
        return Manager("berry" if berry else pinned[1], pinned[2], lock)
    if not there:
        return Manager("npm")
    name, path = there[0]
    text = tree.text(path) or ""
    if name == "pnpm":
        match = re.search(r"lockfileVersion:\s*'?(\d+)", text)
        return Manager("pnpm", OF_PNPM.get(match[1], "10") if match else "10", path)
    if name == "yarn" and (match := re.search(r"__metadata:\s+version:\s*\"?(\d+)", text)):
        return Manager("berry", _of_path(tree, package) or OF_BERRY.get(match[1], "4"), path)
    return Manager(name, "", path)


def _of_path(tree: Tree, package: Package) -> str:
    """The version of a release that is kept in the tree."""
    match = re.search(r"yarnPath:\s*\S*yarn-(\d+\.\d+\.\d+)\.c?js", tree.text(posixpath.join(package.folder, ".yarnrc.yml")) or "")
    return match[1] if match else ""
