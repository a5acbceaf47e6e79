"""What a change does to go.mod, and the installation in a person's words."""

from __future__ import annotations

import posixpath

from sandbox.plan import Plan
from sandbox.toolchains.go.modules import requirements
from sandbox.toolchains.go.plan import of_go
from sandbox.toolchains.protocol import ManifestFault
from sandbox.workspace import Tree


class GoManifests:
    """By the require lines alone: replace, exclude and the like are base's."""

    def added(self, plan: Plan, base: Tree, changed: Tree) -> tuple[str, ...]:
        """`module@version` of lines that are new."""
        manifest = posixpath.join(plan.directory, "go.mod")
        before, after = (requirements(tree.text(manifest) or "") for tree in (base, changed))
        return tuple(f"{name}@{version}" for name, version in sorted(after.items()) if before.get(name) != version)

    def faults(self, plan: Plan, base: Tree, changed: Tree, patched: Tree) -> list[ManifestFault]:
        """A module that is no longer required and still imported."""
        manifest = posixpath.join(plan.directory, "go.mod")
        before, after = (requirements(tree.text(manifest) or "") for tree in (base, changed))
        folders, found = {folder for folder, _, _ in of_go(plan).packages}, []
        for name in sorted(set(before) - set(after)):
            users = [path for path in patched if path.endswith(".go") and posixpath.dirname(path) in folders
                     and (f'"{name}"' in (text := patched.text(path) or "") or f'"{name}/' in text)]
            if users:
                found.append(ManifestFault(f"the change no longer requires {name}, which {users[0]} imports", tuple(users[:10])))
        return found

    def words(self, plan: Plan) -> list[str]:
        """Of the tool."""
        mine = of_go(plan)
        return [*([] if mine.vendored else ["go mod download"]), *[f"go get {line}" for line in mine.extra], "go test -run '^$' ./..."]
