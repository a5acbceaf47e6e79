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
from sandbox.toolchains.protocol import Changes, Sight
from sandbox.toolchains.shared_paths import in_data_folder, is_automation, is_prose
from sandbox.workspace import Tree

MANIFESTS = {"package.json", "package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "pnpm-workspace.yaml", "yarn.lock", "bun.lock",
             "bun.lockb", ".npmrc", ".yarnrc",
             ".yarnrc.yml", ".nvmrc", ".node-version", ".pnpmfile.cjs", "lerna.json"}
STEERING = re.compile(
    r"^(jest|vitest|vite|ava|karma|babel|rollup|rolldown|webpack|tsup|tsdown|build|unbuild|esbuild|playwright|cypress|wallaby|nyc|c8|swc|metro"
    r"|rspack|obuild|nx|turbo|gulpfile|gruntfile)"
    r"(\.[\w-]+)*\.([cm]?[jt]sx?|json)$|^(vitest|jest)\.(workspace|setup|preset)\.\w+$|^\.(mocharc|babelrc|swcrc|nycrc|c8rc|taprc|jestrc"
    r"|browserslistrc)(\.\w+)?$"
    r"|^tsconfig(\.[\w-]+)*\.json$|^jsconfig\.json$|^mocha\.opts$|^jasmine\.(json|[cm]?js)$|^(gulpfile|gruntfile)\.[cm]?[jt]s$", re.IGNORECASE)
TEST_NAME = re.compile(r"[.-](test|spec|e2e|test-d|tst)\.[cm]?[jt]sx?$|(^|/)test\.[cm]?[jt]sx?$|\.snap$")
TEST_FOLDER = re.compile(r"(^|/)(tests?|__tests__|specs?|__mocks__|__snapshots__|__fixtures__|fixtures?|test-d|type-tests|e2e)/", re.IGNORECASE)
INSTALLED = re.compile(r"(^|/)node_modules/")


class NodeRules:
    """By the suites of base and of base with the change: what their runners take for tests."""

    def __init__(self, base: Tree, after: Tree) -> None:
        self._base, self._after = base, after

    @cached_property
    def _plans(self) -> list[NodePlan]:
        day = datetime.date.max
        trees = [self._base] if self._base is self._after else [self._base, self._after]
        return [plan for tree in trees for plan in plans(tree, Sight(day, day))]

    @cached_property
    def _suites(self) -> tuple[Suite, ...]:
        return tuple(dict.fromkeys(suite for plan in self._plans for suite in plan.suites))

    @cached_property
    def _tested(self) -> frozenset[str]:
        """Files of suites, and the sources of those that are built."""
        return frozenset(path for plan in self._plans for path in plan.test_files)

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
        """Manifests, what configures runners, compilers and builds, automation."""
        if INSTALLED.search(path):
            return True
        if _is_sample(path):
            return False
        return self.is_manifest(path) or bool(STEERING.match(posixpath.basename(path))) or is_automation(path)

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
