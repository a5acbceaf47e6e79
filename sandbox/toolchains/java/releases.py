"""JDKs: which there are, which one a project wants, and the image that has it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from sandbox import images
from sandbox.docker import DockerEngine
from sandbox.plan import Choice
from sandbox.toolchains.protocol import Ground
from sandbox.workspace import Tree

SUITES = {"17": "bookworm", "21": "trixie", "25": "trixie"}  # Debian's releases with each as a package of its own
# Without any font java.awt fails where a text is only measured; curl brings Maven.
WITH = ("curl", "fontconfig", "fonts-dejavu-core")
USUAL = "17"
OLDEST_LEVEL = {"17": 7, "21": 8, "25": 8}  # what javac still takes as -source
JAVA_VERSION = re.compile(r"java(?:-version|_version|)\s*:\s*([^\n]+(?:\n\s+(?:-\s|['\"]?\d)[^\n]*)*)")


def image_with(engine: DockerEngine, release: str) -> str:
    """Id of the base image with a JDK, made on demand. Raises ImageUnavailable."""
    return images.bootstrap(engine, suite=SUITES[release], more=(f"openjdk-{release}-jdk-headless", *WITH))


def ground(engine: DockerEngine, release: str) -> Ground:
    """The image of a release."""
    return Ground(image_with(engine, release), f"/usr/lib/jvm/java-{release}-openjdk", release)


def home_words(release: str) -> str:
    """Shell words that the folder of a JDK stands for, whatever the processor."""
    return f"$(echo /usr/lib/jvm/java-{release}-openjdk-*)"


def number(text: str) -> int | None:
    """A level as a number: 8 for 1.8; None for what is none."""
    match = re.fullmatch(r"\s*(?:1\.)?(\d{1,2})(?:\.\d+)*\s*", text)
    return int(match[1]) if match else None


def choose(tree: Tree, level: int | None, level_file: str, why: list[Choice]) -> tuple[str, ...]:
    """Releases to try, the best first: those that know the level; of them what the maintainers' workflows test with."""
    able = [release for release in SUITES if (level or 8) <= int(release)]
    kept = [release for release in able if (level or 8) >= OLDEST_LEVEL[release]] or able or ["25"]
    tested, file = _tested(tree)
    chosen = next((release for release in kept if int(release) in tested), kept[0])
    why.append(Choice("JDK", f"{chosen}" + (f", sources of level {level}" if level else ""), file if int(chosen) in tested else level_file, 1))
    return (chosen, *(release for release in kept if release != chosen))


def _tested(tree: Tree) -> tuple[set[int], str | None]:
    """JDK numbers in the workflows' java-version, and the first such file."""
    found: set[int] = set()
    origin = None
    for path in _workflows(tree):
        words = {int(word) for match in JAVA_VERSION.finditer(tree.text(path) or "") for word in re.findall(r"(?<![\d.])(?:1\.)?(\d{1,2})(?![\d])", match[1])}
        if words:
            found, origin = found | words, origin or path
    return found, origin


def _workflows(tree: Tree) -> Iterable[str]:
    return (path for path in sorted(tree) if path.startswith(".github/workflows/") and path.endswith((".yml", ".yaml")))
