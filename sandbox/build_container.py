"""A container that a base or environment image is made in: it has a network, and no source tree of it is committed."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from docker.errors import APIError

from sandbox.docker import DockerEngine
from sandbox.docker_exec import execute
from sandbox.errors import EngineUnavailable, EnvironmentFailed, Interrupted

CA_PATH = "/dev/shm/ca.crt"  # a tmpfs: never part of the committed image
CA_VARIABLES = ("SSL_CERT_FILE", "PIP_CERT", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "CARGO_HTTP_CAINFO", "GIT_SSL_CAINFO")
OUTPUT_LIMIT = 4 * 1024 * 1024
FLOOD = 256 * 1024 * 1024  # bytes of one step's output: no installer has that much to say
RESERVE = 1 << 30  # bytes that stay free on the engine's disk, whatever an installation wants
LOOK_S = 1.0


@dataclass(frozen=True)
class Step:
    """How one command of a build ended; status None means that it ran out of time."""

    argv: tuple[str, ...]
    status: int | None
    output: str
    seconds: float

    @property
    def ok(self) -> bool:
        return self.status == 0


class Disk:
    """The engine's disk, while something of unknown size is written to it. Where the engine is on another machine nothing can be seen of it."""

    def __init__(self, engine: DockerEngine, most_bytes: float) -> None:
        self._folder = Path(str(engine.api.info().get("DockerRootDir") or "/var/lib/docker"))
        self._most, self._looked = most_bytes, 0.0
        self._free = self._now()
        self.fault = ""

    def _now(self) -> int | None:
        try:
            return shutil.disk_usage(self._folder).free
        except OSError:
            return None

    def has_room(self) -> bool:
        """Looks once a second; False once and for all when there is no room left."""
        if time.monotonic() - self._looked < LOOK_S or self._free is None:
            return not self.fault
        self._looked = time.monotonic()
        free = self._now()
        if free is not None and free < RESERVE:
            self.fault = f"the disk of the Docker engine is full: {free >> 20} MB are left"
        elif free is not None and self._free - free > self._most:
            self.fault = f"the installation writes more than {self._most / 1e9:.0f} GB (DUALGATE_INSTALL_GB)"
        return not self.fault


class BuildContainer:
    """Runs commands as root of the container, with a time limit each."""

    def __init__(self, engine: DockerEngine, container: str, environment: Mapping[str, str], disk: Disk) -> None:
        self.engine, self.container, self._environment, self._disk = engine, container, dict(environment), disk

    def step(self, argv: Sequence[str], seconds: float, stdin: bytes | None = None, workdir: str = "/") -> Step:
        """Run one command. Raises EngineUnavailable, Interrupted; EnvironmentFailed where it fills the disk."""
        kept, total, stop_at = bytearray(), 0, time.monotonic() + seconds

        def sink(_: int, data: bytes) -> None:
            nonlocal total
            total += len(data)
            kept.extend(data)
            if len(kept) > OUTPUT_LIMIT:
                del kept[:-OUTPUT_LIMIT // 2]

        try:
            done = execute(
                self.engine.api, self.container, argv, sink, user="0", environment=self._environment, workdir=workdir, stdin=stdin,
                watch=lambda: time.monotonic() < stop_at and total < FLOOD and not self.engine.closed and self._disk.has_room())
        except APIError as error:
            raise EngineUnavailable(f"the engine refused a build step: {error.explanation}") from error
        if self.engine.closed:
            raise Interrupted("the run was stopped")
        output = bytes(kept).decode("utf-8", errors="replace")
        if self._disk.fault:
            raise EnvironmentFailed(self._disk.fault, (), "\n".join(output.splitlines()[-20:]))
        return Step(tuple(argv), done.status, output + (f"\nended: over {FLOOD >> 20} MB of output" if total >= FLOOD else ""), done.seconds)

    def need(self, argv: Sequence[str], seconds: float, stdin: bytes | None = None) -> Step:
        """Like `step`, for commands of ours that must succeed. Raises EngineUnavailable."""
        done = self.step(argv, seconds, stdin)
        if not done.ok:
            raise EngineUnavailable(f"{' '.join(argv[:3])} failed in a build container: {done.output.strip()[-300:]}")
        return done

    def write(self, path: str, data: bytes, mode: str = "644") -> None:
        """One file of ours, made with its folder."""
        script = 'mkdir -p "$(dirname "$1")" && cat > "$1" && chmod "$2" "$1"'
        self.need(["/bin/sh", "-c", script, "sh", path, mode], 120, data)

    def read(self, path: str) -> bytes | None:
        """A file's bytes, or None where there is none."""
        kept = bytearray()
        done = execute(self.engine.api, self.container, ["cat", path], lambda stream, data: kept.extend(data) if stream == 1 else None, user="0")
        return bytes(kept) if done.status == 0 else None

    def commit(self, repository: str, tag: str, labels: Mapping[str, str]) -> str:
        """Keep the container's files as an image; its id. Raises EngineUnavailable."""
        changes = [f"LABEL {name}={_quoted(value)}" for name, value in labels.items()]
        changes += ['ENTRYPOINT []', 'CMD ["/bin/true"]']
        try:
            made = self.engine.api.commit(self.container, repository, tag, changes=changes)
        except APIError as error:
            raise EngineUnavailable(f"an image could not be kept: {error.explanation}") from error
        image: str = made["Id"]
        return image


def _quoted(value: str) -> str:
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$").replace("\n", " ") + '"'


@contextmanager
def open_build(
    engine: DockerEngine, image: str, tmpfs: Mapping[str, str] | None = None, ca_bundle: Path | None = None,
    environment: Mapping[str, str] | None = None, memory_mb: int = 6144, network: str = "bridge", disk_gb: float = 24.0,
) -> Iterator[BuildContainer]:
    """A started build container; removed whatever happens.

    `disk_gb`: what all its steps together may write. `ca_bundle` is laid in the container's memory and named by each client's own variable.
    """
    host = {
        "network_mode": network, "security_opt": ["no-new-privileges"], "cap_drop": ["ALL"],
        "cap_add": ["CHOWN", "DAC_OVERRIDE", "FOWNER", "SETUID", "SETGID"],  # what package installers need as root
        "log_config": {"type": "none"}, "pids_limit": 2048, "mem_limit": memory_mb << 20, "memswap_limit": memory_mb << 20,
        "tmpfs": dict(tmpfs or {}), "ipc_mode": "private", "shm_size": 64 << 20,
    }
    container = engine.start_container(image, ["/bin/sleep", "infinity"], host, user="0", hostname="build", environment={})
    try:
        variables = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/tmp", "LANG": "C.UTF-8",
                     **(environment or {})}
        disk = Disk(engine, disk_gb * 1e9)
        build = BuildContainer(engine, container, variables, disk)
        if ca_bundle is not None:
            build.write(CA_PATH, ca_bundle.read_bytes())
            build = BuildContainer(engine, container, {**variables, **dict.fromkeys(CA_VARIABLES, CA_PATH)}, disk)
        yield build
    finally:
        engine.remove_container(container)
