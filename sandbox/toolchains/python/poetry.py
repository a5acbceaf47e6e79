"""Poetry's dependency tables in the words of PEP 508."""

from __future__ import annotations

import re
from typing import Any


def is_optional(spec: Any) -> bool:
    """Whether a dependency belongs to an extra only."""
    return isinstance(spec, dict) and bool(spec.get("optional"))


def requirement(name: str, spec: Any) -> str:
    """A PEP 508 string of one line of a Poetry table; what has no such form (Git, path) is the bare name."""
    extras = ""
    if isinstance(spec, list):
        spec = spec[-1]
    if isinstance(spec, dict):
        extras = f"[{','.join(spec['extras'])}]" if spec.get("extras") else ""
        spec = spec.get("version", "*")
    return f"{name}{extras}{specifier(str(spec))}"


def specifier(text: str) -> str:
    """Caret, tilde, wildcard and bare versions as a PEP 440 specifier."""
    text = text.strip()
    if text in ("*", ""):
        return ""
    parts = []
    for part in text.split("||")[-1].split(","):
        part = part.strip()
        match = re.fullmatch(r"([\^~])\s*(\d+(?:\.\d+)*)(.*)", part)
        if match:
            numbers = [int(n) for n in match[2].split(".")]
            place = next((i for i, n in enumerate(numbers) if n), len(numbers) - 1) if match[1] == "^" else min(1, len(numbers) - 1)
            upper = [*numbers[:place], numbers[place] + 1]
            parts.append(f">={match[2]}{match[3]},<{'.'.join(map(str, upper))}")
        elif re.match(r"\d", part):
            parts.append(f"=={part}")
        else:
            parts.append(part)
    return ",".join(parts)


def python_specifier(spec: Any) -> str | None:
    """Which Pythons the project allows, or None."""
    return specifier(spec) if isinstance(spec, str) else None
