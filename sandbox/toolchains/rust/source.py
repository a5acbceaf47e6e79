"""Rust source -> its items, with their attributes and places. By brackets and keywords, without a compiler."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from sandbox.toolchains.source_text import code_alone

# Line comments, block comments, raw strings, strings, characters (a lifetime has no second quote); the first that matches at a place wins.
RUST_TEXT = re.compile(
    r"(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<string>\b[bc]?r(?P<marks>#*)\".*?\"(?P=marks)|\b[bc]?\"(?:\\.|[^\"\\])*\"|\"(?:\\.|[^\"\\])*\""
    r"|b?'(?:\\(?:u\{[^}]*\}|x..|.)|[^'\\\n])')", re.DOTALL)
TEST_ATTRIBUTE = re.compile(r"#\s*\[\s*(?:\w+\s*::\s*)*(?:\w*test\w*|rstest|quickcheck|proptest)\s*(?:\(.*\)|=.*)?\]\s*$", re.DOTALL)
HEAD = re.compile(
    r"(?:pub\s*(?:\([^)]*\)\s*)?|default\s+|async\s+|unsafe\s+|safe\s+|const\s+(?=(?:async\s+|unsafe\s+|extern\b[^{;(]*?)*fn\b)|extern\s*(?=fn\b))*"
    r"(?P<word>mod|fn|struct|enum|union|trait|type|const|static|impl|use|extern|macro)\b\s*(?:mut\s+)?(?P<name>\w+)?")
INVOCATION = re.compile(r"(?P<name>(?:::)?\w+(?:::\w+)*)\s*!\s*(?:[({\[]\s*)?(?P<argument>\w+)?")
MARKS = re.compile(r"[{}()\[\];]")
INNER_TEST = re.compile(r"#\s*\[\s*(?:\w+\s*::\s*)*(?:test|rstest|quickcheck)\b[^\]]*\](?:\s*#\s*\[[^\]]*\])*\s*(?:pub\s+)?(?:async\s+)?fn\s+(\$?\w+)")
TEST_MARK = re.compile(r"#\s*\[\s*(?:\w+\s*::\s*)*(?:\w*test\w*|rstest|quickcheck)\b|\b(?:proptest|quickcheck)!")
TO_SEMICOLON = ("const", "static", "type", "use", "extern")


@dataclass(frozen=True)
class Item:
    """One item: its word (fn, mod, ...; `name!` for a macro's invocation), its name, its attributes, where it begins (with them), where its body is
    (between its braces; -1 for none) and where it ends. Places are offsets."""

    word: str
    name: str
    attributes: tuple[str, ...]
    start: int
    head: int
    body: int
    end: int

    @property
    def is_test(self) -> bool:
        """Whether it is a function that the test harness runs."""
        return self.word == "fn" and any(TEST_ATTRIBUTE.match(attribute) for attribute in self.attributes)

    @property
    def is_test_only(self) -> bool:
        """Whether it is compiled for tests alone."""
        return self.is_test or any(is_test_only(attribute) for attribute in self.attributes)


@lru_cache(maxsize=512)
def code_of(text: str) -> str:
    """The text with comments and strings blanked; offsets stay."""
    return code_alone(text, RUST_TEXT)


@lru_cache(maxsize=2048)
def items(text: str, start: int = 0, end: int | None = None) -> tuple[Item, ...]:
    """The items between two offsets, in order."""
    return tuple(_read(text, code_of(text), start, len(text) if end is None else end))


def _read(text: str, code: str, place: int, end: int) -> Iterator[Item]:
    while True:
        begin = place = _past_blanks(code, place, end)
        attributes = []
        while place < end and code[place] == "#":
            bracket = code.find("[", place, end)
            if bracket < 0:
                return
            last = _closing(code, bracket, end)
            if code[place + 1:bracket].strip() != "!":
                attributes.append(text[place:last])
            else:
                begin = _past_blanks(code, last, end)
            place = _past_blanks(code, last, end)
        if place >= end:
            return
        item = _item(code, tuple(attributes), begin, place, end)
        yield item
        place = item.end


def _past_blanks(code: str, place: int, end: int) -> int:
    while place < end and code[place].isspace():
        place += 1
    return place


def _closing(code: str, opening: int, end: int) -> int:
    """The offset behind the bracket that closes the one at an offset."""
    depth = 0
    for mark in MARKS.finditer(code, opening, end):
        if mark[0] in "{([":
            depth += 1
        elif mark[0] in "})]":
            depth -= 1
            if depth == 0:
                return mark.end()
    return end


def _item(code: str, attributes: tuple[str, ...], begin: int, head: int, end: int) -> Item:
    match = HEAD.match(code, head, end)
    word = match["word"] if match else ""
    name = (match["name"] or "") if match else ""
    if not match:
        called = INVOCATION.match(code, head, end)
        word, name = (f"{called['name'].rpartition('::')[2]}!", called["argument"] or "") if called else ("", "")
    body = -1
    to_semicolon = word in TO_SEMICOLON and not re.match(r"(?:unsafe\s+)?extern\s*\{", code[head:head + 80])
    place = head
    while place < end:
        mark = MARKS.search(code, place, end)
        if mark is None:
            return Item(word, name, attributes, begin, head, body, end)
        if mark[0] == ";":
            return Item(word, name, attributes, begin, head, body, mark.end())
        if mark[0] == "{":
            last = _closing(code, mark.start(), end)
            if not to_semicolon:
                return Item(word, name, attributes, begin, head, mark.end(), last)
            place = last
        elif mark[0] in "([":
            place = _closing(code, mark.start(), end)
            body = mark.end() if word.endswith("!") else body
        else:
            return Item(word, name, attributes, begin, head, body, mark.end())
    return Item(word, name, attributes, begin, head, body, end)


def line_at(text: str, offset: int) -> int:
    """The line that an offset stands in."""
    return text.count("\n", 0, offset) + 1


def is_test_only(attribute: str) -> bool:
    """Whether an attribute is `cfg(test)`, or `cfg(all(...))` with it."""
    plain = re.sub(r"\s", "", code_of(attribute))
    match = re.fullmatch(r"#\[cfg\((?:all\((.*)\)|(test))\)\]", plain)
    if not match:
        return False
    depth, word = 0, ""
    words: list[str] = []
    for mark in (match[1] or match[2]) + ",":
        depth += (mark == "(") - (mark == ")")
        if mark == "," and depth == 0:
            words, word = [*words, word], ""
        else:
            word += mark
    return "test" in words


def holds_tests(text: str) -> bool:
    """Whether a file has a test, a macro's, or an example in its documentation."""
    return bool(TEST_MARK.search(text)) or bool(re.search(r"^\s*//[/!]\s*(```|~~~)", text, re.MULTILINE))
