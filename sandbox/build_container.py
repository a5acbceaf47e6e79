"""A container that a base or environment image is made in: it has a network, and no source tree of it is committed."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from docker.errors import APIError

from sandbox.docker import DockerEngine
from sandbox.docker_exec import execute
from sandbox.errors import EngineUnavailable, Interrupted

CA_PATH = "/dev/shm/ca.crt"  # a tmpfs: never part of the committed image
CA_VARIABLES = ("SSL_CERT_FILE", "PIP_CERT", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "CARGO_HTTP_CAINFO", "GIT_SSL_CAINFO")
OUTPUT_LIMIT = 4 * 1024 * 1024


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


class BuildContainer:
    """Runs commands as root of the container, with a time limit each."""

    def __init__(self, engine: DockerEngine, container: str, environment: Mapping[str, str]) -> None:
        self._engine, self.container, self._environment = engine, container, dict(environment)

    def step(self, argv: Sequence[str], seconds: float, stdin: bytes | None = None, workdir: str = "/") -> Step:
        """Run one command. Raises EngineUnavailable, Interrupted."""
        kept, stop_at = bytearray(), time.monotonic() + seconds

        def sink(_: int, data: bytes) -> None:
            kept.extend(data)
            if len(kept) > OUTPUT_LIMIT:
                del kept[:-OUTPUT_LIMIT // 2]

        try:
            done = execute(
                self._engine.api, self.container, argv, sink, user="0", environment=self._environment, workdir=workdir, stdin=stdin,
                watch=lambda: time.monotonic() < stop_at and not self._engine.closed)
        except APIError as error:
            raise EngineUnavailable(f"the engine refused a build step: {error.explanation}") from error
        if self._engine.closed:
            raise Interrupted("the run was stopped")
        return Step(tuple(argv), done.status, bytes(kept).decode("utf-8", errors="replace"), done.seconds)

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
        done = execute(self._engine.api, self.container, ["cat", path], lambda stream, data: kept.extend(data) if stream == 1 else None, user="0")
        return bytes(kept) if done.status == 0 else None

    def commit(self, repository: str, tag: str, labels: Mapping[str, str]) -> str:
        """Keep the container's files as an image; its id. Raises EngineUnavailable."""
        changes = [f"LABEL {name}={_quoted(value)}" for name, value in labels.items()]
        changes += ['ENTRYPOINT []', 'CMD ["/bin/true"]']
        try:
            made = self._engine.api.commit(self.container, repository, tag, changes=changes)
        except APIError as error:
            raise EngineUnavailable(f"an image could not be kept: {error.explanation}") from error
        image: str = made["Id"]
        return image


def _quoted(value: str) -> str:
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$").replace("\n", " ") + '"'


@contextmanager
def open_build(
    engine: DockerEngine, image: str, tmpfs: Mapping[str, str] | None = None, ca_bundle: Path | None = None,
    environment: Mapping[str, str] | None = None, memory_mb: int = 6144, network: str = "bridge",
) -> Iterator[BuildContainer]:
    """A started build container; removed whatever happens.

    `ca_bundle` is laid in the container's memory and named by each client's own variable.
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
        build = BuildContainer(engine, container, variables)
        if ca_bundle is not None:
            build.write(CA_PATH, ca_bundle.read_bytes())
            build = BuildContainer(engine, container, {**variables, **dict.fromkeys(CA_VARIABLES, CA_PATH)})
        yield build
    finally:
        engine.remove_container(container)
