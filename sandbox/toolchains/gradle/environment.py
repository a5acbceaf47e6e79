"""How an environment for Gradle is made: a JDK, the wrapper's Gradle or Debian's, every artifact that a run of the tests asks for."""

from __future__ import annotations

import json
import posixpath
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sandbox import images
from sandbox.build_container import CA_PATH, BuildContainer, Step
from sandbox.docker import DockerEngine
from sandbox.errors import EnvironmentFailed, UnknownPackage
from sandbox.fetching import into
from sandbox.plan import Plan
from sandbox.results.report import TestReport
from sandbox.toolchains.gradle.distribution import DEBIANS, HOSTS, Distribution, absent, wrapper
from sandbox.toolchains.gradle.running import ADDED, KEPT_HOME, NOTES, OWN_NOTES
from sandbox.toolchains.gradle.script import PLAIN, script
from sandbox.toolchains.java.plan import JavaPlan, of_java
from sandbox.toolchains.java.releases import SUITES, USUAL, WITH, home_words
from sandbox.toolchains.java.trust import PASSWORD, key_store
from sandbox.toolchains.protocol import Ground
from sandbox.workspace import Tree

HOME = "/opt/env"
STORE, WHERE, ARCHIVE = "/dev/shm/authorities.jks", "/dev/shm/gradle", "/tmp/gradle.zip"
STEP_S, WARM_S = 1200.0, 900
UNKNOWN = re.compile(r"Could not find ([\w.-]+:[\w.-]+)")


