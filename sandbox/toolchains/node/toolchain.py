"""The Node toolchain as one value."""

from __future__ import annotations

from sandbox.limits import Limits
from sandbox.toolchains.node.configured import configure
from sandbox.toolchains.node.detect import plans
from sandbox.toolchains.node.environment import NodeInstaller, sources
from sandbox.toolchains.node.manifests import NodeManifests
from sandbox.toolchains.node.placing import NodePlacing
from sandbox.toolchains.node.rules import NodeRules
from sandbox.toolchains.node.running import NodeRunner
from sandbox.toolchains.node.tests import NodeTests
from sandbox.toolchains.node.words import FAULTS, SIGNS
from sandbox.toolchains.protocol import Toolchain

SUFFIXES = (".js", ".cjs", ".mjs", ".jsx", ".ts", ".cts", ".mts", ".tsx")
NODE = Toolchain(
    name="node", suffixes=SUFFIXES, detect=plans, configure=configure, rules=NodeRules, tests=NodeTests(), runner=NodeRunner(), placing=NodePlacing(),
    installer=NodeInstaller(), manifests=NodeManifests(), faults=FAULTS, signs=SIGNS, generated_from=sources,
    room=Limits(pids=1024, temporary_mb=1024))
