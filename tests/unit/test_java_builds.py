"""Maven's and Gradle's build files as data: modules, JDK, dependencies, plans."""

from __future__ import annotations

import datetime
import hashlib
import struct
import subprocess
from pathlib import Path

import pytest

from sandbox.inside.gradle_driver import lay_notes
from sandbox.plan import Choice
from sandbox.registries.names import package_of
from sandbox.toolchains.gradle import detect as gradle
from sandbox.toolchains.gradle.builds import dependencies
from sandbox.toolchains.gradle.distribution import absent, choice, wrapper
from sandbox.toolchains.gradle.environment import overlay_words
from sandbox.toolchains.gradle.manifests import GradleManifests
from sandbox.toolchains.java.releases import choose, number
from sandbox.toolchains.java.trust import key_store
from sandbox.toolchains.maven import detect as maven
from sandbox.toolchains.maven.environment import MavenInstaller, fetch_words, settings, warm_words
from sandbox.toolchains.maven.manifests import MavenManifests, with_dependency
from sandbox.toolchains.maven.poms import parse
from sandbox.toolchains.protocol import Sight
from sandbox.toolchains.registry import detect_plans
from sandbox.workspace import REGULAR, File, Tree
from tests import gradle_repository, maven_repository
from tests.maven_repository import CORE_POM, ROOT_POM

DAY = datetime.date(2025, 1, 1)


def tree(files: dict[str, str | None]) -> Tree:
    return Tree({path: File(REGULAR, text.encode()) for path, text in files.items() if text is not None})


MAVEN, GRADLE = tree(maven_repository.BASE), tree(gradle_repository.BASE)


def sight(*changed: str) -> Sight:
    return Sight(DAY, DAY, changed=frozenset(changed))


def test_a_build_is_one_plan_with_all_its_modules() -> None:
    (plan,) = maven.plans(MAVEN, sight())
    assert [module.folder for module in plan.modules] == ["", "core", "words"]
    assert plan.interpreters == ("17", "21", "25")
    assert plan.test_files == ("core/src/test/java/org/example/StatsTest.java", "words/src/test/java/org/example/WordsTest.java")
    assert plan.manifests == ("pom.xml", "core/pom.xml", "words/pom.xml")


@pytest.mark.parametrize(("changed", "chosen"), [
    (["words/src/main/java/org/example/Words.java"], ("words",)), (["core/src/main/java/org/example/Stats.java"], ("core", "words")),
    (["README.md"], ()), ([], ()), (["words/pom.xml", "README.md"], ("words",)),
])
def test_modules_that_a_change_reaches_are_run(changed: list[str], chosen: tuple[str, ...]) -> None:
    assert maven.plans(MAVEN, sight(*changed))[0].chosen == chosen


def test_what_is_run_is_no_part_of_the_environment() -> None:
    one, other = (maven.plans(MAVEN, sight(path))[0] for path in ("words/src/main/java/org/example/Words.java", "README.md"))
    assert one.of_environment() == other.of_environment()


def test_builds_beside_each_other_are_plans_of_their_own_and_samples_none() -> None:
    pom = ROOT_POM.split("<modules>", maxsplit=1)[0] + "</project>"
    test = "class ATest { @Test void a() { } }"
    files = {f"{folder}/{name}": text for folder in ("one", "two", "one/src/it/sample") for name, text in (("pom.xml", pom), ("src/test/java/ATest.java", test))}
    assert [plan.directory for plan in maven.plans(tree(dict(files)), sight())] == ["one", "two"]


@pytest.mark.parametrize(("text", "level"), [("1.8", 8), ("8", 8), ("17", 17), ("${x}", None), ("11.0.2", 11), (" 21 ", 21), ("", None)])
def test_levels_of_java(text: str, level: int | None) -> None:
    assert number(text) == level


@pytest.mark.parametrize(("level", "workflow", "first"), [
    (8, "java: [ 8, 11, 17, 21 ]", "17"), (None, "java-version: 21", "21"), (21, "java-version: [17, 21]", "21"), (22, "", "25"),
    (8, "java-version: |\n          21\n", "21"), (17, "java-version: '25'", "25"), (8, "java-version: 11", "17"),
])
def test_the_jdk_is_one_that_knows_the_level_and_is_tested_with(level: int | None, workflow: str, first: str) -> None:
    why: list[Choice] = []
    assert choose(tree({".github/workflows/ci.yml": f"jobs:\n  - {workflow}\n"}), level, "pom.xml", why)[0] == first
    assert why[0].value.startswith(first)


def test_dependencies_that_a_change_adds_are_named_with_their_versions() -> None:
    (plan,) = maven.plans(MAVEN, sight())
    row = "<dependencies><dependency><groupId>g.g</groupId><artifactId>a</artifactId><version>${v}</version></dependency></dependencies>"
    changed = MAVEN.with_changes({"core/pom.xml": File(REGULAR, CORE_POM.replace("</project>", f"<properties><v>2</v></properties>{row}</project>").encode())})
    added = MavenManifests().added(plan, MAVEN, changed)
    assert added == ("g.g:a:2 in core/pom.xml",)
    assert package_of("maven", added[0]) == ("maven", "g.g:a")
    assert MavenManifests().added(plan, MAVEN, MAVEN) == ()


