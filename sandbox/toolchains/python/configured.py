"""A repository's own words over a plan for Python."""

from __future__ import annotations

import shlex
from dataclasses import replace

from sandbox.plan import Choice, Plan
from sandbox.toolchains.protocol import Given
from sandbox.toolchains.python.plan import Requirements, of_python

STARTS = (["pytest"], ["python", "-m", "pytest"], ["python3", "-m", "pytest"], ["py.test"])


def configure(plan: Plan, given: Given, file: str) -> Plan:
    """`install`: requirement strings (PEP 508) added to the plan's; `test`: a pytest command. Raises ValueError."""
    mine, why = of_python(plan), [*plan.why]
    if given.version:
        mine = replace(mine, interpreters=(given.version,))
        why.append(Choice("interpreter", given.version, file))
    if given.install:
        mine = replace(mine, stages=(*mine.stages, Requirements(file, given.install)))
        why.append(Choice("requirements", f"{file}: {len(given.install)}", file))
    if given.environment:
        mine = replace(mine, environment=given.environment)
    if given.test:
        mine = replace(mine, arguments=_pytest_arguments(given.test), framework="pytest", django=None)
        why.append(Choice("test", given.test, file))
    return replace(mine, why=tuple(why))


def _pytest_arguments(command: str) -> tuple[str, ...]:
    words = shlex.split(command)
    for start in STARTS:
        if words[:len(start)] == start:
            return tuple(words[len(start):])
    raise ValueError(f"must be a pytest command, not {command!r}")
