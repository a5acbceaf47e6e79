"""The Go toolchain as one value."""

from __future__ import annotations

from sandbox.toolchains.go.configured import configure
from sandbox.toolchains.go.detect import plans
from sandbox.toolchains.go.environment import GoInstaller
from sandbox.toolchains.go.manifests import GoManifests
from sandbox.toolchains.go.placing import GoPlacing
from sandbox.toolchains.go.rules import GoRules
from sandbox.toolchains.go.running import GoRunner
from sandbox.toolchains.go.tests import GoTests
from sandbox.toolchains.go.words import FAULTS, SIGNS
from sandbox.toolchains.protocol import Toolchain

GO = Toolchain(
    name="go", suffixes=(".go",), detect=plans, configure=configure, rules=GoRules, tests=GoTests(), runner=GoRunner(), placing=GoPlacing(),
    installer=GoInstaller(), manifests=GoManifests(), faults=FAULTS, signs=SIGNS)
