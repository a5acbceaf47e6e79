"""Django's own test runner: which script of the repository starts it, from where, with which words."""

from __future__ import annotations

import configparser
import posixpath
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

import yaml

from sandbox.plan import Choice
from sandbox.toolchains.python.workflows import test_commands
from sandbox.workspace import Tree

TESTS = re.compile(r"^\s*(from|import)\s+(django\.test|rest_framework\.test)\b", re.MULTILINE)
STARTS = re.compile(r"\b(get_runner|DiscoverRunner|execute_from_command_line|call_command)\b")
SCRIPTS = ("runtests.py", "tests/runtests.py", "run_tests.py", "tests/run_tests.py")
ADMIN = "-m django"
# Options of the runner that others of ours take the place of, or that change what a run says.
DROPPED = re.compile(r"^(--?(v|verbosity|parallel|failfast|keepdb|k|noinput|no-input|shuffle|reverse|buffer|b|timing|testrunner|debug-mode|pdb|traceback"
                     r"|no-color|force-color)(=.*)?|-v\d)$")
WITH_VALUE = ("-v", "--verbosity", "--testrunner")


@dataclass(frozen=True)
class DjangoRun:
    """How the suite is started: `script` from the tree's root, or ADMIN; `folder` it is started in; `words` behind it."""

    script: str
    folder: str
    words: tuple[str, ...]
    file: str
    line: int

    def choice(self) -> Choice:
        """For people."""
        where = f" in {self.folder}" if self.folder else ""
        return Choice("framework", f"Django's runner: {' '.join((self.script, *self.words))}{where}", self.file, self.line)


def uses_django(tree: Tree, test_files: tuple[str, ...]) -> bool:
    """Whether tests are written for Django's runner."""
    return any(TESTS.search(tree.text(path) or "") for path in test_files)


def django_run(tree: Tree) -> DjangoRun | None:
    """The command of tox or CI, else the script that the repository has for it; None where there is neither."""
    for command, folder, file, line in _commands(tree):
        found = _read(tree, command, folder, file, line)
        if found:
            return found
    for path in SCRIPTS:
        if STARTS.search(tree.text(path) or ""):
            return DjangoRun(path, "", (), path, 1)
    manage = sorted((path for path in tree if posixpath.basename(path) == "manage.py" and "DJANGO_SETTINGS_MODULE" in (tree.text(path) or "")),
                    key=lambda path: (path.count("/"), path))
    return DjangoRun(manage[0], posixpath.dirname(manage[0]), ("test",), manage[0], 1) if manage else None


def _commands(tree: Tree) -> Iterator[tuple[str, str, str, int]]:
    """(command, folder, file, line) of tox, then of the workflows."""
    text = tree.text("tox.ini") or ""
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True, comment_prefixes=("#", ";"))
    try:
        parser.read_string(text)
    except configparser.Error:
        pass
    for section in parser.sections():
        if section.startswith("testenv"):
            folder = (parser.get(section, "changedir", fallback="") or "").replace("{toxinidir}/", "").replace("{toxinidir}", "")
            for row in (parser.get(section, "commands", fallback="") or "").replace("\\\n", " ").splitlines():
                words = re.sub(r"\{posargs:?([^}]*)\}", r"\1", row.strip().lstrip("-").strip()).replace("{toxinidir}/", "").replace("{envpython}", "python")
                yield words, folder, "tox.ini", _line_of(text, row)
    try:
        yield from test_commands(tree)
    except yaml.YAMLError:
        return


def _line_of(text: str, row: str) -> int:
    return next((number for number, line in enumerate(text.splitlines(), 1) if row.strip() and row.strip() in line), 1)


def _read(tree: Tree, command: str, folder: str, file: str, line: int) -> DjangoRun | None:
    for part in re.split(r"&&|;|\|\|", command):
        try:
            words = shlex.split(part)
        except ValueError:
            return None
        if words[:1] == ["cd"] and len(words) == 2:
            folder = posixpath.normpath(posixpath.join(folder, words[1]))
            continue
        found = _started(tree, words, "" if folder == "." else folder)
        if found:
            script, rest = found
            return DjangoRun(script, "" if folder == "." else folder, _kept(rest), file, line)
    return None


def _started(tree: Tree, words: list[str], folder: str) -> tuple[str, list[str]] | None:
    """(script, the words behind it) where a command line runs Django's tests."""
    for place, word in enumerate(words):
        rest = words[place + 1:]
        name = posixpath.basename(word)
        if name in ("django-admin", "django-admin.py") or (word == "django" and words[place - 1:place] == ["-m"]):
            return (ADMIN, rest) if rest[:1] == ["test"] else None
        path = posixpath.normpath(posixpath.join(folder, word)) if word.endswith(".py") else ""
        if path not in tree:
            continue
        if name == "manage.py":
            return (path, rest) if rest[:1] == ["test"] else None
        if path in SCRIPTS or name in ("runtests.py", "run_tests.py"):
            return (path, rest) if STARTS.search(tree.text(path) or "") else None
    return None


def _kept(words: list[str]) -> tuple[str, ...]:
    kept, skip = [], False
    for word in words:
        if skip or re.search(r"[$`{}<>|]", word):
            skip = False
            continue
        skip = word in WITH_VALUE
        if not DROPPED.match(word):
            kept.append(word)
    return tuple(kept)
