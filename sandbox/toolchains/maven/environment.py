"""How an environment for Maven is made: a JDK, Maven itself, every artifact that a run of the tests asks for."""

from __future__ import annotations

import posixpath
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sandbox.build_container import CA_PATH, BuildContainer, Step
from sandbox.docker import DockerEngine
from sandbox.errors import EnvironmentFailed, UnknownPackage
from sandbox.plan import Plan
from sandbox.results.report import TestReport
from sandbox.toolchains.java.plan import JavaPlan, of_java
from sandbox.toolchains.java.releases import USUAL, ground, home_words, image_with
from sandbox.toolchains.java.source import holds_tests
from sandbox.toolchains.java.trust import PASSWORD, key_store
from sandbox.toolchains.maven.manifests import with_dependency
from sandbox.toolchains.maven.running import COVERAGE, KEPT_REPOSITORY, OWN_BUILD, SKIPPED
from sandbox.toolchains.protocol import Ground
from sandbox.workspace import Tree

HOME = "/opt/env"
MAVEN, MAVEN_SHA512 = "3.9.9", (
    "a555254d6b53d267965a3404ecb14e53c3827c09c3b94b5678835887ab404556bfaf78dcfe03ba76fa2508649dca8531c74bca4d5846513522404d48e8c4ac8b")
CENTRAL = "https://repo.maven.apache.org/maven2"
SETTINGS, STORE = "/dev/shm/settings.xml", "/dev/shm/authorities.jks"
JACOCO = (  # by JaCoCo 0.8.13: counts lines in any Java machine up to 25
    ("agent.jar", "org/jacoco/org.jacoco.agent/0.8.13/org.jacoco.agent-0.8.13-runtime.jar", "47e700ccb0fdb9e27c5241353f8161938f4e53c3561dd35e063c5fe88dc3349b"),
    ("cli.jar", "org/jacoco/org.jacoco.cli/0.8.13/org.jacoco.cli-0.8.13-nodeps.jar", "8f748683833d4dc4d72cea5d6b43f49344687b831e0582c97bcb9b984e3de0a3"),
)
LAID, HOOK = "/opt/laid", "/opt/unpacked"
STEP_S, WARM_S, ONE_TEST_S = 1200.0, 900, 120
UNKNOWN = re.compile(r"Could not find artifact ([\w.-]+:[\w.-]+)")
ABSENT = re.compile(r"artifact ([\w.-]+:[\w.-]+:[\w.-]+(?::[\w.-]+)?:[\w.-]+) has not been downloaded from it before|offline mode[^\n]*artifact ([\w.:-]+)")
ELSEWHERE = re.compile(r"Could not transfer (?:artifact|metadata)|Blocked mirror|maven-default-http-blocker")
ABSTRACT = re.compile(r"\babstract\s+class\b")


