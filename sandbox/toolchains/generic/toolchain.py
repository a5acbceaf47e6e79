"""Any other repository as one value."""

from __future__ import annotations

from sandbox.limits import Limits
from sandbox.toolchains.generic.configured import configure
from sandbox.toolchains.generic.detect import plans
from sandbox.toolchains.generic.environment import CommandInstaller
from sandbox.toolchains.generic.manifests import CommandManifests
from sandbox.toolchains.generic.placing import CommandPlacing
from sandbox.toolchains.generic.rules import CommandRules
from sandbox.toolchains.generic.running import CommandRunner
from sandbox.toolchains.generic.tests import CommandTests
from sandbox.toolchains.generic.words import FAULTS, SIGNS
from sandbox.toolchains.protocol import Toolchain

SUFFIXES = (".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx", ".m", ".sh", ".bash", ".bats", ".pl", ".pm", ".t", ".lua", ".rb", ".php", ".hs", ".ml",
            ".zig", ".d", ".nim", ".ex", ".exs", ".erl", ".awk", ".tcl", ".s", ".S", ".asm", ".f90", ".pas")
GENERIC = Toolchain(
    name="generic", suffixes=SUFFIXES, detect=plans, configure=configure, rules=CommandRules, tests=CommandTests(), runner=CommandRunner(),
    placing=CommandPlacing(), installer=CommandInstaller(), manifests=CommandManifests(), faults=FAULTS, signs=SIGNS,
    installs_packages=True, room=Limits(test_s=600.0, collect_s=600.0, temporary_mb=2048, pids=1024))
