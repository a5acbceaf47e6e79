"""pom.xml as data: the modules of a build, what each needs of the others, its level of Java."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from functools import lru_cache
from xml.etree import ElementTree

from sandbox.toolchains.java.plan import JavaModule
from sandbox.toolchains.java.releases import number
from sandbox.workspace import Tree

SAMPLE_FOLDERS = re.compile(r"(^|/)(src|target|archetype-resources|node_modules)/")
LEVELS = ("maven.compiler.release", "maven.compiler.source", "maven.compiler.target", "java.version", "javac.target", "jdk.version", "java.level",
          "project.java.version", "javaVersion", "java.source.version", "maven.compiler.testRelease")
DEPTH = 6


@dataclass(frozen=True)
class Pom:
    """One pom.xml. `properties`: its own; `levels`: what it says of Java's release, properties not yet put in; `dependencies`: (group, artifact, version)."""

    path: str
    group: str
    artifact: str
    packaging: str
    modules: tuple[str, ...]
    parent: str
    properties: tuple[tuple[str, str], ...]
    levels: tuple[str, ...]
    dependencies: tuple[tuple[str, str, str], ...]
    test_source: str | None

    @property
    def folder(self) -> str:
        """From the tree's root."""
        return posixpath.dirname(self.path)


def _bare(element: ElementTree.Element) -> ElementTree.Element:
    for inner in element.iter():
        inner.tag = inner.tag.rpartition("}")[2] if isinstance(inner.tag, str) else "comment"
    return element


@lru_cache(maxsize=512)
def parse(path: str, text: str) -> Pom | None:
    """None for what is no pom."""
    try:
        root = _bare(ElementTree.fromstring(text))
    except (ElementTree.ParseError, ValueError):
        return None
    if root.tag != "project" or "${" in _said(root, "artifactId"):  # a template: Maven reads no pom whose own name is still to be filled in
        return None
    profiles = [one for one in root.findall("profiles/profile") if (one.findtext("activation/activeByDefault") or "").strip() == "true"]
    scopes = [root, *profiles]
    properties = {inner.tag: (inner.text or "").strip() for scope in scopes for inner in scope.findall("properties/*")}
    compilers = [plugin for plugin in root.iter("plugin") if plugin.findtext("artifactId", "").strip() == "maven-compiler-plugin"]
    words = [inner.text or "" for plugin in compilers for name in ("release", "source", "target") for inner in plugin.findall(f"configuration/{name}")]
    rows = [row for scope in scopes for row in scope.findall("dependencies/dependency")]
    modules = tuple(posixpath.normpath(posixpath.join(posixpath.dirname(path), _text(one))) for scope in scopes for one in scope.findall("modules/module"))
    return Pom(
        path, _said(root, "groupId") or _said(root, "parent/groupId"), _said(root, "artifactId"), _said(root, "packaging") or "jar", modules,
        _said(root, "parent/artifactId"), tuple(properties.items()), (*(properties[name] for name in LEVELS if name in properties), *words),
        tuple((_said(row, "groupId"), _said(row, "artifactId"), _said(row, "version")) for row in rows), _said(root, "build/testSourceDirectory") or None)


def _text(element: ElementTree.Element) -> str:
    return (element.text or "").strip()


def _said(element: ElementTree.Element, place: str) -> str:
    return (element.findtext(place) or "").strip()


def read_pom(tree: Tree, path: str) -> Pom | None:
    """The pom at a path of a tree."""
    text = tree.text(path)
    return parse(path, text) if text is not None else None


def read_builds(tree: Tree) -> list[list[Pom]]:
    """Every build that is no sample: its poms, the outermost first, each with all its modules."""
    taken: set[str] = set()
    found = []
    paths = [path for path in tree if posixpath.basename(path) == "pom.xml" and not SAMPLE_FOLDERS.search(path)]
    for path in sorted(paths, key=lambda path: (path.count("/"), path)):
        if path in taken:
            continue
        build = _reach(tree, path, taken)
        if build:
            found.append(build)
    return found


def _reach(tree: Tree, path: str, taken: set[str]) -> list[Pom]:
    pom = read_pom(tree, path) if path not in taken else None
    taken.add(path)
    if pom is None:
        return []
    found = [pom]
    for module in pom.modules:
        found += _reach(tree, module if module.endswith(".xml") else posixpath.join(module, "pom.xml") if module != "." else "pom.xml", taken)
    return found


def resolved(text: str, properties: dict[str, str]) -> str:
    """A text with what its `${...}` stand for."""
    for _ in range(DEPTH):
        made = re.sub(r"\$\{([^}]+)\}", lambda match: properties.get(match[1], match[0]), text)
        if made == text:
            break
        text = made
    return text


def properties_of(build: list[Pom]) -> dict[str, str]:
    """Of all poms together, the outer one's first."""
    found: dict[str, str] = {}
    for pom in build:
        for name, value in pom.properties:
            found.setdefault(name, value)
    return found


def level(build: list[Pom]) -> tuple[int | None, str]:
    """(the highest level of Java that a build asks for, the pom that says so)."""
    properties = properties_of(build)
    rows = [(known, pom.path) for pom in build for word in pom.levels if (known := number(resolved(word, properties))) is not None and known < 50]
    return max(rows, default=(None, build[0].path), key=lambda row: row[0] or 0)


def module_of(tree: Tree, pom: Pom) -> JavaModule:
    """A pom's module, with the folders of tests that are there or would be."""
    said = [pom.test_source] if pom.test_source and "${" not in pom.test_source.replace("${project.basedir}/", "").replace("${basedir}/", "") else []
    named = [re.sub(r"^\$\{(project\.)?basedir\}/", "", word) for word in said] or ["src/test/java"]
    roots = [posixpath.normpath(posixpath.join(pom.folder, word)) for word in [*named, "src/test/kotlin", "src/test/groovy", "src/test/scala"]]
    return JavaModule(pom.folder, pom.artifact, tuple(roots[:1] + [root for root in roots[1:] if any(path.startswith(root + "/") for path in tree)]))


def dependants(build: list[Pom], folders: set[str]) -> set[str]:
    """Folders of modules together with those of all that depend on them."""
    by_artifact = {pom.artifact: pom for pom in build}
    found = set(folders)
    grown = True
    while grown:
        grown = False
        for pom in build:
            needs = {by_artifact[artifact].folder for _, artifact, _ in pom.dependencies if artifact in by_artifact}
            if pom.parent in by_artifact:
                needs.add(by_artifact[pom.parent].folder)
            if pom.folder not in found and needs & found:
                found.add(pom.folder)
                grown = True
    return found
