"""Every toolchain there is, and what they make of a tree together."""

from __future__ import annotations

from collections.abc import Sequence

from sandbox.plan import Plan
from sandbox.toolchains.go.toolchain import GO
from sandbox.toolchains.gradle.toolchain import GRADLE
from sandbox.toolchains.maven.toolchain import MAVEN
from sandbox.toolchains.protocol import Changes, Divided, Rules, Sight, Toolchain
from sandbox.toolchains.python.toolchain import PYTHON
from sandbox.toolchains.rust.toolchain import RUST
from sandbox.workspace import File, Tree

TOOLCHAINS: tuple[Toolchain, ...] = (PYTHON, GO, RUST, MAVEN, GRADLE)
BY_NAME = {toolchain.name: toolchain for toolchain in TOOLCHAINS}


def toolchain_of(plan: Plan) -> Toolchain:
    """The toolchain that a plan was made by."""
    return BY_NAME[plan.toolchain]


def detect_plans(tree: Tree, sight: Sight) -> tuple[Plan, ...]:
    """The plans of a tree. One without a test file is dropped where another has some: a script or a manifest beside the real project."""
    found = [plan for toolchain in TOOLCHAINS for plan in toolchain.detect(tree, sight)]
    return tuple([plan for plan in found if plan.test_files] or found[:1])


class JointRules:
    """The rules of all toolchains at work in a repository: source text is judged by its own language's, everything else by any of them."""

    def __init__(self, base: Tree, after: Tree, toolchains: Sequence[Toolchain]) -> None:
        self._all = [(toolchain, toolchain.rules(base, after)) for toolchain in toolchains]

    def _of(self, path: str) -> list[Rules]:
        return [rules for toolchain, rules in self._all if toolchain.owns(path)] or [rules for _, rules in self._all]

    def is_test_file(self, path: str) -> bool:
        """Of any runner."""
        return any(rules.is_test_file(path) for rules in self._of(path))

    def is_test(self, path: str) -> bool:
        """Of any runner."""
        return any(rules.is_test(path) for rules in self._of(path))

    def test_data(self, paths: Sequence[str]) -> list[str]:
        """What the tests of one language read and its source does not."""
        found: set[str] = set()
        for _, rules in self._all:
            found.update(rules.test_data([path for path in paths if any(rules is mine for mine in self._of(path))]))
        return [path for path in paths if path in found]

    def is_harness(self, path: str) -> bool:
        """Of any runner."""
        return any(rules.is_harness(path) for rules in self._of(path))

    def is_manifest(self, path: str) -> bool:
        """Of any environment."""
        return any(rules.is_manifest(path) for rules in self._of(path))

    def is_prose(self, path: str) -> bool:
        """Of no interest to anyone."""
        return all(rules.is_prose(path) for rules in self._of(path))

    def shadowing(self, source: Changes, tests: Changes) -> list[tuple[str, str]]:
        """Each language's."""
        return [row for _, rules in self._all for row in rules.shadowing(source, tests)]


def divide(path: str, before: File | None, after: File | None) -> Divided | None:
    """A changed file that holds source and tests, by its own language; None for any other."""
    mine = next((toolchain for toolchain in TOOLCHAINS if toolchain.owns(path)), None)
    return mine.divide(before, after) if mine is not None and mine.divide is not None and after is not None else None


def toolchains_in(*trees: Tree) -> tuple[Toolchain, ...]:
    """The toolchains that some trees have source files of; Python's where there is none, for the common rules of names."""
    return tuple(toolchain for toolchain in TOOLCHAINS if any(toolchain.owns(path) for tree in trees for path in tree)) or (PYTHON,)
