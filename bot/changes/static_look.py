"""A look at the added source lines. It only ever lowers a verdict, and names the line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from bot.changes.diff import ChangedLines
from bot.findings import Finding, blocker, note
from sandbox.toolchains.faults import Signs
from sandbox.toolchains.protocol import Toolchain
from sandbox.workspace import Tree


def look(changes: Mapping[str, ChangedLines], base: Tree, toolchains: Iterable[Toolchain], is_test: Callable[[str], bool]) -> list[Finding]:
    """Findings on the added lines of source. A sign that the same package of base's source shows already is left alone."""
    found: list[Finding] = []
    for toolchain in toolchains:
        for path, lines in changes.items():
            if toolchain.owns(path):
                found += _Look(path, lines, base, toolchain, is_test).findings()
    return list(dict.fromkeys(found))  # two toolchains may read the same language


@dataclass(frozen=True)
class _Look:
    """At one file."""

    path: str
    lines: ChangedLines
    base: Tree
    toolchain: Toolchain
    is_test: Callable[[str], bool]

    @property
    def signs(self) -> Signs:
        return self.toolchain.signs

    def findings(self) -> list[Finding]:
        """Line by line, then the lines that stand together."""
        found: list[Finding] = []
        for number, line in self.lines.added.items():
            code = self.signs.comment.sub("", line)
            if self.signs.harmless.match(f"{code}\n{self.lines.added.get(number + 1, '')}"):
                continue
            for words, pattern in self.signs.strong.items():
                if pattern.search(code) and not self._usual(pattern):
                    found.append(self._strong(words, number))
            for words, pattern in self.signs.weak.items():
                if pattern.search(code) and not self._usual(pattern):
                    found.append(note("static_sign", f"the added line {words}: {line.strip()[:160]}", (f"{self.path}:{number}",)))
            found += [self._strong(words, number) for words, loan in self.signs.loans.items() if loan.shows(self._bare(code, loan.bound is None), self._text)]
        for start, block in _blocks(self.lines.added):
            code = "\n".join(self.signs.comment.sub("", line) for line in block)
            for words, pattern in self.signs.blocks.items():
                found += [self._strong(words, start + code.count("\n", 0, match.start())) for match in pattern.finditer(code) if not self._usual(pattern)]
        return found

    def _strong(self, words: str, number: int) -> Finding:
        return blocker("needs_review", f"the added line {words}: {self.lines.added[number].strip()[:160]}", (f"{self.path}:{number}",))

    def _bare(self, code: str, without_strings: bool) -> str:
        return self.signs.text.sub('""', code) if without_strings else code

    @cached_property
    def _text(self) -> str:
        """The file as far as it is known: what base has of it, and what is added."""
        rows = [*(self.base.text(self.path) or "").splitlines(), *self.lines.added.values()]
        return "\n".join(self.signs.comment.sub("", row) for row in rows)

    def _usual(self, pattern: re.Pattern[str]) -> bool:
        """Whether base's source of that package does the same already: a test tool's own repository."""
        return any(pattern.search(text) and pattern.search("\n".join(self.signs.comment.sub("", row) for row in text.splitlines())) for text in self._package)

    @cached_property
    def _package(self) -> list[str]:
        """The texts of base's source of the same package; its tests, whole files or parts of them, are none."""
        parts = self.path.split("/")
        package = "/".join(parts[:2] if parts[0] in ("src", "lib") else parts[:1])
        return [_source_of(other, self.base, self.toolchain) for other in self.base
                if self.toolchain.owns(other) and (other == self.path or other.startswith(package + "/")) and not self.is_test(other)]


def _source_of(path: str, base: Tree, toolchain: Toolchain) -> str:
    text = base.text(path) or ""
    divided = toolchain.divide(base[path], base[path]) if toolchain.divide is not None else None
    if divided is None:
        return text
    return "\n".join(row for number, row in enumerate(text.split("\n"), 1) if number not in divided.lines)


def _blocks(added: Mapping[int, str]) -> Iterator[tuple[int, list[str]]]:
    """(number of the first, lines) of added lines that follow one another."""
    start, block = 0, list[str]()
    for number in sorted(added):
        if block and number != start + len(block):
            yield start, block
            block = []
        if not block:
            start = number
        block.append(added[number])
    if block:
        yield start, block
