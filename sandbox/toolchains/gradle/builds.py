"""Gradle's build files, read as text: the projects of a build, their level of Java, their dependencies."""

from __future__ import annotations

import posixpath
import re

from sandbox.toolchains.java.plan import JavaModule
from sandbox.toolchains.java.releases import number
from sandbox.toolchains.java.rules import SAMPLES
from sandbox.workspace import Tree

BUILD_FILES, SETTINGS_FILES = ("build.gradle", "build.gradle.kts"), ("settings.gradle", "settings.gradle.kts")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
INCLUDE = re.compile(r"\binclude\s*\(?((?:\s*['\"][\w:./-]+['\"]\s*,?)+)")
LEVELS = re.compile(r"(?:sourceCompatibility|targetCompatibility|options\.release(?:\.set)?|JavaLanguageVersion\.of|jvmToolchain)\s*[=(]*\s*"
                    r"(?:JavaVersion\.VERSION_)?['\"]?(1[._]\d|\d+)")
CONFIGURATIONS = ("implementation|api|compileOnly|runtimeOnly|testImplementation|testCompileOnly|testRuntimeOnly|compile|testCompile|runtime|testRuntime"
                  "|annotationProcessor")
DEPENDENCY = re.compile(rf"^\s*({CONFIGURATIONS})\s*\(?\s*['\"]([\w.-]+:[\w.-]+(?::[\w.$+{{}}-]+)?)['\"]", re.MULTILINE)


def build_file(tree: Tree, folder: str) -> str | None:
    """The build file of a project's folder."""
    return next((path for name in BUILD_FILES if (path := posixpath.join(folder, name)) in tree), None)


def roots(tree: Tree) -> list[str]:
    """Folders of builds: with a settings file, or the outermost with a build file; none that Maven builds or that is a sample."""
    folders = {posixpath.dirname(path) for path in tree if posixpath.basename(path) in (*BUILD_FILES, *SETTINGS_FILES) and not SAMPLES.search(path)}
    with_settings = {folder for folder in folders if any(posixpath.join(folder, name) in tree for name in SETTINGS_FILES)}
    found: list[str] = []
    for folder in sorted(folders, key=lambda name: (name.count("/") + bool(name), name)):
        inside = any(not other or folder.startswith(other + "/") for other in found)
        apart = re.search(r"(^|/)(buildSrc|build-logic|gradle)(/|$)", folder)
        if (folder in with_settings or not inside) and not apart and posixpath.join(folder, "pom.xml") not in tree:
            found.append(folder)
    return found


def modules(tree: Tree, root: str) -> tuple[JavaModule, ...]:
    """The root's own project and those that its settings include, by the folders of their names."""
    text = COMMENT.sub("", next((tree.text(posixpath.join(root, name)) or "" for name in SETTINGS_FILES if posixpath.join(root, name) in tree), ""))
    names = [word for match in INCLUDE.finditer(text) for word in re.findall(r"['\"]([\w:./-]+)['\"]", match[1])]
    folders = dict.fromkeys([root, *(posixpath.join(root, name.strip(":").replace(":", "/")) for name in names)])
    return tuple(JavaModule(folder, posixpath.basename(folder) or "root", _test_roots(tree, folder)) for folder in folders)


def _test_roots(tree: Tree, folder: str) -> tuple[str, ...]:
    found = [posixpath.join(folder, f"src/test/{language}") for language in ("java", "kotlin", "groovy", "scala")]
    return (found[0], *(one for one in found[1:] if any(path.startswith(one + "/") for path in tree)))


def level(tree: Tree, build: tuple[JavaModule, ...]) -> tuple[int | None, str]:
    """(the highest level of Java that the build files name, the file that does)."""
    rows = [(known, path) for module in build if (path := build_file(tree, module.folder)) is not None
            for match in LEVELS.finditer(COMMENT.sub("", tree.text(path) or "")) if (known := number(match[1].replace("_", "."))) is not None and known < 50]
    first = next((path for module in build if (path := build_file(tree, module.folder)) is not None), "")
    return max(rows, default=(None, first), key=lambda row: row[0] or 0)


def dependencies(text: str) -> set[tuple[str, str]]:
    """(configuration, group:artifact:version) of the lines that name both in full."""
    return {(match[1], match[2]) for match in DEPENDENCY.finditer(COMMENT.sub("", text)) if "$" not in match[2]}
