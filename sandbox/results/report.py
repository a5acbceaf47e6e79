"""The report of one run, in the words of every toolchain."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

JAVA_ID = re.compile(r"((?:[^\s:#]*/)?[A-Za-z_][\w.]*)(?:\$[\w$]+)?#(?![^\s:(\[]*\.\w+::)")


def group_of(test_id: str) -> str:
    """What the runner collects a test with as one: a file, a Go package, a target, all of an id before its first `::`; a Java class, before the `#`."""
    java = JAVA_ID.match(test_id)
    return java[1] if java else test_id.split("::", 1)[0].strip()


class Outcome(StrEnum):
    """What one test did. XFAIL is not a pass."""

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    SKIPPED = "skipped"
    XFAILED = "xfailed"
    XPASSED = "xpassed"
    MISSING = "missing"  # collected, but the program died before its end


@dataclass(frozen=True)
class TestResult:
    """One test: where it stands, what it did and, if it failed, why. `frames` are (file, line, function), outermost first."""

    __test__ = False

    id: str
    outcome: Outcome
    file: str | None = None
    line: int | None = None
    seconds: float = 0.0
    message: str = ""
    short: str = ""
    exception: str | None = None
    kind: str | None = None  # crash, timeout; None for an ordinary failure
    output: str = ""
    frames: tuple[tuple[str, int, str], ...] = ()
    nearest: tuple[Any, ...] | None = None

    @property
    def passed(self) -> bool:
        return self.outcome is Outcome.PASSED

    @property
    def failed(self) -> bool:
        return self.outcome in (Outcome.FAILED, Outcome.ERROR)

    @property
    def failing_line(self) -> int | None:
        """Where it failed in its own file; for one that did not, where it begins."""
        inside = [line for file, line, _ in self.frames if file == self.file]
        return inside[-1] if self.failed and inside else self.line


@dataclass(frozen=True)
class TestReport:
    """Every test of one run, in order, and how the run ended."""

    __test__ = False

    results: dict[str, TestResult] = field(default_factory=dict)
    uncollected: dict[str, str] = field(default_factory=dict)  # group -> error text
    collected: tuple[str, ...] = ()
    skipped_files: dict[str, str] = field(default_factory=dict)
    died: tuple[str, ...] = ()  # groups whose own program ended before its last test, where each has its own
    status: int | None = None
    seconds: float = 0.0
    limit: str | None = None
    broken: str | None = None
    complete: bool = False  # the runner came to its own end
    cut: bool = False  # its time was spent before the last test
    executed: dict[str, list[int]] | None = None
    log: str = ""
    command: tuple[str, ...] = ()  # for people
    args: tuple[str, ...] = ()  # what the request named
    internal: str = ""

    def count(self, *outcomes: Outcome) -> int:
        """How many tests ended in one of these ways."""
        return sum(result.outcome in outcomes for result in self.results.values())

    def passing(self) -> set[str]:
        """Ids that passed."""
        return {name for name, result in self.results.items() if result.passed}

    def to_json(self) -> dict[str, Any]:
        """A dict that the json module can write; `from_json` reads it back."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> TestReport:
        """The report that `to_json` wrote. Raises TypeError or KeyError on another shape."""
        results = {}
        for name, row in data["results"].items():
            row = dict(row, outcome=Outcome(row["outcome"]), frames=tuple((f[0], f[1], f[2]) for f in row["frames"]))
            row["nearest"] = tuple(row["nearest"]) if row["nearest"] else None
            results[name] = TestResult(**row)
        rest = {k: v for k, v in data.items() if k != "results"}
        rest.update({name: tuple(rest[name]) for name in ("collected", "died", "command", "args")})
        return cls(results=results, **rest)
