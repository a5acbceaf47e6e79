"""Gradle's toolchain as one value."""

from __future__ import annotations

from sandbox.limits import Limits
from sandbox.toolchains.gradle.configured import configure
from sandbox.toolchains.gradle.detect import plans
from sandbox.toolchains.gradle.environment import GradleInstaller
from sandbox.toolchains.gradle.manifests import GradleManifests
from sandbox.toolchains.gradle.running import GradleRunner
from sandbox.toolchains.java.placing import JavaPlacing
from sandbox.toolchains.java.plan import SUFFIXES
from sandbox.toolchains.java.rules import JavaRules
from sandbox.toolchains.java.tests import JavaTests
from sandbox.toolchains.java.words import FAULTS, SIGNS
from sandbox.toolchains.protocol import Toolchain

# Two Java machines at a time: Gradle's, and the one that the tests are in.
ROOM = Limits(memory_mb=4096, temporary_mb=2048, collect_s=600.0)

GRADLE = Toolchain(
    name="gradle", suffixes=SUFFIXES, detect=plans, configure=configure, rules=JavaRules, tests=JavaTests(), runner=GradleRunner(), placing=JavaPlacing(),
    installer=GradleInstaller(), manifests=GradleManifests(), faults=FAULTS, signs=SIGNS, room=ROOM)
