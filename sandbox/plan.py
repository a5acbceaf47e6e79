"""A plan: how one part of a repository is set up and tested, as plain data, with the reason for each choice."""

from __future__ import annotations

import datetime
from dataclasses import asdict, dataclass, field, replace
from typing import Any


@dataclass(frozen=True)
class Choice:
    """One decision: what was chosen and the file and line that led to it."""

    choice: str
    value: str
    file: str | None = None
    line: int | None = None


@dataclass(frozen=True)
class Service:
    """A database beside the tests. `alias`: the name that a workflow gives it; `port`: where it answers on loopback; `settings`: the image's variables;
    `image`: as the workflow at `file`:`line` names it."""

    kind: str
    alias: str
    port: int
    settings: tuple[tuple[str, str], ...] = ()
    image: str = ""
    file: str = ""
    line: int = 1


@dataclass(frozen=True)
class Plan:
    """What is run for one toolchain in one directory of a repository; each toolchain adds what only it needs.

    `directory`: from the tree's root, "" for the root itself. `interpreters`: releases of the language's interpreter or compiler that are tried,
    the best first. `version`: the repository's own, from its last tag. `manifests`: what the environment is made from.
    """

    toolchain: str
    framework: str
    interpreters: tuple[str, ...]
    directory: str = ""
    test_files: tuple[str, ...] = ()
    manifests: tuple[str, ...] = ()
    exclude_newer: datetime.date | None = None
    version: str | None = None
    environment: tuple[tuple[str, str], ...] = ()
    arguments: tuple[str, ...] = ()  # of the test command, where the repository's own configuration names one
    display: bool = False  # an X server stands beside the tests
    services: tuple[Service, ...] = ()  # started fresh for each box
    services_missing: tuple[str, ...] = ()  # what the workflow starts as well, and nobody here can
    why: tuple[Choice, ...] = field(default=(), compare=False)

    def of_environment(self) -> Plan:
        """The plan without what an environment does not depend on."""
        return replace(self, why=(), test_files=(), services=(), services_missing=())

    def to_json(self) -> dict[str, Any]:
        """A dict that the json module can write."""
        data = asdict(self)
        data["exclude_newer"] = self.exclude_newer.isoformat() if self.exclude_newer else None
        return data
