"""Packages that a failure's text says are not installed, by the names that their registry knows them by. Pure."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping

from sandbox.toolchains.python.names import DISTRIBUTIONS

PYTHON = re.compile(r"No module named '?([A-Za-z_]\w*)")
NODE = re.compile(r"(?:Cannot find (?:module|package)|Failed to resolve import|Could not resolve) [\"'`](@[^/\"'`]+/[^/\"'`]+|[^@./\"'`#~][^/\"'`:]*)[/\"'`]")
GO = re.compile(r"no required module provides package ([\w./~-]+)|cannot find module providing package ([\w./~-]+)")
RUST = re.compile(r"(?:can't find crate for|use of (?:undeclared|unresolved) (?:crate or )?module(?: or unlinked crate)?|unresolved import) `(\w+)")
OF_THE_LANGUAGE = {"std", "core", "alloc", "crate", "self", "super"}


def _pypi(text: str) -> list[str]:
    return [DISTRIBUTIONS.get(name, name) for name in PYTHON.findall(text) if name not in sys.stdlib_module_names]


def _module_of(package: str) -> str:
    """Of a host that has one module a repository; elsewhere the path as it stands."""
    words = package.split("/")
    return "/".join(words[:3]) if words[0] in ("github.com", "gitlab.com", "bitbucket.org") else package


FINDERS: Mapping[str, tuple[str, Callable[[str], list[str]]]] = {
    "python": ("pypi", _pypi),
    "node": ("npm", lambda text: NODE.findall(text)),
    "go": ("go", lambda text: [_module_of(one or other) for one, other in GO.findall(text)]),
    "rust": ("crates", lambda text: [name for name in RUST.findall(text) if name not in OF_THE_LANGUAGE]),
}


def missing_imports(toolchain: str, text: str) -> tuple[tuple[str, str], ...]:
    """(registry, name) of each, once, in their order; none for a toolchain whose compiler names no package."""
    if toolchain not in FINDERS:
        return ()
    registry, find = FINDERS[toolchain]
    return tuple(dict.fromkeys((registry, name) for name in find(text)))