def test_a_dependency_is_put_into_a_pom() -> None:
    managed = "<dependencyManagement><dependencies><dependency><groupId>g</groupId><artifactId>a</artifactId></dependency></dependencies></dependencyManagement>"
    for text in (CORE_POM, ROOT_POM, CORE_POM.replace("</project>", managed + "</project>")):
        pom = parse("pom.xml", with_dependency(text, "g:a:2"))
        assert pom is not None
        assert ("g", "a", "2") in pom.dependencies
    pom = parse("pom.xml", with_dependency(ROOT_POM, "junit:junit:4.12"))
    assert pom is not None
    assert pom.dependencies == (("junit", "junit", "4.12"),)
    assert "<scope>test</scope>" in with_dependency(ROOT_POM, "junit:junit:4.12")


def test_what_is_no_pom_is_none() -> None:
    assert parse("pom.xml", "<project") is None
    assert parse("pom.xml", "<other/>") is None


def test_settings_name_the_proxy() -> None:
    text = settings(("10.0.0.1", "3128"), mirror=False)
    assert text.count("<host>10.0.0.1</host><port>3128</port>") == 2
    assert "<mirror>" not in text
    assert "<mirrorOf>*</mirrorOf>" in settings(None, mirror=True)


def test_artifacts_that_maven_misses_offline_are_asked_for() -> None:
    from sandbox.results.report import TestReport

    text = ("Cannot access central (https://repo.maven.apache.org/maven2) in offline mode and the artifact "
            "org.apache.maven.surefire:surefire-junit4:jar:3.2.5 has not been downloaded from it before.")
    assert MavenInstaller().needs(TestReport(log=text), maven.plans(MAVEN, sight())[0]) == ["org.apache.maven.surefire:surefire-junit4:jar:3.2.5"]


def test_a_key_store_holds_each_certificate() -> None:
    pem = b"-----BEGIN CERTIFICATE-----\nAAEC\n-----END CERTIFICATE-----\n" * 2
    store = key_store(pem)
    assert struct.unpack(">III", store[:12]) == (0xFEEDFEED, 2, 2)
    assert store[-20:] == hashlib.sha1("changeit".encode("utf-16-be") + b"Mighty Aphrodite" + store[:-20]).digest()
    assert store.count(b"\x00\x01\x02") >= 2


def test_a_gradle_build_is_one_plan_with_the_projects_of_its_settings() -> None:
    (plan,) = gradle.plans(GRADLE, sight())
    assert [module.folder for module in plan.modules] == ["", "core", "words"]
    assert plan.manifests == ("build.gradle", "core/build.gradle", "settings.gradle", "words/build.gradle")
    assert len(plan.test_files) == 2


def test_what_maven_builds_is_no_plan_of_gradle() -> None:
    both = tree({**maven_repository.BASE, **gradle_repository.BASE})
    assert [plan.toolchain for plan in detect_plans(both, sight())] == ["maven"]


def test_dependencies_of_gradle_are_lines_that_name_all() -> None:
    text = "dependencies {\n  implementation 'a.b:c:1'\n  testImplementation(\"d:e:2\")\n  // api 'x:y:1'\n  api \"g:h:$v\"\n  api libs.guava\n}\n"
    assert dependencies(text) == {("implementation", "a.b:c:1"), ("testImplementation", "d:e:2")}
    (plan,) = gradle.plans(GRADLE, sight())
    changed = GRADLE.with_changes({"core/build.gradle": File(REGULAR, b"dependencies {\n    compile 'g.g:a:2'\n}\n")})
    added = GradleManifests().added(plan, GRADLE, changed)
    assert added == ("g.g:a:2:(compile) in core/build.gradle",)
    assert package_of("gradle", added[0]) == ("maven", "g.g:a")


def wrapped(address: str, more: str = "") -> Tree:
    text = f"distributionBase=GRADLE_USER_HOME\ndistributionUrl={address}\n{more}"
    return tree({**gradle_repository.BASE, "gradle/wrapper/gradle-wrapper.properties": text})


def test_the_gradle_that_the_wrapper_asks_for_is_told_with_its_line() -> None:
    (plan,) = gradle.plans(wrapped("https\\://services.gradle.org/distributions/gradle-8.10.2-all.zip"), sight())
    assert Choice("Gradle", "8.10.2 from services.gradle.org, as the wrapper has it", "gradle/wrapper/gradle-wrapper.properties", 2) in plan.why
    (plan,) = gradle.plans(GRADLE, sight())
    assert choice(None) in plan.why


