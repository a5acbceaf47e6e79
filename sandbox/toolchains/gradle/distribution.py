"""The Gradle that a build's wrapper names: where it comes from, and what is said where it can't be had."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass

from sandbox.plan import Choice
from sandbox.workspace import Tree

PROPERTIES = "gradle/wrapper/gradle-wrapper.properties"
ADDRESS = re.compile(r"^distributionUrl\s*=\s*(https?://([\w.-]+)(?::\d+)?/[\w./%+-]*?gradle-(\d[\w.+-]*?)-(?:bin|all)\.zip)\s*$", re.MULTILINE)
CHECKSUM = re.compile(r"^distributionSha256Sum\s*=\s*([0-9a-f]{64})\s*$", re.MULTILINE)
GRADLES_OWN = ("services.gradle.org", "downloads.gradle.org")
# Gradle's own hosts send on to its releases at GitHub: https://github.com/gradle/gradle-distributions
HOSTS = (*GRADLES_OWN, "github.com", "objects.githubusercontent.com", "release-assets.githubusercontent.com")
DEBIANS = "4.4.1"


@dataclass(frozen=True)
class Distribution:
    """One release of Gradle: as `file` (at `line`) names it. `checksum`: its sha256, if the wrapper pins it."""

    version: str
    url: str
    host: str
    checksum: str | None
    file: str
    line: int

    @property
    def is_gradles_own(self) -> bool:
        """Whether it comes from Gradle itself, and not from a mirror of somebody's."""
        return self.host in GRADLES_OWN and self.url.startswith("https://")

    @property
    def near_debians(self) -> bool:
        """Whether Debian's has the same major number."""
        return self.version.partition(".")[0] == DEBIANS.partition(".")[0]


def wrapper(tree: Tree, folder: str) -> Distribution | None:
    """What the wrapper of a build in a folder asks for; None where there is none, or it names a file."""
    path = posixpath.join(folder, PROPERTIES)
    text = (tree.text(path) or "").replace("\\:", ":")
    found, checksum = ADDRESS.search(text), CHECKSUM.search(text)
    if found is None:
        return None
    return Distribution(found[3], found[1], found[2].lower(), checksum[1] if checksum else None, path, text.count("\n", 0, found.start()) + 1)


def choice(wanted: Distribution | None) -> Choice:
    """For the plan's reader."""
    if wanted is None:
        return Choice("Gradle", f"{DEBIANS}, Debian's: there is no wrapper")
    return Choice("Gradle", f"{wanted.version} from {wanted.host}, as the wrapper has it", wanted.file, wanted.line)


def absent(wanted: Distribution, fault: str, dead: Sequence[str]) -> str:
    """Why there is no Gradle for a build, and what would help."""
    asked = f"Gradle {wanted.version}, which {wanted.file} asks for, could not be had from {wanted.host}"
    reached = f": {', '.join(dead)} can't be reached from here" if dead else f": {fault}" if fault else ""
    if wanted.is_gradles_own:
        help_ = f"it takes a network that reaches {', '.join(HOSTS)}, or a distributionUrl at a host in DUALGATE_INSTALL_HOSTS"
    else:
        help_ = f"it takes DUALGATE_INSTALL_HOSTS={wanted.host}, and a network that reaches it"
    return f"{asked}{reached}; Debian has {DEBIANS} alone, which is no {wanted.version.partition('.')[0]}; {help_}"
