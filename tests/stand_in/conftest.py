"""Each test has a stand-in of its own; whatever was said in it must fit GitHub's description."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.github_description import check_hub
from tests.stand_in.place import Listener, Place, listening, place


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Place]:
    """A public repository of an organization."""
    with place(tmp_path) as made:
        yield made
        made.hub.settle()
        check_hub(made.hub)


@pytest.fixture
def hidden(tmp_path: Path) -> Iterator[Place]:
    """A private repository of a user."""
    with place(tmp_path / "hidden", private=True, kind="User") as made:
        yield made
        made.hub.settle()
        check_hub(made.hub)


@pytest.fixture
def bot(here: Place) -> Iterator[Listener]:
    """The App's server, listening to what happens in `here`."""
    with listening() as listener:
        here.hub.set_webhook(here.app, listener.url)
        yield listener
        here.hub.settle()
