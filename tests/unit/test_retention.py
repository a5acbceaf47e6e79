"""Old files go, young ones and those in use stay."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path

from bot.retention import prune

DAY = 86_400


def put(path: Path, days: float) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("x", encoding="utf-8")
    for one in (path, path.parent):
        os.utime(one, (time.time() - days * DAY,) * 2)
    return path


def test_runs_suites_and_clones_go_by_their_age(tmp_path: Path) -> None:
    old = [put(tmp_path / "runs/20200101-1/verdict.json", 91), put(tmp_path / "suites/ab/x.json", 91), put(tmp_path / "repositories/7.git/HEAD", 200)]
    put(tmp_path / "repositories/7.lock", 91)
    young = [put(tmp_path / "runs/20260101-2/verdict.json", 89), put(tmp_path / "suites/cd/y.json", 2), put(tmp_path / "repositories/8.git/HEAD", 200)]
    put(tmp_path / "repositories/8.lock", 1)  # asked for a day ago
    assert prune(tmp_path, 90) == 3
    assert [path.exists() for path in old] == [False] * 3
    assert all(path.exists() for path in young)
    assert not (tmp_path / "runs/20200101-1").exists()
    assert (tmp_path / "repositories/7.lock").exists()
    assert prune(tmp_path, 90) == 0


def test_a_clone_that_is_being_fetched_stays(tmp_path: Path) -> None:
    clone, lock = put(tmp_path / "repositories/7.git/HEAD", 200), put(tmp_path / "repositories/7.lock", 200)
    with lock.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert prune(tmp_path, 90) == 0
    assert clone.exists()


def test_an_empty_data_folder_is_no_fault(tmp_path: Path) -> None:
    assert prune(tmp_path / "none", 90) == 0
