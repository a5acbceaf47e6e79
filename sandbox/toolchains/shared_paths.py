"""Names of files that mean the same in every language: prose, automation, folders of tests and their data."""

from __future__ import annotations

import posixpath
import re

PROSE = re.compile(r"(\.(md|rst|txt|adoc|markdown)$|(^|/)(docs?|changelog\.d|changes|news|newsfragments)/"
                   r"|(^|/)(LICEN[CS]E|AUTHORS|NOTICE|COPYING|CHANGES|CHANGELOG)[^/]*$)", re.IGNORECASE)
AUTOMATION_NAMES = {"Makefile", "makefile", "GNUmakefile", "Taskfile.yml", "justfile", ".env"}
AUTOMATION_FOLDERS = re.compile(r"(^|/)(\.github|\.circleci)(/|$)", re.IGNORECASE)
DATA_FOLDERS = re.compile(r"(^|/)(testdata|tests?|__tests__|fixtures?|test-?fixtures|goldens?|__fixtures__|(__)?snapshots(__)?)/", re.IGNORECASE)


def is_prose(path: str) -> bool:
    """Readme, documentation, licence, change log."""
    return bool(PROSE.search(path))


def is_automation(path: str) -> bool:
    """Whether a file says how tests are started, in any language."""
    return posixpath.basename(path) in AUTOMATION_NAMES or bool(AUTOMATION_FOLDERS.search(path))


def in_data_folder(path: str) -> bool:
    """Whether a path is below a folder that only tests have."""
    return bool(DATA_FOLDERS.search(path))