@dataclass
class MavenLadder:
    """Installs into one build container."""

    build: BuildContainer
    plan: JavaPlan
    root: str
    tree: Tree
    release: str
    budget_s: float
    tried: list[str] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    variables: dict[str, str] = field(default_factory=dict)
    last: Step | None = None
    _started: float = field(default_factory=time.monotonic)
    _flags: list[str] = field(default_factory=list)
    _jvm: list[str] = field(default_factory=list)

    def install(self) -> None:
        """Maven, then one test of each module run with a network: what it fetches is what the runs will need."""
        self._need("folders", f"mkdir -p {HOME} {KEPT_REPOSITORY} {LAID}")
        java = self.build.step(["/bin/sh", "-c", f"echo {home_words(self.release)}"], 30).output.strip()
        self.variables.update({
            "JAVA_HOME": java, "PATH": f"{java}/bin:{HOME}/maven/bin:/usr/local/bin:/usr/bin:/bin", "MAVEN_OPTS": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"})
        self._maven()
        for name, path, digest in JACOCO:
            fetched = f"curl -sSf --retry 3 -o {COVERAGE}/{name} {CENTRAL}/{path} && echo '{digest}  {COVERAGE}/{name}' | sha256sum -c -"
            self._try(f"coverage, {name}", f"mkdir -p {COVERAGE} && ({fetched} || (rm -rf {COVERAGE}; false))")
        self._settings(mirror=False)
        if not self._warm() and self.last is not None and ELSEWHERE.search(self.last.output):
            self._settings(mirror=True)
            self._need("forget what could not be had", f"find {KEPT_REPOSITORY} -name '*.lastUpdated' -delete")
            self._warm("every repository by way of Central")
        if self.last is not None and not self.last.ok and not self._compiled():
            raise EnvironmentFailed("no test could be compiled", tuple(self.tried), self._errors())
        if self.plan.extra:
            self.asked(self.plan.extra)
        self._readable()

    def added(self, lines: Sequence[str]) -> None:
        """`group:artifact:version:scope in pom`, put into base's poms. Raises UnknownPackage, EnvironmentFailed."""
        if not lines:
            return
        for line in lines:
            what, _, path = line.partition(" in ")
            text = (self.build.read(f"{self.root}/{path}") or b"").decode("utf-8", "replace")
            made = with_dependency(text, what).encode()
            self.build.write(f"{self.root}/{path}", made)
            self.build.write(f"{LAID}/{path}", made)
        self.build.write(HOOK, f'#!/bin/sh\ncp -r {LAID}/. "$1"/\n'.encode(), "755")
        if not self._warm(f"added: {'; '.join(lines)}") and self.last is not None and (match := UNKNOWN.search(self.last.output)):
            if any(line.startswith(match[1] + ":") for line in lines):
                raise UnknownPackage(match[1], self.last.output[-1500:])
            raise EnvironmentFailed(f"an artifact can't be fetched: {match[1]}", tuple(self.tried), self._tail())
        self._readable()

    def asked(self, names: Sequence[str]) -> None:
        """Artifacts that a run without a network missed."""
        for name in names:
            self._try(f"asked for: {name}", f"{self._mvn()} dependency:get -Dtransitive=false -Dartifact={_coordinates(name)}")
        self._readable()

    def _maven(self) -> None:
        """The one known to work, or a newer one that the wrapper asks for."""
        text = self.tree.text(posixpath.join(self.plan.directory, ".mvn/wrapper/maven-wrapper.properties")) or ""
        match = re.search(r"apache-maven-(\d+\.\d+[\w.-]*)-bin", text)
        wanted = match[1] if match and _number(match[1]) > _number(MAVEN) else MAVEN
        if not self._try(f"Maven {wanted}", fetch_words(wanted)):
            self._need(f"Maven {MAVEN}", fetch_words(MAVEN))

    def _settings(self, mirror: bool) -> None:
        """For the installation alone, in memory: the proxy by Maven's own words, the authorities by Java's."""
        address = self.build.step(["/bin/sh", "-c", "echo $https_proxy"], 30).output.strip()
        match = re.fullmatch(r"https?://([^:/]+):(\d+)/?", address)
        bundle = self.build.read(CA_PATH)
        if bundle:
            self.build.write(STORE, key_store(bundle))
        self.build.write(SETTINGS, settings(match.groups() if match else None, mirror).encode())
        self._flags = [f"-s {SETTINGS}"]
        self._jvm = [f"-Djavax.net.ssl.trustStore={STORE} -Djavax.net.ssl.trustStorePassword={PASSWORD}"] if bundle else []
        if match:
            self._jvm += [f"-D{scheme}.proxyHost={match[1]} -D{scheme}.proxyPort={match[2]}" for scheme in ("http", "https")]

    def _mvn(self) -> str:
        opts = f"export MAVEN_OPTS=\"$MAVEN_OPTS {' '.join(self._jvm)}\"; "
        return opts + f"timeout {WARM_S} mvn -B -fae -Dstyle.color=never -Dmaven.repo.local={KEPT_REPOSITORY} {' '.join([*self._flags, *self.plan.arguments])}"

    def _warm(self, name: str = "one test of each module") -> bool:
        """Fetches what a run of the tests asks for, by making one."""
        return self._try(name, f"{self._mvn()} {warm_words(self._smallest())} test")

    def _smallest(self) -> list[str]:
        """One class of tests a module: the shortest file that has some."""
        found = []
        for module in self.plan.modules:
            paths = [path for path in self.plan.test_files if path.startswith(tuple(root + "/" for root in module.test_roots)) and path in self.tree]
            rows = [(len(text), path) for path in paths if holds_tests(text := self.tree.text(path) or "") and not ABSTRACT.search(text)]
            if rows:
                found.append(posixpath.basename(min(rows)[1]).rsplit(".", 1)[0])
        return list(dict.fromkeys(found))

    def _compiled(self) -> bool:
        """Whether any module has come to a compiled test."""
        words = f"test -n \"$(find {self.root} -path '*/test-classes/*' -name '*.class' | head -1)\""
        return self.build.step(["/bin/sh", "-c", words], 60).ok

    def _errors(self) -> str:
        """What Maven calls an error, without its advice."""
        lines = (self.last.output if self.last else "").splitlines()
        told = [line for line in lines if line.startswith("[ERROR]") and line.strip() != "[ERROR]" and "Re-run Maven" not in line and "[Help " not in line[:14]]
        return "\n".join(told[:30]) or self._tail()

    def _readable(self) -> None:
        self._try("readable", f"find {KEPT_REPOSITORY} -name '*.lastUpdated' -delete; chmod -R a+rX {HOME} {LAID}")

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


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(word) for word in re.findall(r"\d+", version.partition("-")[0]))


def _coordinates(name: str) -> str:
    """group:artifact:packaging:version as the plugin wants it: group:artifact:version:packaging[:classifier]."""
    group, artifact, packaging, *rest = name.split(":")
    return ":".join([group, artifact, rest[-1], packaging, *rest[:-1]]) if rest else name


def fetch_words(version: str) -> str:
    """Shell words that lay a release of Maven from Central, checked, into the environment."""
    url = f"{CENTRAL}/org/apache/maven/apache-maven/{version}/apache-maven-{version}-bin.tar.gz"
    # Central holds a sha1 of every file, as Maven itself asks for; a sha512 of some alone.
    check = f"echo '{MAVEN_SHA512}  maven.tar.gz' | sha512sum -c -" if version == MAVEN else (
        f"echo \"$(curl -sSf --retry 3 {url}.sha1 | cut -c1-40)  maven.tar.gz\" | sha1sum -c -")
    return (f"cd /tmp && curl -sSf --retry 3 -o maven.tar.gz {url} && {check} && rm -rf {HOME}/maven"
            f" && mkdir -p {HOME}/maven && tar -xzf maven.tar.gz --strip-components=1 --no-same-owner -C {HOME}/maven && rm maven.tar.gz")


def warm_words(classes: Sequence[str]) -> str:
    """Arguments by which some test classes are run for what Maven fetches on the way: they may fail, and they are ended early."""
    tests = f"-Dtest='{','.join(classes)}'" if classes else ""
    # One class may be a bridge to a whole suite: what a run needs is there once the first test has begun.
    bounds = f"-Dsurefire.timeout={ONE_TEST_S} -Dmaven.test.failure.ignore=true -DfailIfNoTests=false -Dsurefire.failIfNoSpecifiedTests=false"
    return f"{bounds} {' '.join(SKIPPED)} {tests}"


def settings(proxy: tuple[str | None, ...] | None, mirror: bool) -> str:
    """Maven's settings.xml. `proxy`: (host, port); `mirror`: every repository that a pom names is asked for at Central instead."""
    rows = [f"<proxy><id>{scheme}</id><active>true</active><protocol>{scheme}</protocol><host>{proxy[0]}</host><port>{proxy[1]}</port></proxy>"
            for scheme in ("http", "https")] if proxy else []
    mirrors = f"<mirrors><mirror><id>central</id><mirrorOf>*</mirrorOf><url>{CENTRAL}</url></mirror></mirrors>" if mirror else ""
    return f"<settings><interactiveMode>false</interactiveMode><proxies>{''.join(rows)}</proxies>{mirrors}</settings>\n"


class MavenInstaller:
    """Debian's JDKs, Maven from Central."""

    title = "JDK"
    recipe = 2

    def base(self, engine: DockerEngine) -> str:
        """Debian with the usual JDK."""
        return image_with(engine, USUAL)

    def ground(self, engine: DockerEngine, release: str) -> Ground:
        """The image with a release."""
        return ground(engine, release)

    def variables(self, plan: Plan) -> Mapping[str, str]:
        """Set for each command."""
        return {}

    def ladder(self, build: BuildContainer, plan: Plan, tree: Tree, root: str, ground: Ground, budget_s: float) -> MavenLadder:
        """The rungs."""
        return MavenLadder(build, of_java(plan), root, tree, ground.release, budget_s)

    def needs(self, report: TestReport, plan: Plan) -> list[str]:
        """Artifacts that Maven says it has not downloaded before."""
        texts = [*report.uncollected.values(), report.log]
        return list(dict.fromkeys(name for text in texts for match in ABSENT.finditer(text) if (name := match[1] or match[2])))

    def release(self, build: BuildContainer) -> str:
        """As the JDK says it."""
        said = build.step(["/bin/sh", "-c", "cat /usr/lib/jvm/java-*-openjdk-*/release"], 30).output
        match = re.search(r'^JAVA_VERSION="([^"]+)"', said, re.MULTILINE)
        return match[1] if match else ""

    def modules(self, build: BuildContainer) -> tuple[str, ...]:
        """None: `rules` knows the packages that nobody else may have."""
        return ()

    def overlay(self, build: BuildContainer, root: str) -> tuple[str, bool]:
        """A link in place of each module's `target`, to where a box may write: the sources beside it stay read-only."""
        words = (f"cd {root} && find . -name pom.xml -not -path '*/target/*' -not -path './.git/*' -printf '%h\\n' | while read -r folder; do"
                 f' mkdir -p "/opt/overlay/$folder" && ln -sfn "{OWN_BUILD}/$folder/target" "/opt/overlay/$folder/target"; done')
        build.need(["/bin/sh", "-c", f"rm -rf /opt/overlay && mkdir -p /opt/overlay && {words} && chmod -R a+rX /opt/overlay"], 120)
        return "build folders are links to where a box may write", False

    def rebuild(self, build: BuildContainer, root: str) -> Step:
        """Never needed."""
        raise NotImplementedError
