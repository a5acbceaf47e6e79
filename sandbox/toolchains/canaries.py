"""Canaries: tests of ours inside copies of real test files, whose outcomes are known before any run."""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from sandbox.results.report import Outcome
from sandbox.workspace import File

WORD = re.compile(r"[A-Z]?[a-z]{3,}|\d+")


@dataclass(frozen=True)
class Planted:
    """`files`: test files with canaries in them; `expected`: id -> what an honest runner reports of it."""

    files: Mapping[str, File] = field(default_factory=dict)
    expected: Mapping[str, Outcome] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.expected)


def fresh_name(rng: random.Random, pattern: str, words: Sequence[str], taken: Collection[str]) -> str:
    """A name in the style of `pattern`, one of the file's own, with a word of its neighbours at its end; never one that the text has."""
    camel = "_" not in pattern and any(letter.isupper() for letter in pattern)
    while True:
        word = rng.choice(words) if words else f"case{rng.randrange(10, 100)}"
        pattern = f"{pattern}{word.capitalize()}" if camel else f"{pattern}_{word.lower()}"
        if pattern not in taken:
            return pattern


def words_of(names: Collection[str]) -> list[str]:
    """The words that test names of a file are made of, the customary first ones left out."""
    found = {word.lower() for name in names for word in WORD.findall(name)}
    return sorted(found - {"test", "tests", "should"})
