"""A repository's own words over a plan for a test command."""

from __future__ import annotations

from dataclasses import replace

from sandbox.plan import Choice, Plan
from sandbox.toolchains.generic.plan import Form, of_command
from sandbox.toolchains.protocol import Given


def configure(plan: Plan, given: Given, file: str) -> Plan:
    """`install`: Debian packages; `test`: the command. Raises ValueError for a version, which nothing here has."""
    mine, why = of_command(plan), [*plan.why]
    if given.version:
        raise ValueError("can't have a version: the command uses what Debian has")
    if given.install:
        mine = replace(mine, packages=(*mine.packages, *given.install))
        why.append(Choice("packages", " ".join(given.install), file))
    if given.environment:
        mine = replace(mine, environment=given.environment)
    if given.test:
        mine = replace(mine, test=given.test, form=Form.OUTPUT, reports=(), framework="command")
        why.append(Choice("test", given.test, file))
    return replace(mine, why=tuple(why))
