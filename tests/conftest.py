"""One data folder for all runs of a test session, apart from the user's own; and which tests are for `make thorough` alone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session", autouse=True)
def data_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = Path(os.environ.get("DUALGATE_TEST_DATA_DIR") or tmp_path_factory.mktemp("data"))
    os.environ["DUALGATE_DATA_DIR"] = str(folder)
    return folder


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--thorough", action="store_true", help="every row of the tables of attacks, and the longest journeys on each kind of store")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Without --thorough: of a table of attacks that need boxes the first row, and no test marked thorough."""
    if config.getoption("--thorough"):
        return
    rows: dict[str, int] = {}
    kept, left = [], []
    for item in items:
        table = item.nodeid.split("[")[0]
        rows[table] = rows.get(table, 0) + 1
        boxed = table.startswith("tests/attacks/") and "forbidden" not in table
        (left if item.get_closest_marker("thorough") or (boxed and rows[table] > 1) else kept).append(item)
    config.hook.pytest_deselected(items=left)
    items[:] = kept
