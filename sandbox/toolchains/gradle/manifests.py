"""What a change does to the dependencies of build files, and the installation in a person's words."""

from __future__ import annotations

from sandbox.plan import Plan
from sandbox.toolchains.gradle.builds import build_file, dependencies
from sandbox.toolchains.java.plan import of_java
from sandbox.toolchains.protocol import ManifestFault
from sandbox.workspace import Tree


class GradleManifests:
    """By lines of dependencies that name an artifact in full: everything else in a build file is a program, and base's."""

    def added(self, plan: Plan, base: Tree, changed: Tree) -> tuple[str, ...]:
        """`group:artifact:version:(configuration) in build file` of lines that are new."""
        found = []
        for module in of_java(plan).modules:
            path = build_file(base, module.folder)
            if path is not None:
                new = dependencies(changed.text(path) or "") - dependencies(base.text(path) or "")
                found += [f"{coordinates}:({configuration}) in {path}" for configuration, coordinates in sorted(new)]
        return tuple(found)

    def faults(self, plan: Plan, base: Tree, changed: Tree, patched: Tree) -> list[ManifestFault]:
        """None that can be told without running it."""
        return []

    def words(self, plan: Plan) -> list[str]:
        """Of the tool."""
        return ["gradle --continue test"]
