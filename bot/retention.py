"""What the data folder forgets: logs of old runs, suites that were cached long ago, clones that nobody asked for since. Facts stay in the ledger."""

from __future__ import annotations

import fcntl
import shutil
import time
from pathlib import Path

import structlog

log = structlog.get_logger()


def prune(data_dir: Path, keep_days: float) -> int:
    """Remove what is older than that many days; how many things went. One that can't be removed is named in the log, and stays."""
    before = time.time() - keep_days * 86_400
    gone = sum(_remove(folder) for folder in sorted((data_dir / "runs").glob("*")) if folder.is_dir() and _newest(folder) < before)
    gone += sum(_remove(file) for file in sorted((data_dir / "suites").rglob("*")) if file.is_file() and _age(file) < before)
    gone += sum(_remove_clone(lock) for lock in sorted((data_dir / "repositories").glob("*.lock")) if _age(lock) < before)
    if gone:
        log.info("old_files_removed", count=gone, days=keep_days)
    return gone


def _age(path: Path) -> float:
    try:
        return path.lstat().st_mtime
    except OSError:
        return time.time()  # it goes at this moment


def _newest(folder: Path) -> float:
    return max([_age(folder), *(_age(path) for path in folder.iterdir())])


def _remove(path: Path) -> bool:
    try:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    except OSError as error:
        log.warning("not_removed", path=str(path), error=type(error).__name__)
        return False
    return True


def _remove_clone(lock: Path) -> bool:
    """A clone and not its lock: somebody who waits for that would hold another's."""
    clone = lock.with_suffix(".git")
    with lock.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return clone.exists() and _remove(clone)
