"""Fixtures: a fresh repository, the command, and a canary outside."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from calc_repository import BASE, Repository
from judging import Command, boxes_of


@pytest.fixture
def repo(tmp_path: Path) -> Repository:
    """A fresh checkout, always under the same name, so that the boxes' root and the environment are the same."""
    repository = Repository(tmp_path / "calc")
    repository.path.mkdir()
    repository.git("init", "--quiet", "--initial-branch=main")
    repository.base = repository.commit(BASE)
    return repository


@pytest.fixture(scope="session")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Suites, logs and locks of these tests: never the user's."""
    given = os.environ.get("DUALGATE_TEST_DATA_DIR")
    return Path(given) if given else tmp_path_factory.mktemp("data")


@pytest.fixture
def verify(data_dir: Path, tmp_path: Path) -> Iterator[Command]:
    """The command; when the test is over, no container of any of its processes may be left."""
    command = Command(data_dir, tmp_path)
    yield command
    assert boxes_of(command.pids) == []


@pytest.fixture
def canary(tmp_path: Path) -> Iterator[Path]:
    """A file outside every checkout that nothing may touch, and a name beside it that nothing may make."""
    file = tmp_path / "outside" / "canary"
    file.parent.mkdir()
    file.write_text("alive", encoding="utf-8")
    yield file
    assert file.read_text(encoding="utf-8") == "alive"
    assert [path.name for path in file.parent.iterdir()] == ["canary"]
