"""Names that are one slip of the finger away from a popular one. Pure."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def popular(registry: str) -> frozenset[str]:
    """The names of a registry, in small letters, that a reader would take another one for; empty where we keep no list."""
    source = files("sandbox.registries") / "popular" / f"{registry}.txt"
    return frozenset(source.read_text(encoding="utf-8").lower().split()) if source.is_file() else frozenset()


def is_one_edit(one: str, other: str) -> bool:
    """Whether a letter put in, left out, replaced, or two neighbours swapped, makes one of the other (Damerau-Levenshtein distance 1)."""
    if one == other or abs(len(one) - len(other)) > 1:
        return False
    short, long = sorted((one, other), key=len)
    start = next((n for n, letter in enumerate(short) if letter != long[n]), len(short))
    if len(short) < len(long):
        return short[start:] == long[start + 1:]
    return short[start + 1:] == long[start + 1:] or (short[start:start + 2] == long[start:start + 2][::-1] and short[start + 2:] == long[start + 2:])


def mistaken_for(registry: str, name: str) -> str | None:
    """The popular name that this one is an edit away from; None where it is popular itself, or too short to tell (below four letters)."""
    names = popular(registry)
    low = name.lower()
    if low in names or len(low) < 4:
        return None
    flat = low.replace("_", "-")
    near = (other for other in sorted(names) if len(other) >= 4 and (is_one_edit(low, other) or (flat == other.replace("_", "-") and registry != "pypi")))
    return next(near, None)