@pytest.mark.parametrize(("address", "version", "host", "own"), [
    ("https\\://services.gradle.org/distributions/gradle-9.1.0-bin.zip", "9.1.0", "services.gradle.org", True),
    ("https://services.gradle.org/distributions-snapshots/gradle-9.3.0-milestone-1-bin.zip", "9.3.0-milestone-1", "services.gradle.org", True),
    ("https://downloads.gradle.org/distributions/gradle-4.10-all.zip", "4.10", "downloads.gradle.org", True),
    ("https://Nexus.example.org:8443/repository/gradle/gradle-8.5-bin.zip", "8.5", "nexus.example.org", False),
    ("http://services.gradle.org/distributions/gradle-2.14-bin.zip", "2.14", "services.gradle.org", False),
])
def test_a_wrapper_names_a_release_and_its_host(address: str, version: str, host: str, own: bool) -> None:
    found = wrapper(wrapped(address, "distributionSha256Sum=" + "a" * 64 + "\n"), "")
    assert found is not None
    assert (found.version, found.host, found.is_gradles_own, found.checksum) == (version, host, own, "a" * 64)
    assert "\\" not in found.url


@pytest.mark.parametrize("address", ["file:///opt/gradle-8.5-bin.zip", "https://x.example.org/'; rm -rf /;'gradle-8.5-bin.zip", "https://x.example.org/$(id)/gradle-8.5-bin.zip"])
def test_an_address_that_is_more_than_one_is_none(address: str) -> None:
    assert wrapper(wrapped(address), "") is None


def test_a_gradle_that_can_not_be_had_is_said_with_its_hosts_and_what_would_help() -> None:
    own = wrapper(wrapped("https://services.gradle.org/distributions/gradle-8.5-bin.zip"), "")
    assert own is not None
    assert not own.near_debians
    said = absent(own, "curl: (56)", ["services.gradle.org"])
    assert said.startswith("Gradle 8.5, which gradle/wrapper/gradle-wrapper.properties asks for, could not be had from services.gradle.org: services.gradle.org can't be")
    assert "github.com" in said
    mirror = wrapper(wrapped("https://nexus.example.org/gradle-4.10.2-bin.zip"), "")
    assert mirror is not None
    assert mirror.near_debians
    assert "DUALGATE_INSTALL_HOSTS=nexus.example.org" in absent(mirror, "403", [])


def test_a_pom_whose_name_is_to_be_filled_in_is_no_build() -> None:
    template = "<project><groupId>g</groupId><artifactId>x-${env.JDK}</artifactId><version>1</version></project>"
    assert maven.plans(tree({"docker/pom.xml": template, "build.xml": "<project/>"}), sight()) == []
    assert parse("pom.xml", template.replace("${env.JDK}", "y")) is not None


@pytest.mark.parametrize(("held", "taken"), [(hashlib.sha1(b"maven").hexdigest(), True), ("0" * 40, False), ("", False)])
def test_another_maven_is_taken_by_the_checksum_that_central_always_has(tmp_path: Path, held: str, taken: bool) -> None:
    (tmp_path / "curl").write_text(f"#!/bin/sh\ncase \"$*\" in *.sha1) printf '%s' '{held}';; *.tar.gz) printf maven > maven.tar.gz;; *) exit 22;; esac\n")
    (tmp_path / "curl").chmod(0o755)
    words = fetch_words("4.0.0-rc-5").replace("cd /tmp", f"cd {tmp_path}").partition(" && rm -rf")[0]
    assert (subprocess.run(["/bin/sh", "-c", words], env={"PATH": f"{tmp_path}:/usr/bin:/bin"}, capture_output=True, check=False).returncode == 0) == taken


def test_a_class_that_starts_a_whole_suite_does_not_hold_up_the_installation() -> None:
    words = warm_words(["TestAllJunit", "AnyTest"])
    assert "-Dtest='TestAllJunit,AnyTest'" in words
    assert "-Dsurefire.timeout=120 -Dmaven.test.failure.ignore=true" in words
    assert "-Dtest" not in warm_words([])


def test_builds_inside_a_gradle_build_have_a_place_for_their_notes(tmp_path: Path) -> None:
    for folder in ("buildSrc/.gradle/noVersion/buildSrc", "plugins", "core", ".git/buildSrc"):
        (tmp_path / "tree" / folder).mkdir(parents=True)
    for path in ("settings.gradle.kts", "plugins/settings.gradle"):
        (tmp_path / "tree" / path).write_text("")
    words = overlay_words(str(tmp_path / "tree")).replace("/opt/overlay", str(tmp_path / "laid")).replace("/tmp/notes", str(tmp_path / "notes"))
    subprocess.run(["/bin/sh", "-c", words], check=True)
    laid = sorted(str(path.relative_to(tmp_path / "laid")) for path in (tmp_path / "laid").rglob("*") if path.is_symlink())
    assert laid == [".gradle", ".kotlin", *(f"{folder}/{name}" for folder in ("buildSrc", "plugins") for name in (".gradle", ".kotlin", "build"))]
    lay_notes(str(tmp_path / "laid"), (".gradle", ".kotlin", "build"))
    assert all((tmp_path / "laid" / path).is_dir() for path in laid)
