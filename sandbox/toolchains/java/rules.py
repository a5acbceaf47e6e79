"""What a path is in a repository with Java builds, Maven's or Gradle's."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence

from sandbox.toolchains.java.plan import SUFFIXES
from sandbox.toolchains.java.source import holds_tests
from sandbox.toolchains.protocol import Changes
from sandbox.toolchains.shared_paths import in_data_folder, is_automation, is_prose
from sandbox.workspace import Tree

TEST_FOLDER = re.compile(r"(^|/)src/(test|it|integration-?test|functional-?test|test-?fixtures|[a-z]+Test|jmh)[^/]*/", re.IGNORECASE)
TEST_NAME = re.compile(r"(^|/)(Test[A-Z0-9]\w*|\w+(Test|Tests|TestCase|IT|ITCase|Spec))\.(java|kt|groovy|scala)$")
MANIFEST = re.compile(r"(^|/)(pom\.xml|build\.gradle(\.kts)?|settings\.gradle(\.kts)?|gradle\.properties|gradle\.lockfile|libs\.versions\.toml)$"
                      r"|(^|/)(\.mvn|gradle/wrapper|buildSrc|build-logic)/|\.gradle(\.kts)?$")
SAMPLES = re.compile(r"(^|/)src/(test|it|main)/(resources|projects|it|resources-its)/|(^|/)src/it/|archetype-resources/")
STARTERS = {"mvnw", "mvnw.cmd", "gradlew", "gradlew.bat"}
# Found by its name on the class path, whoever put it there: it may add listeners and extensions, choose the order, or rewrite what is compiled.
STEERING = re.compile(r"(^|/)junit-platform\.properties$|(^|/)testng[^/]*\.xml$|(^|/)mockito-extensions/|(^|/)SpockConfig\.groovy$"
                      r"|META-INF/services/(org\.junit\.|org\.testng\.|javax\.annotation\.processing\.|org\.mockito\.|org\.spockframework\.|java\.lang\.)")
TAKEN = ("java", "javax", "jdk", "sun", "org/junit", "junit", "org/testng", "org/mockito", "org/hamcrest", "org/assertj", "org/opentest4j", "org/apiguardian",
         "org/apache/maven/surefire", "org/apache/maven/plugin", "org/gradle", "net/bytebuddy", "com/google/common/truth", "org/spockframework")
SOURCE_ROOT = re.compile(r"(?:^|/)src/\w+/(?:java|kotlin|groovy|scala|resources)/(.+)$")


class JavaRules:
    """By folders and names; a repository that keeps its tests elsewhere is told by what the files hold."""

    def __init__(self, base: Tree, after: Tree) -> None:
        self._trees = (base, after)
        self._packages = {posixpath.dirname(match[1]) for path in base if (match := SOURCE_ROOT.search(path))}

    def is_test_file(self, path: str) -> bool:
        """A source file in a folder of tests that holds some, or is named as if."""
        if not path.endswith(SUFFIXES) or SAMPLES.search(path) or not self.is_test(path):
            return False
        return bool(TEST_NAME.search(path)) or any(holds_tests(tree.text(path) or "") for tree in self._trees)

    def is_test(self, path: str) -> bool:
        """Anything below a folder of tests; elsewhere, source named and written as a test."""
        if self.is_harness(path):
            return False
        if TEST_FOLDER.search(path):
            return True
        if not path.endswith(SUFFIXES):
            return in_data_folder(path) and "src/main/" not in path
        if re.search(r"(^|/)src/main/", path) or not TEST_NAME.search(path):
            return bool(re.match(r"tests?/", path))
        return any(holds_tests(tree.text(path) or "") for tree in self._trees)

    def test_data(self, paths: Sequence[str]) -> list[str]:
        """None beside those in their folders: what a program loads is the program."""
        return []

    def is_harness(self, path: str) -> bool:
        """Build files, wrappers, automation, and what steers the runner from the class path."""
        return self.is_manifest(path) or posixpath.basename(path) in STARTERS or is_automation(path) or bool(STEERING.search(path))

    def is_manifest(self, path: str) -> bool:
        """Of a build; those of sample projects for tests are data."""
        return bool(MANIFEST.search(path)) and not SAMPLES.search(path)

    def is_prose(self, path: str) -> bool:
        """Readme, documentation, licence, change log."""
        told = is_prose(path) or path.startswith("src/changes/") or "/src/site/" in f"/{path}"
        return told and not path.endswith(SUFFIXES) and not TEST_FOLDER.search(path)

    def shadowing(self, source: Changes, tests: Changes) -> list[tuple[str, str]]:
        """New classes in the packages of the platform and of the test libraries, where base has none in that package."""
        found = []
        for path, file in source.items():
            match = SOURCE_ROOT.search(path)
            if file is None or match is None or path in self._trees[0]:
                continue
            package = posixpath.dirname(match[1])
            taken = next((name for name in TAKEN if package == name or package.startswith(name + "/")), None)
            if taken is not None and package not in self._packages:
                found.append((f"a new class is put into a package of {taken.replace('/', '.')}", path))
        return found
