"""A diff as a page shows it: by file, with line numbers, and with marks beside the lines where a test went wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from bot.changes.diff import unquote
from bot.reporting.redact import redact

LARGEST = 300_000  # characters of a diff that are read
MOST_FILES, MOST_LINES, LONGEST_LINE = 100, 1500, 400
OPEN_LINES = 400  # files are shown unfolded until so many lines are
HUNK = re.compile(r"^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@(.*)$")
GIT_LINE = re.compile(r'^diff --git (?:"?a/.*) ("?b/.*)$')
SAID = ("new file", "deleted file", "old mode", "new mode", "rename from", "rename to", "copy from", "copy to", "Binary files", "GIT binary patch")

Marks = Mapping[str, Mapping[int, str]]


@dataclass(frozen=True)
class Line:
    """`kind`: add | del | same | hunk; `old`, `new`: its numbers; `mark`: what went wrong there."""

    kind: str
    text: str
    old: int | None = None
    new: int | None = None
    mark: str = ""


@dataclass
class FileDiff:
    """`notes`: what Git says of it besides lines."""

    path: str
    lines: list[Line] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    added: int = 0
    removed: int = 0
    unfolded: bool = False

    @property
    def marked(self) -> bool:
        """Whether a test went wrong in one of its lines."""
        return any(line.mark for line in self.lines)


@dataclass(frozen=True)
class DiffView:
    """`cut`: there is more of it than is shown."""

    files: tuple[FileDiff, ...]
    cut: bool


def view(text: str, marks: Marks) -> DiffView:
    """The first of it, in files; marks are `path -> line of the new side -> words`."""
    files: list[FileDiff] = []
    shown, cut = 0, len(text) > LARGEST
    for path, line in _walk(redact(text[:LARGEST])):
        if line is None:
            if len(files) == MOST_FILES:
                return DiffView(_unfold(files), True)
            files.append(FileDiff(path))
            continue
        if line.kind == "note":
            files[-1].path = path or files[-1].path
            if line.text:
                files[-1].notes.append(line.text)
            continue
        if shown == MOST_LINES:
            cut = True
            break
        shown += 1
        _keep(files[-1], line, marks)
    return DiffView(_unfold(files), cut)


def _keep(file: FileDiff, line: Line, marks: Marks) -> None:
    file.added += line.kind == "add"
    file.removed += line.kind == "del"
    mark = marks.get(file.path, {}).get(line.new, "") if line.new is not None else ""
    text = line.text if len(line.text) <= LONGEST_LINE else line.text[:LONGEST_LINE] + " [...]"
    file.lines.append(Line(line.kind, text, line.old, line.new, mark))


def _unfold(files: list[FileDiff]) -> tuple[FileDiff, ...]:
    room = OPEN_LINES
    for file in sorted(files, key=lambda file: not file.marked):
        file.unfolded = file.marked or len(file.lines) <= room
        room -= len(file.lines) if file.unfolded else 0
    return tuple(files)


def _walk(text: str) -> Iterator[tuple[str, Line | None]]:
    """(path, None) where a file begins; ("", line) for a line of it; (path, note) for what its header says."""
    old = new = left_old = left_new = 0
    begun = False
    for raw in text.removesuffix("\n").split("\n"):
        hunk = HUNK.match(raw)
        if left_old <= 0 and left_new <= 0:
            if raw.startswith("diff --git ") or (raw.startswith("--- ") and not begun):
                begun = True
                named = GIT_LINE.match(raw)
                yield (_path(named[1]) if named else "", None)
            elif hunk and begun:
                old, new = int(hunk[1]), int(hunk[3])
                left_old, left_new = int(hunk[2] or 1), int(hunk[4] or 1)
                yield "", Line("hunk", raw)
            elif begun and raw.startswith(("--- ", "+++ ")):
                yield _path(raw[4:]), Line("note", "")
            elif begun and raw.startswith(SAID):
                yield "", Line("note", raw)
        elif raw.startswith("+"):
            yield "", Line("add", raw[1:], None, new)
            new, left_new = new + 1, left_new - 1
        elif raw.startswith("-"):
            yield "", Line("del", raw[1:], old, None)
            old, left_old = old + 1, left_old - 1
        elif not raw.startswith("\\"):
            yield "", Line("same", raw[1:], old, new)
            old, new, left_old, left_new = old + 1, new + 1, left_old - 1, left_new - 1


def _path(word: str) -> str:
    path = unquote(word)
    return "" if path == "/dev/null" else path[2:] if path[:2] in ("a/", "b/") else path
