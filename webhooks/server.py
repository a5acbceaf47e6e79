"""`python -m webhooks.server`: gunicorn, with the embedded store as a child that is started again when it dies."""

from __future__ import annotations

import os
import sys
from typing import Any

from flask import Flask
from gunicorn.app.base import BaseApplication
from gunicorn.arbiter import Arbiter

from bot.embedded_store import EmbeddedStore, StoreUnavailable
from bot.errors import BotError
from webhooks import gunicorn_settings
from webhooks.app import create_app
from webhooks.logs import write_json_lines
from webhooks.serve import KEPT_SECRETS, read_door_settings

MACHINERY = 4


def application() -> Flask:
    """What every process of the door serves, after the fork."""
    write_json_lines(sys.stderr)
    return create_app(read_door_settings(os.environ, KEPT_SECRETS[:1]))


class Door(BaseApplication):  # type: ignore[misc]
    """gunicorn as our settings module says; no file and no command line is read."""

    def __init__(self, store: EmbeddedStore | None) -> None:
        self._store = store
        self._pid = os.getpid()
        super().__init__()

    def load_config(self) -> None:
        """Every name of the module that is a setting of this gunicorn."""
        for name, value in vars(gunicorn_settings).items():
            if name in self.cfg.settings:
                self.cfg.set(name, value)

    def load(self) -> Flask:
        """Called by each worker."""
        return application()

    def run(self) -> None:
        """Serve until a signal ends it."""
        try:
            StoreKeeper(self, self._store).run()
        finally:
            if self._store is not None and os.getpid() == self._pid:
                self._store.close()


class StoreKeeper(Arbiter):  # type: ignore[misc]
    """gunicorn's arbiter, which looks after the store in its own loop: no thread beside the one that forks."""

    def __init__(self, app: Door, store: EmbeddedStore | None) -> None:
        self._store = store
        super().__init__(app)

    def manage_workers(self) -> Any:
        """Called once a second at least."""
        if self._store is not None:
            try:
                self._store.ensure()
            except (StoreUnavailable, OSError) as error:
                self.log.error("%s", error)  # deliveries are recorded all the same; the next second tries again
        return super().manage_workers()


def main() -> None:
    """Exit status 0 after a signal, 4 where the store does not start."""
    try:
        settings = read_door_settings(os.environ, KEPT_SECRETS[:1])
        store = EmbeddedStore(settings.data_dir) if settings.redis_url is None else None
        if store is not None:
            store.ensure()
    except BotError as error:
        print(f"dualgate: {error}", file=sys.stderr)
        sys.exit(MACHINERY)
    Door(store).run()


if __name__ == "__main__":
    main()
