"""A small repository with a defect, a change that mends it, and one that mends it and breaks something else."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

PYPROJECT = """\
[project]
name = "invoice"
version = "1.0"

[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[tool.setuptools]
py-modules = ["invoice"]
"""
DEFECT = '''\
"""Sums on an invoice, in cents."""


def total(lines):
    """Sum of quantity times price."""
    return sum(quantity * price for quantity, price in lines)


def discount(cents, percent):
    """What is left after a discount; never below zero."""
    return max(0, cents - cents * percent // 10)


def share(cents, people):
    """Equal shares that add up to the whole; the first ones are a cent higher."""
    low, rest = divmod(cents, people)
    return [low + 1] * rest + [low] * (people - rest)
'''
TESTS = """\
from invoice import discount, share, total


def test_total():
    assert total([(2, 150), (1, 99)]) == 399


def test_no_discount():
    assert discount(1000, 0) == 1000


def test_shares_add_up():
    assert share(100, 3) == [34, 33, 33]
"""
NEW_TEST = TESTS + "\n\ndef test_discount_is_a_percentage():\n    assert discount(1000, 15) == 850\n"
GOOD = DEFECT.replace("percent // 10)", "percent // 100)")
BAD = GOOD.replace("[low + 1] * rest + [low] * (people - rest)", "[low] * people")


@dataclass(frozen=True)
class Sample:
    """A checkout with three commits: base, and two heads on it."""

    path: Path
    base: str
    good: str
    bad: str


def make_sample(folder: Path) -> Sample:
    """The repository, with real Git."""
    path = folder / "invoice"
    path.mkdir()
    _git(path, "init", "-q", "-b", "main")
    base = _commit(path, "An invoice library", {"pyproject.toml": PYPROJECT, "invoice.py": DEFECT, "test_invoice.py": TESTS})
    good = _commit(path, "Take a discount in per cent", {"invoice.py": GOOD, "test_invoice.py": NEW_TEST})
    _git(path, "checkout", "-q", base)
    bad = _commit(path, "Take a discount in per cent, and tidy up", {"invoice.py": BAD, "test_invoice.py": NEW_TEST})
    _git(path, "checkout", "-q", "main")
    return Sample(path, base, good, bad)


def _commit(path: Path, message: str, files: dict[str, str]) -> str:
    for name, text in files.items():
        (path / name).write_text(text, encoding="utf-8")
    _git(path, "add", "-A")
    _git(path, "commit", "-q", "-m", message)
    return _git(path, "rev-parse", "HEAD")


def _git(path: Path, *args: str) -> str:
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    identity = ("-c", "user.name=Sample", "-c", "user.email=sample@example.org", "-c", "commit.gpgSign=false")
    return subprocess.run(["git", "-C", str(path), *identity, *args], check=True, capture_output=True, text=True, env=environment).stdout.strip()
