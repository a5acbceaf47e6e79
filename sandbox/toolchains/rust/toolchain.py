"""The Rust toolchain as one value."""

from __future__ import annotations

from sandbox.limits import Limits
from sandbox.toolchains.protocol import Toolchain
from sandbox.toolchains.rust.configured import configure
from sandbox.toolchains.rust.detect import plans
from sandbox.toolchains.rust.dividing import divide
from sandbox.toolchains.rust.environment import RustInstaller
from sandbox.toolchains.rust.manifests import RustManifests
from sandbox.toolchains.rust.placing import RustPlacing
from sandbox.toolchains.rust.rules import RustRules
from sandbox.toolchains.rust.running import RustRunner
from sandbox.toolchains.rust.tests import RustTests
from sandbox.toolchains.rust.words import FAULTS, SIGNS

# A target folder is some hundreds of megabytes, and a linker's memory is as much again.
ROOM = Limits(memory_mb=5120, temporary_mb=3072, collect_s=600.0)

RUST = Toolchain(
    name="rust", suffixes=(".rs",), detect=plans, configure=configure, rules=RustRules, tests=RustTests(), runner=RustRunner(), placing=RustPlacing(),
    installer=RustInstaller(), manifests=RustManifests(), faults=FAULTS, signs=SIGNS, divide=divide, room=ROOM)
