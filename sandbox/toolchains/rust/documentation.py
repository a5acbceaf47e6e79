"""Examples in the documentation of Rust source: blocks of code in doc comments, each with the item that it belongs to."""

from __future__ import annotations

import re
from collections import Counter

NAME = re.compile(r"^\s*(?:pub(?:\([^)]*\))?\s+|default\s+|async\s+|unsafe\s+|const\s+|extern\s+(?:\"[^\"]*\"\s+)?)*"
                  r"(?:fn|struct|enum|union|trait|type|static|mod|const|macro_rules!|macro)\s+(\w+)")
DOC_LINE = re.compile(r"^\s*//([/!])(?!/)( ?)(.*)$")
FENCE = re.compile(r"^\s*(```+|~~~+)")


def examples(text: str) -> list[tuple[str, str]]:
    """(name of the item that follows, "" for a module's own documentation; the block with its fences) in order."""
    found: list[tuple[str, str]] = []
    waiting: list[str] = []
    block: list[str] | None = None
    for line in text.split("\n"):
        match = DOC_LINE.match(line)
        if match is None:
            block = None
            name = NAME.match(line)
            if name:
                found += [(name[1], block_text) for block_text in waiting]
                waiting = []
            elif line.strip() and not line.strip().startswith(("#", "//", ")")):
                found += [("?", block_text) for block_text in waiting]
                waiting = []
            continue
        if block is None:
            block = [match[3]] if FENCE.match(match[3]) else None
        else:
            block.append(match[3])
            if FENCE.match(match[3]):
                if match[1] == "!":
                    found.append(("", "\n".join(block)))
                else:
                    waiting.append("\n".join(block))
                block = None
    return found + [("?", block_text) for block_text in waiting]


def gone_examples(before: str, after: str) -> list[tuple[str, str]]:
    """Examples of a text that another version of it has not, whatever item they stand at."""
    left = Counter(text for _, text in examples(after))
    found = []
    for owner, text in examples(before):
        if left[text]:
            left[text] -= 1
        else:
            found.append((owner, text))
    return found
