"""A small Gradle project with a defect, made on the spot, with Maven's sample as its sources."""

from __future__ import annotations

from tests import maven_repository as maven

BUILD = """subprojects {
    apply plugin: 'java'
    sourceCompatibility = 11
    repositories { mavenCentral() }
    dependencies { testCompile 'junit:junit:4.13.2' }
}
"""
BASE: dict[str, str | None] = {
    **{path: text for path, text in maven.BASE.items() if not path.endswith("pom.xml")}, "build.gradle": BUILD, "settings.gradle": "include ':core', ':words'\n",
    "core/build.gradle": "\n", "words/build.gradle": "dependencies { compile project(':core') }\n",
}
