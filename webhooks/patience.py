"""How long a client may take: a request that is not over by then loses its connection, and its thread is free again."""

from __future__ import annotations

import socket
import time
from concurrent.futures import Future
from typing import Any

from gunicorn.workers.gthread import TConn, ThreadWorker

LONGEST_REQUEST_S = 20.0  # GitHub itself gives up after 10


class PatientWorker(ThreadWorker):  # type: ignore[misc]
    """gthread reads a request's head and body without a limit of time: a few clients that trickle would hold every thread."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self._begun: dict[TConn, float] = {}

    def enqueue_req(self, conn: TConn) -> None:
        """A thread takes the connection."""
        self._begun[conn] = time.monotonic()
        super().enqueue_req(conn)

    def finish_request(self, conn: TConn, fs: Future[Any]) -> None:
        """The thread gives it back."""
        self._begun.pop(conn, None)
        super().finish_request(conn, fs)

    def murder_pending(self) -> None:
        """Called once a second at least, by the loop that accepts connections."""
        super().murder_pending()
        latest = time.monotonic() - LONGEST_REQUEST_S
        for conn, begun in list(self._begun.items()):
            if begun < latest:
                _hang_up(conn.sock)
                self._begun[conn] = time.monotonic()


def _hang_up(connection: socket.socket) -> None:
    """Have a thread that reads or writes there wake up with an error."""
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass  # it has ended by itself
