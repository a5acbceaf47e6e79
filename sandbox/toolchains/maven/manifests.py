"""What a change does to the dependencies of pom.xml, and the installation in a person's words."""

from __future__ import annotations

import re

from sandbox.plan import Plan
from sandbox.toolchains.java.plan import of_java
from sandbox.toolchains.maven.poms import Pom, properties_of, read_pom, resolved
from sandbox.toolchains.protocol import ManifestFault
from sandbox.workspace import Tree

INERT = re.compile(r"<!--.*?-->|<(dependencyManagement|build|profiles|reporting)\b.*?</\1>", re.DOTALL)


class MavenManifests:
    """By the dependency tables alone: plugins, properties, profiles are base's."""

    def added(self, plan: Plan, base: Tree, changed: Tree) -> tuple[str, ...]:
        """`group:artifact[:version] in pom` of rows that are new or have another version, of base's poms."""
        found = []
        for path in _poms(plan):
            before, after = ({(row[0], row[1]): row[2] for row in _rows(plan, tree, path)} for tree in (base, changed))
            if path in base:
                found += [f"{':'.join(word for word in (*name, version) if word)} in {path}" for name, version in sorted(after.items())
                          if before.get(name) != version and not _is_own(plan, changed, name)]
        return tuple(found)

    def faults(self, plan: Plan, base: Tree, changed: Tree, patched: Tree) -> list[ManifestFault]:
        """A pom that can't be read."""
        return [ManifestFault(f"{path} can't be read with the change", (path,)) for path in _poms(plan)
                if path in changed and read_pom(changed, path) is None and read_pom(base, path) is not None]

    def words(self, plan: Plan) -> list[str]:
        """Of the tool."""
        return ["mvn -fae -Dtest=(one of each module) test"]


def _poms(plan: Plan) -> list[str]:
    return [name for name in dict.fromkeys([*plan.manifests, *(f"{module.folder}/pom.xml".lstrip("/") for module in of_java(plan).modules)])
            if name.endswith("pom.xml")]


def _rows(plan: Plan, tree: Tree, path: str) -> list[tuple[str, str, str]]:
    poms = [pom for name in _poms(plan) if (pom := read_pom(tree, name)) is not None]
    own = read_pom(tree, path)
    properties = {**properties_of(poms), **(dict(own.properties) if own else {})}
    return [(resolved(a, properties), resolved(b, properties), resolved(c, properties)) for a, b, c in (own.dependencies if own else ())]


def _is_own(plan: Plan, tree: Tree, name: tuple[str, str]) -> bool:
    poms: list[Pom] = [pom for path in _poms(plan) if (pom := read_pom(tree, path)) is not None]
    return any(pom.artifact == name[1] for pom in poms)


def with_dependency(text: str, coordinates: str) -> str:
    """A pom with a dependency put in, or put in the place of the one of that name; an element of the pom itself, not of its profiles or plugins."""
    group, artifact, *rest = coordinates.split(":")
    version = f"<version>{rest[0]}</version>" if rest else ""
    row = f"<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId>{version}</dependency>"
    blank = INERT.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    inside = r"(?:(?!</dependency>).)*?"
    known = re.search(rf"<dependency>{inside}<artifactId>\s*{re.escape(artifact)}\s*</artifactId>{inside}</dependency>", blank, re.DOTALL)
    if known:
        old = text[known.start():known.end()]
        bare = re.sub(r"<version>.*?</version>", "", old, flags=re.DOTALL)
        return text[:known.start()] + bare.replace("</dependency>", f"{version}</dependency>") + text[known.end():]
    place = blank.find("<dependencies>")
    if place >= 0:
        at = place + len("<dependencies>")
        return f"{text[:at]}{row}{text[at:]}"
    at = blank.rfind("</project>")
    return f"{text[:at]}<dependencies>{row}</dependencies>{text[at:]}"
