"""requirements*.txt: their lines, and those of the files that they include."""

from __future__ import annotations

import posixpath
import re

from sandbox.workspace import Tree


def is_requirements(path: str) -> bool:
    """Whether a file holds requirements by its name or its folder's."""
    parts = path.split("/")
    return len(parts) <= 3 and path.endswith(".txt") and ("requirements" in parts[-1].lower() or "requirements" in [p.lower() for p in parts[:-1]])


def requirement_lines(tree: Tree, path: str, seen: frozenset[str] = frozenset()) -> list[str]:
    """Requirement strings of a file and those it includes; options, hashes, editable and URL lines are left out."""
    text = tree.text(path)
    if text is None or path in seen:
        return []
    rows: list[str] = []
    for line in text.replace("\\\n", " ").splitlines():
        line = re.sub(r"(^|\s)#.*", "", line)
        line = re.sub(r"\s--?(hash|config-settings)[= ]\S+", "", line).strip()
        include = re.match(r"-(?:r|-requirement)[= ]\s*(\S+)", line)
        if include:
            folder = path.rsplit("/", 1)[0] + "/" if "/" in path else ""
            rows += requirement_lines(tree, posixpath.normpath(folder + include[1]), seen | {path})
        elif line and not line.startswith("-") and "://" not in line and not line.startswith((".", "/")):
            rows.append(line)
    return rows
