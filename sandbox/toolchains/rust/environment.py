"""How an environment for Rust is made: a compiler, the crates, everything compiled once so that each box begins warm."""

from __future__ import annotations

import posixpath
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sandbox import inside
from sandbox.build_container import BuildContainer, Step
from sandbox.docker import DockerEngine
from sandbox.errors import EnvironmentFailed, UnknownPackage
from sandbox.hardening import RUNNER_UID
from sandbox.plan import Plan
from sandbox.results.report import TestReport
from sandbox.toolchains.protocol import Ground
from sandbox.toolchains.rust.compilers import base_image, ground
from sandbox.toolchains.rust.manifests import read_line, with_requirement
from sandbox.toolchains.rust.packages import manifest_of
from sandbox.toolchains.rust.plan import RustPlan, of_rust
from sandbox.toolchains.rust.running import KEPT_TARGET, OWN_TARGET
from sandbox.workspace import INSTANT, Tree

HOME = "/opt/env"
RECOMPILE = f"{HOME}/bin/recompile"
TOOL, LAID, HOOK = f"{HOME}/bin/cargo-tree", "/opt/laid", "/opt/unpacked"
STEP_S, WARM_S = 1200.0, 300
CALLS_CARGO = re.compile(r"\b(trybuild|macrotest|ui_test|compiletest_rs|trycmd)::")
# The documentation's examples alone see the variable: a build script that reads it would choose another way.
RUSTDOC = '#!/bin/sh\nRUSTC_BOOTSTRAP=1 exec {program}/rustdoc "$@"\n'
COMMON = {
    "CARGO_HOME": f"{HOME}/cargo", "CARGO_TARGET_DIR": OWN_TARGET, "CARGO_INCREMENTAL": "0", "CARGO_TERM_COLOR": "never", "CARGO_NET_RETRY": "3",
    "CARGO_PROFILE_DEV_DEBUG": "0", "CARGO_PROFILE_TEST_DEBUG": "0", "RUSTDOC": f"{HOME}/bin/rustdoc", "RUST_BACKTRACE": "0", "INSTA_UPDATE": "no",
    "CARGO_BUILD_RUSTFLAGS": "--cap-lints=warn",
}
UNKNOWN = re.compile(r"no matching package named `([\w-]+)`|failed to select a version for the requirement `([\w-]+)")
BUILD = "cargo build --offline --workspace --tests --keep-going --ignore-rust-version"


