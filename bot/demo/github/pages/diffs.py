"""A diff as rows of a table, with annotations under the lines they are about."""

from __future__ import annotations

from dataclasses import dataclass, field

from unidiff.patch import PatchSet

from bot.demo.github.records import CheckRun, Json, Repository

AROUND = 3
KINDS = {"+": "added", "-": "removed", " ": "same"}


@dataclass
class Row:
    """One line: `hunk`, `added`, `removed` or `same`, its numbers on either side, its text, what checks say of it."""

    kind: str
    old: int | None
    new: int | None
    text: str
    annotations: list[Json] = field(default_factory=list)


@dataclass
class FileDiff:
    """One file of a diff; `stray` are annotations on lines that the diff does not show."""

    path: str
    previous: str
    added: int
    removed: int
    binary: bool
    rows: list[Row]
    stray: list[Json] = field(default_factory=list)


def files(text: str, annotations: list[Json]) -> list[FileDiff]:
    """A unified diff of two commits, file by file."""
    found = []
    for patched in PatchSet(text):
        previous = (patched.source_file or "").removeprefix("a/")
        rows: list[Row] = []
        for hunk in patched:
            rows.append(Row("hunk", None, None, str(hunk).splitlines()[0]))
            rows += [Row(KINDS[line.line_type], line.source_line_no, line.target_line_no, line.value.rstrip("\n")) for line in hunk if line.line_type in KINDS]
        file = FileDiff(patched.path, previous if patched.is_rename else patched.path, patched.added, patched.removed, patched.is_binary_file, rows)
        _attach(file, [one for one in annotations if one["path"] == file.path])
        found.append(file)
    return found


def _attach(file: FileDiff, annotations: list[Json]) -> None:
    by_line = {row.new: row for row in file.rows if row.new is not None}
    for one in annotations:
        row = by_line.get(one["end_line"])
        (file.stray if row is None else row.annotations).append(one)


def excerpts(run: CheckRun) -> list[FileDiff]:
    """The lines that a check run's annotations are about, with some around them, file by file."""
    by_path: dict[str, list[Json]] = {}
    for one in run.annotations:
        by_path.setdefault(one["path"], []).append(one)
    return [_excerpt(run, path, chosen) for path, chosen in by_path.items()]


def _excerpt(run: CheckRun, path: str, annotations: list[Json]) -> FileDiff:
    source = lines_of(run.repository, run.head_sha, path)
    shown = sorted({number for one in annotations for number in range(one["start_line"] - AROUND, one["end_line"] + AROUND + 1) if 1 <= number <= len(source)})
    rows: list[Row] = []
    for number in shown:
        if rows and rows[-1].new != number - 1:
            rows.append(Row("hunk", None, None, "⋯"))
        marked = any(one["start_line"] <= number <= one["end_line"] for one in annotations)
        rows.append(Row("marked" if marked else "same", number, number, source[number - 1]))
    file = FileDiff(path, path, 0, 0, False, rows)
    _attach(file, annotations)
    return file


def lines_of(repository: Repository, sha: str, path: str) -> list[str]:
    """A text file's lines at a commit; none where it is not there."""
    entry = repository.git.entry(sha, path)
    if entry is None or entry.kind != "blob":
        return []
    return repository.git.blob(entry.sha).decode("utf-8", "replace").splitlines()
