"""One table: event and action -> what it asks for. A payload is a hint: the pull request is read again before anything is done."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from bot.commands import Command, read_command
from bot.payloads import (
    CheckRunEvent,
    CheckSuiteEvent,
    InstallationEvent,
    InstallationRepositoriesEvent,
    IssueCommentEvent,
    MergeGroup,
    MergeGroupEvent,
    PullRequestEvent,
    RepositoryEvent,
    User,
)


@dataclass(frozen=True)
class Place:
    """A repository as an installation sees it."""

    installation_id: int
    repository_id: int
    repository: str
    delivery: str = ""  # the webhook that led here


@dataclass(frozen=True)
class ConsiderPull:
    """A pull request may want a verification. `cause`: opened | pushed | labelled | retarget; `label`, `sha`: of the one that was put on."""

    place: Place
    number: int
    cause: str
    actor: User
    label: str = ""
    sha: str = ""


@dataclass(frozen=True)
class CommandGiven:
    """Somebody wrote a command in a thread of a pull request."""

    place: Place
    number: int
    actor: User
    command: Command


@dataclass(frozen=True)
class RunAgain:
    """The re-run button of a check of ours (`check_run_id`), or of the whole suite (None)."""

    place: Place
    head_sha: str
    check_run_id: int | None
    external_id: str
    actor: User


@dataclass(frozen=True)
class VerifyGroup:
    """A merge queue waits for its group."""

    place: Place
    group: MergeGroup
    actor: User


@dataclass(frozen=True)
class CancelPull:
    """A pull request needs no verification any more."""

    place: Place
    number: int
    why: str


@dataclass(frozen=True)
class CancelGroup:
    """A merge queue has dropped its group."""

    place: Place
    head_ref: str


@dataclass(frozen=True)
class InstallationChanged:
    """`state`: active | suspended | deleted."""

    installation_id: int
    account: str
    state: str


@dataclass(frozen=True)
class RepositoriesRemoved:
    """Repositories that are no longer ours to look at."""

    repository_ids: tuple[int, ...]
    why: str


@dataclass(frozen=True)
class RepositoryRenamed:
    """Its id stays."""

    repository_id: int
    full_name: str


@dataclass(frozen=True)
class Ignored:
    """Nothing is asked for; why is for the record."""

    why: str


Intent = (ConsiderPull | CommandGiven | RunAgain | VerifyGroup | CancelPull | CancelGroup | InstallationChanged | RepositoriesRemoved
          | RepositoryRenamed | Ignored)


def is_read(event: str, action: str) -> bool:
    """Whether deliveries of this kind are kept and read."""
    return (event, action) in TABLE


def intent_of(event: str, payload: Mapping[str, Any], app_id: int) -> Intent:
    """What a delivery asks for. Raises pydantic.ValidationError for a payload that lacks what its kind must have."""
    read = TABLE.get((event, str(payload.get("action", ""))))
    if read is None:
        return Ignored("nobody reads this event")
    if not payload.get("installation") and event not in ("installation", "repository"):
        return Ignored("it names no installation")
    return read(payload, app_id)


def _place(event: PullRequestEvent | IssueCommentEvent | CheckRunEvent | CheckSuiteEvent | MergeGroupEvent) -> Place:
    return Place(event.installation.id, event.repository.id, event.repository.full_name)


def _consider(cause: str) -> Callable[[Mapping[str, Any], int], Intent]:
    def read(payload: Mapping[str, Any], _: int) -> Intent:
        event = PullRequestEvent.model_validate(payload)
        return ConsiderPull(_place(event), event.pull_request.number, cause, event.sender)
    return read


def _labelled(payload: Mapping[str, Any], _: int) -> Intent:
    event = PullRequestEvent.model_validate(payload)
    label = event.label.name if event.label else ""
    return ConsiderPull(_place(event), event.pull_request.number, "labelled", event.sender, label, event.pull_request.head.sha)


def _edited(payload: Mapping[str, Any], _: int) -> Intent:
    event = PullRequestEvent.model_validate(payload)
    if event.changes is None or event.changes.base is None:
        return Ignored("only its words were edited")
    return ConsiderPull(_place(event), event.pull_request.number, "retarget", event.sender)


def _closed(payload: Mapping[str, Any], _: int) -> Intent:
    event = PullRequestEvent.model_validate(payload)
    return CancelPull(_place(event), event.pull_request.number, "the pull request was closed")


def _commented(payload: Mapping[str, Any], app_id: int) -> Intent:
    event = IssueCommentEvent.model_validate(payload)
    actor = event.comment.user or event.sender
    if event.comment.performed_via_github_app and event.comment.performed_via_github_app.id == app_id:
        return Ignored("it is our own comment")
    command = read_command(event.comment.body or "")
    if command is None:
        return Ignored("no command in it")
    if event.issue.pull_request is None:
        return Ignored("commands are read on pull requests")
    return CommandGiven(_place(event), event.issue.number, actor, command)


def _run_again(payload: Mapping[str, Any], app_id: int) -> Intent:
    event = CheckRunEvent.model_validate(payload)
    if event.check_run.app is None or event.check_run.app.id != app_id:
        return Ignored("it is another App's check")
    return RunAgain(_place(event), event.check_run.head_sha, event.check_run.id, event.check_run.external_id or "", event.sender)


def _suite_again(payload: Mapping[str, Any], app_id: int) -> Intent:
    event = CheckSuiteEvent.model_validate(payload)
    if event.check_suite.app is None or event.check_suite.app.id != app_id:
        return Ignored("it is another App's suite")
    return RunAgain(_place(event), event.check_suite.head_sha, None, "", event.sender)


def _group(payload: Mapping[str, Any], _: int) -> Intent:
    event = MergeGroupEvent.model_validate(payload)
    return VerifyGroup(_place(event), event.merge_group, event.sender)


def _group_gone(payload: Mapping[str, Any], _: int) -> Intent:
    event = MergeGroupEvent.model_validate(payload)
    return CancelGroup(_place(event), event.merge_group.head_ref)


def _installation(state: str) -> Callable[[Mapping[str, Any], int], Intent]:
    def read(payload: Mapping[str, Any], _: int) -> Intent:
        event = InstallationEvent.model_validate(payload)
        return InstallationChanged(event.installation.id, event.installation.account.login if event.installation.account else "", state)
    return read


def _removed(payload: Mapping[str, Any], _: int) -> Intent:
    event = InstallationRepositoriesEvent.model_validate(payload)
    return RepositoriesRemoved(tuple(one.id for one in event.repositories_removed), "the App was removed from the repository")


def _gone(why: str) -> Callable[[Mapping[str, Any], int], Intent]:
    def read(payload: Mapping[str, Any], _: int) -> Intent:
        return RepositoriesRemoved((RepositoryEvent.model_validate(payload).repository.id,), why)
    return read


def _renamed(payload: Mapping[str, Any], _: int) -> Intent:
    event = RepositoryEvent.model_validate(payload)
    return RepositoryRenamed(event.repository.id, event.repository.full_name)


TABLE: dict[tuple[str, str], Callable[[Mapping[str, Any], int], Intent]] = {
    ("pull_request", "opened"): _consider("opened"),
    ("pull_request", "reopened"): _consider("opened"),
    ("pull_request", "ready_for_review"): _consider("opened"),
    ("pull_request", "synchronize"): _consider("pushed"),
    ("pull_request", "labeled"): _labelled,
    ("pull_request", "edited"): _edited,
    ("pull_request", "closed"): _closed,
    ("issue_comment", "created"): _commented,
    ("check_run", "rerequested"): _run_again,
    ("check_run", "requested_action"): _run_again,
    ("check_suite", "rerequested"): _suite_again,
    ("merge_group", "checks_requested"): _group,
    ("merge_group", "destroyed"): _group_gone,
    ("installation", "created"): _installation("active"),
    ("installation", "unsuspend"): _installation("active"),
    ("installation", "new_permissions_accepted"): _installation("active"),
    ("installation", "suspend"): _installation("suspended"),
    ("installation", "deleted"): _installation("deleted"),
    ("installation_repositories", "removed"): _removed,
    ("repository", "renamed"): _renamed,
    ("repository", "transferred"): _renamed,
    ("repository", "archived"): _gone("the repository was archived"),
    ("repository", "deleted"): _gone("the repository was deleted"),
}
