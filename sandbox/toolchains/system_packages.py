"""Debian packages that a repository's CI installs before its tests. Read as data; what can't be had is left out by name."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

from sandbox.build_container import BuildContainer
from sandbox.workspace import Tree

INSTALL = re.compile(r"\bapt(?:-get)?\s+(?:-\S+\s+)*install\s+(.*)")
EXPRESSION = re.compile(r"\$\{\{.*?\}\}")
NAME = re.compile(r"[a-z0-9][a-z0-9+.-]+")
TEST_WORDS = re.compile(r"\b(test|tests|check|ctest|pytest|tox|nox|spec|prove|bats|cargo|go|mvn|gradle|npm|yarn|pnpm)\b")
# Documentation, browsers, kernels, engines: large, and not what a test without a network needs.
LEFT_OUT = re.compile(r"^(texlive|latex|docker|linux-|chromium|google-chrome|firefox|pandoc|snapd|clang-\d|llvm-\d|gcc-\d|g\+\+-\d|python3\.\d|openjdk"
                      r"|nodejs|npm|golang|rustc|cargo|apt-|sudo$)")
MOST = 24
APT = "DEBIAN_FRONTEND=noninteractive apt-get --quiet -o APT::Sandbox::User=root -o Acquire::Retries=2"


@dataclass(frozen=True)
class Wanted:
    """A package, and the line that asks for it."""

    name: str
    file: str
    line: int


def wanted_packages(tree: Tree) -> tuple[Wanted, ...]:
    """Each once, in their order, of workflows that run tests."""
    found: dict[str, Wanted] = {}
    for path in sorted(tree):
        if not (path.startswith(".github/workflows/") and path.endswith((".yml", ".yaml"))) and path not in (".travis.yml", ".gitlab-ci.yml"):
            continue
        text = tree.text(path) or ""
        if not TEST_WORDS.search(text):
            continue
        for name in _names(text):
            line = next((number for number, row in enumerate(text.split("\n"), 1) if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", row)), 1)
            found.setdefault(name, Wanted(name, path, line))
    return tuple(found.values())[:MOST]


def _names(text: str) -> Iterator[str]:
    try:
        commands = list(_commands(yaml.safe_load(text)))
    except yaml.YAMLError:
        return
    for command in commands:
        for line in EXPRESSION.sub(" ", command).replace("\\\n", " ").split("\n"):
            match = INSTALL.search(line)
            for word in re.split(r"&&|\|\||[;|#>]", match[1])[0].split() if match else ():
                if NAME.fullmatch(word) and not LEFT_OUT.match(word):
                    yield word


def _commands(node: Any) -> Iterator[str]:
    if isinstance(node, str):
        yield node
    for inner in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from _commands(inner)


def install_packages(build: BuildContainer, names: tuple[str, ...], seconds: float, title: str = "packages of CI") -> tuple[list[str], list[str]]:
    """(what was tried, what was left out): all at once, else one by one. Seconds: of everything."""
    if not names:
        return [], []
    until = time.monotonic() + seconds
    build.step(["/bin/sh", "-c", f"{APT} update"], max(1.0, min(120.0, seconds)))
    done = build.step(["/bin/sh", "-c", f"{APT} install --yes --no-install-recommends {' '.join(names)}"], max(1.0, min(600.0, until - time.monotonic())))
    tried = [f"{title} ({' '.join(names)}): {'ok' if done.ok else 'failed'} ({done.seconds:.1f} s)"]
    dropped = [] if done.ok else [name for name in names if not _one(build, name, until)]
    build.step(["/bin/sh", "-c", "rm -rf /var/lib/apt/lists/* /var/cache/apt/*"], 60)
    return tried, dropped


def _one(build: BuildContainer, name: str, until: float) -> bool:
    return build.step(["/bin/sh", "-c", f"{APT} install --yes --no-install-recommends {name}"], max(1.0, min(300.0, until - time.monotonic()))).ok
