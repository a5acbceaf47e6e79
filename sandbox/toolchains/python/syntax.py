"""Source text -> syntax tree, one at a time."""

from __future__ import annotations

import ast
import threading
import warnings

# CPython 3.11 counts the depth of a tree per interpreter: two threads that parse at once end in "recursion depth mismatch" (gh-106905).
_ONE_AT_A_TIME = threading.Lock()


def parse_module(text: str) -> ast.Module | None:
    """The tree, or None for what is no Python (or nested too deeply to read)."""
    with _ONE_AT_A_TIME, warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        try:
            return ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
