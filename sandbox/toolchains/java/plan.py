"""What a plan for Java holds beside the common part."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, replace

from sandbox.plan import Plan

SUFFIXES = (".java", ".kt", ".groovy", ".scala")


@dataclass(frozen=True)
class JavaModule:
    """One module of a build: its folder from the tree's root, its name in the build, and its folders of test sources from the tree's root."""

    folder: str
    name: str
    test_roots: tuple[str, ...]

    def group(self, path: str) -> str | None:
        """The group of a test source: the module's folder and the class that the file is named for; None for a file of another module."""
        root = next((root for root in self.test_roots if path.startswith(root + "/")), None)
        if root is None or not path.endswith(SUFFIXES):
            return None
        return posixpath.join(self.folder, path[len(root) + 1:].rsplit(".", 1)[0].replace("/", "."))


@dataclass(frozen=True)
class JavaPlan(Plan):
    """One build. `modules`: all of it; `chosen`: folders of those whose tests are run, empty for all; `extra`: artifacts to be had beside its own."""

    modules: tuple[JavaModule, ...] = ()
    chosen: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()

    def of_environment(self) -> Plan:
        """Whatever is run, everything is installed."""
        return replace(self, why=(), test_files=(), chosen=())


def of_java(plan: Plan) -> JavaPlan:
    """The plan as this toolchain's own. Raises TypeError for another's."""
    if not isinstance(plan, JavaPlan):
        raise TypeError(f"not a plan for Java: {plan.toolchain}")
    return plan


def group_at(plan: Plan, path: str) -> str | None:
    """The group of a test source of any of the modules."""
    return next((group for module in of_java(plan).modules if (group := module.group(path)) is not None), None)


def places_of(plan: Plan, group: str) -> list[str]:
    """Where the source of a group may stand."""
    found = []
    for module in of_java(plan).modules:
        name = group[len(module.folder):].lstrip("/") if module.folder else group
        if "/" not in name and group == posixpath.join(module.folder, name):
            found += [f"{root}/{name.replace('.', '/')}{suffix}" for root in module.test_roots for suffix in SUFFIXES]
    return found
