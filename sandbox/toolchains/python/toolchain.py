"""The Python toolchain as one value."""

from __future__ import annotations

from sandbox.toolchains.protocol import Toolchain
from sandbox.toolchains.python.canaries import PythonCanaries
from sandbox.toolchains.python.configured import configure
from sandbox.toolchains.python.detect import plans
from sandbox.toolchains.python.environment import PythonInstaller
from sandbox.toolchains.python.manifests import PythonManifests
from sandbox.toolchains.python.placing import PythonPlacing
from sandbox.toolchains.python.rules import PythonRules
from sandbox.toolchains.python.running import PythonRunner
from sandbox.toolchains.python.tests import PythonTests
from sandbox.toolchains.python.words import FAULTS, SIGNS

PYTHON = Toolchain(
    name="python", suffixes=(".py",), detect=plans, configure=configure, rules=PythonRules, tests=PythonTests(), runner=PythonRunner(), placing=PythonPlacing(),
    installer=PythonInstaller(), manifests=PythonManifests(), faults=FAULTS, signs=SIGNS, canaries=PythonCanaries())
