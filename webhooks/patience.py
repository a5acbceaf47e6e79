"""How long a client may take: a request that is not over by then loses its connection."""

from __future__ import annotations

import contextlib
import errno
import time
from socket import SHUT_RDWR
from typing import Any

import gevent
from gevent.socket import socket
from gunicorn.workers.ggevent import GeventWorker

LONGEST_REQUEST_S = 20.0  # GitHub itself gives up after 10
LONGEST_IDLE_S = 75.0  # longer than a proxy in front keeps its side (nginx: 60 s), so that none sends into a closing connection


class PatientSocket(socket):  # type: ignore[misc]
    """A client's connection: from the first byte of a request to the end of its answer there is one time limit, between requests another."""

    def __init__(self, client: Any) -> None:
        super().__init__(client.family, client.type, client.proto, fileno=client.detach())
        self._until: float | None = None

    @property
    def rests(self) -> bool:
        """Whether no request is on its way."""
        return self._until is None

    def rest(self) -> None:
        """The answer has been sent."""
        self._until = None

    def hang_up(self) -> None:
        """Whoever reads here is told that the client has gone."""
        with contextlib.suppress(OSError):
            self.shutdown(SHUT_RDWR)

    def recv(self, *args: Any) -> bytes:
        """Raises ConnectionResetError when the time is over."""
        self._be_patient()
        try:
            data: bytes = super().recv(*args)
        except TimeoutError:
            raise ConnectionResetError(errno.ECONNRESET, "the client is too slow") from None
        if self._until is None:
            self._until = time.monotonic() + LONGEST_REQUEST_S
        return data

    def sendall(self, *args: Any) -> None:
        """Raises ConnectionResetError when the time is over."""
        self._be_patient()
        try:
            super().sendall(*args)
        except TimeoutError:
            raise ConnectionResetError(errno.ECONNRESET, "the client is too slow") from None

    def _be_patient(self) -> None:
        self.settimeout(LONGEST_IDLE_S if self._until is None else max(0.001, self._until - time.monotonic()))


class PatientWorker(GeventWorker):  # type: ignore[misc]
    """Of itself the worker waits for a request's head and body without a limit of time, and at its end for connections that are merely kept alive."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self._clients: set[PatientSocket] = set()

    def handle(self, listener: Any, client: Any, addr: Any) -> None:
        """A client has connected."""
        sock = PatientSocket(client)
        self._clients.add(sock)
        try:
            super().handle(listener, sock, addr)
        finally:
            self._clients.discard(sock)

    def handle_request(self, listener_name: Any, req: Any, sock: PatientSocket, addr: Any) -> Any:
        """A request's head has been read."""
        try:
            return super().handle_request(listener_name, req, sock, addr)
        finally:
            sock.rest()
            if not self.alive:
                sock.hang_up()

    def handle_exit(self, sig: Any, frame: Any) -> None:
        """No new request is taken; those on their way are answered."""
        super().handle_exit(sig, frame)
        gevent.spawn(self._let_go)  # a signal's handler can't wait

    def _let_go(self) -> None:
        for sock in [sock for sock in self._clients if sock.rests]:
            sock.hang_up()
