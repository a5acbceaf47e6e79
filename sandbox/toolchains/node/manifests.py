"""What a change does to the dependency tables of package.json, and the installation in a person's words."""

from __future__ import annotations

import posixpath
import re

from sandbox.plan import Plan
from sandbox.toolchains.node.package import Package, read_package
from sandbox.toolchains.node.plan import of_node
from sandbox.toolchains.protocol import ManifestFault
from sandbox.workspace import Tree

INSTALLED_TABLES = ("dependencies", "devDependencies", "optionalDependencies")
LOCAL = re.compile(r"^(workspace|link|portal|file):")


def requirements(package: Package | None) -> dict[str, str]:
    """Name -> range, of the tables that are installed."""
    return {name: wanted for table in INSTALLED_TABLES for name, wanted in (package.table(table) if package else {}).items()}


class NodeManifests:
    """By the tables alone: scripts, exports and the runners' own tables are base's."""

    def added(self, plan: Plan, base: Tree, changed: Tree) -> tuple[str, ...]:
        """`name@range` of rows that are new or have another range; those of linters left out where they are not installed."""
        mine, found = of_node(plan), []
        for folder in mine.packages:
            before, after = (requirements(read_package(tree, folder)) for tree in (base, changed))
            found += [f"{name}@{wanted}" for name, wanted in after.items()
                      if before.get(name) != wanted and name not in mine.left_out and not LOCAL.search(wanted) and not LOCAL.search(before.get(name,
                          ""))]
        return tuple(dict.fromkeys(sorted(found)))

    def faults(self, plan: Plan, base: Tree, changed: Tree, patched: Tree) -> list[ManifestFault]:
        """A manifest that can't be read, a package that is no longer declared and still loaded."""
        found = []
        for folder in of_node(plan).packages:
            path = posixpath.join(folder, "package.json")
            before, after = read_package(base, folder), read_package(changed, folder)
            if path in changed and after is None and before is not None:
                found.append(ManifestFault(f"{path} can't be read with the change", (path,)))
                continue
            tables = ("dependencies", "peerDependencies", "optionalDependencies")
            kept = {name for table in tables for name in (after.table(table) if after else {})}
            gone = {name for table in tables for name in (before.table(table) if before else {})} - kept
            prefix = f"{folder}/" if folder else ""
            for name in sorted(gone) if path in changed else []:
                word = re.compile(rf"(?:from\s+|require\(\s*|import\(\s*|import\s+)['\"]{re.escape(name)}(?:/[^'\"]*)?['\"]")
                users = [other for other in patched if other.startswith((prefix + "src/", prefix + "lib/", prefix + "index."))
                         and word.search(patched.text(other) or "")]
                if users:
                    found.append(ManifestFault(f"the change no longer requires {name}, which {users[0]} loads", tuple(users[:10])))
        return found

    def words(self, plan: Plan) -> list[str]:
        """Of the package manager."""
        mine = of_node(plan)
        first = {"pnpm": "pnpm install --frozen-lockfile", "yarn": "yarn install --frozen-lockfile", "berry": "yarn install"}.get(mine.manager,
            "npm ci")
        if not mine.lock:
            first = "npm install" + (f" --before={mine.exclude_newer.isoformat()}" if mine.exclude_newer
                                     else "") if mine.manager == "npm" else f"{mine.manager.replace('berry', 'yarn')} install"
        return [first, *[f"npm install {line}" for line in mine.extra]]
