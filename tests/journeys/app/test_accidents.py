"""Conversations in bad weather: lost and doubled webhooks, a GitHub that stumbles, a store that forgets, workers that die."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from redis import Redis

from bot.demo.stage import Stage, set_up
from tests.journeys.app.conftest import Build, examine
from tests.journeys.app.town import AGENT, BAD_CHANGE, GOOD_CHANGE, SLOW

COPILOT = AGENT[0]


def test_webhooks_come_doubled_and_in_the_wrong_order(town: Build) -> None:
    here = town()
    hub = here.stage.hub
    hub.hold_deliveries()
    pull = here.opens(COPILOT, BAD_CHANGE)
    here.push("change", here.commit(here.base, GOOD_CHANGE))
    hub.release(lambda held: [*reversed(held), *held])
    assert here.check(pull).conclusion == "success"
    here.comment(pull)
    for guid in {one.guid for one in hub.delivered("pull_request.synchronize") + hub.delivered("pull_request.opened")}:
        hub.redeliver(guid)
    here.until_read()
    assert len(here.stage.hub.checks(here.repository, name="dualgate")) == 1
    assert len(here.verdict_comments(pull)) == 1


@pytest.mark.parametrize(("method", "path", "status", "first"), [
    pytest.param("GET", r".*/pulls/\d+$", 500, False, marks=pytest.mark.thorough),
    ("POST", r".*/check-runs$", 502, True),
    pytest.param("POST", r".*/check-runs$", 500, False, marks=pytest.mark.thorough),
    ("PATCH", r".*/check-runs/\d+$", 502, True),
    pytest.param("POST", r".*/comments$", 502, True, marks=pytest.mark.thorough),
    pytest.param("POST", r".*/access_tokens$", 503, False, marks=pytest.mark.thorough),
    pytest.param("POST", r".*/check-runs$", 0, True, marks=pytest.mark.thorough),
])
def test_github_stumbles_and_nothing_is_doubled(town: Build, method: str, path: str, status: int, first: bool) -> None:
    here = town()
    here.stage.hub.faults.add(method, rf"(/repos/{re.escape(here.repository.full_name)})?{path}", status, perform_first=first, times=1)
    pull = here.opens(COPILOT, GOOD_CHANGE)
    assert here.check(pull).conclusion == "success"
    here.comment(pull)


def test_github_asks_us_to_wait(town: Build) -> None:
    here = town()
    here.stage.hub.faults.rate_limited("POST", rf"/repos/{re.escape(here.repository.full_name)}/check-runs", retry_after_s=3)
    began = len(here.stage.hub.requests)
    pull = here.opens(COPILOT, GOOD_CHANGE)
    assert here.check(pull).conclusion == "success"
    tries = [one for one in here.stage.hub.requests[began:] if one.method == "POST" and one.path.endswith(f"{here.repository.full_name}/check-runs")]
    assert [one.status for one in tries] == [403, 201]


def test_tokens_end_in_the_middle(town: Build) -> None:
    here = town(SLOW)
    pull = here.opens(COPILOT, GOOD_CHANGE)
    here.until_running(pull)
    here.stage.hub.expire_tokens()
    assert here.check(pull).conclusion == "success"
    here.comment(pull)


def test_the_app_is_removed_in_the_middle(town: Build) -> None:
    here = town(SLOW)
    pull = here.opens(COPILOT, GOOD_CHANGE)
    here.until_running(pull)
    here.stage.hub.remove_repository(here.installation, here.repository)
    here.until(lambda: (run := here.run(pull)) is not None and run.state == "cancelled", "the run goes on")


def test_a_repository_is_renamed_in_the_middle(town: Build) -> None:
    here = town(SLOW)
    pull = here.opens(COPILOT, GOOD_CHANGE)
    here.until_running(pull)
    here.stage.hub.rename_repository(here.repository, f"{here.repository.name}-renamed")
    assert here.check(pull).conclusion == "success"


# From here on the App's processes are this file's own.


@pytest.fixture(params=[pytest.param("embedded", marks=pytest.mark.thorough), "servers"])
def own_stage(request: pytest.FixtureRequest, data_folder: Path, tmp_path: Path) -> Iterator[Stage]:
    """SQLite with the embedded Valkey, and PostgreSQL with a Valkey of its own."""
    told: dict[str, str] = {}
    if request.param == "servers":
        told = {"DATABASE_URL": request.getfixturevalue("postgres_url"), "REDIS_URL": request.getfixturevalue("redis_url")}
    folder = data_folder / f"own-{request.param}"
    with set_up(folder, {**told, "DUALGATE_DATA_DIR": str(folder)}) as made:
        made.start("serve")
        made.start("worker")
        yield made
        examine(made.hub)


def queue_of(stage: Stage) -> Redis:
    url = stage.environment.get("REDIS_URL")
    return Redis.from_url(url) if url else Redis(unix_socket_path=str(stage.data_dir / "queue.sock"))


def horses(stage: Stage) -> list[psutil.Process]:
    parent = psutil.Process(stage.processes["worker"].popen.pid)
    return [one for one in parent.children(recursive=True) if "main_work_horse" in " ".join(one.cmdline())]


def test_a_worker_is_killed_and_the_run_ends_as_if_nothing_had_happened(own_stage: Stage, town: Build) -> None:
    here = town(SLOW, on=own_stage)
    pull = here.opens(COPILOT, GOOD_CHANGE)
    here.until_running(pull)
    worker = own_stage.processes["worker"].popen
    os.kill(worker.pid, signal.SIGKILL)
    worker.wait(10)
    own_stage.start("worker")
    assert here.check(pull).conclusion == "success"
    here.comment(pull)
    assert here.until_told(pull).verdict == "verified"


@pytest.mark.thorough
@pytest.mark.parametrize("own_stage", ["embedded"], indirect=True)
def test_a_horse_is_killed_alone(own_stage: Stage, town: Build) -> None:
    here = town(SLOW, on=own_stage)
    pull = here.opens(COPILOT, GOOD_CHANGE)
    here.until_running(pull)
    horses(own_stage)[0].kill()
    assert here.check(pull).conclusion == "success"
    here.comment(pull)


def test_the_store_is_emptied_in_the_middle(own_stage: Stage, town: Build) -> None:
    here = town(SLOW, on=own_stage)
    first = here.opens(COPILOT, GOOD_CHANGE)
    second = here.opens(COPILOT, BAD_CHANGE, branch="second")
    here.until_running(first)
    queue_of(own_stage).flushall()
    assert here.check(first).conclusion == "success"
    assert here.check(second).conclusion == "failure"
    third = here.opens(COPILOT, {**GOOD_CHANGE, "more.txt": "more"}, branch="third")
    assert here.check(third).conclusion == "success"


@pytest.mark.parametrize("own_stage", ["servers"], indirect=True)
def test_sigterm_hands_the_run_back(own_stage: Stage, town: Build) -> None:
    here = town(SLOW, on=own_stage)
    pull = here.opens(COPILOT, GOOD_CHANGE)
    here.until_running(pull)
    family = psutil.Process(own_stage.processes["worker"].popen.pid).children(recursive=True)
    assert own_stage.stop("worker") == 0
    assert not [one for one in family if one.is_running() and one.status() != psutil.STATUS_ZOMBIE]
    run = here.run(pull)
    assert run is not None
    assert (run.state, run.tries) == ("queued", 0)
    left = subprocess.run(["docker", "ps", "-aq", "--filter", f"label=dualgate.run={run.id}"], capture_output=True, text=True, check=True)
    assert left.stdout.strip() == ""
    own_stage.start("worker")
    assert here.check(pull).conclusion == "success"


@pytest.mark.parametrize("own_stage", ["embedded"], indirect=True)
def test_a_webhook_that_was_missed_is_found(own_stage: Stage, town: Build) -> None:
    here = town(on=own_stage)
    here.until_read()
    own_stage.stop("worker")
    own_stage.hub.drop_next(1)
    pull = here.opens(COPILOT, GOOD_CHANGE)
    own_stage.hub.settle()
    own_stage.start("worker")
    assert here.check(pull).conclusion == "success"


@pytest.mark.parametrize("own_stage", ["embedded"], indirect=True)
def test_the_private_key_is_in_no_process_that_is_not_its_keeper(own_stage: Stage, town: Build) -> None:
    here = town(SLOW, on=own_stage)
    here.until_running(here.opens(COPILOT, GOOD_CHANGE))
    secret = own_stage.environment["GITHUB_PRIVATE_KEY"].splitlines()[3]
    seen = 0
    for name in ("serve", "worker"):
        parent = psutil.Process(own_stage.processes[name].popen.pid)
        for process in [parent, *parent.children(recursive=True)]:
            seen += 1
            text = Path(f"/proc/{process.pid}/environ").read_text(encoding="utf-8", errors="replace")
            assert secret not in text, process.cmdline()[:3]
            for descriptor in Path(f"/proc/{process.pid}/fd").iterdir():
                assert "memfd:key" not in os.readlink(descriptor) if descriptor.exists() else True
    assert seen >= 6


@pytest.mark.parametrize("own_stage", ["servers"], indirect=True)
def test_uninstalling_purges_what_was_known(own_stage: Stage, town: Build) -> None:
    here = town(on=own_stage)
    pull = here.opens(COPILOT, GOOD_CHANGE)
    here.check(pull)
    run = here.until_told(pull)
    own_stage.hub.suspend(here.installation)
    here.until_read()
    assert here.runs.load(run.id) is not None
    own_stage.hub.uninstall(here.installation)
    here.until_read()
    assert here.runs.load(run.id) is None
    assert not (own_stage.data_dir / "runs" / run.id).exists()
