"""What a path is in a repository with npm packages."""

from __future__ import annotations

import datetime
import posixpath
import re
from collections.abc import Sequence
from functools import cached_property

from sandbox.toolchains.node.detect import plans
from sandbox.toolchains.node.patterns import SOURCE, taken
from sandbox.toolchains.node.plan import NodePlan, Suite
from sandbox.toolchains.node.steering import is_configuration, steering_files
from sandbox.toolchains.protocol import Changes, Sight
from sandbox.toolchains.shared_paths import in_data_folder, is_automation, is_prose
from sandbox.workspace import Tree

MANIFESTS = {"package.json", "package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "pnpm-workspace.yaml", "yarn.lock", "bun.lock",
             "bun.lockb", ".npmrc", ".yarnrc",
             ".yarnrc.yml", ".nvmrc", ".node-version", ".pnpmfile.cjs", "lerna.json"}
TEST_NAME = re.compile(r"[.-](test|spec|e2e|test-d|tst)\.[cm]?[jt]sx?$|(^|/)test\.[cm]?[jt]sx?$|\.snap$")
TEST_FOLDER = re.compile(r"(^|/)(tests?|__tests__|specs?|__mocks__|__snapshots__|__fixtures__|fixtures?|test-d|type-tests|e2e)/", re.IGNORECASE)
DAY = datetime.date.max
INSTALLED = re.compile(r"(^|/)node_modules/")


class NodeRules:
    """By the suites of base and of base with the change: what their runners take for tests."""

    def __init__(self, base: Tree, after: Tree) -> None:
        self._base, self._after = base, after

    @cached_property
    def _plans(self) -> list[NodePlan]:
        return self._of_base if self._base is self._after else [*self._of_base, *plans(self._after, Sight(DAY, DAY))]

    @cached_property
    def _of_base(self) -> list[NodePlan]:
        return list(plans(self._base, Sight(DAY, DAY)))

    @cached_property
    def _suites(self) -> tuple[Suite, ...]:
        return tuple(dict.fromkeys(suite for plan in self._plans for suite in plan.suites))

    @cached_property
    def _tested(self) -> frozenset[str]:
        """Files of suites, and the sources of those that are built."""
        return frozenset(path for plan in self._plans for path in plan.test_files)

    @cached_property
    def _steering(self) -> frozenset[str]:
        """By base's configuration, new files too that it would load; those of the tests are base's in every run of base's tests."""
        found = steering_files(self._base, self._of_base, self._base)
        if self._after is not self._base:
            laid = {path: file for path, file in self._after.items() if path not in self._base and not self.is_manifest(path) and not is_configuration(path)}
            found |= steering_files(self._base.with_changes(laid), self._of_base, self._base)
        return frozenset(path for path in found if not TEST_FOLDER.search(path))

    def is_test_file(self, path: str) -> bool:
        """What a suite's runner takes for a test file, or is named like one."""
        if not SOURCE.search(path) or INSTALLED.search(path):
            return False
        return path in self._tested or any(bool(taken([path], suite.patterns, suite.ignored)) and self._inside(path, suite) for suite in self._suites)

    def _inside(self, path: str, suite: Suite) -> bool:
        return bool(TEST_FOLDER.search(path) or TEST_NAME.search(path)) or path in suite.files

    def is_test(self, path: str) -> bool:
        """Test files, and all in folders of tests."""
        if INSTALLED.search(path) or self.is_harness(path):
            return False
        folders = TEST_FOLDER.search(path) if SOURCE.search(path) else in_data_folder(path)
        return bool(TEST_NAME.search(path) or folders) or self.is_test_file(path)

    def test_data(self, paths: Sequence[str]) -> list[str]:
        """None beside those in their folders."""
        return []

    def is_harness(self, path: str) -> bool:
        """Manifests, what configures runners, compilers and builds, what those load and run, automation."""
        if INSTALLED.search(path):
            return True
        if _is_sample(path):
            return False
        return self.is_manifest(path) or is_configuration(path) or is_automation(path) or path in self._steering

    def is_manifest(self, path: str) -> bool:
        """Of packages and their managers; those in folders of samples for tests are data."""
        return posixpath.basename(path) in MANIFESTS and not _is_sample(path)

    def is_prose(self, path: str) -> bool:
        """Readme, documentation, licence, change log."""
        return is_prose(path) and not SOURCE.search(path) and not TEST_FOLDER.search(path)

    def shadowing(self, source: Changes, tests: Changes) -> list[tuple[str, str]]:
        """Packages that come with the tree would be loaded instead of those installed."""
        new = [path for path, file in {**source, **tests}.items() if file is not None and INSTALLED.search(path) and not in_data_folder(path)]
        return [(f"a new file stands where packages are installed: {path}", path) for path in new]


def _is_sample(path: str) -> bool:
    """A manifest or configuration below a folder of tests is data; the tests' own configuration stands right in it."""
    return in_data_folder(path) and posixpath.basename(path) not in ("mocha.opts", "jest.config.js", "vitest.config.ts", "tsconfig.json",
                                                                     ".mocharc.js", ".mocharc.json")
