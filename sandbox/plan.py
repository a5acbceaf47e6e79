"""A plan: how a repository is set up and tested, as plain data, with the reason for each choice."""

from __future__ import annotations

import datetime
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Choice:
    """One decision: what was chosen and the file and line that led to it."""

    choice: str
    value: str
    file: str | None = None
    line: int | None = None


@dataclass(frozen=True)
class Requirements:
    """One stage of an installation: requirement strings (PEP 508), and where they stand."""

    origin: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Plan:
    """What is run for one toolchain in one directory of a repository."""

    toolchain: str
    framework: str
    interpreters: tuple[str, ...]
    project: bool
    extras: tuple[str, ...] = ()
    build_requires: tuple[str, ...] = ()
    stages: tuple[Requirements, ...] = ()
    constraints: tuple[str, ...] = ()
    known_names: tuple[str, ...] = ()
    test_files: tuple[str, ...] = ()
    exclude_newer: datetime.date | None = None
    version: str | None = None
    manifests: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    arguments: tuple[str, ...] = ()  # of the test command, where the repository's own configuration names one
    why: tuple[Choice, ...] = field(default=(), compare=False)

    def to_json(self) -> dict[str, Any]:
        """A dict that the json module can write."""
        data = asdict(self)
        data["exclude_newer"] = self.exclude_newer.isoformat() if self.exclude_newer else None
        return data
