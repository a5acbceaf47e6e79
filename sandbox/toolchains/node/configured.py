"""A repository's own words over a plan for Node."""

from __future__ import annotations

from dataclasses import replace

from sandbox.plan import Choice, Plan
from sandbox.toolchains.node.package import Package
from sandbox.toolchains.node.plan import NodePlan, of_node
from sandbox.toolchains.node.runners import use_of
from sandbox.toolchains.node.scripts import commands_of
from sandbox.toolchains.protocol import Given


def configure(plan: Plan, given: Given, file: str) -> Plan:
    """`install`: packages with a range; `test`: a runner's command, of which the options are kept. Raises ValueError."""
    mine, why = of_node(plan), [*plan.why]
    if given.version:
        mine = replace(mine, interpreters=(given.version,))
        why.append(Choice("interpreter", f"Node {given.version}", file))
    if given.install:
        mine = replace(mine, extra=(*mine.extra, *given.install))
        why.append(Choice("packages", " ".join(given.install), file))
    if given.environment:
        mine = replace(mine, environment=given.environment)
    if given.test:
        mine = _with_command(mine, given.test)
        why.append(Choice("test", given.test, file))
    return replace(mine, why=tuple(why))


def _with_command(plan: NodePlan, text: str) -> NodePlan:
    uses = [use for command in commands_of(Package("", {"scripts": {"test": text}}, ""), "test") if (use := use_of(command)) is not None]
    known = {suite.runner for suite in plan.suites}
    if not uses or any(use.runner not in known for use in uses):
        raise ValueError(f"must be a command of {', '.join(sorted(known))}, not {text!r}")
    options = {use.runner: use for use in uses}
    suites = tuple(replace(suite, words=options[suite.runner].words, node=options[suite.runner].node, environment=options[suite.runner].environment,
                           named=options[suite.runner].named or suite.named) for suite in plan.suites if suite.runner in options)
    return replace(plan, suites=suites)
