"""The registry and the name in it that a requirement means."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

NPM = re.compile(r"(?P<name>(@[a-z0-9~-][a-z0-9._~-]*/)?[A-Za-z0-9~-][A-Za-z0-9._~-]*)(@(?P<wanted>.*))?")
NPM_ELSEWHERE = re.compile(r"^(file|link|portal|workspace|git|git\+\w+|github|gitlab|bitbucket|https?|ssh|patch|exec|catalog):|^[\w.-]+/[\w.-]+(#|$)")
MODULE = re.compile(r"[A-Za-z0-9.-]+\.[a-z]+(/[A-Za-z0-9._~!-]+)*")
CRATE = re.compile(r"(?P<name>[A-Za-z0-9_-]+) = (?P<value>.*) in \[[^\]]*\] of \S+", re.DOTALL)
COORDINATE = re.compile(r"(?P<group>[\w.-]+):(?P<artifact>[\w.-]+)(:.*)?")


def _of_pypi(requirement: str) -> str | None:
    try:
        read = Requirement(requirement)
    except InvalidRequirement:
        return None
    return None if read.url else canonicalize_name(read.name)


def _of_npm(requirement: str) -> str | None:
    match = NPM.fullmatch(requirement.strip())
    if match is None:
        return None
    wanted = match["wanted"] or ""
    if wanted.startswith("npm:"):
        return _of_npm(wanted.removeprefix("npm:"))
    return None if NPM_ELSEWHERE.search(wanted) else match["name"]


def _of_go(requirement: str) -> str | None:
    name = requirement.split("@")[0].strip()
    return name if MODULE.fullmatch(name) else None


def _of_crates(requirement: str) -> str | None:
    match = CRATE.fullmatch(requirement)
    if match is None or re.search(r"\b(path|git|registry|registry-index|workspace) = ", match["value"]):
        return None
    renamed = re.search(r'\bpackage = "([A-Za-z0-9_-]+)"', match["value"])
    return renamed[1] if renamed else match["name"]


def _of_maven(requirement: str) -> str | None:
    match = COORDINATE.fullmatch(requirement.strip())
    return f"{match['group']}:{match['artifact']}" if match else None


REGISTRY_OF: Mapping[str, str] = {"python": "pypi", "node": "npm", "go": "go", "rust": "crates", "maven": "maven", "gradle": "maven"}
READERS: Mapping[str, Callable[[str], str | None]] = {"pypi": _of_pypi, "npm": _of_npm, "go": _of_go, "crates": _of_crates, "maven": _of_maven}


def package_of(toolchain: str, requirement: str) -> tuple[str, str] | None:
    """(registry, name) of a requirement in a toolchain's own words; None where it comes from somewhere else (a path, a repository, a URL)."""
    registry = REGISTRY_OF.get(toolchain)
    name = READERS[registry](requirement) if registry else None
    return (registry, name) if registry and name else None
