"""A throw-away PostgreSQL cluster in a folder of its own; as root it runs as another user, since PostgreSQL refuses root."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType

PROGRAMS = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
USERS = ("postgres", "nobody")


def is_here() -> bool:
    """Whether this machine has PostgreSQL."""
    return bool(PROGRAMS)


class Postgres:
    """Started on entry, gone on exit. `url` is that of an empty database."""

    def __enter__(self) -> Postgres:
        self._folder = Path(tempfile.mkdtemp(prefix="dualgate-pg-"))
        self._user = next((name for name in USERS if _exists(name)), None) if os.getuid() == 0 else None
        if self._user:
            shutil.chown(self._folder, self._user)
        with socket.create_server(("127.0.0.1", 0)) as server:
            self._port = server.getsockname()[1]
        self.url = f"postgresql://dualgate@127.0.0.1:{self._port}/postgres"
        subprocess.run(self._as_user("initdb", "-D", str(self._folder / "data"), "-U", "dualgate", "--auth=trust", "--no-sync", "-E", "UTF8", "--locale=C.UTF-8"),
                       check=True, capture_output=True, cwd="/")
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()
        shutil.rmtree(self._folder)

    def start(self) -> None:
        """Serve, and wait until it does."""
        words = self._as_user("postgres", "-D", str(self._folder / "data"), "-k", str(self._folder), "-h", "127.0.0.1", "-p", str(self._port), "-c", "fsync=off")
        self._process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/")
        ready = [str(PROGRAMS[-1] / "pg_isready"), "-h", "127.0.0.1", "-p", str(self._port), "-q"]
        for _ in range(300):
            if subprocess.run(ready, check=False).returncode == 0:
                return
            time.sleep(0.05)
        raise AssertionError("PostgreSQL does not start")

    def stop(self) -> None:
        """End it at once, as a crash would."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGQUIT)
            self._process.wait(20)

    def _as_user(self, program: str, *words: str) -> list[str]:
        switch = ["setpriv", f"--reuid={self._user}", f"--regid={pwd.getpwnam(self._user).pw_gid}", "--clear-groups"] if self._user else []
        return [*switch, str(PROGRAMS[-1] / program), *words]


def _exists(user: str) -> bool:
    try:
        pwd.getpwnam(user)
    except KeyError:
        return False
    return True
