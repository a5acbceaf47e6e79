"""A finding: one thing that the evidence shows, with its weight."""

from __future__ import annotations

from collections.abc import Sized
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Severity(StrEnum):
    """A blocker decides, a warning is worth reading, a note is for the record."""

    BLOCKER = "blocker"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True)
class Finding:
    """`code` is a reason of the contract or a kind of diagnosis; `paths` may carry `:line`."""

    code: str
    severity: Severity
    detail: str
    paths: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The contract's shape."""
        return {"code": self.code, "severity": self.severity.value, "detail": self.detail, "paths": list(self.paths), "tests": list(self.tests)}


def blocker(code: str, detail: str, paths: tuple[str, ...] = (), tests: tuple[str, ...] = ()) -> Finding:
    """A finding that decides."""
    return Finding(code, Severity.BLOCKER, detail, paths, tests)


def warning(code: str, detail: str, paths: tuple[str, ...] = (), tests: tuple[str, ...] = ()) -> Finding:
    """A finding worth reading."""
    return Finding(code, Severity.WARNING, detail, paths, tests)


def note(code: str, detail: str, paths: tuple[str, ...] = (), tests: tuple[str, ...] = ()) -> Finding:
    """A finding for the record."""
    return Finding(code, Severity.NOTE, detail, paths, tests)


def counted(names: Sized) -> str:
    """`1 test`, `2 tests`."""
    return f"{len(names)} test{'' if len(names) == 1 else 's'}"
