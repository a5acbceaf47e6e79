"""A door over SQLite and a store of its own; nothing is faked."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from bot.embedded_store import EmbeddedStore, connect
from bot.ledger.database import Database
from bot.ledger.deliveries import Deliveries
from bot.queue import WorkQueue
from tests.unit.webhooks.seeds import settings_for
from webhooks.app import create_app
from webhooks.parts import Parts


@pytest.fixture(scope="session")
def store() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="dualgate-store-"))  # short: the address of a socket has 108 bytes
    store = EmbeddedStore(folder)
    store.ensure()
    yield folder
    store.close()
    shutil.rmtree(folder)


@pytest.fixture
def queue(store: Path) -> WorkQueue:
    connection = connect(None, store)
    connection.flushall()
    return WorkQueue(connection)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    made = Database(f"sqlite:///{tmp_path / 'dualgate.sqlite3'}")
    made.migrate()
    yield made
    made.close()


@pytest.fixture
def make_app(tmp_path: Path, database: Database, queue: WorkQueue) -> Iterator[Callable[..., Flask]]:
    made: list[Flask] = []

    def make(**more: Any) -> Flask:
        made.append(create_app(settings_for(tmp_path, **more), database, queue))
        return made[-1]

    yield make
    for app in made:
        app.extensions["dualgate"].handover.close()  # what it still hands over would be in the next test's queue


@pytest.fixture
def app(make_app: Callable[..., Flask]) -> Flask:
    return make_app()


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    return app.test_client()


@pytest.fixture
def deliveries(database: Database) -> Deliveries:
    return Deliveries(database)


@pytest.fixture
def parts(app: Flask) -> Parts:
    known: Any = app.extensions["dualgate"]
    assert isinstance(known, Parts)
    return known
