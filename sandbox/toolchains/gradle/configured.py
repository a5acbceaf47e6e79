"""A repository's own words over a plan for Gradle."""

from __future__ import annotations

import shlex
from dataclasses import replace

from sandbox.plan import Choice, Plan
from sandbox.toolchains.java.plan import of_java
from sandbox.toolchains.java.releases import SUITES
from sandbox.toolchains.protocol import Given

TASKS = {"test", "check", "build", "clean"}


def configure(plan: Plan, given: Given, file: str) -> Plan:
    """`version`: a JDK; `test`: a `gradle` command, of which -P and -D are kept. Raises ValueError."""
    mine, why = of_java(plan), [*plan.why]
    if given.version:
        if given.version not in SUITES:
            raise ValueError(f"must be one of the JDKs {', '.join(SUITES)}, not {given.version!r}")
        mine = replace(mine, interpreters=(given.version,))
        why.append(Choice("JDK", given.version, file))
    if given.install:
        raise ValueError("has no artifacts to install for Gradle: the build files name them")
    if given.environment:
        mine = replace(mine, environment=given.environment)
    if given.test:
        mine = replace(mine, arguments=_flags(given.test))
        why.append(Choice("test", given.test, file))
    return replace(mine, why=tuple(why))


def _flags(command: str) -> tuple[str, ...]:
    program, *words = shlex.split(command)
    if program not in ("gradle", "./gradlew"):
        raise ValueError(f"must be a `gradle` command, not {command!r}")
    kept = [word for word in words if word.startswith(("-P", "-D"))]
    odd = [word for word in words if word not in kept and word not in TASKS and word not in ("--continue", "--no-daemon", "--info", "--stacktrace")]
    if odd:
        raise ValueError(f"can have -P and -D with their values in the same word, and test, not {odd[0]!r}")
    return tuple(kept)
