"""What untrusted text may not bring along: control characters, bidi overrides, terminal escapes."""

from __future__ import annotations

import re
import unicodedata

ANSI = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)|[@-_])")


def plain(text: object, limit: int = 4000) -> str:
    """Printable text with line ends and tabs, no escape sequence, no invisible or direction-changing character."""
    cleaned = ANSI.sub("", str(text))
    cleaned = "".join(c if c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp") else "\N{REPLACEMENT CHARACTER}" for c in cleaned)
    return cleaned if len(cleaned) <= limit else cleaned[:limit] + " [...]"
