"""Check runs: their life, their limits, and who may touch them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.stand_in.place import Client, Place, app_token, key_pair

ANNOTATION = {"path": "stats.py", "start_line": 2, "end_line": 2, "annotation_level": "failure", "message": "assert 1 == 2"}
OUTPUT = {"title": "Rejected", "summary": "One test broke."}


def _start(place: Place, sha: str, **more: Any) -> Any:
    return place.client(checks="write").post(f"{place.repo}/check-runs", {"name": "dualgate", "head_sha": sha, **more})


def test_a_check_from_queued_to_completed(here: Place) -> None:
    pull = here.pull()
    made = _start(here, pull.head_sha, external_id="run-1", details_url="http://localhost:8000/runs/run-1")
    assert made.status_code == 201
    run = made.json()
    assert (run["status"], run["conclusion"], run["external_id"], [one["number"] for one in run["pull_requests"]]) == ("queued", None, "run-1", [1])
    address, client = f"{here.repo}/check-runs/{run['id']}", here.client(checks="write")
    assert client.patch(address, {"status": "in_progress", "output": OUTPUT}).json()["status"] == "in_progress"
    ended = client.patch(address, {"conclusion": "failure"}).json()
    assert (ended["status"], ended["conclusion"], ended["output"]["title"]) == ("completed", "failure", "Rejected")
    assert ended["completed_at"] is not None
    assert client.get(address).json() == ended


def test_annotations_are_appended(here: Place) -> None:
    run = _start(here, here.pull().head_sha, output={**OUTPUT, "annotations": [ANNOTATION] * 50}).json()
    client, address = here.client(), f"{here.repo}/check-runs/{run['id']}"
    told = client.patch(address, {"output": {"title": "t", "summary": "s", "annotations": [{**ANNOTATION, "start_column": 1, "end_column": 4}]}}).json()
    assert told["output"]["annotations_count"] == 51
    pages = [len(client.get(f"{address}/annotations?per_page=30&page={page}").json()) for page in (1, 2)]
    assert pages == [30, 21]


def test_the_latest_run_of_a_name(here: Place) -> None:
    sha = here.pull().head_sha
    ids = [_start(here, sha).json()["id"] for _ in range(2)]
    _start(here, sha, name="other")
    client, address = here.client(), f"{here.repo}/commits/{sha}/check-runs"
    assert [one["id"] for one in client.get(f"{address}?check_name=dualgate").json()["check_runs"]] == ids[1:]
    assert [one["id"] for one in client.get(f"{address}?check_name=dualgate&filter=all").json()["check_runs"]] == ids[::-1]
    assert client.get(f"{address}?app_id={here.app.id}&per_page=1").json()["total_count"] == 2
    assert client.get(f"{address}?app_id=1").json()["total_count"] == 0
    assert [run.id for run in here.hub.checks(here.repository, sha, "dualgate")] == ids


def test_a_fork_has_no_pull_requests_and_no_branch(here: Place) -> None:
    fork = here.hub.fork(here.repository, "rea")
    sha = here.branch("mine", {"x.py": "1\n"}, fork)
    here.hub.open_pull(here.repository, "rea", "From outside", None, "mine", head_repository=fork)
    run = _start(here, sha).json()
    assert run["pull_requests"] == []
    assert here.hub.check(run["id"]).suite.head_branch is None


def test_another_apps_check_is_read_only(here: Place) -> None:
    run = _start(here, here.pull().head_sha).json()
    other = here.hub.add_app("other", 77, key_pair()[1], permissions={"checks": "write"})
    client = Client(here.url, here.hub.mint(here.hub.install(other, [here.repository])))
    assert Client(here.url, app_token(77)).get("/app").status_code == 200
    assert client.get(f"{here.repo}/check-runs/{run['id']}").status_code == 200
    assert client.patch(f"{here.repo}/check-runs/{run['id']}", {"conclusion": "success"}).status_code == 403


def test_checks_need_their_permission(here: Place) -> None:
    sha = here.pull().head_sha
    assert here.client(checks="read").post(f"{here.repo}/check-runs", {"name": "x", "head_sha": sha}).status_code == 403
    assert here.client(contents="write").get(f"{here.repo}/commits/{sha}/check-runs").status_code == 403


def test_a_run_that_is_done_may_start_again(here: Place) -> None:
    run = _start(here, here.pull().head_sha, conclusion="success").json()
    again = here.client().patch(f"{here.repo}/check-runs/{run['id']}", {"status": "in_progress"}).json()
    assert (again["status"], again["conclusion"], again["completed_at"]) == ("in_progress", None, None)


def _output(**more: Any) -> dict[str, Any]:
    return {"output": {**OUTPUT, **more}}


def _annotation(**more: Any) -> dict[str, Any]:
    return _output(annotations=[{**ANNOTATION, **more}])


def _action(**more: Any) -> dict[str, Any]:
    return {"actions": [{"label": "Explain", "description": "What was seen", "identifier": "explain", **more}]}


TOO_MUCH = {
    "no commit": {"head_sha": "1" * 40},
    "a branch instead of a commit": {"head_sha": "main"},
    "a long summary": _output(summary="x" * 65_536),
    "a long text": _output(text="x" * 65_536),
    "a summary of too many bytes": _output(summary="é" * 40_000),
    "an output without a summary": {"output": {"title": "t"}},
    "51 annotations": _output(annotations=[ANNOTATION] * 51),
    "an annotation without a line": _output(annotations=[{"path": "stats.py", "annotation_level": "failure", "message": "m"}]),
    "columns over several lines": _annotation(end_line=3, start_column=1, end_column=2),
    "lines in the wrong order": _annotation(start_line=3),
    "a line that is a string": _annotation(start_line="2"),
    "an unknown level": _annotation(annotation_level="error"),
    "a long title": _annotation(title="x" * 256),
    "a long message": _annotation(message="x" * 65_537),
    "completed without a conclusion": {"status": "completed"},
    "completed_at without a conclusion": {"completed_at": "2026-01-01T00:00:00Z"},
    "an unknown conclusion": {"conclusion": "passed"},
    "stale, which is GitHub's own": {"conclusion": "stale"},
    "an unknown status": {"status": "running"},
    "a time without a zone": {"started_at": "2026-01-01 00:00:00"},
    "details that are no address": {"details_url": "javascript:alert(1)"},
    "four actions": {"actions": _action()["actions"] * 4},
    "a long label": _action(label="x" * 21),
    "a long description": _action(description="x" * 41),
    "a long identifier": _action(identifier="x" * 21),
}


@pytest.mark.parametrize("body", TOO_MUCH.values(), ids=TOO_MUCH)
def test_what_github_refuses(here: Place, body: dict[str, Any]) -> None:
    answer = here.client().post(f"{here.repo}/check-runs", {"name": "dualgate", "head_sha": here.pull().head_sha, **body})
    assert answer.status_code == 422
    assert answer.json()["message"].startswith(("Invalid request.\n\n", "Validation Failed"))
    assert here.hub.checks(here.repository) == []


@pytest.mark.parametrize("body", [_output(summary="x" * 65_535), _annotation(title="x" * 255, message="x" * 65_536), _annotation(end_line=9), {"actions": _action(label="x" * 20)["actions"] * 3}, {"status": "completed", "conclusion": "action_required"}])
def test_what_is_just_allowed(here: Place, body: dict[str, Any]) -> None:
    assert _start(here, here.pull().head_sha, **body).status_code == 201
