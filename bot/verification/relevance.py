"""What in the tests has to do with a change: which are nearest, which names it brings."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable, Mapping

from bot.changes.change import Change
from bot.changes.diff import ChangedLines
from sandbox.results.report import TestReport
from sandbox.workspace import File

FAR = 100
WORTH_LEAVING_OUT_S = 20.0


def nearest_first(test_files: Iterable[str], change: Change) -> tuple[str, ...]:
    """Test files by nearness to the change: its own, those named like a changed module, those next to one, the rest."""
    return tuple(sorted(test_files, key=lambda path: (_distance(path, change), path)))


def near_files(ordered: tuple[str, ...], change: Change) -> tuple[str, ...]:
    """The change's own test files and those named like a changed module; where there is none, the three nearest."""
    return tuple(path for path in ordered if _distance(path, change) < FAR) or ordered[:3]


def endless_elsewhere(base: TestReport, near: Collection[str]) -> frozenset[str]:
    """Tests that had no end on base, in files that have nothing to do with the change, where waiting for them again would cost much: they prove nothing."""
    found = [r for r in base.results.values() if r.kind == "timeout" and r.file not in near]
    return frozenset(r.id for r in found) if sum(r.seconds for r in found) > WORTH_LEAVING_OUT_S else frozenset()


def _distance(path: str, change: Change) -> int:
    if path in change.tests or path in (change.given or {}):
        return 0
    stem = re.sub(r"(\.(test|spec))?\.\w+$", "", posixpath.basename(path)).removeprefix("test_").removesuffix("_test").strip("_")
    stems = {posixpath.basename(other).rsplit(".", 1)[0].strip("_") for other in change.source}
    if any(stem == s or (len(s) > 3 and (s in stem or stem in s)) for s in stems):
        return 1
    folders = {posixpath.dirname(other) for other in change.source}
    return FAR - max((len(posixpath.commonpath([folder, path])) if folder else 0 for folder in folders), default=0) + 1000


def names_added(lines: Mapping[str, ChangedLines], source: Mapping[str, File | None]) -> frozenset[str]:
    """Identifiers on the added source lines, the paths of its files and the module names in them."""
    words = {word for change in lines.values() for line in change.added.values() for word in re.findall(r"[A-Za-z_]\w*", line)}
    words |= {re.sub(r"\.(py|go|rs|[cm]?[jt]sx?)$", "", part) for path in source for part in path.split("/")}
    return frozenset(words | set(source))
