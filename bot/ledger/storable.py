"""Text that every database of ours takes."""

from __future__ import annotations


def storable(text: str) -> str:
    """The text with no NUL (PostgreSQL refuses it), no lone surrogate (UTF-8 has none)."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode("utf-8")
