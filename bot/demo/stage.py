"""The whole set: a stand-in for GitHub, and the App's two commands beside it as an operator starts them."""

from __future__ import annotations

import os
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import requests
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from bot.demo.github.hub import Hub
from bot.demo.github.records import App
from bot.demo.github.server import Running
from bot.embedded_store import dies_with_parent
from bot.errors import BotError

APP_ID = 4242
SLUG = "dualgate"
PERMISSIONS = {"checks": "write", "contents": "write", "issues": "write", "metadata": "read", "pull_requests": "write"}
EVENTS = ("check_run", "check_suite", "issue_comment", "issues", "merge_group", "pull_request", "repository")
START_S = 60.0


class StageFault(BotError):
    """A process of the App did not start; the message ends with its last lines."""


@dataclass
class Process:
    """One command of the App, with its log."""

    name: str
    log: Path
    popen: subprocess.Popen[bytes]

    def last_lines(self, count: int = 15) -> str:
        """The end of its log."""
        return "\n".join(self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-count:])


@dataclass
class Stage:
    """Everything that runs. `environment`: what the App's commands are told."""

    hub: Hub
    app: App
    url: str
    app_url: str
    data_dir: Path
    environment: dict[str, str]
    processes: dict[str, Process] = field(default_factory=dict)

    def start(self, name: str, **more: str) -> Process:
        """Start `dualgate serve` or `dualgate worker`. Raises StageFault for a door that does not open."""
        log = self.data_dir / f"{name}.log"
        with log.open("ab") as file:
            popen = subprocess.Popen([sys.executable, "-m", "bot", name], env={**self.environment, **more}, stdin=subprocess.DEVNULL, stdout=file,
                                     stderr=file, start_new_session=True, preexec_fn=dies_with_parent)
        process = self.processes[name] = Process(name, log, popen)
        if name == "serve":
            self._wait_until_open(process)
        return process

    def stop(self, name: str, timeout: float = 60.0) -> int:
        """Ask a command to end, as systemd would; its exit status."""
        process = self.processes.pop(name)
        process.popen.terminate()
        return process.popen.wait(timeout)

    def close(self) -> None:
        """End what runs."""
        for name in ("worker", "serve"):
            if name in self.processes:
                try:
                    self.stop(name)
                except subprocess.TimeoutExpired:
                    pass

    def _wait_until_open(self, process: Process) -> None:
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline and process.popen.poll() is None:
            try:
                if requests.get(f"{self.app_url}/healthz", timeout=2).ok:
                    return
            except requests.RequestException:
                time.sleep(0.1)
        raise StageFault(f"`dualgate {process.name}` did not start:\n{process.last_lines()}")


@contextmanager
def set_up(data_dir: Path, environment: Mapping[str, str] | None = None, port: int = 0, app_port: int = 0) -> Iterator[Stage]:
    """The stand-in served and the App registered there; nothing of the App is started yet. `environment`: over this process's own."""
    data_dir.mkdir(parents=True, exist_ok=True)
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    private = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()).decode()
    public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo).decode()
    secret, app_port = secrets.token_hex(20), app_port or free_port()
    hub = Hub()
    running = Running(hub, port)
    app_url = f"http://127.0.0.1:{app_port}"
    app = hub.add_app(SLUG, APP_ID, public, f"{app_url}/webhooks/github", secret, PERMISSIONS, list(EVENTS))
    told = {**os.environ, "GITHUB_APP_ID": str(APP_ID), "GITHUB_PRIVATE_KEY": private, "GITHUB_WEBHOOK_SECRET": secret, "GITHUB_API_URL": running.url,
            "GITHUB_SERVER_URL": running.url, "PORT": str(app_port), "DUALGATE_PUBLIC_URL": app_url, "DUALGATE_DATA_DIR": str(data_dir),
            **(environment or {})}
    stage = Stage(hub, app, running.url, app_url, data_dir, told)
    try:
        yield stage
    finally:
        stage.close()
        running.close()
        hub.close()


def free_port() -> int:
    """A port of this machine that nobody listens on just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
