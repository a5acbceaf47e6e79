"""Globs as test runners read them (micromatch's `**`, braces, `?(x)` and the like) -> regular expressions."""

from __future__ import annotations

import re
from functools import lru_cache

EXTENDED = {"?": "?", "+": "+", "*": "*", "@": "", "!": ""}


@lru_cache(maxsize=4096)
def glob(pattern: str) -> re.Pattern[str]:
    """A pattern of whole paths. `!(x)` is read as anything."""
    return re.compile(_translated(pattern.removeprefix("./")))


def matches(path: str, patterns: tuple[str, ...]) -> bool:
    """Whether a path matches one of some globs and, behind it, none that begins with `!`."""
    found = False
    for pattern in patterns:
        if pattern.startswith("!"):
            found = found and not glob(pattern[1:]).fullmatch(path)
        else:
            found = found or bool(glob(pattern).fullmatch(path))
    return found


def _translated(pattern: str) -> str:
    out, place, closing = "", 0, []
    while place < len(pattern):
        char, rest = pattern[place], pattern[place:]
        if char in EXTENDED and rest[1:2] == "(":
            out += "(?:"
            closing.append(")" + EXTENDED[char] if char != "!" else ")?.*?")
            place += 2
            continue
        if rest.startswith("**/"):
            out, place = out + "(?:[^/]+/)*", place + 3
            continue
        if rest.startswith("**"):
            out, place = out + ".*", place + 2
            continue
        out += _one(char, rest, closing)
        place += len(_class(rest)) if char == "[" and _class(rest) else 1
    return out + "".join(reversed(closing))


def _one(char: str, rest: str, closing: list[str]) -> str:
    if char == "*":
        return "[^/]*"
    if char == "?":
        return "[^/]"
    if char == "[" and (found := _class(rest)):
        return found.replace("[!", "[^")
    if char in "{(":
        closing.append(")")
        return "(?:"
    if char in "})" and closing:
        return closing.pop()
    if char in ",|" and closing:
        return "|"
    return re.escape(char)


def _class(rest: str) -> str:
    """A whole `[...]` at the start of a text; empty where it is none."""
    match = re.match(r"\[[!^]?[^\]]+\]", rest)
    return match[0] if match else ""
