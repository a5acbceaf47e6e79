"""Every event that is sent, and deliveries that are late, lost, doubled or out of order."""

from __future__ import annotations

import hashlib
import hmac
import json
import threading
from typing import Any

import pytest

from bot.demo.github.webhooks import signature
from tests.stand_in.place import APP_ID, SECRET, Listener, Place


def _names(listener: Listener) -> list[str]:
    told = []
    for headers, body in listener.received:
        action = json.loads(body).get("action")
        told.append(headers["X-GitHub-Event"] + (f".{action}" if action else ""))
    return told


def _last(listener: Listener, place: Place, event: str) -> Any:
    place.hub.settle()
    return next(json.loads(body) for headers, body in reversed(listener.received) if headers["X-GitHub-Event"] == event)


def test_githubs_own_vector() -> None:
    assert signature("It's a Secret to Everybody", b"Hello, World!") == "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"


def test_a_delivery_is_signed_and_named(here: Place, bot: Listener) -> None:
    here.hub.open_issue(here.repository, "rea", "Ünïcode", "✓")
    here.hub.settle()
    headers, body = bot.received[-1]
    assert headers["X-Hub-Signature-256"] == "sha256=" + hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    assert headers["User-Agent"].startswith("GitHub-Hookshot/")
    assert (headers["X-GitHub-Event"], headers["X-GitHub-Hook-Installation-Target-Type"]) == ("issues", "integration")
    assert headers["X-GitHub-Hook-Installation-Target-ID"] == str(APP_ID)
    assert {"X-GitHub-Delivery", "X-GitHub-Hook-ID"} <= set(headers)
    payload = json.loads(body)
    assert (payload["organization"]["login"], payload["sender"]["login"], payload["installation"]["id"]) == ("octo", "rea", here.installation)


def test_every_event_fits_githubs_schemas(here: Place, bot: Listener) -> None:
    """The schemas are looked at when the test ends: here it is only that all were sent."""
    hub, repository = here.hub, here.repository
    other = hub.add_repository("octo", "other", here.work)
    pull = here.pull()
    here.branch("release", {"r.py": "1\n"})
    here.branch("change", {"change.py": "x = 2\n"})
    hub.add_label("ada", pull, "dualgate")
    hub.remove_label("ada", pull, "dualgate")
    hub.convert_to_draft(pull)
    hub.ready_for_review(pull)
    hub.retarget(pull, "release")
    hub.edit_pull(pull, title="Better", body="Longer")
    hub.close_pull(pull)
    hub.reopen_pull(pull)
    hub.retarget(pull, "main")
    comment = hub.comment("ada", pull, "/dualgate verify")
    hub.edit_comment("ada", comment, "/dualgate verify now")
    hub.delete_comment("ada", comment)
    issue = hub.open_issue(repository, "rea", "It fails", None)
    hub.add_label("ada", issue, "dualgate")
    hub.remove_label("ada", issue, "dualgate")
    hub.comment("rea", issue, "Always.")
    hub.edit_issue("rea", issue, body="It fails always.")
    hub.close_issue("ada", issue, "not_planned")
    hub.reopen_issue("ada", issue)
    hub.transfer_issue("ada", issue, other)
    hub.delete_issue("ada", hub.open_issue(repository, "rea", "Oops", ""))
    run = hub.create_check(here.app, repository, {"name": "dualgate", "head_sha": pull.head_sha, "external_id": "run-1"})
    hub.update_check(here.app, run, {"conclusion": "action_required", "actions": [{"label": "Explain", "description": "What", "identifier": "explain"}]})
    hub.rerequest(run.id, "wes")
    hub.request_action(run.id, "explain", "wes")
    hub.rerequest_suite(run.id, "wes")
    hub.merge_group(repository, "main", pull=pull)
    hub.merge_pull(pull)
    hub.delete_branch(repository, "release")
    hub.install(here.app, [other])
    hub.remove_repository(here.installation, other)
    hub.suspend(here.installation)
    hub.unsuspend(here.installation)
    hub.rename_repository(repository, "figures")
    hub.archive_repository(repository)
    hub.delete_repository(repository)
    hub.uninstall(here.installation)
    hub.install(here.app, [other])
    hub.transfer_repository(other, "elsewhere")
    hub.settle()
    assert set(_names(bot)) == {
        "push", "pull_request.opened", "pull_request.synchronize", "pull_request.labeled", "pull_request.unlabeled", "pull_request.converted_to_draft",
        "pull_request.ready_for_review", "pull_request.edited", "pull_request.closed", "pull_request.reopened", "issue_comment.created",
        "issue_comment.edited", "issue_comment.deleted", "issues.opened", "issues.labeled", "issues.unlabeled", "issues.edited", "issues.closed",
        "issues.reopened", "issues.transferred", "issues.deleted", "check_run.created", "check_run.completed", "check_run.rerequested",
        "check_run.requested_action", "check_suite.requested", "check_suite.completed", "check_suite.rerequested", "merge_group.checks_requested",
        "installation.created", "installation.deleted", "installation.suspend", "installation.unsuspend", "installation_repositories.added",
        "installation_repositories.removed", "repository.renamed", "repository.archived", "repository.deleted"}


