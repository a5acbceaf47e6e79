"""How an environment for Go is made: a toolchain, the modules, everything compiled once so that each box begins warm."""

from __future__ import annotations

import posixpath
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sandbox import images
from sandbox.build_container import BuildContainer, Step
from sandbox.docker import DockerEngine
from sandbox.errors import EnvironmentFailed, UnknownPackage
from sandbox.plan import Plan
from sandbox.results.report import TestReport
from sandbox.toolchains.go.detect import DEBIANS
from sandbox.toolchains.go.plan import GoPlan, of_go
from sandbox.toolchains.go.running import KEPT_CACHE, OWN_CACHE
from sandbox.toolchains.protocol import Ground
from sandbox.workspace import Tree

SUITE, PACKAGES = "trixie", ("golang-go",)
HOME = "/opt/env"
MODFILE = f"{HOME}/mod/go.mod"
COMMON = {
    "GOMODCACHE": f"{HOME}/gomod", "GOPATH": f"{HOME}/gopath", "GOENV": "off", "GOTELEMETRY": "off", "GOSUMDB": "off",
    "GOFLAGS": "-buildvcs=false", "GOMAXPROCS": "2", "GOTOOLCHAIN": "local",
}
PATH = f"{HOME}/go/bin:/usr/lib/go/bin:/usr/local/bin:/usr/bin:/bin"
STEP_S = 900.0
STALE = re.compile(r"updates to go\.(mod|sum) needed|missing go\.sum entry|go\.mod file indicates|inconsistent vendoring|to match its use|go mod tidy")
TOO_OLD = re.compile(r"(requires go >= \S+|module requires Go \S+|invalid go version|unknown directive)[^\n]*")
UNKNOWN = re.compile(r"404 Not Found|410 Gone|unrecognized import path|no matching versions|not found:|unknown revision|invalid version|no such host")


