"""Maven's toolchain as one value."""

from __future__ import annotations

from sandbox.limits import Limits
from sandbox.toolchains.java.placing import JavaPlacing
from sandbox.toolchains.java.plan import SUFFIXES
from sandbox.toolchains.java.rules import JavaRules
from sandbox.toolchains.java.tests import JavaTests
from sandbox.toolchains.java.words import FAULTS, SIGNS
from sandbox.toolchains.maven.configured import configure
from sandbox.toolchains.maven.detect import plans
from sandbox.toolchains.maven.environment import MavenInstaller
from sandbox.toolchains.maven.manifests import MavenManifests
from sandbox.toolchains.maven.running import MavenRunner
from sandbox.toolchains.protocol import Toolchain

# Two Java machines at a time: Maven's, and the one that the tests are in.
ROOM = Limits(memory_mb=4096, temporary_mb=2048, collect_s=600.0)

MAVEN = Toolchain(
    name="maven", suffixes=SUFFIXES, detect=plans, configure=configure, rules=JavaRules, tests=JavaTests(), runner=MavenRunner(), placing=JavaPlacing(),
    installer=MavenInstaller(), manifests=MavenManifests(), faults=FAULTS, signs=SIGNS, room=ROOM)
