"""The plans of a repository: detected, with its own words over them, and which files of a change are whose."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence

from bot.changes.change import Change
from bot.errors import BadInput
from bot.policy import Policy
from sandbox.plan import Plan
from sandbox.toolchains.protocol import Rules, Sight
from sandbox.toolchains.registry import detect_plans, toolchain_of, why_unplanned
from sandbox.workspace import Tree

UNKNOWN = "nothing here is known to be tested (no source file or manifest of a known language)"


def plans_of(
    tree: Tree, commit_date: datetime.date, version: str | None, policy: Policy, file: str, today: datetime.date, before: Tree | None = None,
    changed: Iterable[str] = (),
) -> tuple[Plan, ...]:
    """The plans of a tree, as the repository's configuration has them. Raises BadInput for configuration that fits none of them."""
    return policy.over(detect_plans(tree, Sight(commit_date, today, version, before, frozenset(changed))), file)


def no_plan(tree: Tree) -> str:
    """Why a tree has none, for people."""
    return f"no plan: {why_unplanned(tree) or UNKNOWN}"


def title_of(plan: Plan) -> str:
    """A plan for people: its toolchain, and its folder where that is not the root."""
    return f"{plan.toolchain} in {plan.directory}" if plan.directory else plan.toolchain


def touched_plans(plans: Sequence[Plan], change: Change) -> set[int]:
    """Places of the plans that files of a change belong to."""
    paths = [*change.source, *change.tests, *change.frozen, *(change.given or {})]
    return {place for path in paths for place in owners(plans, path, change.rules)}


def owners(plans: Sequence[Plan], path: str, rules: Rules) -> set[int]:
    """Places of the plans that a path belongs to: of its language, in the innermost folder; what is of no language belongs to every plan around it."""
    around = [place for place, plan in enumerate(plans) if not plan.directory or path.startswith(plan.directory + "/")]
    of_its_language = [place for place in around if toolchain_of(plans[place]).owns(path)]
    if not of_its_language and rules.is_prose(path):
        return set()
    candidates = of_its_language or around
    return {place for place in candidates if len(plans[place].directory) == _innermost(plans, candidates, plans[place].toolchain)}


def _innermost(plans: Sequence[Plan], places: Iterable[int], toolchain: str) -> int:
    return max(len(plans[place].directory) for place in places if plans[place].toolchain == toolchain)


def place_for(plans: Sequence[Plan], toolchain: str, name: str) -> int:
    """The place of the plan that a given reproducer of a language is run by. Raises BadInput where there is none."""
    found = [place for place, plan in enumerate(plans) if plan.toolchain == toolchain]
    found = found or [place for place, plan in enumerate(plans) if toolchain_of(plan).placing.reads(name)]  # of its language, by another tool
    if not found:
        raise BadInput(f"{name}: there is no plan for {toolchain} in this repository (there is: {', '.join(title_of(plan) for plan in plans)})")
    return found[0]
