"""Deliveries into the ledger, quickly: GitHub waits for this."""

from __future__ import annotations

import contextlib
import fcntl
import sqlite3
import threading
from pathlib import Path
from typing import IO, Any

import structlog
from gevent import monkey
from sqlalchemy import event

from bot.ledger.database import Database
from bot.ledger.deliveries import Deliveries

CHECKPOINT_S = 0.5
# The door's own threads are greenlets of one: what waits for the disk needs a real one.
NATIVE_THREAD, NATIVE_SLEEP = monkey.get_original("_thread", "start_new_thread"), monkey.get_original("time", "sleep")
log = structlog.get_logger()


class Turn:
    """A lock among threads and processes that wakes the next one at once; SQLite's own is asked for again after 1, 2, 5, 10, 15 ms and more."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._threads = threading.Lock()
        self._file: IO[bytes] | None = None

    def __enter__(self) -> None:
        self._threads.acquire()
        if self._file is None:
            self._file = self._path.open("ab")
        fcntl.flock(self._file, fcntl.LOCK_EX)

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            fcntl.flock(self._file, fcntl.LOCK_UN)
        self._threads.release()


class Recorder:
    """Where the database is SQLite, the door's threads and processes write in turn.

    Its write-ahead log is copied back by a thread of its own; otherwise every hundredth delivery or so would wait for that, and for the disk.
    """

    def __init__(self, database: Database) -> None:
        self._deliveries = Deliveries(database)
        self._turn: contextlib.AbstractContextManager[Any] = contextlib.nullcontext()
        self._file = ""
        self._copies_back = False
        if database.engine.dialect.name == "sqlite":
            self._file = database.engine.url.database or ""
            self._turn = Turn(Path(f"{self._file}.door"))
            event.listen(database.engine, "connect", _leave_the_log)

    def record(self, guid: str, event_name: str, action: str, payload: str) -> bool:
        """As Deliveries.record. Raises SQLAlchemyError."""
        with self._turn:
            if self._file and not self._copies_back:
                self._copies_back = True
                NATIVE_THREAD(self._checkpoint, ())
            return self._deliveries.record(guid, event_name, action, payload)

    def _checkpoint(self) -> None:
        with contextlib.closing(sqlite3.connect(self._file, timeout=1, isolation_level=None)) as connection:
            while True:
                NATIVE_SLEEP(CHECKPOINT_S)
                try:
                    connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
                except sqlite3.Error as error:
                    log.warning("checkpoint_failed", error=str(error))


def _leave_the_log(connection: Any, _: Any) -> None:
    connection.execute("PRAGMA wal_autocheckpoint=0")