def test_who_sent_and_who_wrote(here: Place, bot: Listener) -> None:
    here.hub.add_user("Copilot", kind="Bot", id=198982749)
    pull = here.pull(author="Copilot")
    here.hub.add_label("ada", pull, "dualgate")
    payload = _last(bot, here, "pull_request")
    assert (payload["pull_request"]["user"]["id"], payload["pull_request"]["user"]["type"]) == (198982749, "Bot")
    assert (payload["sender"]["login"], payload["label"]["name"]) == ("ada", "dualgate")


def test_a_comment_on_a_pull_request_says_so(here: Place, bot: Listener) -> None:
    pull, issue = here.pull(), here.hub.open_issue(here.repository, "rea", "It fails")
    here.hub.comment("ada", issue, "Hm.")
    assert "pull_request" not in _last(bot, here, "issue_comment")["issue"]
    here.hub.comment("ada", pull, "/dualgate verify")
    assert "pull_request" in _last(bot, here, "issue_comment")["issue"]


def test_a_retarget_tells_where_from(here: Place, bot: Listener) -> None:
    here.branch("release", {"r.py": "1\n"})
    here.hub.retarget(here.pull(), "release")
    payload = _last(bot, here, "pull_request")
    assert (payload["changes"]["base"]["ref"]["from"], payload["pull_request"]["base"]["ref"]) == ("main", "release")


def test_what_the_app_does_itself_is_told_too(here: Place, bot: Listener) -> None:
    here.pull()
    here.client().post(f"{here.repo}/issues/1/comments", {"body": "Verified."})
    assert _last(bot, here, "issue_comment")["sender"] == {**_last(bot, here, "issue_comment")["sender"], "login": "dualgate[bot]", "type": "Bot"}


def test_a_deleted_fork_leaves_no_head_repository(here: Place, bot: Listener) -> None:
    fork = here.hub.fork(here.repository, "rea")
    here.branch("mine", {"x.py": "1\n"}, fork)
    pull = here.hub.open_pull(here.repository, "rea", "From outside", None, "mine", head_repository=fork)
    here.hub.delete_head_repository(pull)
    here.hub.add_label("ada", pull, "dualgate")
    assert _last(bot, here, "pull_request")["pull_request"]["head"]["repo"] is None


def test_rerequests_go_to_the_owner_of_the_check_only(here: Place, bot: Listener) -> None:
    other = here.hub.add_app("other", 77, "", None, permissions={"checks": "write"})
    here.hub.install(other, [here.repository])
    run = here.hub.create_check(other, here.repository, {"name": "ci", "head_sha": here.pull().head_sha, "conclusion": "success"})
    here.hub.rerequest(run.id, "ada")
    here.hub.settle()
    assert "check_run.created" in _names(bot)
    assert "check_run.rerequested" not in _names(bot)


