"""Source text of languages with braces, without a parser: comments and strings told from code."""

from __future__ import annotations

import re

# Line comments, block comments, raw strings, strings, runes; the first that matches at a place wins.
GO_TEXT = re.compile(r"(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<string>`[^`]*`|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+')", re.DOTALL)


def without_comments(text: str, tokens: re.Pattern[str]) -> str:
    """The text with comments blanked; lines stay where they are."""
    return tokens.sub(lambda m: blanked(m[0]) if m["comment"] else m[0], text)


def code_alone(text: str, tokens: re.Pattern[str]) -> str:
    """The text with comments and the content of strings blanked; places stay as they are."""
    return tokens.sub(lambda m: blanked(m[0]), text)


def blanked(text: str) -> str:
    """As many blanks, with the same line ends."""
    return re.sub(r"[^\n]", " ", text)


def shape(text: str) -> str:
    """A text whose blanks do not count."""
    return re.sub(r"\s+", " ", text).strip()