@dataclass
class GoLadder:
    """Installs into one build container."""

    build: BuildContainer
    plan: GoPlan
    root: str
    release: str
    budget_s: float
    tried: list[str] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    variables: dict[str, str] = field(default_factory=dict)
    last: Step | None = None
    _started: float = field(default_factory=time.monotonic)

    def install(self) -> None:
        """The toolchain, the modules, all packages compiled. What does not compile on base shows in the trial."""
        self.variables.update({**COMMON, "PATH": PATH, "GOPROXY": "off", "GOCACHE": OWN_CACHE})
        self._need("folders", f"mkdir -p {KEPT_CACHE} {HOME}/gomod {HOME}/gopath {HOME}/mod")
        self._toolchain()
        if not self.plan.vendored:
            self._try("modules", "go mod download")
        if self.plan.extra:
            self.added(self.plan.extra)
        compiled = self._compile()
        if not compiled and self.last is not None and STALE.search(self.last.output) and not self.plan.workspace:
            self._own_modfile()
            compiled = self._compile()
        if not compiled and self.last is not None and (match := TOO_OLD.search(self.last.output)):
            raise EnvironmentFailed(f"Go {self.release}: {match[0].strip()}", tuple(self.tried), self._tail())
        self._try("read by all", f"chmod -R a+rX {HOME}")

    def added(self, lines: Sequence[str]) -> None:
        """`module@version`, over base's go.mod. Raises UnknownPackage, EnvironmentFailed."""
        if not lines:
            return
        self._own_modfile()
        for line in lines:
            if not self._try(f"added: {line}", f"go get '{line}'"):
                output = self.last.output if self.last else ""
                if UNKNOWN.search(output):
                    raise UnknownPackage(line.split("@")[0], output[-1500:])
                raise EnvironmentFailed(f"a module can't be fetched: {line}", tuple(self.tried), self._tail())
            self._try(f"compiled: {line}", f"go build '{line.split('@')[0]}/...'")
        self._try("read by all", f"chmod -R a+rX {HOME}")

    def asked(self, names: Sequence[str]) -> None:
        """Nothing is ever asked for by name: go.mod names everything."""

    def _toolchain(self) -> None:
        """Debian's, or one through the module proxy, which is then the only one."""
        if self.release != DEBIANS:
            name = f"{HOME}/gomod/golang.org/toolchain@v0.0.1-go{self.release}.linux-$(go env GOARCH)"
            # a compiler is never taken without the checksum database, which the module proxy passes on
            fetched = f"GOSUMDB=sum.golang.org GOTOOLCHAIN=go{self.release} go version"
            self._need(f"Go {self.release}", f"cd /tmp && {fetched} && ln -sfn {name} {HOME}/go && {HOME}/go/bin/go version")

    def _compile(self) -> bool:
        """Everything that a run would compile, with nothing of it started."""
        return self._try("compile", "go test -vet=off -count=1 -exec /bin/true -run '^$' ./... && go build ./... 2>&1 | tail -5")

    def _own_modfile(self) -> None:
        """base's go.mod may not be written in a box: a copy of it, completed."""
        folder = posixpath.join(self.root, self.plan.directory)
        self._need("a go.mod of our own", f"cp {folder}/go.mod {MODFILE} && (cp {folder}/go.sum {HOME}/mod/go.sum || true)")
        self.variables["GOFLAGS"] = f"-buildvcs=false -modfile={MODFILE} -mod=mod"
        if self.plan.workspace:
            self.variables["GOWORK"] = "off"

    def _shell(self, command: str) -> list[str]:
        settings = " ".join(f"{name}='{value}'" for name, value in self.variables.items() if name not in ("GOPROXY", "GOCACHE"))
        return ["/bin/sh", "-c", f"export GOCACHE={KEPT_CACHE} {settings}; cd {posixpath.join(self.root, self.plan.directory)} && {command}"]

    def _try(self, name: str, command: str) -> bool:
        left = self.budget_s - (time.monotonic() - self._started)
        if left <= 0:
            raise EnvironmentFailed(f"the time for the installation ({self.budget_s:.0f} s) is spent", tuple(self.tried), self._tail())
        self.last = self.build.step(self._shell(command), min(left, STEP_S))
        self.tried.append(f"{name}: {'ok' if self.last.ok else 'out of time' if self.last.status is None else 'failed'} ({self.last.seconds:.1f} s)")
        return self.last.ok

    def _need(self, name: str, command: str) -> None:
        if not self._try(name, command):
            raise EnvironmentFailed(f"{name} failed", tuple(self.tried), self._tail())

    def _tail(self) -> str:
        lines = (self.last.output if self.last else "").strip().splitlines()
        return "\n".join(lines[-40:])


class GoInstaller:
    """Debian's compiler, or any other since 1.21."""

    title = "Go"
    recipe = 2

    def base(self, engine: DockerEngine) -> str:
        """Debian with Go."""
        return images.bootstrap(engine, suite=SUITE, more=PACKAGES)

    def ground(self, engine: DockerEngine, release: str) -> Ground:
        """Always the base image: another release is fetched into the environment."""
        return Ground(self.base(engine), "/usr/bin/go", release)

    def variables(self, plan: Plan) -> Mapping[str, str]:
        """Set for each command."""
        return {}

    def ladder(self, build: BuildContainer, plan: Plan, tree: Tree, root: str, ground: Ground, budget_s: float) -> GoLadder:
        """The rungs."""
        return GoLadder(build, of_go(plan), root, ground.release, budget_s)

    def needs(self, report: TestReport, plan: Plan) -> list[str]:
        """Nothing."""
        return []

    def release(self, build: BuildContainer) -> str:
        """As the compiler says it."""
        said = build.step(["/bin/sh", "-c", f"PATH={PATH} GOTOOLCHAIN=local go version"], 30).output
        match = re.search(r"\bgo(\d\S*)", said)
        return match[1] if match else ""

    def modules(self, build: BuildContainer) -> tuple[str, ...]:
        """None: import paths are whole."""
        return ()

    def overlay(self, build: BuildContainer, root: str) -> tuple[str, bool]:
        """Nothing is generated in the tree."""
        return "nothing is generated in the tree", False

    def rebuild(self, build: BuildContainer, root: str) -> Step:
        """Never needed."""
        raise NotImplementedError
