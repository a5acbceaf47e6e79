"""One command in a running container, its streams read as they come."""

from __future__ import annotations

import selectors
import socket
import struct
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import docker

STDOUT, STDERR = 1, 2
READY = ("/bin/sh", "-c", 'read -r _; exec "$@"', "sh")  # docker-py may lose what a command says before it is heard
Watch = Callable[[], bool]
Sink = Callable[[int, bytes], None]


@dataclass(frozen=True)
class Finished:
    """How a command ended: its exit status, or None when the watch ended it or the container went away."""

    status: int | None
    seconds: float


class _Demultiplexer:
    """Docker's stream frames: one byte stream number, three bytes nothing, four bytes length, content."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._buffer = bytearray()

    def feed(self, data: bytes) -> None:
        self._buffer += data
        while len(self._buffer) >= 8:
            stream, length = self._buffer[0], struct.unpack(">I", self._buffer[4:8])[0]
            if len(self._buffer) < 8 + length:
                return
            self._sink(stream, bytes(self._buffer[8:8 + length]))
            del self._buffer[:8 + length]


def execute(
    api: docker.APIClient, container: str, argv: Sequence[str], sink: Sink, *, user: str, environment: dict[str, str] | None = None,
    workdir: str = "/", stdin: bytes | None = None, watch: Watch = lambda: True,
) -> Finished:
    """Run `argv` in the container. `sink(stream, bytes)` gets the output; `watch()` is asked at least twice a second, False ends it.

    Raises docker.errors.APIError when the container or the command can't be started.
    """
    started = time.monotonic()
    command = list(argv) if stdin is not None else [*READY, *argv]
    made = api.exec_create(container, command, stdin=True, user=user, environment=environment or {}, workdir=workdir)
    stream = api.exec_start(made["Id"], socket=True)
    connection: socket.socket = stream._sock  # type: ignore[union-attr]
    try:
        complete = _pump(connection, stdin if stdin is not None else b"\n", _Demultiplexer(sink), watch)
    finally:
        stream.close()
        connection.close()
    status = _exit_status(api, made["Id"]) if complete else None
    return Finished(status, time.monotonic() - started)


def _pump(connection: socket.socket, stdin: bytes, output: _Demultiplexer, watch: Watch) -> bool:
    """Write and read until the other end closes (True) or the watch says stop (False)."""
    connection.setblocking(False)
    rest = memoryview(stdin)
    with selectors.DefaultSelector() as selector:
        selector.register(connection, selectors.EVENT_READ | selectors.EVENT_WRITE)
        while watch():
            for _, events in selector.select(timeout=0.5):
                if events & selectors.EVENT_WRITE:
                    try:
                        rest = rest[connection.send(rest[:1 << 18]):]
                    except BlockingIOError:
                        pass
                    except (BrokenPipeError, ConnectionResetError):
                        rest = rest[:0]
                    if not rest:
                        selector.modify(connection, selectors.EVENT_READ)
                        _half_close(connection)
                if events & selectors.EVENT_READ:
                    try:
                        data = connection.recv(1 << 18)
                    except BlockingIOError:
                        continue
                    except ConnectionResetError:
                        return True
                    if not data:
                        return True
                    output.feed(data)
    return False


def _half_close(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def _exit_status(api: docker.APIClient, exec_id: str) -> int | None:
    """The status once the engine knows it; the stream can end a moment earlier."""
    for _ in range(100):
        try:
            state: dict[str, Any] = api.exec_inspect(exec_id)
        except docker.errors.APIError:
            return None
        if not state["Running"]:
            status: int | None = state["ExitCode"]
            return status
        time.sleep(0.02)
    return None
