"""A diff as text: whether it is one, which paths it names, whether each hunk stands where it says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from unidiff.errors import UnidiffParseError
from unidiff.patch import PatchSet

from sandbox.workspace import Tree

PATH_LINES = re.compile(r"^(?:--- |\+\+\+ |rename from |rename to |copy from |copy to )(.*)$")
MODE_LINE = re.compile(r"^(?:(?:old|new|new file|deleted file) mode (\d+)|index [0-9a-f]+\.\.[0-9a-f]+ (\d+))$")
GIT_LINE = re.compile(r"^diff --git (.*)$")


def looks_like_diff(text: str) -> bool:
    """Whether there is a header and something to change."""
    has_header = bool(re.search(r"^diff --git ", text, re.MULTILINE)) or bool(re.search(r"^--- .*\n\+\+\+ ", text, re.MULTILINE))
    has_body = bool(re.search(r"^(@@ -\d|GIT binary patch|(old|new|deleted file|new file) mode |rename |copy |Binary files .* differ$)", text, re.MULTILINE))
    return has_header and has_body


def unquote(word: str) -> str:
    """A path of a diff header: C-quoted as Git does, or plain, without the time stamp that other tools add."""
    word = word.rstrip("\r\n")
    if word.startswith('"') and word.endswith('"') and len(word) >= 2:
        raw = re.sub(r"\\([0-7]{3}|.)", lambda m: chr(int(m[1], 8)) if len(m[1]) == 3 else {"n": "\n", "t": "\t", "r": "\r"}.get(m[1], m[1]), word[1:-1])
        return raw.encode("latin-1", "replace").decode("utf-8", "surrogateescape") if all(ord(c) < 256 for c in raw) else raw
    return word.split("\t")[0]


def _header_lines(text: str) -> list[str]:
    """Lines outside hunks, so that removed and added lines of content are not taken for headers."""
    lines, left_old, left_new = [], 0, 0
    for line in text.split("\n"):
        if left_old > 0 or left_new > 0:
            mark = line[:1]
            if mark in (" ", ""):
                left_old, left_new = left_old - 1, left_new - 1
            elif mark == "-":
                left_old -= 1
            elif mark == "+":
                left_new -= 1
            continue
        hunk = re.match(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@", line)
        if hunk:
            left_old, left_new = int(hunk[1] or 1), int(hunk[2] or 1)
        else:
            lines.append(line)
    return lines


def named_paths(text: str) -> list[str]:
    """Every path that the headers name, both ends of renames too, without `a/` and `b/`."""
    found: list[str] = []
    for line in _header_lines(text):
        match = PATH_LINES.match(line)
        if match:
            path = unquote(match[1])
            if path == "/dev/null":
                continue
            if line.startswith(("--- ", "+++ ")) and path[:2] in ("a/", "b/"):
                path = path[2:]
            found.append(path)
            continue
        both = GIT_LINE.match(line)
        if both:
            found += _git_line_paths(both[1])
    return list(dict.fromkeys(found))


def named_modes(text: str) -> list[str]:
    """Every mode that the headers name; Git itself would make 100755 of a setuid one without a word."""
    found = (MODE_LINE.match(line.rstrip("\r")) for line in _header_lines(text))
    return list(dict.fromkeys(match[1] or match[2] for match in found if match))


def _git_line_paths(rest: str) -> list[str]:
    quoted = re.findall(r'"(?:[^"\\]|\\.)*"', rest)
    if quoted:
        return [unquote(word)[2:] for word in quoted]
    half = re.fullmatch(r"a/(.*) b/\1", rest.rstrip("\r"))
    return [half[1]] if half else [part[2:] for part in rest.rstrip("\r").split(" ") if part[:2] in ("a/", "b/")]


@dataclass(frozen=True)
class Misplaced:
    """A hunk that does not stand at the line it names: `places` is how often its old lines occur in the file."""

    path: str
    line: int
    places: int


def misplaced_hunks(text: str, base: Tree) -> list[Misplaced]:
    """Hunks that Git would have to move. Those with one place only are harmless; others may land in the wrong one."""
    try:
        patch = PatchSet(text)
    except (UnidiffParseError, ValueError):
        return []
    found = []
    for file in patch:
        path = unquote(file.source_file)
        path = path[2:] if path[:2] == "a/" else path
        entry = base.get(path)
        if entry is None or file.is_binary_file:
            continue
        lines = entry.data.decode("utf-8", "surrogateescape").split("\n")
        for hunk in file:
            old = [line.value.rstrip("\n") for line in hunk if line.line_type in (" ", "-")]
            if not old:
                continue
            start = hunk.source_start - 1
            if lines[start:start + len(old)] == old:
                continue
            places = sum(lines[i:i + len(old)] == old for i in range(len(lines) - len(old) + 1))
            found.append(Misplaced(path, hunk.source_start, places))
    return found


@dataclass(frozen=True)
class ChangedLines:
    """Lines of one file in its new state: those added, and for each pure deletion the line it stood before."""

    added: dict[int, str]
    removed: tuple[str, ...]
    cuts: tuple[int, ...]

    def without(self, lines: frozenset[int]) -> ChangedLines:
        """The same with some lines of the new state left out."""
        return ChangedLines({n: text for n, text in self.added.items() if n not in lines}, self.removed, tuple(n for n in self.cuts if n not in lines))


HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


def changed_lines(text: str) -> dict[str, ChangedLines]:
    """Path -> what a (normalised) diff adds and removes in it, for text files that stay or are new."""
    found: dict[str, ChangedLines] = {}
    path = ""
    lines = iter(text.split("\n"))
    for line in lines:
        if line.startswith("+++ "):
            name = unquote(line[4:])
            path = "" if name == "/dev/null" else name.removeprefix("b/")
        elif (hunk := HUNK.match(line)) and path:
            known = found.get(path, ChangedLines({}, (), ()))
            more = _hunk_lines(lines, int(hunk[1] or 1), int(hunk[2]), int(hunk[3] or 1))
            found[path] = ChangedLines({**known.added, **more.added}, (*known.removed, *more.removed), (*known.cuts, *more.cuts))
        elif hunk:
            _hunk_lines(lines, int(hunk[1] or 1), int(hunk[2]), int(hunk[3] or 1))
    return found


def _hunk_lines(lines: Iterator[str], old: int, place: int, new: int) -> ChangedLines:
    """One hunk's lines, of `old` and `new` lines on its two sides; `place`: the new line that comes next."""
    added: dict[int, str] = {}
    removed: list[str] = []
    cuts: list[int] = []
    run_removed = run_added = 0
    while old > 0 or new > 0:
        line = next(lines, "")
        if line.startswith("\\"):
            continue
        if line.startswith("+"):
            added[place] = line[1:] + "\n"
            place, new, run_added = place + 1, new - 1, run_added + 1
        elif line.startswith("-"):
            removed.append(line[1:] + "\n")
            old, run_removed = old - 1, run_removed + 1
        else:
            if run_removed and not run_added:
                cuts.append(place)
            place, old, new, run_removed, run_added = place + 1, old - 1, new - 1, 0, 0
    if run_removed and not run_added:
        cuts.append(max(1, place - 1))
    return ChangedLines(added, tuple(removed), tuple(cuts))
