"""The ladder: a project and its test requirements into /opt/env, rung by rung, each one logged."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from packaging.version import Version

from sandbox.build_container import BuildContainer, Step
from sandbox.errors import EnvironmentFailed, UnknownPackage
from sandbox.toolchains.python.names import OLDEST_PYTEST, RELEASED, UNDATED, WHEELS_ONLY
from sandbox.toolchains.python.plan import PythonPlan

ENV = "/opt/env"
UV = "/usr/local/bin/uv"
FAR = "2100-01-01"
STEP_S = 600.0
NOT_FOUND = re.compile(r"Because ([\w.-]+) was not found in the package registry")
GONE_INTERPRETER = r"/[A-Za-z0-9._/-]*/builds-v0/[A-Za-z0-9._-]+/bin/python[0-9.]*"  # uv's, of an isolated build


@dataclass
class Ladder:
    """Installs into one build container. `tried` is what a person reads when it fails; `dropped` what had to be left out."""

    build: BuildContainer
    plan: PythonPlan
    root: str
    python: str
    version: str
    budget_s: float = 1200.0
    tried: list[str] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    variables: dict[str, str] = field(default_factory=dict)
    last: Step | None = None
    _started: float = field(default_factory=time.monotonic)

    def install(self) -> None:
        """All stages. Raises EnvironmentFailed with the last lines of the real error."""
        self.build.write("/tmp/build-constraints.txt", b"setuptools<81\n")
        self.build.write("/tmp/constraints.txt", "\n".join(self.plan.constraints).encode() + b"\n")
        self._need("virtual environment", [UV, "venv", "--python", self.python, ENV])
        self._try("build tools", self._pip("setuptools<81", "wheel", dated=False))
        where = self._project()
        for stage in self.plan.stages:
            self.requirements(stage.origin, list(stage.lines))
        self._pytest()
        self._own_copy(where)
        self._build_tools()
        self.finish()

    def requirements(self, origin: str, lines: list[str]) -> None:
        """One stage: all at once, then line by line, naming what was dropped."""
        if self._try(origin, self._pip(*lines)) or self._try(f"{origin}, without the lock", self._pip(*lines, locked=False)):
            return
        for line in lines:
            if not self._try(f"{origin}: {line}", self._pip(line, locked=False)):
                self.dropped.append(f"{line} ({origin})")

    def asked(self, names: Sequence[str]) -> None:
        """What the tests ask for."""
        self.requirements("asked for by the tests", list(names))
        self.finish()

    def added(self, lines: Sequence[str]) -> None:
        """Requirements that a change adds. Raises UnknownPackage, EnvironmentFailed."""
        for line in lines:
            if not self._try(f"added by the change: {line}", self._pip(line)):
                output = self.last.output if self.last else ""
                missing = NOT_FOUND.search(output)
                if missing:
                    raise UnknownPackage(missing[1], output[-1500:])
                raise EnvironmentFailed(f"a dependency that the change adds can't be installed: {line}", tuple(self.tried), self._tail())

    def finish(self) -> None:
        """Compile to bytecode (suites run with -W error), and name the interpreter where a build named that of its own, which is gone."""
        script = (f"grep -rlIE '{GONE_INTERPRETER}' {ENV}/share {ENV}/etc {ENV}/bin 2>/dev/null"
                  f" | xargs -r sed -i -E 's,{GONE_INTERPRETER},{ENV}/bin/python,g'")
        self._try("interpreter of the build", ["/bin/sh", "-c", script])
        self._try("bytecode", ["/bin/sh", "-c", f"{ENV}/bin/python -m compileall -q -j 2 {ENV}/lib >/dev/null 2>&1; true"])

    # rungs

    def _project(self) -> str:
        """`editable`, `path` (dependencies only, the tree itself is imported) or `none`."""
        if not self.plan.project:
            self._path_file()
            return "none"
        extras = f"[{','.join(self.plan.extras)}]" if self.plan.extras else ""
        rungs = [("editable", self._pip("-e", f"{self.root}{extras}"))]
        if extras:
            rungs.append(("editable without extras", self._pip("-e", self.root)))
        if self.plan.constraints:
            rungs.append(("editable without the lock", self._pip("-e", self.root, locked=False)))
        rungs += [
            ("editable with undated dependencies", self._pip("-e", self.root, dated=False, locked=False)),
            ("editable without build isolation", self._pip("-e", self.root, "--no-build-isolation", locked=False)),
        ]
        for name, argv in rungs:
            if self._try(name, argv):
                return "editable"
        if self._try("setup.py develop", ["/bin/sh", "-c", f"cd {self.root} && {ENV}/bin/python setup.py -q develop --no-deps"]):
            return "editable"
        if self._try("dependencies of the project alone", self._pip(self.root, locked=False)):
            self._try("its copy taken out again", [UV, "pip", "uninstall", "--python", ENV, *self._own_names()])
        self._path_file()
        return "path"

    def _own_names(self) -> list[str]:
        step = self.build.step([UV, "pip", "list", "--python", ENV, "--format", "freeze"], 60)
        return [line.split(" @ ")[0].split("==")[0] for line in step.output.splitlines() if f"file://{self.root}" in line] or ["none-such-project"]

    def _path_file(self) -> None:
        """The tree on the import path, last, as pytest's own rootdir insertion would have it."""
        script = (f"d=$({ENV}/bin/python -c 'import sysconfig;print(sysconfig.get_path(\"purelib\"))');"
                  f" printf '%s\\n' {self.root}/src {self.root}/lib {self.root} > $d/dualgate-tree.pth")
        self._need("import path", ["/bin/sh", "-c", script])

    def _pytest(self) -> None:
        if self._has_pytest():
            return
        floor = f"pytest>={OLDEST_PYTEST[self.version]}" if self.version in OLDEST_PYTEST else "pytest"
        if not (self._try("pytest", self._pip(floor, locked=False)) or self._try("pytest, undated", self._pip(floor, dated=False, locked=False))):
            raise EnvironmentFailed("pytest can't be installed", tuple(self.tried), self._tail())
        if not self._has_pytest():
            self._try("pytest of another day", self._pip("-U", floor, dated=False, locked=False))
        if not self._has_pytest():
            raise EnvironmentFailed("pytest does not start", tuple(self.tried), self._tail())

    def _has_pytest(self) -> bool:
        """Whether pytest starts, and is no older than its Python."""
        step = self.build.step([f"{ENV}/bin/python", "-c", "import pytest; print(pytest.__version__)"], 60)
        self.last = step
        floor = OLDEST_PYTEST.get(self.version)
        if not step.ok:
            return False
        release = step.output.strip().splitlines()[-1]
        if floor and Version(release) < Version(floor):
            self._try(f"pytest {release} is older than its Python", self._pip("-U", f"pytest>={floor}", dated=False, locked=False))
            return self.build.step([f"{ENV}/bin/python", "-c", "import pytest"], 60).ok
        return True

    def _build_tools(self) -> None:
        """What a later build without a network needs, where the project has extension modules."""
        found = self.build.step(["/bin/sh", "-c", f"find {self.root} -name '*.so' | grep -q ."], 60)
        if found.ok and self.plan.build_requires:
            self._try("tools to build the extension modules again", self._pip(*self.plan.build_requires, dated=False, locked=False))

    def _own_copy(self, where: str) -> None:
        """A requirements file can put a release of the project over the tree: the tree goes on top again."""
        if where != "editable":
            return
        step = self.build.step([UV, "pip", "list", "--python", ENV, "--editable", "--format", "freeze"], 60)
        if step.ok and not step.output.strip():
            self._try("the project again", self._pip("-e", self.root, "--no-deps", locked=False))

    # words for uv

    def _pip(self, *args: str, dated: bool = True, locked: bool = True) -> list[str]:
        argv = [UV, "pip", "install", "--python", ENV, "--no-sources", "--build-constraints", "/tmp/build-constraints.txt"]
        for name in WHEELS_ONLY:
            argv += ["--only-binary", name]
        if dated and self.plan.exclude_newer:
            cut = max(self.plan.exclude_newer, RELEASED.get(self.version, self.plan.exclude_newer))
            argv += ["--exclude-newer", cut.isoformat()]
            for name in UNDATED:
                argv += ["--exclude-newer-package", f"{name}={FAR}"]
        if locked and self.plan.constraints:
            argv += ["--constraints", "/tmp/constraints.txt"]
        return [*argv, *args]

    def _try(self, name: str, argv: list[str]) -> bool:
        left = self.budget_s - (time.monotonic() - self._started)
        if left <= 0:
            raise EnvironmentFailed(f"the time for the installation ({self.budget_s:.0f} s) is spent", tuple(self.tried), self._tail())
        self.last = self.build.step(argv, min(left, STEP_S))
        self.tried.append(f"{name}: {'ok' if self.last.ok else 'out of time' if self.last.status is None else 'failed'} ({self.last.seconds:.1f} s)")
        return self.last.ok

    def _need(self, name: str, argv: list[str]) -> None:
        if not self._try(name, argv):
            raise EnvironmentFailed(f"{name} failed", tuple(self.tried), self._tail())

    def _tail(self) -> str:
        lines = (self.last.output if self.last else "").strip().splitlines()
        return "\n".join(lines[-40:])
