"""One data folder for all runs of a test session, apart from the user's own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session", autouse=True)
def data_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = Path(os.environ.get("DUALGATE_TEST_DATA_DIR") or tmp_path_factory.mktemp("data"))
    os.environ["DUALGATE_DATA_DIR"] = str(folder)
    return folder
