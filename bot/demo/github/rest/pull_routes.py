"""Pull requests."""

from __future__ import annotations

from typing import Any

from flask import Response

from bot.demo.github.conversation import check_body
from bot.demo.github.records import Json, Pull, Repository
from bot.demo.github.refusals import invalid, malformed, not_found
from bot.demo.github.rest.call import Call, with_headers
from bot.demo.github.rest.door import Door
from bot.demo.github.shapes import commit
from bot.demo.github.shapes import pull as shapes

READ, WRITE = ("pull_requests:read",), ("pull_requests:write",)


def register(door: Door) -> None:
    """Serve what is asked about pull requests."""
    here = "/repos/<owner>/<name>"
    door.route("GET", f"{here}/pulls", needs=READ)(list_pulls)
    door.route("POST", f"{here}/pulls", needs=WRITE)(create_pull)
    door.route("GET", f"{here}/pulls/<int:number>", needs=READ)(get_pull)
    door.route("PATCH", f"{here}/pulls/<int:number>", needs=WRITE)(update_pull)
    door.route("GET", f"{here}/pulls/<int:number>/commits", needs=READ)(list_commits)
    door.route("GET", f"{here}/pulls/<int:number>/files", needs=READ)(list_files)
    door.route("GET", f"{here}/commits/<sha>/pulls", needs=("pull_requests:read", "contents:read"))(list_pulls_of_commit)


def find(repository: Repository, number: int) -> Pull:
    """A pull request. Raises Refusal."""
    found = repository.threads.get(number)
    if not isinstance(found, Pull):
        raise not_found()
    return found


def list_pulls(call: Call, repository: Repository) -> Any:
    state, head, base = call.query("state", "open"), call.query("head"), call.query("base")
    chosen = [one for one in repository.pulls() if state in ("all", one.state) and base in ("", one.base_ref) and head in ("", _label(one))]
    sort = call.query("sort", "created")
    if sort == "updated":
        chosen.sort(key=lambda one: one.updated_at, reverse=True)
    # Only by creation is the newest first unless it is asked for.
    if call.query("direction", "desc" if sort == "created" else "asc") == "asc":
        chosen.reverse()
    page, headers = call.page(chosen)
    return with_headers([shapes.simple(call.site, one) for one in page], headers)


def _label(pull: Pull) -> str:
    return f"{pull.head_owner.login if pull.head_owner else 'unknown'}:{pull.head_ref}"


def get_pull(call: Call, repository: Repository, number: int) -> Any:
    found = find(repository, number)
    if "diff" in call.request.headers.get("Accept", ""):
        start = repository.git.merge_base(found.base_sha, found.head_sha) or found.base_sha
        return Response(repository.git.diff(start, found.head_sha), 200, {"Content-Type": "application/vnd.github.diff; charset=utf-8"})
    return shapes.whole(call.site, found)


def create_pull(call: Call, repository: Repository) -> tuple[int, Json]:
    asked = call.body()
    for name in ("title", "head", "base"):
        if not isinstance(asked.get(name), str) or not asked[name]:
            raise malformed(f'"{name}" wasn\'t supplied.')
    if asked.get("body"):
        check_body("PullRequest", asked["body"])
    owner, _, branch = asked["head"].rpartition(":")
    source = repository if owner in ("", repository.owner.login) else call.hub.find_repository(f"{owner}/{repository.name}")
    if source is None:
        raise invalid("PullRequest", "head", "invalid")
    pull = call.hub.open_pull(repository, call.app.bot.login, asked["title"], asked.get("body"), branch, asked["base"], source,
                              bool(asked.get("draft", False)), app=call.app)
    return 201, shapes.whole(call.site, pull)


def update_pull(call: Call, repository: Repository, number: int) -> Json:
    found, asked, actor = find(repository, number), call.body(), call.app.bot.login
    if asked.get("body"):
        check_body("PullRequest", asked["body"])
    if "title" in asked or "body" in asked:
        call.hub.edit_pull(found, title=asked.get("title"), body=asked.get("body"), by=actor)
    if asked.get("base") not in (None, found.base_ref):
        call.hub.retarget(found, asked["base"], by=actor)
    if asked.get("state") not in (None, found.state):
        change = call.hub.close_pull if asked["state"] == "closed" else call.hub.reopen_pull
        change(found, by=actor)
    return shapes.whole(call.site, found)


def list_commits(call: Call, repository: Repository, number: int) -> Any:
    found = find(repository, number)
    page, headers = call.page(repository.git.between(found.base_sha, found.head_sha))
    return with_headers([commit.commit(call.site, repository, repository.git.commit(sha)) for sha in page], headers)


def list_files(call: Call, repository: Repository, number: int) -> Any:
    found = find(repository, number)
    start = repository.git.merge_base(found.base_sha, found.head_sha) or found.base_sha
    page, headers = call.page(commit.changed_files(call.site, repository, start, found.head_sha))
    return with_headers(page, headers)


def list_pulls_of_commit(call: Call, repository: Repository, sha: str) -> Any:
    """Open pull requests whose commits have it, and merged ones that brought it in."""
    known = repository.git.resolve(sha)
    if known is None:
        raise malformed(f"No commit found for SHA: {sha}")
    chosen = [one for one in repository.pulls() if not one.from_fork and known in repository.git.between(one.base_sha, one.head_sha)]
    page, headers = call.page(chosen)
    return with_headers([shapes.simple(call.site, one) for one in page], headers)
