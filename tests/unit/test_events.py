"""Which events ask for what; GitHub's own example payloads are read without a fault."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from pydantic import ValidationError

from bot.events import (
    TABLE,
    CancelPull,
    CommandGiven,
    ConsiderPull,
    Ignored,
    InstallationChanged,
    RepositoriesRemoved,
    RepositoryRenamed,
    RunAgain,
    VerifyGroup,
    intent_of,
    is_read,
)
from tests.github_description import examples

APP = 4242
REPOSITORY = {"id": 7, "full_name": "maria/invoice"}
PULL = {"number": 3, "state": "open", "user": {"id": 1, "login": "tom", "type": "User"}, "head": {"ref": "x", "sha": "a" * 40, "repo": None},
        "base": {"ref": "main", "sha": "b" * 40, "repo": {"id": 7, "full_name": "maria/invoice"}}}
COMMON: dict[str, Any] = {"repository": REPOSITORY, "installation": {"id": 5}, "sender": {"id": 1, "login": "tom", "type": "User"}}


def of(event: str, action: str, **more: Any) -> Any:
    return intent_of(event, {**copy.deepcopy(COMMON), "action": action, **more}, APP)


@pytest.mark.parametrize(("action", "cause"), [("opened", "opened"), ("reopened", "opened"), ("ready_for_review", "opened"), ("synchronize", "pushed")])
def test_a_pull_request_is_considered(action: str, cause: str) -> None:
    intent = of("pull_request", action, pull_request=PULL)
    assert isinstance(intent, ConsiderPull)
    assert (intent.number, intent.cause, intent.place.repository) == (3, cause, "maria/invoice")


def test_the_label_that_was_added_counts_not_the_labels_that_are_there() -> None:
    intent = of("pull_request", "labeled", pull_request={**PULL, "labels": [{"name": "dualgate"}]}, label={"name": "bug"})
    assert isinstance(intent, ConsiderPull)
    assert (intent.label, intent.sha) == ("bug", "a" * 40)


def test_only_another_base_is_an_edit_that_matters() -> None:
    assert isinstance(of("pull_request", "edited", pull_request=PULL, changes={"title": {"from": "x"}}), Ignored)
    assert isinstance(of("pull_request", "edited", pull_request=PULL, changes={"base": {"ref": {"from": "old"}}}), ConsiderPull)


def test_closing_cancels() -> None:
    assert isinstance(of("pull_request", "closed", pull_request=PULL), CancelPull)


@pytest.mark.parametrize(("comment", "issue", "kind"), [
    ({"id": 1, "body": "/dualgate verify", "user": {"id": 2, "login": "olga"}}, {"number": 3, "pull_request": {}}, CommandGiven),
    ({"id": 1, "body": "/dualgate verify", "user": {"id": 2, "login": "olga"}}, {"number": 3}, Ignored),
    ({"id": 1, "body": "please verify", "user": {"id": 2, "login": "olga"}}, {"number": 3, "pull_request": {}}, Ignored),
    ({"id": 1, "body": None, "user": None}, {"number": 3, "pull_request": {}}, Ignored),
    ({"id": 1, "body": "/dualgate verify", "user": {"id": 2, "login": "d[bot]"}, "performed_via_github_app": {"id": APP}}, {"number": 3, "pull_request": {}}, Ignored),
])
def test_commands_are_read_on_pull_requests_and_never_our_own(comment: dict[str, Any], issue: dict[str, Any], kind: type) -> None:
    assert isinstance(of("issue_comment", "created", comment=comment, issue=issue), kind)


@pytest.mark.parametrize(("app", "kind"), [({"id": APP}, RunAgain), ({"id": 1}, Ignored), (None, Ignored)])
def test_only_the_buttons_of_our_checks(app: Any, kind: type) -> None:
    assert isinstance(of("check_run", "rerequested", check_run={"id": 9, "head_sha": "a" * 40, "app": app}), kind)
    assert isinstance(of("check_suite", "rerequested", check_suite={"id": 9, "head_sha": "a" * 40, "app": app}), kind)


def test_the_rest_of_the_table() -> None:
    group = {"head_sha": "a" * 40, "head_ref": "refs/heads/gh-readonly-queue/main/pr-1", "base_sha": "b" * 40, "base_ref": "refs/heads/main"}
    assert isinstance(of("merge_group", "checks_requested", merge_group=group), VerifyGroup)
    assert of("installation", "deleted", installation={"id": 5, "account": {"id": 1, "login": "maria"}}) == InstallationChanged(5, "maria", "deleted")
    assert of("installation_repositories", "removed", installation={"id": 5}, repositories_removed=[REPOSITORY]) == RepositoriesRemoved(
        (7,), "the App was removed from the repository")
    assert of("repository", "renamed") == RepositoryRenamed(7, "maria/invoice")


def test_what_names_no_installation_asks_for_nothing() -> None:
    assert isinstance(intent_of("pull_request", {"action": "opened", "repository": REPOSITORY, "pull_request": PULL}, APP), Ignored)


def test_a_payload_that_lacks_its_subject_is_a_validation_error() -> None:
    with pytest.raises(ValidationError):
        of("pull_request", "opened")


def test_each_example_payload_of_our_events_is_read() -> None:
    seen = set()
    for event, payloads in examples().items():
        for payload in payloads:
            action = str(payload.get("action", ""))
            if is_read(event, action):
                seen.add((event, action))
                intent_of(event, {"installation": {"id": 1}, **payload}, APP)
    # GitHub's examples have none of these.
    assert set(TABLE) - seen <= {("installation", "new_permissions_accepted"), ("pull_request", "edited"), ("merge_group", "destroyed"),
                                 ("merge_group", "checks_requested"), ("check_run", "requested_action"), ("repository", "renamed"),
                                 ("repository", "transferred"), ("repository", "archived"), ("repository", "deleted")}
