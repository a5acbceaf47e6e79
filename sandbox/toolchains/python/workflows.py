"""CI steps as hints: what they install and with which Python. Read as data; nothing of them is run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

from sandbox.workspace import Tree


@dataclass
class Hints:
    """Words of `pip install`, extras of the project, Python versions, the first such place, and files that can't be parsed."""

    requirements: list[str] = field(default_factory=list)
    extras: list[str] = field(default_factory=list)
    pythons: list[str] = field(default_factory=list)
    origin: tuple[str, int] | None = None
    faults: list[str] = field(default_factory=list)


def read_workflows(tree: Tree) -> Hints:
    """Everything that the workflows and .travis.yml which run tests say."""
    hints = Hints()
    for path, text in _files(tree):
        try:
            data = yaml.safe_load(text)
        except yaml.YAMLError as error:
            hints.faults.append(f"{path}: {str(error).splitlines()[0]}")
            continue
        hints.pythons += re.findall(r"['\"\s,\[](3\.\d+)['\"\s,\]]", text)
        for command in _commands(data):
            _install_words(hints, command)
        hints.origin = hints.origin or (path, next((n for n, line in enumerate(text.splitlines(), 1) if "pip install" in line), 1))
    return hints


def _files(tree: Tree) -> Iterator[tuple[str, str]]:
    for path in sorted(tree):
        if (path.startswith(".github/workflows/") and path.endswith((".yml", ".yaml"))) or path == ".travis.yml":
            text = tree.text(path) or ""
            if any(word in text for word in ("pytest", "tox", "unittest", "nox", "manage.py", "runtests", "run_tests", "django-admin")):
                yield path, text


def _commands(node: Any) -> Iterable[str]:
    if isinstance(node, dict):
        for key, value in node.items():
            if key in ("run", "install", "script", "before_install") and isinstance(value, str):
                yield from value.replace("\\\n", " ").splitlines()
            elif key in ("install", "script", "before_install") and isinstance(value, list):
                yield from (row for row in value if isinstance(row, str))
            else:
                yield from _commands(value)
    elif isinstance(node, list):
        for item in node:
            yield from _commands(item)


def test_commands(tree: Tree) -> Iterator[tuple[str, str, str, int]]:
    """(command, folder that it is run in, file, line) of every step of the workflows that run tests. Raises yaml.YAMLError."""
    for path, text in _files(tree):
        lines = text.splitlines()
        for step, folder in _steps(yaml.safe_load(text), ""):
            for command in step.replace("\\\n", " ").splitlines():
                yield command.strip(), folder, path, next((n for n, line in enumerate(lines, 1) if command.strip() and command.strip() in line), 1)


def _steps(node: Any, folder: str) -> Iterator[tuple[str, str]]:
    if isinstance(node, dict):
        default = node.get("defaults")
        run = default.get("run") if isinstance(default, dict) else None
        folder = str((run if isinstance(run, dict) else {}).get("working-directory") or folder)
        for key, value in node.items():
            if key in ("run", "script") and isinstance(value, str):
                yield value, str(node.get("working-directory") or folder)
            elif key == "script" and isinstance(value, list):
                yield from ((row, folder) for row in value if isinstance(row, str))
            elif key != "defaults":
                yield from _steps(value, folder)
    elif isinstance(node, list):
        for item in node:
            yield from _steps(item, folder)


def _install_words(hints: Hints, command: str) -> None:
    match = re.search(r"pip3?\s+install\s+(.*)", command)
    if not match:
        return
    words = match[1].split("#")[0].split("&&")[0].split()
    skip = False
    for word in words:
        word = word.strip("'\"")
        if skip:
            skip = False
            continue
        local = re.fullmatch(r"\.\[([\w,\s-]+)\]", word)
        if local:
            hints.extras += local[1].split(",")
        elif word in ("-r", "-c", "--requirement", "--index-url", "-i", "--constraint", "-f"):
            skip = True
        elif re.fullmatch(r"[A-Za-z][\w.-]*(\[[\w,-]+\])?([<>=!~]=?[\w.*,<>=!]+)?", word) and "/" not in word:
            hints.requirements.append(word)
