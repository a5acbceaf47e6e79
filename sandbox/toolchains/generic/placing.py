"""Given reproducers where no language is known better: programs of their own."""

from __future__ import annotations

import posixpath
from collections.abc import Collection

from sandbox.plan import Plan
from sandbox.toolchains.generic.plan import Form, of_command
from sandbox.toolchains.protocol import Placed
from sandbox.workspace import Tree


class CommandPlacing:
    """A TAP file beside the repository's own, or any script with a first line that says by what it is run."""

    def reads(self, name: str) -> bool:
        """Shell, Perl and bats."""
        return name.endswith((".sh", ".bash", ".t", ".bats", ".pl"))

    def is_script(self, name: str, text: str) -> bool:
        """Whether it is no TAP file."""
        return not name.endswith((".t", ".bats"))

    def place(self, plan: Plan, tree: Tree, source: Collection[str], name: str, text: str, token: str, script: bool) -> Placed:
        """A new folder for a script; for a TAP file the one where the others of its kind are."""
        suffix = posixpath.splitext(name)[1]
        if script:
            path = f"dualgate_{token}/reproducer{suffix}"
            return Placed(path, path)
        if of_command(plan).form is not Form.TAP_FILES:
            raise ValueError(f"a {suffix} file can be run where the repository has such tests of its own")
        beside = next((path for path in plan.test_files if path.endswith(suffix)), plan.test_files[0] if plan.test_files else "t/x")
        path = posixpath.join(posixpath.dirname(beside), f"dualgate_{token}{suffix}")
        return Placed(path, path)
