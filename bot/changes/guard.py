"""What a change may not touch: pure rules over its raw diff."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from bot.changes.git import GITLINK, Entry
from bot.findings import Finding, blocker, note
from sandbox.workspace import EXECUTABLE, LINK, REGULAR, Tree, link_escapes, unsafe_path

PROTECTED = re.compile(
    r"(^|/)(\.github/(workflows|actions)/|codeowners$|\.gitlab-ci\.yml$|\.circleci/|\.travis\.yml$|azure-pipelines\.yml$|\.github/dualgate\.yml$|jenkinsfile$)")
LARGE_FILE, LARGE_DIFF = 1024 * 1024, 5 * 1024 * 1024
ABSENT = "000000"


def folded(path: str) -> str:
    """A path as a careless file system would compare it."""
    return unicodedata.normalize("NFC", path).casefold()


def forbidden_names(paths: Iterable[str]) -> list[Finding]:
    """Paths of a diff's text that must not even be tried."""
    return [blocker("forbidden_path", f"{path!r}: {wrong}", (path,)) for path in paths if (wrong := unsafe_path(path))]


def forbidden_modes(modes: Iterable[str]) -> list[Finding]:
    """Modes of a diff's text that no file, link or submodule has."""
    return [blocker("forbidden_path", f"mode {mode}") for mode in modes if mode not in (REGULAR, EXECUTABLE, LINK, GITLINK)]


def guard(entries: tuple[Entry, ...], base: Tree, after: Tree, is_test: Iterable[str], diff_size: int) -> list[Finding]:
    """Findings on the paths, modes, links, sizes and protected places of a change. `is_test`: its paths that belong to tests."""
    tests = set(is_test)
    found: list[Finding] = []
    for entry in entries:
        found += _of_entry(entry, base, after, entry.path in tests)
    links = {path for path, file in after.items() if file.mode == LINK}
    for entry in entries:
        parts = entry.path.split("/")
        below = next((p for n in range(1, len(parts)) if (p := "/".join(parts[:n])) in links), None)
        if below and entry.new_mode != ABSENT:
            found.append(blocker("forbidden_path", f"{entry.path!r}: written below the link {below!r}", (entry.path,)))
    found += _collisions(entries, after)
    if diff_size > LARGE_DIFF:
        found.append(blocker("needs_review", f"the diff is {diff_size / 1e6:.1f} MB"))
    return found


def _of_entry(entry: Entry, base: Tree, after: Tree, is_test: bool) -> list[Finding]:
    path, wrong = entry.path, unsafe_path(entry.path)
    if wrong:
        return [blocker("forbidden_path", f"{path!r}: {wrong}", (path,))]
    if entry.new_mode == GITLINK:
        if entry.old_mode == GITLINK:
            return [blocker("needs_review", f"the submodule {path} is pinned to another commit", (path,))]
        return [blocker("forbidden_path", f"a new submodule: {path}", (path,))]
    if path == ".gitmodules":
        return [blocker("forbidden_path", ".gitmodules: submodules are added or their addresses changed", (path,))]
    found: list[Finding] = []
    if PROTECTED.search(folded(path)):
        found.append(blocker("needs_review", f"a protected file is edited: {path}", (path,)))
    if entry.new_mode == ABSENT:
        return found
    if entry.new_mode not in (REGULAR, EXECUTABLE, LINK):
        return [blocker("forbidden_path", f"{path!r}: mode {entry.new_mode}", (path,))]
    file = after.get(path)
    if file is None:
        return found
    if file.mode == LINK and link_escapes(path, file.data.decode("utf-8", "surrogateescape")):
        return [blocker("forbidden_path", f"{path!r}: a link out of the tree", (path,))]
    if b"\0" in file.data[:8000] and not is_test:
        found.append(blocker("needs_review", f"a binary file that is no test data: {path}", (path,)))
    if len(file.data) > LARGE_FILE:
        found.append(blocker("needs_review", f"{path} has {len(file.data) / 1e6:.1f} MB", (path,)))
    if file.mode == EXECUTABLE and entry.old_mode == REGULAR:
        found.append(note("mode_changed", f"{path} becomes executable", (path,)))
    return found


def _collisions(entries: tuple[Entry, ...], after: Tree) -> list[Finding]:
    """New paths that differ from another one only by case or Unicode form."""
    by_name: dict[str, list[str]] = {}
    for path in after:
        by_name.setdefault(folded(path), []).append(path)
    new = {entry.path for entry in entries if entry.old_mode == ABSENT}
    return [blocker("needs_review", f"paths that differ only by case or Unicode form: {', '.join(sorted(paths))}", tuple(sorted(paths)))
            for paths in by_name.values() if len(paths) > 1 and new & set(paths)]
