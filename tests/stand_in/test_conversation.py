"""Issues, comments, labels and reactions."""

from __future__ import annotations

from typing import Any

import pytest

from tests.stand_in.place import Place


def test_a_comment_is_made_read_edited_and_deleted(here: Place) -> None:
    here.pull()
    client = here.client(pull_requests="write")
    made = client.post(f"{here.repo}/issues/1/comments", {"body": "Verified."})
    assert made.status_code == 201
    assert made.json()["performed_via_github_app"]["slug"] == "dualgate"
    address = f"{here.repo}/issues/comments/{made.json()['id']}"
    assert client.patch(address, {"body": "Rejected."}).json()["body"] == "Rejected."
    assert client.get(address).json()["user"]["login"] == "dualgate[bot]"
    assert [one["body"] for one in client.get(f"{here.repo}/issues/1/comments").json()] == ["Rejected."]
    assert client.delete(address).status_code == 204
    assert client.get(address).status_code == 404
    assert here.hub.comments(here.repository, 1) == []


@pytest.mark.parametrize(("body", "message"), [("x" * 65_537, "Body is too long (maximum is 65536 characters)"), ("", "Body can't be blank"), (" \n", "Body can't be blank")])
def test_comments_that_are_refused(here: Place, body: str, message: str) -> None:
    here.pull()
    answer = here.client().post(f"{here.repo}/issues/1/comments", {"body": body})
    assert (answer.status_code, answer.json()["errors"][0]["message"]) == (422, message)


def test_the_longest_comment_is_taken(here: Place) -> None:
    here.pull()
    assert here.client().post(f"{here.repo}/issues/1/comments", {"body": "x" * 65_536}).status_code == 201


def test_issues_need_issues_and_pull_requests_take_either(here: Place) -> None:
    here.pull()
    here.hub.open_issue(here.repository, "rea", "It fails", "Always.")
    client = here.client(pull_requests="write")
    assert client.post(f"{here.repo}/issues/1/comments", {"body": "x"}).status_code == 201
    assert client.post(f"{here.repo}/issues/2/comments", {"body": "x"}).status_code == 403
    assert here.client(issues="write").post(f"{here.repo}/issues/2/comments", {"body": "x"}).status_code == 201
    assert here.client(issues="read").post(f"{here.repo}/issues/2/comments", {"body": "x"}).status_code == 403
    assert here.client(contents="write").get(f"{here.repo}/issues/2").status_code == 403


def test_comments_come_in_pages(here: Place) -> None:
    pull = here.pull()
    for number in range(7):
        here.hub.comment("rea", pull, f"comment {number}")
    page = here.client().get(f"{here.repo}/issues/1/comments?per_page=3&page=2")
    assert [one["body"] for one in page.json()] == ["comment 3", "comment 4", "comment 5"]
    assert page.links["next"]["url"].endswith("per_page=3&page=3")


@pytest.mark.parametrize("body", [{"labels": ["dualgate", "bug"]}, ["dualgate", "bug"]])
def test_labels(here: Place, body: Any) -> None:
    here.pull()
    client = here.client()
    assert [one["name"] for one in client.post(f"{here.repo}/issues/1/labels", body).json()] == ["dualgate", "bug"]
    assert [one["name"] for one in client.get(f"{here.repo}/issues/1/labels").json()] == ["dualgate", "bug"]
    assert [one["name"] for one in client.delete(f"{here.repo}/issues/1/labels/dualgate").json()] == ["bug"]
    assert client.delete(f"{here.repo}/issues/1/labels/dualgate").json()["message"] == "Label does not exist"


def test_a_reaction_is_new_once(here: Place) -> None:
    comment = here.hub.comment("ada", here.pull(), "/dualgate verify")
    client, address = here.client(), f"{here.repo}/issues/comments/{comment.id}/reactions"
    assert [client.post(address, {"content": "eyes"}).status_code for _ in range(2)] == [201, 200]
    assert [one["content"] for one in client.get(address).json()] == ["eyes"]
    assert client.post(address, {"content": "shrug"}).status_code == 422
    assert client.get(f"{here.repo}/issues/comments/{comment.id}").json()["reactions"]["eyes"] == 1


def test_an_issue_is_closed_by_the_app(here: Place) -> None:
    here.hub.open_issue(here.repository, "rea", "It fails")
    told = here.client().patch(f"{here.repo}/issues/1", {"state": "closed", "state_reason": "not_planned"}).json()
    assert (told["state"], told["state_reason"], told["closed_by"]["login"]) == ("closed", "not_planned", "dualgate[bot]")


def test_a_thread_that_is_not_there(here: Place) -> None:
    assert here.client().get(f"{here.repo}/issues/9").status_code == 404
    assert here.client().post(f"{here.repo}/issues/9/comments", {"body": "x"}).status_code == 404
