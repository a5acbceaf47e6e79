"""Writing in turn."""

from __future__ import annotations

import sqlite3
import threading
import time
from pathlib import Path

from bot.ledger.database import Database
from bot.ledger.deliveries import Deliveries
from webhooks.recording import CHECKPOINT_S, Recorder


def test_many_threads_of_two_recorders_lose_nothing(tmp_path: Path, database: Database) -> None:
    recorders = (Recorder(database), Recorder(Database(f"sqlite:///{tmp_path / 'dualgate.sqlite3'}")))

    def write(number: int) -> None:
        for step in range(10):
            assert recorders[number % 2].record(f"{number}-{step}", "ping", "", "{}")

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(Deliveries(database).known([f"{number}-{step}" for number in range(8) for step in range(10)])) == 80


def test_the_log_is_copied_back_beside_the_answers(tmp_path: Path, database: Database) -> None:
    recorder = Recorder(Database(f"sqlite:///{tmp_path / 'dualgate.sqlite3'}"))
    for number in range(40):
        recorder.record(f"guid-{number}", "ping", "", "x" * 25_000)
    time.sleep(3 * CHECKPOINT_S)
    recorder.record("the last", "ping", "", "{}")
    with sqlite3.connect(tmp_path / "dualgate.sqlite3") as connection:
        _, in_log, copied = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
    assert in_log == copied
    assert in_log < 100
