"""A small repository with a fault, the honest fix of it, and whatever an attack lays over that fix."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bot.changes.change import Change, Request
from bot.changes.git import GitRepository
from bot.changes.reading import open_change

Content = str | bytes | None
Files = Mapping[str, Content]

# The same manifest in every case: one environment image serves them all. Its Python is ours, so that bytecode made here would be run there.
MANIFEST = f"""\
[build-system]
requires = ["setuptools>=64"]
build-backend = "setuptools.build_meta"

[project]
name = "calc"
version = "1.0"
requires-python = "=={sys.version_info[0]}.{sys.version_info[1]}.*"

[tool.setuptools]
packages = ["calc"]

[tool.pytest.ini_options]
testpaths = ["tests"]
"""
CORE = '''\
"""Sums and means."""


def add(a, b):
    return a + b


def clamp(value, low, high):
    return max(low, min(value, high))


def mean(values):
    return sum(values) / (len(values) + 1)
'''
FIXED = CORE.replace("(len(values) + 1)", "len(values)")
BROKEN_ADD = FIXED.replace("return a + b", "return a - b")  # mends the mean, breaks the sum
BASE_TESTS = """\
from calc.core import add, clamp


def test_add():
    assert add(2, 3) == 5


def test_add_nothing():
    assert add(0, 0) == 0


def test_clamp():
    assert clamp(9, 0, 5) == 5
"""
NEW_TESTS = """\
from calc.core import mean


def test_mean():
    assert mean([2, 4]) == 3
"""
BASE: dict[str, Content] = {
    "pyproject.toml": MANIFEST, "README.md": "# calc\n", "calc/__init__.py": "", "calc/core.py": CORE, "tests/test_core.py": BASE_TESTS,
}
FIX: dict[str, Content] = {"calc/core.py": FIXED, "tests/test_mean.py": NEW_TESTS}
BREAKING: dict[str, Content] = {"calc/core.py": BROKEN_ADD, "tests/test_mean.py": NEW_TESTS}


def git_environment() -> dict[str, str]:
    """Nothing of the machine's own Git configuration."""
    return {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@localhost",
            "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@localhost"}


@dataclass
class Repository:
    """A checkout whose commit `base` has the fault."""

    path: Path
    base: str = ""

    def git(self, *args: str, stdin: bytes = b"") -> str:
        """What a Git command prints, stripped."""
        done = subprocess.run(["git", "-C", str(self.path), *args], input=stdin, capture_output=True, env=git_environment(), check=True)
        return done.stdout.decode("utf-8", "surrogateescape").strip()

    def write(self, files: Files) -> None:
        """Files of the work tree; None removes one."""
        for name, content in files.items():
            path = self.path / name
            if content is None:
                path.unlink()
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)

    def commit(self, files: Files) -> str:
        """The id of a commit of these files on what is checked out. Ignore files don't hide any."""
        self.write(files)
        self.git("add", "--all", "--force")
        self.git("commit", "--quiet", "--allow-empty", "-m", "change")
        return self.git("rev-parse", "HEAD")

    def lay(self, files: Files, over: Files = FIX) -> str:
        """One commit on base: the honest fix (or `over`) with these files on top of it."""
        self.git("checkout", "--quiet", "--force", "--detach", self.base)
        self.git("clean", "-qfdx")
        return self.commit({**over, **files})

    def rebase(self, files: Files) -> None:
        """Let base itself have these files as well."""
        self.git("checkout", "--quiet", "--force", "--detach", self.base)
        self.base = self.commit(files)

    def patch(self, text: str | bytes) -> Path:
        """A patch file beside the checkout."""
        path = self.path.parent / "change.diff"
        path.write_bytes(text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text)
        return path

    def diff(self, head: str) -> bytes:
        """The binary diff of base and a commit, byte for byte."""
        command = ["git", "-C", str(self.path), "diff", "--binary", "--full-index", "--no-renames", self.base, head]
        return subprocess.run(command, capture_output=True, env=git_environment(), check=True).stdout

    def read(self, *, head: str | None = None, patch: str | bytes | None = None) -> Change:
        """The change as the verifier reads it, before any run."""
        request = Request(self.base, head, self.patch(patch) if patch is not None else None)
        with open_change(GitRepository(self.path), request) as change:
            return change
