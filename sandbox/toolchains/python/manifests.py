"""What a change does to a Python project's tables of dependencies, and the installation in a person's words."""

from __future__ import annotations

from packaging.utils import canonicalize_name

from sandbox.plan import Plan
from sandbox.toolchains.protocol import ManifestFault
from sandbox.toolchains.python.added import added_requirements, removed_distributions
from sandbox.toolchains.python.detect import unguarded_imports
from sandbox.toolchains.python.metadata import read_metadata
from sandbox.toolchains.python.names import DISTRIBUTIONS
from sandbox.toolchains.python.paths import folders_of_tests, is_harness, is_test_path
from sandbox.toolchains.python.plan import of_python
from sandbox.workspace import Tree


class PythonManifests:
    """By the dependency tables alone."""

    def added(self, plan: Plan, base: Tree, changed: Tree) -> tuple[str, ...]:
        """PEP 508 strings."""
        return added_requirements(read_metadata(base), read_metadata(changed), of_python(plan).extras)

    def faults(self, plan: Plan, base: Tree, changed: Tree, patched: Tree) -> list[ManifestFault]:
        """One that can't be read, a distribution that is no longer declared and still imported."""
        folders = folders_of_tests(patched)
        before, after = read_metadata(base), read_metadata(changed)
        found = [ManifestFault(f"the change's manifest can't be read: {fault}", (fault.split(":")[0],)) for fault in after.faults if fault not in before.faults]
        for name in removed_distributions(before, after):
            modules = {module for module, other in DISTRIBUTIONS.items() if canonicalize_name(other) == name} | {name.replace("-", "_")}
            users = [path for path in patched if path.endswith(".py") and not is_test_path(path, folders)
                     and not is_harness(path) and modules & set(unguarded_imports(patched.text(path) or ""))]
            if users:
                found.append(ManifestFault(f"the change no longer declares {name}, which {users[0]} imports", tuple(users[:10])))
        return found

    def words(self, plan: Plan) -> list[str]:
        """Of uv."""
        mine = of_python(plan)
        extras = f"[{','.join(mine.extras)}]" if mine.extras else ""
        cut = f" --exclude-newer {mine.exclude_newer}" if mine.exclude_newer else ""
        lines = [f"uv pip install{cut} -e .{extras}"] if mine.project else []
        return lines + [f"uv pip install{cut} {' '.join(stage.lines)}  # {stage.origin}" for stage in mine.stages]
