"""What is read of GitHub's webhook payloads and of its pull requests; unknown fields are ignored, optional ones may lack."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class _Payload(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class User(_Payload):
    """`type`: User | Bot | Organization | Mannequin."""

    id: int
    login: str
    type: str = "User"


GHOST = User(id=10137, login="ghost")  # what GitHub shows for a deleted account


class Repository(_Payload):
    id: int
    full_name: str
    default_branch: str = "main"


class Installation(_Payload):
    id: int


class InstallationDetail(_Payload):
    id: int
    account: User | None = None


class Label(_Payload):
    name: str


class HeadRepository(_Payload):
    id: int
    full_name: str


class Head(_Payload):
    """`repo` is None when a fork was deleted."""

    ref: str
    sha: str
    repo: HeadRepository | None = None


class PullRequest(_Payload):
    """A pull request in a payload or as the API answers it."""

    number: int
    title: str = ""
    state: str = "open"
    draft: bool = False
    user: User | None = None
    head: Head
    base: Head
    labels: tuple[Label, ...] = ()

    @property
    def author(self) -> User:
        """Who opened it."""
        return self.user or GHOST

    @property
    def from_fork(self) -> bool:
        """Whether its head lives elsewhere; a deleted fork does."""
        return self.head.repo is None or self.base.repo is None or self.head.repo.id != self.base.repo.id

    def has_label(self, name: str) -> bool:
        """Whether a label is on it; GitHub's labels have no case."""
        return any(label.name.casefold() == name.casefold() for label in self.labels)


class App(_Payload):
    id: int


class _InRepository(_Payload):
    repository: Repository
    installation: Installation
    sender: User = GHOST


class ChangedFrom(_Payload):
    ref: dict[str, str] | None = None
    sha: dict[str, str] | None = None


class Changes(_Payload):
    base: ChangedFrom | None = None


class PullRequestEvent(_InRepository):
    action: str
    pull_request: PullRequest
    label: Label | None = None
    changes: Changes | None = None


class Issue(_Payload):
    number: int
    state: str = "open"
    pull_request: dict[str, object] | None = None


class Comment(_Payload):
    id: int
    body: str | None = ""
    user: User | None = None
    performed_via_github_app: App | None = None


class IssueCommentEvent(_InRepository):
    issue: Issue
    comment: Comment


class CheckRun(_Payload):
    id: int
    head_sha: str
    external_id: str | None = None
    app: App | None = None


class RequestedAction(_Payload):
    identifier: str = ""


class CheckRunEvent(_InRepository):
    check_run: CheckRun
    requested_action: RequestedAction | None = None


class CheckSuite(_Payload):
    id: int
    head_sha: str
    app: App | None = None


class CheckSuiteEvent(_InRepository):
    check_suite: CheckSuite


class MergeGroup(_Payload):
    head_sha: str
    head_ref: str
    base_sha: str
    base_ref: str


class MergeGroupEvent(_InRepository):
    merge_group: MergeGroup
    reason: str | None = None


class InstallationEvent(_Payload):
    installation: InstallationDetail


class BareRepository(_Payload):
    id: int
    full_name: str


class InstallationRepositoriesEvent(_Payload):
    installation: InstallationDetail
    repositories_removed: tuple[BareRepository, ...] = ()


class RepositoryEvent(_Payload):
    repository: Repository
