"""A source file that holds tests too -> the same with base's tests, and base's source with the change's tests."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sandbox.toolchains.protocol import Divided
from sandbox.toolchains.rust.source import Item, items, line_at
from sandbox.toolchains.source_text import shape
from sandbox.workspace import LINK, File


@dataclass(frozen=True)
class Block:
    """What is compiled for tests alone: its key among those of its module, and its text with the blanks before it."""

    key: tuple[str, str, int]
    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Level:
    """One module's blocks, and its modules of source by name. `end`: where its body ends."""

    blocks: tuple[Block, ...]
    modules: dict[str, Level]
    end: int


def read_level(text: str, start: int = 0, end: int | None = None) -> Level:
    """The blocks of a file, or of the body of a module."""
    found: list[Block] = []
    modules: dict[str, Level] = {}
    counts: dict[tuple[str, str], int] = {}
    place = start
    for item in items(text, start, end):
        if item.is_test_only:
            name = _name(text, item)
            counts[name] = counts.get(name, 0) + 1
            begin = _with_comments(text, place, item.start)
            found.append(Block((*name, counts[name]), text[begin:item.end], begin, item.end))
        elif item.word == "mod" and item.body > 0:
            modules[item.name] = read_level(text, item.body, item.end - 1)
        place = item.end
    return Level(tuple(found), modules, len(text) if end is None else end)


def _name(text: str, item: Item) -> tuple[str, str]:
    if item.name and item.word not in ("use", "impl"):
        return item.word, item.name
    return item.word, shape(text[item.head:item.body if item.body > 0 else item.end])


def _with_comments(text: str, place: int, start: int) -> int:
    """Where an item's own lines begin: comments right above it are its own, a blank line parts it from what is before."""
    gap = text[place:start]
    blank = re.match(r".*\n[ \t\r]*\n", gap, re.DOTALL)
    if blank:
        return place + blank.end()
    first = gap.find("\n")
    return place + first + 1 if first >= 0 and place > 0 else start


def weave(skeleton: str, other: str) -> str:
    """The source of one text with the test blocks of another."""
    edits = _edits(read_level(skeleton), read_level(other), skeleton)
    for start, end, text in sorted(edits, key=lambda edit: (edit[0], edit[1]), reverse=True):
        skeleton = skeleton[:start] + text + skeleton[end:]
    return skeleton


def _edits(mine: Level, theirs: Level, text: str) -> list[tuple[int, int, str]]:
    wanted = {block.key: block for block in theirs.blocks}
    have = {block.key: block for block in mine.blocks}
    edits = [(block.start, block.end, wanted[block.key].text if block.key in wanted else "") for block in mine.blocks]
    after: dict[int, str] = {}
    place = None
    for block in theirs.blocks:
        if block.key in have:
            place = have[block.key].end
        else:
            at = place if place is not None else _last_line(text, mine.end)
            after[at] = after.get(at, "") + "\n" + block.text + ("\n" if place is None else "")
    edits += [(at, at, added) for at, added in after.items()]
    for name, level in mine.modules.items():
        edits += _edits(level, theirs.modules.get(name, Level((), {}, 0)), text)
    return edits


def _last_line(text: str, end: int) -> int:
    """The place for what comes last in a body: before the blanks of its closing brace, behind a file's last line end."""
    return len(text[:end].rstrip(" \t"))


def block_lines(text: str) -> frozenset[int]:
    """The lines that test blocks stand on."""
    found: set[int] = set()
    waiting = [read_level(text)]
    while waiting:
        level = waiting.pop()
        waiting += level.modules.values()
        for block in level.blocks:
            found.update(range(line_at(text, block.start), line_at(text, block.end) + 1))
    return frozenset(found)


def divide(before: File | None, after: File) -> Divided | None:
    """By what is compiled for tests alone. A new file is the source's: base has no module that its tests could stand in."""
    if before is None or LINK in (after.mode, before.mode):
        return None
    try:
        old, new = before.data.decode("utf-8"), after.data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    if not (block_lines(old) or block_lines(new)):
        return None
    return Divided(File(after.mode, weave(new, old).encode()), File(before.mode, weave(old, new).encode()), block_lines(new))
