"""`dualgate serve`: everything that can be wrong is said before the first process, then gunicorn takes this process over without the private key."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Collection, Mapping
from typing import NoReturn

from pydantic import ValidationError

from bot.app_settings import SECRETS, AppSettings, private_folder, read_app_settings, without_secrets
from bot.embedded_store import EmbeddedStore
from bot.errors import BadInput
from bot.ledger.database import Database
from bot.settings import Settings

SHARED_FOLDER = "PROMETHEUS_MULTIPROC_DIR"  # prometheus_client's own name for it
KEPT_SECRETS = ("GITHUB_WEBHOOK_SECRET", "DUALGATE_ADMIN_TOKEN")


def serve_command(environment: Mapping[str, str]) -> NoReturn:
    """Become the server. Raises BadInput (settings), DatabaseUnavailable, StoreUnavailable."""
    settings = read_door_settings(environment)
    read_worker_count(environment)
    _claim_port(settings.port)
    private_folder(settings.data_dir)
    if settings.redis_url is None:
        EmbeddedStore(settings.data_dir)  # a folder that it can't live in is refused here, in one line
    database = Database(settings.database_url)
    try:
        database.migrate()
    finally:
        database.close()
    kept = {**without_secrets(environment, keep=KEPT_SECRETS), "DUALGATE_DATA_DIR": str(settings.data_dir),
            SHARED_FOLDER: str(settings.data_dir / "metrics")}
    sys.stdout.flush()
    sys.stderr.flush()
    os.execve(sys.executable, [sys.executable, "-P", "-m", "webhooks.server"], kept)  # -P: nothing is imported from the folder it is called in


def _claim_port(port: int) -> None:
    """gunicorn's processes share the port, and would share it with another server of the same user without a word."""
    try:
        socket.create_server(("0.0.0.0", port)).close()
    except OSError as error:
        raise BadInput(f"port {port} can't be used: {error.strerror}; set PORT to another") from None


def read_door_settings(environment: Mapping[str, str], needs: Collection[str] = SECRETS[:2]) -> AppSettings:
    """Settings with an absolute data folder; `needs`: the secrets that this process can't do without. Raises BadInput."""
    try:
        data_dir = Settings().data_dir.absolute()
    except ValidationError as error:
        raise BadInput("; ".join(f"DUALGATE_{str(fault['loc'][0]).upper()}: {fault['msg']}" for fault in error.errors())) from None
    return read_app_settings(environment, data_dir, needs)


def read_worker_count(environment: Mapping[str, str]) -> int:
    """Processes of the door: WEB_CONCURRENCY, else one a core, from 2 to 4. Raises BadInput."""
    value = environment.get("WEB_CONCURRENCY", "").strip()
    if not value:
        return min(4, max(2, os.cpu_count() or 2))
    if not (value.isascii() and value.isdigit() and 1 <= int(value) <= 64):
        raise BadInput("WEB_CONCURRENCY is not a whole number from 1 to 64")
    return int(value)