@dataclass
class RustLadder:
    """Installs into one build container."""

    build: BuildContainer
    plan: RustPlan
    root: str
    program: str
    release: str
    tree: Tree
    budget_s: float
    tried: list[str] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    variables: dict[str, str] = field(default_factory=dict)
    last: Step | None = None
    _started: float = field(default_factory=time.monotonic)

    def install(self) -> None:
        """The lock file, the crates, all targets compiled. What does not compile on base shows in the trial."""
        self.variables.update({**COMMON, "PATH": f"{HOME}/bin:{self.program}:/usr/local/bin:/usr/bin:/bin", "CARGO_NET_OFFLINE": "true"})
        self.build.write(TOOL, inside.source("cargo_tree.py").encode(), "755")
        self.build.write(f"{HOME}/bin/rustdoc", RUSTDOC.format(program=self.program).encode(), "755")
        self.build.write(f"{HOME}/members", "\n".join(package.name for package in self.plan.packages).encode())
        self._need("folders", f"mkdir -p {HOME}/cargo {LAID} && cp {TOOL} {HOOK}")
        self._lock()
        if self.plan.extra:
            pairs = [word.partition("@") for word in self.plan.extra]
            self._add([f'{name} = "{version or "*"}" in [dev-dependencies] of {self._own_manifest()}' for name, _, version in pairs])
        self._fetch()
        self._compile()

    def added(self, lines: Sequence[str]) -> None:
        """Rows of dependency tables, over base's manifests. Raises UnknownPackage, EnvironmentFailed."""
        if not lines:
            return
        self._add(lines)
        self._fetch()
        self._compile()

    def asked(self, names: Sequence[str]) -> None:
        """Nothing is ever asked for by name: the manifests name everything."""

    def _own_manifest(self) -> str:
        folders = [package.folder for package in self.plan.packages]
        return manifest_of(self.plan.directory if self.plan.directory in folders else folders[0])

    def _lock(self) -> None:
        """The tree's own; else one of the commit's day, where the registry knows when things were published."""
        lock = posixpath.join(self._folder, "Cargo.lock")
        if self.plan.locked:
            if not self._try("locked crates", "cargo fetch --locked"):
                self._need("crates, by a lock file that is brought up to date", "cargo fetch")
            return
        cut = self.plan.exclude_newer
        words = f"RUSTC_BOOTSTRAP=1 cargo -Zunstable-options generate-lockfile --publish-time {cut}T00:00:00Z"
        dated = cut is not None and self._try(f"crates as of {cut}", words)
        if not dated:
            self._need("crates", f"rm -f {lock} && cargo generate-lockfile")

    def _add(self, lines: Sequence[str]) -> None:
        for line in lines:
            wanted = read_line(line)
            place = f"{self.root}/{wanted.path}"
            text = (self.build.read(place) or b"").decode("utf-8", "replace")
            made = with_requirement(text, wanted).encode()
            self.build.write(place, made)
            self.build.write(f"{LAID}/{wanted.path}", made)
        if not self._try(f"added: {'; '.join(lines)}", "cargo fetch"):
            output = self.last.output if self.last else ""
            match = UNKNOWN.search(output)
            if match:
                raise UnknownPackage(next((name for name in match.groups() if name), lines[0].split(" ")[0]), output[-1500:])
            raise EnvironmentFailed(f"a crate can't be fetched: {'; '.join(lines)}", tuple(self.tried), self._tail())

    def _fetch(self) -> None:
        """The sources, and the lock file for each box where the tree's own is not the one that was used."""
        self._need("sources of crates", "cargo fetch")
        lock = posixpath.join(self.plan.directory, "Cargo.lock")
        made = self.build.read(f"{self.root}/{lock}")
        own = self.tree.get(lock)
        if made is not None and (own is None or own.data != made):
            self.build.write(f"{LAID}/{lock}", made)
        same_time = f"find {self.root} -newermt @{INSTANT + 1} -type f -not -path '*/.git/*' -exec touch -d @{INSTANT} {{}} +"
        self._need("readable", f"chmod -R a+rX {HOME} {LAID} {self.root} && {same_time}")

    def _compile(self) -> None:
        """Everything that a run would compile, by the runner's uid, with the features that most compiles with."""
        best, flags = -1, ""
        for words in self.plan.features:
            self._need("a target folder", f"{TOOL} list {self.root} && mkdir -p {OWN_TARGET} && chown {RUNNER_UID} {OWN_TARGET}")
            self._try(f"compile {words}".strip(), compile_words(words, self._kinds()))
            found = self._programs()
            if found > best:
                best, flags = found, words
            if self.last is not None and self.last.ok and found > 0:
                break
        self._warm(flags)
        self.variables["DUALGATE_CARGO_FLAGS"] = f"{flags} --ignore-rust-version".strip()
        self._need("kept", keep_words())
        self.build.write(RECOMPILE, self._recompile(flags).encode(), "755")

    def _recompile(self, flags: str) -> str:
        """The same for other sources, from what is kept. Where not all of them compile, nothing of members is kept: an old program may be among it."""
        return "\n".join((
            "#!/bin/sh", self._shell("true")[2].split(";")[0], f"{HOOK} {self.root}",
            f"cp -a {KEPT_TARGET} {OWN_TARGET} && chown -hR {RUNNER_UID} {OWN_TARGET}",
            f"{TOOL} forget {self.root} {OWN_TARGET} && {TOOL} list {self.root} || exit 1", f"cd {self._folder}",
            f"({compile_words(flags, self._kinds())}) || {TOOL} forget-all {OWN_TARGET}", keep_words(), ""))

    def _warm(self, flags: str) -> None:
        """Suites that call cargo themselves build every crate once more, in a folder of their own: here, and not within a test's time."""
        roots = [path for package in self.plan.packages for kind, path in package.roots if kind == "test" and CALLS_CARGO.search(self.tree.text(path) or "")]
        names = [re.sub(r"(/main)?\.rs$", "", path).rpartition("/")[2] for path in roots]
        if names:
            words = f"{flags} --no-fail-fast " + " ".join(f"--test {name}" for name in dict.fromkeys(names))
            self._try("suites that compile, once", by_runner(f"timeout {WARM_S} cargo test --offline --workspace --ignore-rust-version {words}"))

    def _programs(self) -> int:
        """Test programs that there are: executables whose names end in a hash."""
        words = f"find {OWN_TARGET} -path '*/deps/*' -type f -perm -100 -not -name '*.so' | wc -l"
        done = self.build.step(["/bin/sh", "-c", words], 60)
        return int(done.output.strip() or 0) if done.ok else 0

    def _kinds(self) -> str:
        kinds = {kind for package in self.plan.packages for kind, _ in package.roots}
        return " ".join(word for word, kind in (("--lib", "lib"), ("--bins", "bin"), ("--examples", "example")) if kind in kinds)

    @property
    def _folder(self) -> str:
        return posixpath.join(self.root, self.plan.directory)

    def _shell(self, command: str) -> list[str]:
        settings = " ".join(f"{name}='{value}'" for name, value in self.variables.items() if name != "CARGO_NET_OFFLINE")
        return ["/bin/sh", "-c", f"export {settings}; cd {self._folder} && {command}"]

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