@dataclass
class GradleLadder:
    """Installs into one build container."""

    build: BuildContainer
    plan: JavaPlan
    root: str
    tree: Tree
    release: str
    image: str
    budget_s: float
    tried: list[str] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    variables: dict[str, str] = field(default_factory=dict)
    last: Step | None = None
    _started: float = field(default_factory=time.monotonic)
    _jvm: list[str] = field(default_factory=list)

    def install(self) -> None:
        """Gradle, then all tests compiled and one run of them with a network: what it fetches is what the runs will need."""
        self._need("folders", f"mkdir -p {HOME}/bin {KEPT_HOME} {WHERE}")
        java = self.build.step(["/bin/sh", "-c", f"echo {home_words(self.release)}"], 30).output.strip()
        self.variables.update({"JAVA_HOME": java, "PATH": f"{HOME}/bin:{java}/bin:/usr/local/bin:/usr/bin:/bin"})
        self._network()
        self._gradle()
        if not self._warm() and not self._compiled():
            raise EnvironmentFailed("no test could be compiled", tuple(self.tried), self._errors())
        self._readable()

    def added(self, lines: Sequence[str]) -> None:
        """`group:artifact:version:(configuration) in build file`, beside base's own. Raises UnknownPackage, EnvironmentFailed."""
        if not lines:
            return
        rows = []
        for line in lines:
            what, _, path = line.partition(" in ")
            coordinates, _, configuration = what.rpartition(":")
            folder = posixpath.relpath(posixpath.dirname(path) or ".", self.plan.directory or ".")
            rows.append({"folder": "" if folder == "." else folder, "configuration": configuration.strip("()"), "coordinates": coordinates})
        self.build.write(ADDED, json.dumps(rows).encode())
        self.build.write(f"{WHERE}/settings.json", json.dumps({"build": None, "patterns": {}, "chosen": False, "added": rows}).encode())
        if not self._warm(f"added: {'; '.join(lines)}") and self.last is not None and (match := UNKNOWN.search(self.last.output)):
            if any(line.startswith(match[1] + ":") for line in lines):
                raise UnknownPackage(match[1], self.last.output[-1500:])
            raise EnvironmentFailed(f"an artifact can't be fetched: {match[1]}", tuple(self.tried), self._tail())
        self._readable()

    def asked(self, names: Sequence[str]) -> None:
        """Nothing is ever asked for by name: the build files name everything."""

    def _network(self) -> None:
        """The proxy and the authorities, by Java's own words."""
        match = re.fullmatch(r"https?://([^:/]+):(\d+)/?", self.build.step(["/bin/sh", "-c", "echo $https_proxy"], 30).output.strip())
        if match:
            self._jvm += [f"-D{scheme}.proxyHost={match[1]} -D{scheme}.proxyPort={match[2]}" for scheme in ("http", "https")]
        bundle = self.build.read(CA_PATH)
        if bundle:
            self.build.write(STORE, key_store(bundle))
            self._jvm += [f"-Djavax.net.ssl.trustStore={STORE} -Djavax.net.ssl.trustStorePassword={PASSWORD}"]

    def _gradle(self) -> None:
        """The wrapper's; Debian's where there is no wrapper, or where that can't be had and asks for the same major release."""
        wanted = wrapper(self.tree, self.plan.directory)
        if wanted is not None:
            fault, dead = self._fetched(wanted)
            if self._unpacked(wanted):
                return
            if not wanted.near_debians:
                raise EnvironmentFailed(absent(wanted, fault or self._tail(), dead), tuple(self.tried), fault or self._tail())
        self._need(f"Gradle {DEBIANS}, Debian's", "test -x /usr/bin/gradle && gradle --version")

    def _fetched(self, wanted: Distribution) -> tuple[str, tuple[str, ...]]:
        """Gradle's own is fetched apart, since its hosts lead to one that an installation may not ask: (what was wrong, hosts that could not be reached)."""
        if wanted.is_gradles_own:
            found = into(self.build, self.image, wanted.url, HOSTS, ARCHIVE)
            return found.fault, found.dead
        had = self._try(f"Gradle {wanted.version} from {wanted.host}", f"curl -sSfL --retry 2 --max-time 600 -o {ARCHIVE} {wanted.url}")
        return "" if had else self._tail(), ()

    def _unpacked(self, wanted: Distribution) -> bool:
        check = f"echo '{wanted.checksum}  {ARCHIVE}' | sha256sum -c - && " if wanted.checksum else ""
        words = f"unzip -q {ARCHIVE} -d {HOME}/gradle && ln -sfn {HOME}/gradle/*/bin/gradle {HOME}/bin/gradle && rm {ARCHIVE}"
        return self._try(f"Gradle {wanted.version}, as the wrapper has it", check + words)

    def _warm(self, name: str = "the tests compiled and run once") -> bool:
        """Fetches what a run of the tests asks for, by making one: of a class that is not there, so that the runner is loaded and no test is."""
        self.build.write(f"{WHERE}/init.gradle", script(WHERE).encode())
        # As arguments: another process that Gradle starts for the build's own memory settings is told of those alone.
        words = " ".join((f"timeout {WARM_S} gradle --no-daemon --console=plain --continue --gradle-user-home {KEPT_HOME}", *self._jvm, *PLAIN,
                          f"--project-cache-dir /tmp/gradle-project -I {WHERE}/init.gradle"))
        return self._try(name, f"{words} {' '.join(self.plan.arguments)} test")

    def _compiled(self) -> bool:
        words = f"test -n \"$(find {self.root} -path '*/build/classes/*' -ipath '*/test/*' -name '*.class' | head -1)\""
        return self.build.step(["/bin/sh", "-c", words], 60).ok

    def _errors(self) -> str:
        text = self.last.output if self.last else ""
        match = re.search(r"^\* What went wrong:\n(.*?)\n\n", text, re.DOTALL | re.MULTILINE)
        return match[0].strip() if match else self._tail()

    def _readable(self) -> None:
        self._try("readable", f"find {KEPT_HOME} -name '*.lock' -delete; rm -rf {KEPT_HOME}/daemon; chmod -R a+rX {HOME}")

    def _shell(self, command: str) -> list[str]:
        exported = " ".join(f"{name}='{value}'" for name, value in self.variables.items())
        return ["/bin/sh", "-c", f"{f'export {exported};' if exported else ''} cd {posixpath.join(self.root, self.plan.directory)} && {command}"]

    def _try(self, name: str, command: str) -> bool:
        left = self.budget_s - (time.monotonic() - self._started)
        if left <= 0:
            raise EnvironmentFailed(f"the time for the installation ({self.budget_s:.0f} s) is spent", tuple(self.tried), self._tail())
        self.last = self.build.step(self._shell(command), min(left, STEP_S))
        self.tried.append(f"{name}: {'ok' if self.last.ok else 'out of time' if self.last.status is None else 'failed'} ({self.last.seconds:.1f} s)")
        return self.last.ok

    def _need(self, name: str, command: str) -> None:
        if not self._try(name, command):
            raise EnvironmentFailed(f"{name} failed", tuple(self.tried), self._tail())

    def _tail(self) -> str:
        lines = (self.last.output if self.last else "").strip().splitlines()
        return "\n".join(lines[-40:])


