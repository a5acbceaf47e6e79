"""Given reproducers: a test file beside the repository's own, or a plain program."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection

from sandbox.plan import Plan
from sandbox.toolchains.node.detect import LIBRARIES
from sandbox.toolchains.node.patterns import taken
from sandbox.toolchains.node.plan import NodePlan, Suite, of_node
from sandbox.toolchains.protocol import Placed
from sandbox.workspace import Tree

TESTING = re.compile(r"(^|[^\w.$])(describe|it|test|suite)(\.\w+)*\s*\(|\bt\.test\s*\(|['\"](tape|ava|tap|uvu|node:test|vitest|@jest/globals)['\"]")
ENDING = re.compile(r"(\.(?:test|spec))?(\.[cm]?[jt]sx?)$")


class NodePlacing:
    """A relative path in it is read from where it is put: beside the test files whose depth its own paths fit."""

    def reads(self, name: str) -> bool:
        """By the suffix."""
        return bool(re.search(r"\.[cm]?[jt]sx?$", name)) and not name.endswith(".d.ts")

    def is_script(self, name: str, text: str) -> bool:
        """Whether it declares no test."""
        return not TESTING.search(text)

    def place(self, plan: Plan, tree: Tree, source: Collection[str], name: str, text: str, token: str, script: bool) -> Placed:
        """A name that the suite's runner takes. Raises ValueError where it takes none."""
        mine = of_node(plan)
        suite = _suite_for(mine, text)
        folders = list(dict.fromkeys(posixpath.dirname(path) for path in mine.test_files)) or [mine.directory]
        folder = min(folders, key=lambda one: (not _fits(tree, one, text), one.count("/"),
                                               -sum(posixpath.dirname(path) == one for path in mine.test_files)))
        ending = ENDING.search(name)
        suffix = ending[2] if ending else ".js"
        for stem in (f"dualgate_{token}", f"dualgate_{token}.test", f"dualgate_{token}.spec", f"test-dualgate_{token}", f"dualgate_{token}-test",
                     f"dualgate_{token}_test"):
            path = posixpath.join(folder, stem + suffix)
            if script or suite is None or taken([path], suite.patterns, suite.ignored):
                return Placed(path, path)
        raise ValueError(f"no name in {folder or '.'} is one that {suite.runner if suite else 'the runner'} would take")


def _suite_for(plan: NodePlan, text: str) -> Suite | None:
    """The suite whose library a file loads, else the first."""
    wanted = next((runner for runner, pattern in LIBRARIES if pattern.search(text)), None)
    found = [suite for suite in plan.suites if suite.runner == wanted or (wanted is None and re.search(rf"['\"](@?{suite.runner})\b", text))]
    return next(iter(found or plan.suites), None)


def _fits(tree: Tree, folder: str, text: str) -> bool:
    """Whether the relative paths in a file lead to something from a folder."""
    names = re.findall(r"(?:from\s+|require\(\s*|import\(\s*|import\s+)['\"](\.\.?/?[^'\"\n]*)['\"]", text)
    places = [posixpath.normpath(posixpath.join(folder, name)) for name in names]
    return all(place == "." or any(path == place or path.startswith((place + ".", place + "/")) for path in tree) for place in places)
