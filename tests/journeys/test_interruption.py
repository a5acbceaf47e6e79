"""Signals at any moment leave nothing; kill -9 leaves what the next start removes."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import docker
import pytest

from sandbox.ownership import OWNER_LABEL
from tests.repository import BASE, DUALGATE, FIX, NEW_TEST, commit, make, run

pytestmark = pytest.mark.docker
SLOW = NEW_TEST + "\n\ndef test_slow():\n    import time\n    time.sleep(60)\n"


def boxes_of(pid: int) -> list[str]:
    rows = docker.from_env().api.containers(all=True, filters={"label": OWNER_LABEL})
    return [row["Id"] for row in rows if row["Labels"][OWNER_LABEL].startswith(f"{pid}:")]


def folders_of(pid: int) -> list[Path]:
    return list(Path(tempfile.gettempdir()).glob(f"dualgate-*-{pid}-*"))


@pytest.fixture
def slow(tmp_path: Path) -> Path:
    make(tmp_path / "slow", {**BASE, "test_stats.py": SLOW})
    commit(tmp_path / "slow", {"stats.py": FIX})
    return tmp_path / "slow"


def start(repo: Path) -> subprocess.Popen[str]:
    return subprocess.Popen([str(DUALGATE), "verify", str(repo), "--base", "HEAD~1", "--head", "HEAD"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for_boxes(pid: int) -> None:
    for _ in range(600):
        if boxes_of(pid):
            return
        time.sleep(0.1)
    raise AssertionError("no box was started")


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("moment", ["as soon as there is a container", "in the middle of the suite"])
def test_a_signal_leaves_no_container_and_no_file(slow: Path, number: int, status: int, moment: str) -> None:
    command = start(slow)
    wait_for_boxes(command.pid)
    time.sleep({"as soon as there is a container": 0, "in the middle of the suite": 12}[moment])
    os.kill(command.pid, number)
    _, errors = command.communicate(timeout=60)
    assert command.returncode == status, errors
    assert boxes_of(command.pid) == []
    assert folders_of(command.pid) == []


def test_what_a_killed_command_leaves_the_next_one_removes(slow: Path, tmp_path: Path) -> None:
    command = start(slow)
    wait_for_boxes(command.pid)
    command.kill()
    command.communicate()
    assert boxes_of(command.pid)
    make(tmp_path / "next", {"README.md": "x"})
    run("images", "prune", "--keep-gb", "1000")
    assert boxes_of(command.pid) == []
    assert folders_of(command.pid) == []