def image_with(engine: DockerEngine, release: str) -> str:
    """Id of the base image with a JDK, and Debian's Gradle where that runs on it. Raises ImageUnavailable."""
    more = (*WITH, "gradle") if release == USUAL else WITH
    return images.bootstrap(engine, suite=SUITES[release], more=(f"openjdk-{release}-jdk-headless", *more))


def overlay_words(root: str) -> str:
    """Shell words that lay the links, for buildSrc and for every folder with settings of its own."""
    inner = r"\( -name buildSrc -type d -printf '%p\n' \) -o \( -name 'settings.gradle*' -printf '%h\n' \)"
    names = f'{" ".join(NOTES)} $(test "$folder" = . || echo build)'  # older releases do not tell buildSrc of another build folder
    links = f'for name in {names}; do ln -sfn "{OWN_NOTES}/$folder/$name" "/opt/overlay/$folder/$name"; done'
    found = f"find . \\( -path ./.git -o -name .gradle -o -name build \\) -prune -o {inner} | sort -u"
    return f'cd {root} && {found} | while read -r folder; do mkdir -p "/opt/overlay/$folder" && {links}; done'


class GradleInstaller:
    """Debian's JDKs; Gradle as the wrapper has it."""

    title = "JDK"
    recipe = 3

    def base(self, engine: DockerEngine) -> str:
        """Debian with the usual JDK."""
        return image_with(engine, USUAL)

    def ground(self, engine: DockerEngine, release: str) -> Ground:
        """The image with a release."""
        return Ground(image_with(engine, release), f"/usr/lib/jvm/java-{release}-openjdk", release)

    def variables(self, plan: Plan) -> Mapping[str, str]:
        """Set for each command."""
        return {}

    def ladder(self, build: BuildContainer, plan: Plan, tree: Tree, root: str, ground: Ground, budget_s: float) -> GradleLadder:
        """The rungs."""
        return GradleLadder(build, of_java(plan), root, tree, ground.release, ground.image, budget_s)

    def needs(self, report: TestReport, plan: Plan) -> list[str]:
        """Nothing."""
        return []

    def release(self, build: BuildContainer) -> str:
        """As the JDK says it."""
        said = build.step(["/bin/sh", "-c", "cat /usr/lib/jvm/java-*-openjdk-*/release"], 30).output
        match = re.search(r'^JAVA_VERSION="([^"]+)"', said, re.MULTILINE)
        return match[1] if match else ""

    def modules(self, build: BuildContainer) -> tuple[str, ...]:
        """None: `rules` knows the packages that nobody else may have."""
        return ()

    def overlay(self, build: BuildContainer, root: str) -> tuple[str, bool]:
        """Links where Gradle keeps notes beside the sources of a build inside the build, to where a box may write: it is told of other build folders."""
        build.need(["/bin/sh", "-c", f"rm -rf /opt/overlay && mkdir -p /opt/overlay && {overlay_words(root)} && chmod -R a+rX /opt/overlay"], 120)
        return "the notes of inner builds are links to where a box may write", False

    def rebuild(self, build: BuildContainer, root: str) -> Step:
        """Never needed."""
        raise NotImplementedError
