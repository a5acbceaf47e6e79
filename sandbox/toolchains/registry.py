"""Every toolchain there is, and what they make of a tree together."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import replace

from sandbox.plan import Choice, Plan
from sandbox.services.wanted import Wanted, wanted_services
from sandbox.toolchains.ci_variables import ci_variables
from sandbox.toolchains.displays import VARIABLES, display_choice
from sandbox.toolchains.generic.toolchain import GENERIC
from sandbox.toolchains.go.toolchain import GO
from sandbox.toolchains.gradle.toolchain import GRADLE
from sandbox.toolchains.maven.toolchain import MAVEN
from sandbox.toolchains.node.toolchain import NODE
from sandbox.toolchains.node.unknown_runner import unknown_runner
from sandbox.toolchains.protocol import Changes, Divided, Rules, Sight, Toolchain
from sandbox.toolchains.python.toolchain import PYTHON
from sandbox.toolchains.rust.toolchain import RUST
from sandbox.workspace import File, Tree

TOOLCHAINS: tuple[Toolchain, ...] = (PYTHON, GO, RUST, NODE, MAVEN, GRADLE)
BY_NAME = {toolchain.name: toolchain for toolchain in (*TOOLCHAINS, GENERIC)}


def toolchain_of(plan: Plan) -> Toolchain:
    """The toolchain that a plan was made by."""
    return BY_NAME[plan.toolchain]


def detect_plans(tree: Tree, sight: Sight) -> tuple[Plan, ...]:
    """The plans of a tree. One without a test file is dropped where another has some: a script or a manifest beside the real project. Where no
    language's tests are found, the repository's own test command is the plan."""
    found = [plan for toolchain in TOOLCHAINS for plan in toolchain.detect(tree, sight)]
    chosen = [plan for plan in found if plan.test_files] or list(GENERIC.detect(tree, sight)) or found[:1]
    return tuple(_with_display(_with_services(_with_variables(plan, tree), wanted_services(tree)), display_choice(tree)) for plan in chosen)


def _with_variables(plan: Plan, tree: Tree) -> Plan:
    """What CI and tox tell the tests."""
    found, why = ci_variables(tree, plan.toolchain)
    known = {name for name, _ in plan.environment}
    return replace(plan, environment=(*plan.environment, *(row for row in found if row[0] not in known)), why=(*plan.why, *why)) if found else plan


def why_unplanned(tree: Tree) -> str | None:
    """What a tree without a plan says of its tests; None where it says nothing."""
    return unknown_runner(tree)


def _with_display(plan: Plan, choice: Choice | None) -> Plan:
    return replace(plan, display=True, environment=(*plan.environment, *VARIABLES), why=(*plan.why, choice)) if choice else plan


def _with_services(plan: Plan, wanted: Wanted) -> Plan:
    """The databases that CI starts beside the tests, and what CI tells the tests of them."""
    if not wanted.services and not wanted.missing:
        return plan
    why = [Choice("service", f"{one.kind} on port {one.port}, for {one.image}", one.file, one.line) for one in wanted.services]
    known = {name for name, _ in plan.environment}
    return replace(plan, services=wanted.services, services_missing=wanted.missing, why=(*plan.why, *why),
                   environment=(*plan.environment, *(row for row in wanted.variables if row[0] not in known)))


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
    mine = next((toolchain for toolchain in (*TOOLCHAINS, GENERIC) if toolchain.owns(path)), None)
    return mine.divide(before, after) if mine is not None and mine.divide is not None and after is not None else None


def toolchains_in(*trees: Tree) -> tuple[Toolchain, ...]:
    """The toolchains that some trees have source files of; where none of them has a test, that of test commands too, if there is such a command.
    Python's where there is nothing, for the common rules of names."""
    found = tuple(toolchain for toolchain in TOOLCHAINS if any(toolchain.owns(path) for tree in trees for path in tree))
    judged = [(toolchain, toolchain.rules(tree, tree), tree) for tree in trees for toolchain in found]
    if not any(rules.is_test_file(path) for toolchain, rules, tree in judged for path in tree if toolchain.owns(path)):
        day = datetime.date(2000, 1, 1)
        if any(GENERIC.detect(tree, Sight(day, day)) for tree in trees):
            return (*found, GENERIC)
    return found or (PYTHON,)
