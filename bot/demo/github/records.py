"""What the stand-in remembers: one mutable record for each thing that GitHub has an id for."""

from __future__ import annotations

import base64
import datetime
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bot.demo.github.bare import Bare

Json = dict[str, Any]
Moment = datetime.datetime
LEVELS = {"none": 0, "read": 1, "triage": 2, "write": 3, "maintain": 4, "admin": 5}


def node_id(kind: str, number: int) -> str:
    """An opaque id such as GraphQL uses."""
    return base64.b64encode(f"{len(kind):03}:{kind}{number}".encode()).decode()


def instant(moment: Moment | None) -> str | None:
    """`2026-01-31T12:00:00Z`, or None."""
    return None if moment is None else moment.strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(eq=False)
class User:
    """A person, a bot or an organization."""

    id: int
    login: str
    kind: str = "User"


@dataclass(eq=False)
class App:
    """A GitHub App as its owner registered it."""

    id: int
    slug: str
    owner: User
    bot: User
    public_key_pem: str
    webhook_url: str | None
    webhook_secret: str
    permissions: dict[str, str]
    events: tuple[str, ...]
    hook_id: int
    created_at: Moment

    @property
    def client_id(self) -> str:
        return f"Iv23li{self.id:014}"


@dataclass(eq=False)
class Label:
    """A label of a repository."""

    id: int
    name: str
    color: str = "ededed"
    description: str | None = ""  # what GitHub shows for none; its description of a short pull request takes no null


@dataclass(eq=False)
class Comment:
    """A comment on an issue or pull request."""

    id: int
    author: User
    body: str
    created_at: Moment
    updated_at: Moment
    thread: Issue
    app: App | None = None
    reactions: list[Reaction] = field(default_factory=list)


@dataclass(eq=False)
class Reaction:
    """One user's reaction."""

    id: int
    user: User
    content: str
    created_at: Moment


@dataclass(frozen=True)
class Note:
    """Something that happened to an issue or pull request, as its page tells it: `ada` `added the label dualgate`."""

    actor: User
    at: Moment
    words: str


@dataclass(eq=False)
class Issue:
    """An issue; a pull request is one too."""

    id: int
    number: int
    repository: Repository
    author: User
    title: str
    body: str | None
    created_at: Moment
    updated_at: Moment
    state: str = "open"
    state_reason: str | None = None
    closed_at: Moment | None = None
    closed_by: User | None = None
    labels: list[Label] = field(default_factory=list)
    comments: list[Comment] = field(default_factory=list)
    timeline: list[Comment | Note] = field(default_factory=list)
    app: App | None = None

    def note(self, actor: User, at: Moment, words: str) -> None:
        """Remember what the page tells."""
        self.timeline.append(Note(actor, at, words))


@dataclass(eq=False)
class Pull(Issue):
    """A pull request; `head_repository` is None when the fork was deleted."""

    pull_id: int = 0
    base_ref: str = ""
    base_sha: str = ""
    head_ref: str = ""
    head_sha: str = ""
    head_repository: Repository | None = None
    head_owner: User | None = None
    draft: bool = False
    merged_at: Moment | None = None
    merged_by: User | None = None
    merge_sha: str | None = None
    mergeable: bool | None = None

    @property
    def from_fork(self) -> bool:
        return self.head_repository is not self.repository


@dataclass(eq=False)
class Repository:
    """A repository and its bare Git folder."""

    id: int
    owner: User
    name: str
    private: bool
    default_branch: str
    git: Bare
    created_at: Moment
    pushed_at: Moment
    parent: Repository | None = None
    description: str | None = None
    archived: bool = False
    deleted: bool = False
    next_number: int = 1
    threads: dict[int, Issue] = field(default_factory=dict)
    labels: dict[str, Label] = field(default_factory=dict)
    roles: dict[str, tuple[str, str]] = field(default_factory=dict)
    suites: list[Suite] = field(default_factory=list)
    checks: list[CheckRun] = field(default_factory=list)

    @property
    def full_name(self) -> str:
        return f"{self.owner.login}/{self.name}"

    def pulls(self) -> list[Pull]:
        """Newest first."""
        return sorted((t for t in self.threads.values() if isinstance(t, Pull)), key=lambda pull: -pull.number)


@dataclass(eq=False)
class Suite:
    """All check runs of one App on one commit."""

    id: int
    repository: Repository
    app: App
    head_sha: str
    head_branch: str | None
    before: str | None
    created_at: Moment
    updated_at: Moment


@dataclass(eq=False)
class CheckRun:
    """A check run; `output` holds title, summary and text."""

    id: int
    suite: Suite
    name: str
    external_id: str
    details_url: str | None
    status: str
    conclusion: str | None
    started_at: Moment | None
    completed_at: Moment | None
    output: dict[str, str | None]
    annotations: list[Json] = field(default_factory=list)
    actions: list[dict[str, str]] = field(default_factory=list)

    @property
    def head_sha(self) -> str:
        return self.suite.head_sha

    @property
    def repository(self) -> Repository:
        return self.suite.repository


@dataclass(eq=False)
class Installation:
    """An App on an account; `repository_ids` is None where it was given all of them."""

    id: int
    app: App
    account: User
    repository_ids: set[int] | None
    permissions: dict[str, str]
    events: tuple[str, ...]
    created_at: Moment
    updated_at: Moment
    suspended_at: Moment | None = None
    suspended_by: User | None = None

    def covers(self, repository: Repository) -> bool:
        """Whether the App may see a repository through this installation."""
        return repository.owner is self.account and (self.repository_ids is None or repository.id in self.repository_ids)
