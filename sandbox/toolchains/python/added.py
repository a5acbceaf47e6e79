"""Requirements that a change of the manifests adds, by the dependency tables alone."""

from __future__ import annotations

import re

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from sandbox.toolchains.python.metadata import Metadata


def _table(found: Metadata, extras: tuple[str, ...]) -> list[str]:
    rows = list(found.dependencies)
    for name, lines in found.extras.items():
        if name in extras or re.search("test|dev", name):
            rows += lines
    for lines in (*found.groups.values(), *found.files.values()):
        rows += lines
    return rows


def added_requirements(base: Metadata, changed: Metadata, extras: tuple[str, ...]) -> tuple[str, ...]:
    """PEP 508 strings that stand in the changed tables and not in base's: new projects, or new bounds on known ones."""
    before = {_normal(row) for row in _table(base, extras)}
    rows = [row for row in _table(changed, extras) if _normal(row) not in before and _normal(row)]
    return tuple(dict.fromkeys(rows))


def removed_distributions(base: Metadata, changed: Metadata) -> tuple[str, ...]:
    """Canonical names that the project needs to run on base and no longer names; none where the changed manifests can't be read."""
    if changed.faults:
        return ()
    before, after = ({_project(row) for row in (*found.dependencies, *found.files.get("requirements.txt", []))} for found in (base, changed))
    return tuple(sorted(before - after - {""}))


def _project(row: str) -> str:
    try:
        return canonicalize_name(Requirement(row).name)
    except InvalidRequirement:
        return ""


def _normal(row: str) -> str:
    try:
        requirement = Requirement(row)
    except InvalidRequirement:
        return ""
    if requirement.url:
        return ""
    return f"{canonicalize_name(requirement.name)}{sorted(requirement.extras)}{requirement.specifier}{requirement.marker or ''}"
