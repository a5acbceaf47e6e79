"""What a path is in a Python repository: a test, a harness file, a manifest, a source."""

from __future__ import annotations

import fnmatch
import posixpath
import re
from collections.abc import Iterable, Mapping

TEST_FILE = re.compile(r"^(test_.*|.*_tests?|tests?|testcase.*)\.py$")
TEST_FOLDERS = {"test", "tests", "testsuite", "unittests", "python_testcases", "test_suite", "unit_tests", "integration_tests"}
HARNESS_NAMES = {
    "conftest.py", "pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "tox.ini", "tox.toml", "setup.cfg", "pyproject.toml", "noxfile.py", "setup.py",
    ".coveragerc", "sitecustomize.py", "usercustomize.py", "Makefile", "makefile", "GNUmakefile", "runtests.py", "run_tests.py", ".pdbrc", "uv.lock",
    "poetry.lock", "pdm.lock", "Pipfile", "Pipfile.lock", "pyvenv.cfg", "uv.toml", "hatch.toml", ".env", ".flaskenv", "manage.py",
}
HARNESS_PATTERNS = ("*.pth", "*.pyc", "*.pyo", "*.egg-link", "requirements*.txt", "*requirements.txt", "constraints*.txt")
# Any case: importlib.metadata finds the entry points of `x.DIST-INFO` too.
HARNESS_FOLDERS = re.compile(r"(^|/)(__pycache__|[^/]+\.(dist|egg)-info|\.github|\.circleci|\.tox|\.nox|\.venv|node_modules)(/|$)", re.IGNORECASE)
MANIFEST_NAMES = {"pyproject.toml", "setup.cfg", "setup.py", "uv.lock", "poetry.lock", "pdm.lock", "Pipfile", "Pipfile.lock", "tox.ini"}
TEXT_ONLY = re.compile(r"(\.(md|rst|txt|adoc|markdown)$|(^|/)(docs?|changelog\.d|changes|news|newsfragments)/"
                       r"|(^|/)(LICEN[CS]E|AUTHORS|NOTICE|COPYING|CHANGES|CHANGELOG)[^/]*$)",
                       re.IGNORECASE)


def own_patterns(settings: Mapping[str, str]) -> tuple[str, ...]:
    """What a repository's pytest settings say of the names of test files; patterns that would take any module for one are left out."""
    return tuple(pattern for pattern in settings.get("python_files", "").split() if len(re.sub(r"\.py$|[^a-z]", "", pattern)) > 1)


def is_test_file(path: str, patterns: tuple[str, ...] = ()) -> bool:
    """Whether a runner would look for tests in this file by its name. `patterns`: the repository's own."""
    folder, _, name = path.rpartition("/")
    in_tests = any(part.lower() in TEST_FOLDERS for part in folder.split("/"))
    return (bool(TEST_FILE.match(name)) or (in_tests and name.startswith("test") and name.endswith(".py"))
            or (name.endswith(".py") and name not in ("conftest.py", "__init__.py") and any(fnmatch.fnmatch(name, pattern) for pattern in patterns)))


def folders_of_tests(paths: Iterable[str], patterns: tuple[str, ...] = ()) -> frozenset[str]:
    """Folders that hold tests: named so, and either at the root or with a test file somewhere below.

    (A package's own `testing` or `test` folder of helpers, like django/test, is source.)
    """
    files = list(paths)
    folders: set[str] = set()
    for path in files:
        parts = path.split("/")[:-1]
        for depth, name in enumerate(parts):
            folder = "/".join(parts[:depth + 1])
            if (name.lower() in TEST_FOLDERS and (depth == 0 or is_test_file(path, patterns))) or (
                    depth == 0 and name.lower() == "testing" and is_test_file(path)):
                folders.add(folder)
    return frozenset(folders)


def is_test_path(path: str, folders: frozenset[str], patterns: tuple[str, ...] = ()) -> bool:
    """Whether a path belongs to the tests: a test file, a conftest, or anything in a folder of tests (data, helpers)."""
    if is_test_file(path, patterns) or posixpath.basename(path) == "conftest.py":
        return True
    parts = path.split("/")[:-1]
    return any("/".join(parts[:n]) in folders for n in range(1, len(parts) + 1))


def is_harness(path: str) -> bool:
    """Whether a file steers how tests are found, started or judged, or how the environment is made."""
    name = posixpath.basename(path)
    return (name in HARNESS_NAMES or any(fnmatch.fnmatch(name, pattern) for pattern in HARNESS_PATTERNS)
            or bool(HARNESS_FOLDERS.search(path)) or (fnmatch.fnmatch(path, "*requirements/*.txt")))


def is_manifest(path: str) -> bool:
    """Whether the environment is made from this file."""
    name = posixpath.basename(path)
    return (name in MANIFEST_NAMES or fnmatch.fnmatch(name, "*requirements*.txt") or fnmatch.fnmatch(path, "*requirements/*.txt")
            or fnmatch.fnmatch(name, "constraints*.txt"))


def is_prose(path: str) -> bool:
    """Whether no plan reads this file: readme, documentation, licence, change log."""
    return bool(TEXT_ONLY.search(path)) and not is_manifest(path) and not path.endswith(".py")
