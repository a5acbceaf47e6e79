"""A look at the added source lines. It only ever lowers a verdict, and names the line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from bot.changes.diff import ChangedLines
from bot.findings import Finding, blocker, note
from sandbox.toolchains.protocol import Toolchain
from sandbox.workspace import Tree


def look(changes: Mapping[str, ChangedLines], base: Tree, toolchains: Iterable[Toolchain]) -> list[Finding]:
    """Findings on the added lines of source. A sign that the same package of base shows already is left alone."""
    found: list[Finding] = []
    for toolchain in toolchains:
        for path, lines in changes.items():
            if toolchain.owns(path):
                found += _look(path, lines, base, toolchain)
    return found


def _look(path: str, lines: ChangedLines, base: Tree, toolchain: Toolchain) -> list[Finding]:
    found: list[Finding] = []
    signs = toolchain.signs
    for number, line in lines.added.items():
        code = signs.comment.sub("", line)
        for words, pattern in signs.strong.items():
            if pattern.search(code) and not _usual(pattern, path, base, toolchain):
                found.append(blocker("needs_review", f"the added line {words}: {line.strip()[:160]}", (f"{path}:{number}",)))
        for words, pattern in signs.weak.items():
            if pattern.search(code) and not _usual(pattern, path, base, toolchain):
                found.append(note("static_sign", f"the added line {words}: {line.strip()[:160]}", (f"{path}:{number}",)))
    return found


def _usual(pattern: re.Pattern[str], path: str, base: Tree, toolchain: Toolchain) -> bool:
    """Whether base's source of that package does the same already: a test tool's own repository."""
    parts = path.split("/")
    package = "/".join(parts[:2] if parts[0] in ("src", "lib") else parts[:1])
    return any(pattern.search(base.text(other) or "") for other in base
               if toolchain.owns(other) and (other == path or other.startswith(package + "/")))
