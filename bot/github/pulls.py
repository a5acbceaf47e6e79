"""Reading a repository through GitHub: its pull requests, one file, who may write."""

from __future__ import annotations

import base64

from bot.github.api import Api
from bot.github.errors import GitHubError, NotThere
from bot.payloads import PullRequest, User

WRITERS = ("admin", "write")  # `permission` maps custom roles and maintain to these; docs.github.com, "Get repository permissions for a user"


def read_pull(api: Api, number: int) -> PullRequest:
    """A pull request as it is now."""
    return PullRequest.model_validate(api.get(f"/pulls/{number}"))


def open_pulls_of(api: Api, head_sha: str) -> list[PullRequest]:
    """Open pull requests whose head is this commit."""
    rows = [PullRequest.model_validate(row) for row in api.pages(f"/commits/{head_sha}/pulls")]
    return [pull for pull in rows if pull.state == "open" and pull.head.sha == head_sha]


def read_text(api: Api, path: str, ref: str) -> str | None:
    """A text file at a commit, or None where there is none (or a folder, or one too big to be meant)."""
    try:
        answer = api.get(f"/contents/{path}", ref=ref)
    except NotThere:
        return None
    if not isinstance(answer, dict) or answer.get("type") != "file" or answer.get("encoding") != "base64":
        return None
    return base64.b64decode(answer["content"]).decode("utf-8", "replace")


def may_write(api: Api, user: User) -> bool:
    """Whether an account has write. Errors that are answers deny; those of the line are raised (Later)."""
    try:
        answer = api.get(f"/collaborators/{user.login}/permission")
    except NotThere:
        return False
    except GitHubError as error:
        if hasattr(error, "after_s"):
            raise
        return False
    holder = answer.get("user") or {}
    return answer.get("permission") in WRITERS and holder.get("id") == user.id
