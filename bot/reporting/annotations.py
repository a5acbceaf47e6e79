"""Marks beside the lines of the change: one for each test that broke, and for each line that a finding names. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from bot.reporting.facts import Failure, deciding, failures, place
from bot.reporting.markdown import cleaned, clipped, one_line
from bot.reporting.redact import redact

A_REQUEST = 50  # GitHub takes so many at a time, and adds those of later requests
TITLE = 255  # characters
MESSAGE = 16_000  # characters; GitHub's own limit is 64 KB, in bytes
MOST = 500  # nobody reads more, and each fifty is a request


@dataclass(frozen=True)
class Annotation:
    """A mark at lines of a file of the repository. `level`: notice, warning or failure. Message and title are plain text."""

    path: str
    start_line: int
    end_line: int
    level: str
    message: str
    title: str

    def to_json(self) -> dict[str, Any]:
        """GitHub's shape."""
        return {"path": self.path, "start_line": self.start_line, "end_line": self.end_line, "annotation_level": self.level,
                "message": self.message, "title": self.title}


def mark(path: str, line: int | None, level: str, message: str, title: str) -> Annotation:
    """One line's mark, its texts cleaned, without secrets and within GitHub's limits; at line 1 where the line is not known."""
    line = max(1, line or 1)
    shown = clipped(redact(cleaned(message)).strip(), MESSAGE)
    return Annotation(path, line, line, level, shown or "No message.", one_line(redact(cleaned(title)), TITLE))


def annotations_of(verdict: dict[str, Any], tree: Collection[str] | None = None) -> tuple[Annotation, ...]:
    """The marks of a verdict, at most 500, each place and test once. `tree`: the paths of the head, where they are known; no other is marked."""
    found = [*_of_failures(verdict), *_of_edited_tests(verdict), *_of_decision(verdict)]
    known = [one for one in dict.fromkeys(found) if tree is None or one.path in tree]
    return tuple(known[:MOST])


def batches(marks: Sequence[Annotation], size: int = A_REQUEST) -> list[tuple[Annotation, ...]]:
    """The marks in groups that one request takes; none for no marks."""
    return [tuple(marks[start:start + size]) for start in range(0, len(marks), size)]


def _of_failures(verdict: dict[str, Any]) -> Iterator[Annotation]:
    for failure in failures(verdict):
        if failure.file:
            yield mark(failure.file, failure.line, "failure", failure.message or failure.happened, _title(failure))


def _title(failure: Failure) -> str:
    name = failure.test.rpartition("::")[2] or failure.test
    return f"{name}: {failure.happened}"


def _of_edited_tests(verdict: dict[str, Any]) -> Iterator[Annotation]:
    """Tests that the change edits and that base's version fails: for a person to look at, no failure of their own."""
    gate = verdict["gates"]["pass_to_pass"]
    told = {*gate["failed"], *gate["missing"], *gate["flaky"]}
    for row in verdict["tests"]:
        where = place(row["file"]) if row["file"] else None
        if row["category"] == "P2F" and row["from"] == "base" and row["id"] not in told and where:
            title = f"{row['id'].rpartition('::')[2]}: edited by the change; the version before fails with it"
            yield mark(where[0], row["line"], "warning", row["message"] or "", title)


def _of_decision(verdict: dict[str, Any]) -> Iterator[Annotation]:
    for finding in deciding(verdict):
        for where in map(place, finding["paths"]):
            if where and where[1]:
                yield mark(where[0], where[1], "warning", finding["detail"], verdict["reason"].replace("_", " "))
