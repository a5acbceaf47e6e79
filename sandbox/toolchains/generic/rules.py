"""What a path is in a repository of any language, by the names that most of them use."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence

from sandbox.toolchains.protocol import Changes
from sandbox.toolchains.shared_paths import in_data_folder, is_automation, is_prose
from sandbox.workspace import Tree

TEST_NAME = re.compile(r"^(test[-_.].*|tests?\.\w+|.*[-_.](test|tests|spec)\.\w+|.*\.bats)$", re.IGNORECASE)
TEST_FOLDER = re.compile(r"(^|/)(tests?|specs?|t|unittests?|testsuite|regress)/", re.IGNORECASE)
TEST_SUFFIXES = (".t", ".bats", ".c", ".cc", ".cpp", ".cxx", ".m", ".sh", ".bash", ".pl", ".lua", ".rb", ".php", ".exp", ".tcl",
                 ".hs", ".ml", ".zig", ".d", ".nim")
BUILD_FILES = {"CMakeLists.txt", "meson.build", "meson_options.txt", "meson.options", "configure", "configure.ac", "Makefile.am", "Makefile.in", "Makefile.PL",
               "Build.PL", "cpanfile", "CMakePresets.json", "CTestConfig.cmake", "Rakefile", "Gemfile", "Gemfile.lock", "composer.json", "composer.lock",
               "build.sh", "Makefile", "makefile", "GNUmakefile"}


class CommandRules:
    """By names alone."""

    def __init__(self, base: Tree, after: Tree) -> None:
        self._base = base

    def is_test_file(self, path: str) -> bool:
        """A source file named like a test, or in a folder of tests."""
        name = posixpath.basename(path)
        return bool(TEST_NAME.match(name) or (TEST_FOLDER.search(path) and path.endswith(TEST_SUFFIXES))) and not self._steers(path)

    def is_test(self, path: str) -> bool:
        """A test file, and everything in a folder of tests."""
        return not self._steers(path) and (self.is_test_file(path) or bool(TEST_FOLDER.search(path)) or in_data_folder(path))

    def test_data(self, paths: Sequence[str]) -> list[str]:
        """None beside those in their folders."""
        return []

    def is_harness(self, path: str) -> bool:
        """Automation, and scripts that start all tests. What names sources and tests alike is the change's own, and a person looks at its edits."""
        return (is_automation(path) and not names_tests(path)) or is_start(path)

    def _steers(self, path: str) -> bool:
        return self.is_harness(path) or names_tests(path)

    def is_manifest(self, path: str) -> bool:
        """None: there is no table of dependencies."""
        return False

    def is_prose(self, path: str) -> bool:
        """Readme, documentation, licence, change log."""
        return is_prose(path) and not TEST_FOLDER.search(path) and posixpath.basename(path) not in BUILD_FILES

    def shadowing(self, source: Changes, tests: Changes) -> list[tuple[str, str]]:
        """A new file named like a program that the build or the tests call is theirs to find."""
        return []


START_NAMES = ("script/test", "scripts/test", "script/test.sh", "scripts/test.sh", "bin/test", "test.sh", "run_tests.sh", "run-tests.sh", "runtests.sh",
               "tests/run.sh", "tests/run_tests.sh", "tests/run-tests.sh",
                "test/run.sh", "test/run_tests.sh", "tests/runtests.sh", "test/runtests.sh", "ci/test.sh")


def is_start(path: str) -> bool:
    """Whether a path is a script that starts all tests."""
    return path in START_NAMES


def names_tests(path: str) -> bool:
    """Whether a file says what is built and which programs are tests."""
    return posixpath.basename(path) in BUILD_FILES
