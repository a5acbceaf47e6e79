"""Builds of those packages of a workspace that others of it load, in the order of their dependencies."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from sandbox.toolchains.node.building import absent_entries, usual_build
from sandbox.toolchains.node.package import TABLES, Package
from sandbox.toolchains.node.plan import Build
from sandbox.toolchains.node.scripts import commands_of
from sandbox.workspace import Tree

OVER_PACKAGES = {"turbo", "lerna", "nx", "lage", "rush"}
CONFIGURES_TESTS = re.compile(r"^(jest|vitest|vite)[\w.-]*\.([cm]?[jt]s|json)$|^\.mocharc")


def workspace_builds(tree: Tree, root: Package, packages: Mapping[str, Package], tested: Collection[str]) -> list[Build]:
    """The root's own build where it is one program, else a step a package that `tested` folders load and that the tree has only the sources of."""
    lacking = [package for package in _loaded(packages, tested)
               if absent_entries(tree, package) and not _is_led_to_sources(tree, package.name, {root.folder, *tested})]
    if not lacking:
        return []
    whole = usual_build(root)
    if whole is not None and not _runs_over_packages(root, whole):
        return [whole]
    return [step for package in lacking if (step := usual_build(package)) is not None] or ([whole] if whole else [])


def in_order(first: Sequence[Build], own: Sequence[Build], root: Package) -> list[Build]:
    """What the packages load of each other before the suites' own steps, of which none builds all of that again."""
    kept = [step for step in own if not (first and step.folder == root.folder and _runs_over_packages(root, step))]
    return list(dict.fromkeys([*first, *kept]))


def packages_of(packages: Collection[str], files: Iterable[str]) -> set[str]:
    """The folders of the innermost packages that files are in."""
    found = set()
    for path in files:
        folder = posixpath.dirname(path)
        while folder and folder not in packages:
            folder = posixpath.dirname(folder)
        found.add(folder)
    return found & set(packages)


def _loaded(packages: Mapping[str, Package], tested: Collection[str]) -> list[Package]:
    """Packages that others depend on, each behind its own dependencies."""
    by_name = {package.name: package for package in packages.values() if package.name}
    seen: set[str] = set()
    order: list[Package] = []

    def visit(package: Package) -> None:
        for name in dict.fromkeys(name for table in TABLES for name in package.table(table)):
            inner = by_name.get(name)
            if inner is not None and inner.folder not in seen:
                seen.add(inner.folder)
                visit(inner)
                order.append(inner)

    for folder in sorted(tested):
        visit(packages[folder])
    return order


def _is_led_to_sources(tree: Tree, name: str, folders: Collection[str]) -> bool:
    """Whether a runner's configuration leads a package's name to its sources."""
    scope = name.split("/")[0] if name.startswith("@") else name
    texts = [tree.text(path) or "" for path in tree if posixpath.dirname(path) in folders and CONFIGURES_TESTS.match(posixpath.basename(path))]
    words = re.compile(rf"(alias|moduleNameMapper)[\s\S]{{0,2000}}?(['\"/^]{re.escape(name)}\b|['\"]\^?{re.escape(scope)}/[(.*\[])")
    return any(words.search(text) for text in texts)


def _runs_over_packages(root: Package, build: Build) -> bool:
    script = build.command.removeprefix("npm run ")
    programs = [command.words[0] for command in commands_of(root, script)] or build.command.split()[:1]
    return any(posixpath.basename(program) in OVER_PACKAGES for program in programs)
