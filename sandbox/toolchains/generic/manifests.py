"""There are no tables of dependencies; only the words for people."""

from __future__ import annotations

from sandbox.plan import Plan
from sandbox.toolchains.generic.plan import of_command
from sandbox.toolchains.generic.rules import names_tests
from sandbox.toolchains.protocol import ManifestFault
from sandbox.workspace import Tree


class CommandManifests:
    """Nothing is ever added."""

    def added(self, plan: Plan, base: Tree, changed: Tree) -> tuple[str, ...]:
        """Nothing."""
        return ()

    def faults(self, plan: Plan, base: Tree, changed: Tree, patched: Tree) -> list[ManifestFault]:
        """An edit of what says which programs are tests: a run with it shows what it wants to show."""
        edited = [path for path in sorted({*base, *patched}) if names_tests(path) and base.text(path) != patched.text(path)]
        return [ManifestFault(f"the change edits what names the sources and the tests: {path}", (path,)) for path in edited]

    def words(self, plan: Plan) -> list[str]:
        """Of apt."""
        packages = of_command(plan).packages
        return [f"apt-get install {' '.join(packages)}"] if packages else []
