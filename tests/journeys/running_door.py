"""`dualgate serve` as an operator starts it: another process, its own data folder, its own port."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from tests.unit.webhooks.seeds import APP_ID, SECRET, headers_of, payload

SERVE = [sys.executable, "-P", "-m", "webhooks"]  # what `dualgate serve` becomes


def private_key() -> str:
    key = rsa.generate_private_key(65537, 2048)
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


def processes_below(pid: int) -> list[int]:
    found = []
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        for word in path.read_text().split():
            found += [int(word), *processes_below(int(word))]
    return found


class Door:
    """Started on entry, ended on exit. `errors`: what it wrote to stderr."""

    def __init__(self, **more: str | None) -> None:
        self.data_dir = Path(tempfile.mkdtemp(prefix="dualgate-door-"))
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        known = {"GITHUB_APP_ID": str(APP_ID), "GITHUB_WEBHOOK_SECRET": SECRET, "GITHUB_PRIVATE_KEY": private_key(), "PORT": str(self.port),
                 "DUALGATE_DATA_DIR": str(self.data_dir), "PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), **more}
        self.environment = {name: value for name, value in known.items() if value is not None}
        self._log = (self.data_dir.parent / f"{self.data_dir.name}.log").open("w+b")

    def __enter__(self) -> Door:
        self.process = subprocess.Popen(SERVE, env=self.environment, stderr=self._log, cwd=Path(__file__).parents[2])
        for _ in range(600):
            if self.process.poll() is not None:
                break
            if self.get("/healthz")[0] == 200:
                return self
            time.sleep(0.05)
        self.__exit__(None, None, None)
        raise AssertionError(f"the door does not open: {self.errors}")

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(20)
        shutil.rmtree(self.data_dir, ignore_errors=True)
        Path(self._log.name).unlink(missing_ok=True)

    @property
    def errors(self) -> str:
        return Path(self._log.name).read_text(encoding="utf-8")

    @property
    def processes(self) -> list[int]:
        return [self.process.pid, *processes_below(self.process.pid)]

    def get(self, path: str, headers: Mapping[str, str] | None = None) -> tuple[int, str]:
        return self._send(urllib.request.Request(self.url + path, headers=dict(headers or {})))

    def deliver(self, body: bytes | None = None, headers: Mapping[str, str] | None = None) -> tuple[int, dict[str, str]]:
        body = payload() if body is None else body
        status, text = self._send(urllib.request.Request(f"{self.url}/webhooks/github", body, dict(headers or headers_of(body))))
        answer: dict[str, str] = json.loads(text)
        return status, answer

    @staticmethod
    def _send(request: urllib.request.Request) -> tuple[int, str]:
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except OSError:
            return 0, ""
