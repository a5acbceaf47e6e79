"""A repository's own words over a plan for Go."""

from __future__ import annotations

import shlex
from dataclasses import replace

from sandbox.plan import Choice, Plan
from sandbox.toolchains.go.plan import of_go
from sandbox.toolchains.protocol import Given

FLAGS_ONLY = ("-tags", "-race", "-ldflags", "-gcflags", "-short", "-p", "-parallel", "-cpu", "-shuffle", "-mod")


def configure(plan: Plan, given: Given, file: str) -> Plan:
    """`install`: modules with a version; `test`: a `go test` command, of which the flags are kept. Raises ValueError."""
    mine, why = of_go(plan), [*plan.why]
    if given.version:
        mine = replace(mine, interpreters=(given.version,))
        why.append(Choice("compiler", f"Go {given.version}", file))
    if given.install:
        mine = replace(mine, extra=(*mine.extra, *given.install))
        why.append(Choice("modules", " ".join(given.install), file))
    if given.environment:
        mine = replace(mine, environment=given.environment)
    if given.test:
        mine = replace(mine, arguments=_flags(given.test))
        why.append(Choice("test", given.test, file))
    return replace(mine, why=tuple(why))


def _flags(command: str) -> tuple[str, ...]:
    words = shlex.split(command)
    if words[:2] != ["go", "test"]:
        raise ValueError(f"must be a `go test` command, not {command!r}")
    flags = [word for word in words[2:] if word.startswith("-")]
    odd = [flag for flag in flags if flag.replace("--", "-").split("=")[0] not in FLAGS_ONLY]
    if odd:
        raise ValueError(f"can have {', '.join(FLAGS_ONLY)} (with a value as -flag=value), not {odd[0]!r}")
    return tuple(flags)
