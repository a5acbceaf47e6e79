"""`dualgate worker`: the process that holds the private key, and the workers that it starts without it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from typing import NoReturn

import structlog

from bot.app_settings import AppSettings, private_folder, read_app_settings, read_private_key, without_secrets
from bot.embedded_store import EmbeddedStore, StoreUnavailable, connect, dies_with_parent
from bot.github.app_requests import AppRequests
from bot.github.keeper import KEEPER_SOCKET, KeeperServer
from bot.ledger.database import Database
from bot.ledger.deliveries import Deliveries
from bot.ledger.runs import Runs
from bot.logs import log_to_stderr
from bot.queue import INTAKE, VERIFY, WorkQueue
from bot.retention import prune
from bot.settings import Settings, read_settings
from bot.sweep import Sweep

KEY_DESCRIPTOR = "DUALGATE_KEY_DESCRIPTOR"
TICK_S = 2.0
STOP_S = 40.0
log = structlog.get_logger()


def worker_command(environment: Mapping[str, str]) -> NoReturn:
    """Check the settings, then go on as a process in whose environment the key never was. Raises BadInput, DatabaseUnavailable."""
    settings = read_settings()
    private_folder(settings.data_dir)
    app = read_app_settings(environment, settings.data_dir, needs=("GITHUB_PRIVATE_KEY",))
    Database(app.database_url).migrate()
    descriptor = os.memfd_create("key", 0)
    os.write(descriptor, read_private_key(environment["GITHUB_PRIVATE_KEY"]).encode())
    os.set_inheritable(descriptor, True)
    clean = without_secrets(environment) | {KEY_DESCRIPTOR: str(descriptor)}
    os.execve(sys.executable, [sys.executable, "-P", "-m", "bot.worker"], clean)


def main() -> None:
    """`python -m bot.worker`: what worker_command goes on as."""
    log_to_stderr()
    descriptor = int(os.environ.pop(KEY_DESCRIPTOR))
    with os.fdopen(descriptor, "r", closefd=True) as file:
        file.seek(0)
        key = file.read()
    settings = Settings()
    Overseer(settings, read_app_settings(os.environ, settings.data_dir, needs=()), key).run()


class Overseer:
    """Starts the workers, starts them again when they end, sweeps, and answers for the key."""

    def __init__(self, settings: Settings, app: AppSettings, key: str) -> None:
        self._app = app
        self._requests = AppRequests(app.app_id, key, app.api_url, patience_s=10.0)
        self._socket = app.data_dir / f"keeper-{os.getpid()}.sock"  # of this worker's own: two on one data folder do not disturb each other
        self._kinds = [INTAKE] + [VERIFY] * settings.verifications
        self._children: list[subprocess.Popen[bytes] | None] = [None] * len(self._kinds)
        self._begun = [0.0] * len(self._kinds)
        self._store = None if app.redis_url else EmbeddedStore(app.data_dir)
        database = Database(app.database_url)
        self._sweep = Sweep(Deliveries(database), Runs(database), WorkQueue(connect(app.redis_url, app.data_dir)), self._requests,
                            lambda: prune(settings.data_dir, settings.keep_days))
        self._ended = threading.Event()

    def run(self) -> None:
        """Until SIGTERM or SIGINT."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: self._ended.set())
        keeper = KeeperServer(self._socket, self._requests)
        keeper.start()
        threading.Thread(target=self._sweeping, daemon=True, name="sweep").start()
        log.info("worker_started", verifications=self._kinds.count(VERIFY), queue="embedded" if self._store else "redis")
        while not self._ended.wait(0.5):
            self._keep_store()
            self._keep_children()
        self._stop()

    def _keep_store(self) -> None:
        try:
            if self._store:
                self._store.ensure()
        except StoreUnavailable as error:
            log.error("store_unavailable", error=str(error))

    def _keep_children(self) -> None:
        for place, child in enumerate(self._children):
            if child is not None and child.poll() is None:
                continue
            if child is not None:
                log.warning("worker_process_ended", kind=self._kinds[place], status=child.returncode)
            if time.monotonic() - self._begun[place] > 1.0:  # one that can't start does not spin
                self._begun[place] = time.monotonic()
                self._children[place] = subprocess.Popen(
                    [sys.executable, "-P", "-m", "bot.work_horses", self._kinds[place]], stdin=subprocess.DEVNULL, preexec_fn=dies_with_parent,
                    env=without_secrets(os.environ) | {KEEPER_SOCKET: str(self._socket)})

    def _sweeping(self) -> None:
        while not self._ended.wait(TICK_S):
            try:
                self._sweep.tick()
            except Exception:
                log.exception("sweep_failed")

    def _stop(self) -> None:
        log.info("worker_stopping")
        living = [child for child in self._children if child is not None and child.poll() is None]
        for child in living:
            child.terminate()
        deadline = time.monotonic() + STOP_S
        for child in living:
            try:
                child.wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
        self._socket.unlink(missing_ok=True)
        if self._store:
            self._store.close()
        log.info("worker_stopped")


if __name__ == "__main__":
    main()
