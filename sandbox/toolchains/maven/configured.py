"""A repository's own words over a plan for Maven."""

from __future__ import annotations

import shlex
from dataclasses import replace

from sandbox.plan import Choice, Plan
from sandbox.toolchains.java.plan import of_java
from sandbox.toolchains.java.releases import SUITES
from sandbox.toolchains.protocol import Given

GOALS = {"test", "verify", "package", "install", "clean"}


def configure(plan: Plan, given: Given, file: str) -> Plan:
    """`version`: a JDK; `install`: artifacts; `test`: an `mvn` command, of which -D and -P are kept. Raises ValueError."""
    mine, why = of_java(plan), [*plan.why]
    if given.version:
        if given.version not in SUITES:
            raise ValueError(f"must be one of the JDKs {', '.join(SUITES)}, not {given.version!r}")
        mine = replace(mine, interpreters=(given.version,))
        why.append(Choice("JDK", given.version, file))
    if given.install:
        mine = replace(mine, extra=(*mine.extra, *given.install))
        why.append(Choice("artifacts", " ".join(given.install), file))
    if given.environment:
        mine = replace(mine, environment=given.environment)
    if given.test:
        mine = replace(mine, arguments=_flags(given.test))
        why.append(Choice("test", given.test, file))
    return replace(mine, why=tuple(why))


def _flags(command: str) -> tuple[str, ...]:
    program, *words = shlex.split(command)
    if program not in ("mvn", "./mvnw"):
        raise ValueError(f"must be an `mvn` command, not {command!r}")
    kept = [word for word in words if word.startswith(("-D", "-P"))]
    odd = [word for word in words if word not in kept and word not in GOALS and word not in ("-B", "-q", "-ntp", "--no-transfer-progress")]
    if odd:
        raise ValueError(f"can have -D and -P with their values in the same word, and test, not {odd[0]!r}")
    return tuple(kept)
