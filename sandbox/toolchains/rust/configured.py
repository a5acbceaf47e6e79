"""A repository's own words over a plan for Rust."""

from __future__ import annotations

import shlex
from dataclasses import replace

from sandbox.plan import Choice, Plan
from sandbox.toolchains.protocol import Given
from sandbox.toolchains.rust.plan import of_rust

ALONE = ("--all-features", "--no-default-features", "--release")
WITH_VALUE = ("--features", "-F", "--profile", "--exclude")
IGNORED = ("--workspace", "--all", "--no-fail-fast", "--locked", "--all-targets", "--tests", "--verbose", "-v", "--quiet", "-q")


def configure(plan: Plan, given: Given, file: str) -> Plan:
    """`install`: crates with a version, for development; `test`: a `cargo test` command, of which the features are kept. Raises ValueError."""
    mine, why = of_rust(plan), [*plan.why]
    if given.version:
        mine = replace(mine, interpreters=(given.version,))
        why.append(Choice("compiler", f"Rust {given.version}", file))
    if given.install:
        mine = replace(mine, extra=(*mine.extra, *given.install))
        why.append(Choice("crates", " ".join(given.install), file))
    if given.environment:
        mine = replace(mine, environment=given.environment)
    if given.test:
        mine = replace(mine, features=(_flags(given.test),))
        why.append(Choice("test", given.test, file))
    return replace(mine, why=tuple(why))


def _flags(command: str) -> str:
    words = shlex.split(command)
    if words[:2] != ["cargo", "test"]:
        raise ValueError(f"must be a `cargo test` command, not {command!r}")
    kept, rest = [], iter(words[2:])
    for word in rest:
        name = word.partition("=")[0]
        if word in ALONE:
            kept.append(word)
        elif name in WITH_VALUE:
            kept.append(word if "=" in word else f"{word}={next(rest, '')}")
        elif word not in IGNORED:
            raise ValueError(f"can have {', '.join((*ALONE, *WITH_VALUE))}, not {word!r}")
    return " ".join(kept)
