"""The checker itself: a checker that finds nothing would let everything else pass."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import pytest

from bot.demo.github.exchange import Exchange
from tests.github_description import description, examples, webhook_departures
from tests.npm_packages import Package, Tampered, file_of
from tests.openapi_schema import to_json_schema
from tests.stand_in.place import Listener, Place

ERROR = {"message": "Not Found", "documentation_url": "https://docs.github.com/rest", "status": "404"}


@pytest.fixture
def exchanges(here: Place) -> dict[str, Exchange]:
    """Real ones: a check made, a list of pull requests, a file that is not there."""
    client, pull = here.client(), here.pull()
    client.post(f"{here.repo}/check-runs", {"name": "dualgate", "head_sha": pull.head_sha, "output": {"title": "t", "summary": "s", "annotations": [
        {"path": "stats.py", "start_line": 1, "end_line": 1, "annotation_level": "notice", "message": "m"}]}})
    client.get(f"{here.repo}/pulls?state=all&per_page=5")
    client.get(f"{here.repo}/contents/none")
    return dict(zip(("check", "pulls", "missing"), here.hub.requests, strict=True))


def _without(value: Any, *path: str | int) -> Any:
    made = copy.deepcopy(value)
    inner = made
    for part in path[:-1]:
        inner = inner[part]
    del inner[path[-1]]
    return made


def _with(value: Any, new: object, *path: str | int) -> Any:
    made = copy.deepcopy(value)
    inner = made
    for part in path[:-1]:
        inner = inner[part]
    inner[path[-1]] = new
    return made


def test_real_exchanges_depart_from_nothing(exchanges: dict[str, Exchange]) -> None:
    assert [description().departures(one) for one in exchanges.values()] == [[], [], []]


@pytest.mark.parametrize(("which", "change", "expected"), [
    ("check", lambda one: replace(one, path="/repos/octo/stats/checks"), "no such operation"),
    ("check", lambda one: replace(one, method="PUT"), "no such operation"),
    ("check", lambda one: replace(one, body=_without(one.body, "name")), "'name' is a required property"),
    ("check", lambda one: replace(one, body={**one.body, "extrenal_id": "x"}), "body.extrenal_id: not in the description"),
    ("check", lambda one: replace(one, body=_with(one.body, 1, "output", "annotations", 0, "line")), "body.output.annotations[0].line: not in the description"),
    ("check", lambda one: replace(one, body=_with(one.body, "error", "output", "annotations", 0, "annotation_level")), "'error' is not one of"),
    ("check", lambda one: replace(one, body=_with(one.body, [{}] * 51, "output", "annotations")), "is too long"),
    ("check", lambda one: replace(one, body=None), "a body is required"),
    ("check", lambda one: replace(one, status=200), "undeclared status 200"),
    ("check", lambda one: replace(one, response=_without(one.response, "external_id")), "'external_id' is a required property"),
    ("check", lambda one: replace(one, response=_with(one.response, "passed", "conclusion")), "'passed' is not one of"),
    ("check", lambda one: replace(one, response=_with(one.response, "yesterday", "started_at")), "'yesterday' is not a 'date-time'"),
    ("check", lambda one: replace(one, response=_with(one.response, None, "id")), "None is not of type 'integer'"),
    ("check", lambda one: replace(one, response=None), "no JSON with status 201"),
    ("check", lambda one: replace(one, request_headers={"User-Agent": "x", "Accept": "text/html", "Content-Type": "application/json"}), "Accept 'text/html'"),
    ("check", lambda one: replace(one, request_headers={"Content-Type": "application/json"}), "no User-Agent"),
    ("check", lambda one: replace(one, request_headers={"User-Agent": "x"}), "without its Content-Type"),
    ("pulls", lambda one: replace(one, query={"stat": "all"}), "undeclared query parameter stat"),
    ("pulls", lambda one: replace(one, query={"state": "merged"}), "'merged' is not one of"),
    ("pulls", lambda one: replace(one, query={"per_page": "all"}), "'all' is not of type 'integer'"),
    ("pulls", lambda one: replace(one, body={"x": 1}), "undeclared body"),
    ("pulls", lambda one: replace(one, response=_without(one.response, 0, "base", "repo", "default_branch")), "'default_branch' is a required property"),
    ("missing", lambda one: replace(one, response={"error": "no"}), "no message"),
    ("missing", lambda one: replace(one, status=418), "undeclared status 418"),
])
def test_a_departure_is_found(exchanges: dict[str, Exchange], which: str, change: Any, expected: str) -> None:
    found = description().departures(change(exchanges[which]))
    assert any(expected in fault for fault in found), found


def test_the_more_specific_address_wins(exchanges: dict[str, Exchange]) -> None:
    listed = replace(exchanges["pulls"], path=f"/repos/octo/stats/commits/{'a' * 40}/pulls", query={})
    assert description().departures(listed) == []


def test_a_fork_that_is_gone_may_be_null(exchanges: dict[str, Exchange]) -> None:
    one = exchanges["pulls"]
    assert description().departures(replace(one, response=_with(one.response, None, 0, "head", "repo"))) == []
    assert description().departures(replace(one, response=_with(one.response, None, 0, "base", "repo"))) != []


def test_answers_of_faults_are_not_looked_at(exchanges: dict[str, Exchange]) -> None:
    one = replace(exchanges["check"], status=200, response={}, faulted=True)
    assert description().departures(one) == []
    assert description().departures(replace(one, body={"extrenal_id": "x"})) != []


@pytest.mark.parametrize(("change", "expected"), [
    (lambda one: _without(one, "sender"), "'sender' is a required property"),
    (lambda one: _without(one, "issue", "user", "id"), "'id' is a required property"),
    (lambda one: _with(one, 1, "issue", "surprise"), "Additional properties are not allowed ('surprise' was unexpected)"),
    (lambda one: _with(one, "open", "action"), "no such event"),
])
def test_a_webhook_that_departs_is_found(here: Place, bot: Listener, change: Any, expected: str) -> None:
    here.hub.open_issue(here.repository, "rea", "It fails")
    here.hub.settle()
    payload = here.hub.deliveries[-1].payload
    assert webhook_departures("issues", payload) == []
    assert any(expected in fault for fault in webhook_departures("issues", change(payload)))


@pytest.mark.parametrize("event", ["check_run", "check_suite", "issue_comment", "issues", "merge_group", "pull_request", "push"])
def test_what_we_send_has_the_members_of_githubs_examples(here: Place, bot: Listener, event: str) -> None:
    """The examples are older than the schemas, so members may have come since, but none that they have is missing."""
    pull = here.pull()
    here.hub.comment("ada", here.hub.open_issue(here.repository, "rea", "It fails"), "Always.")
    here.hub.create_check(here.app, here.repository, {"name": "dualgate", "head_sha": pull.head_sha, "conclusion": "success"})
    here.hub.merge_group(here.repository, pull=pull)
    here.hub.settle()
    ours = next(one for one in here.hub.deliveries if one.event == event)
    theirs = next(one for one in examples()[event] if one.get("action") == ours.action)
    assert set(_lacking(theirs, ours.payload)) - NOT_OURS == set()


# What the examples' repositories and people had and ours have not.
NOT_OURS = {"deployment", "draft", "permissions", "username"}


def _lacking(theirs: Any, ours: Any) -> list[str]:
    """Names of members that ours have not, wherever both are objects."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        return [*(name for name in theirs if name not in ours), *(gone for name in theirs if name != "permissions" for gone in _lacking(theirs[name], ours.get(name)))]
    return []


def test_nullable_becomes_a_type() -> None:
    assert to_json_schema({"type": "string", "nullable": True, "enum": ["a"]}) == {"anyOf": [{"type": "null"}, {"type": "string", "enum": ["a"]}]}


def test_a_package_that_was_tampered_with_is_refused(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    class Answer:
        content = b"something else"

        def raise_for_status(self) -> None:
            pass

    monkeypatch.setenv("DUALGATE_TEST_CACHE", str(tmp_path))
    monkeypatch.setattr("tests.npm_packages.requests.get", lambda *_, **__: Answer())
    with pytest.raises(Tampered, match="expected sha512"):
        file_of(Package("@octokit/openapi", "0.0.0", "sha512-AAAA"), "x.json")