def test_a_suspended_installation_hears_nothing_more(here: Place, bot: Listener) -> None:
    here.hub.suspend(here.installation)
    here.pull()
    here.hub.settle()
    assert _names(bot) == ["installation.suspend"]


def test_what_is_held_can_be_turned_around_doubled_and_left_out(here: Place, bot: Listener) -> None:
    pull = here.pull()
    here.hub.settle()
    bot.received.clear()
    here.hub.hold_deliveries()
    for label in ("a", "b", "c"):
        here.hub.add_label("ada", pull, label)
    here.hub.settle()
    assert bot.received == []
    here.hub.release(lambda held: [held[2], held[0], held[0]])
    here.hub.settle()
    assert [json.loads(body)["label"]["name"] for _, body in bot.received] == ["c", "a", "a"]
    assert len({headers["X-GitHub-Delivery"] for headers, _ in bot.received}) == 2


@pytest.mark.parametrize(("status", "told"), [(503, "Invalid HTTP Response: 503"), (502, "failed to connect to host"), (504, "timed out")])
def test_a_lost_delivery_is_listed_and_attempted_again(here: Place, bot: Listener, status: int, told: str) -> None:
    here.hub.drop_next(1, status)
    here.hub.open_issue(here.repository, "rea", "It fails")
    here.hub.settle()
    app = here.as_app()
    [lost] = app.get("/app/hook/deliveries").json()
    assert (lost["status_code"], lost["status"], lost["event"], lost["action"], bot.received) == (status, told, "issues", "opened", [])
    assert app.get(f"/app/hook/deliveries/{lost['id']}").json()["request"]["payload"]["issue"]["title"] == "It fails"
    assert app.post(f"/app/hook/deliveries/{lost['id']}/attempts").status_code == 202
    here.hub.settle()
    newest, oldest = app.get("/app/hook/deliveries").json()
    assert (newest["guid"], newest["redelivery"], newest["status"]) == (oldest["guid"], True, "OK")
    assert [headers["X-GitHub-Delivery"] for headers, _ in bot.received] == [lost["guid"]]


def test_deliveries_come_in_pages_by_cursor(here: Place, bot: Listener) -> None:
    for number in range(5):
        here.hub.open_issue(here.repository, "rea", f"issue {number}")
    here.hub.settle()
    app, seen, address = here.as_app(), [], "/app/hook/deliveries?per_page=2"
    while address:
        page = app.get(address)
        seen += [one["id"] for one in page.json()]
        address = page.links.get("next", {}).get("url", "").removeprefix(f"{here.url}/api/v3")
    assert seen == [one.id for one in reversed(here.hub.deliveries)]
    assert app.get("/app/hook/deliveries?cursor=nonsense").status_code == 400
    assert app.get("/app/hook/deliveries/1").status_code == 404


def test_a_server_that_is_down_and_one_that_fails(here: Place, bot: Listener) -> None:
    bot.status = 500
    here.hub.open_issue(here.repository, "rea", "one")
    here.hub.settle()
    here.hub.set_webhook(here.app, "http://127.0.0.1:9/webhooks")
    here.hub.open_issue(here.repository, "rea", "two")
    here.hub.settle()
    assert [one.status_code for one in here.hub.deliveries] == [500, 502]
    here.hub.set_webhook(here.app, bot.url)
    bot.status = 202
    here.hub.redeliver(here.hub.deliveries[0].guid)
    here.hub.settle()
    assert here.hub.delivered("issues.opened")[-1].status == "OK"


def test_waiting_ends_with_an_error(here: Place) -> None:
    with pytest.raises(TimeoutError, match="no check"):
        here.hub.wait_for(lambda: here.hub.checks(here.repository), 0.1, "no check")
    threading.Timer(0.05, here.hub.open_issue, (here.repository, "rea", "later")).start()
    here.hub.wait_for(lambda: here.repository.threads, 5)