def compile_words(flags: str, kinds: str) -> str:
    """A build of everything."""
    return by_runner(f"{BUILD} {kinds} {flags}")


def by_runner(command: str) -> str:
    """A command by the runner's uid, which owns the target folder and nothing else; nothing of it runs on afterwards."""
    as_runner = f"setpriv --reuid={RUNNER_UID} --regid={RUNNER_UID} --clear-groups --no-new-privs env HOME={OWN_TARGET}"
    return f"{as_runner} {command}; status=$?; {as_runner} sh -c 'kill -9 -1' 2>/dev/null; exit $status"


def keep_words() -> str:
    """The target folder where the image keeps it, owned by root."""
    return (f"rm -rf {KEPT_TARGET} {OWN_TARGET}/*/incremental && cp -a {OWN_TARGET} {KEPT_TARGET} && chown -hR 0:0 {KEPT_TARGET}"
            f" && chmod -R a+rX,go-w {KEPT_TARGET} && date +%s > {HOME}/made")


class RustInstaller:
    """Debian's compilers, or one of the host's."""

    title = "Rust"
    recipe = 2

    def base(self, engine: DockerEngine) -> str:
        """Debian with the newest that it has."""
        return base_image(engine)

    def ground(self, engine: DockerEngine, release: str) -> Ground:
        """The image with a release."""
        return ground(engine, release)

    def variables(self, plan: Plan) -> Mapping[str, str]:
        """Set for each command."""
        return {}

    def ladder(self, build: BuildContainer, plan: Plan, tree: Tree, root: str, ground: Ground, budget_s: float) -> RustLadder:
        """The rungs."""
        return RustLadder(build, of_rust(plan), root, ground.program, ground.release, tree, budget_s)

    def needs(self, report: TestReport, plan: Plan) -> list[str]:
        """Nothing."""
        return []

    def release(self, build: BuildContainer) -> str:
        """As the compiler says it."""
        said = build.step(["/bin/sh", "-c", "PATH=/opt/rust/bin:/usr/bin:/bin rustc --version"], 30).output
        match = re.search(r"\brustc (\d\S*)", said)
        return match[1] if match else ""

    def modules(self, build: BuildContainer) -> tuple[str, ...]:
        """None: crates are found by their manifests."""
        return ()

    def overlay(self, build: BuildContainer, root: str) -> tuple[str, bool]:
        """Nothing is generated in the tree; the target folder is made from the sources."""
        return "a target folder of the tree is kept", True

    def rebuild(self, build: BuildContainer, root: str) -> Step:
        """The target folder of other sources. What does not compile shows in the runs, target by target."""
        return build.step([RECOMPILE], STEP_S)
