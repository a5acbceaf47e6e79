"""Repositories, collaborators, contents, branches and refs."""

from __future__ import annotations

from typing import Any

from flask import Response

from bot.demo.github.bare import Entry
from bot.demo.github.records import Json, Repository
from bot.demo.github.refusals import Refusal, not_found
from bot.demo.github.rest.call import Call, with_headers
from bot.demo.github.rest.door import Door
from bot.demo.github.shapes import accounts, commit, repository

READ, WRITE = ("contents:read",), ("contents:write",)


def register(door: Door) -> None:
    """Serve what is asked about a repository and its Git."""
    here = "/repos/<owner>/<name>"
    door.route("GET", here)(get_repository)
    door.route("GET", f"{here}/collaborators/<login>/permission")(get_permission)
    door.route("GET", f"{here}/contents/", needs=READ, audience="repository")(get_contents)
    door.route("GET", f"{here}/contents/<path:path>", needs=READ)(get_contents)
    door.route("GET", f"{here}/commits/<path:ref>", needs=READ)(get_commit)
    door.route("GET", f"{here}/branches/<path:branch>", needs=READ)(get_branch)
    door.route("GET", f"{here}/git/ref/<path:ref>", needs=READ)(get_ref)
    door.route("POST", f"{here}/git/refs", needs=WRITE)(create_ref)
    door.route("PATCH", f"{here}/git/refs/<path:ref>", needs=WRITE)(update_ref)
    door.route("DELETE", f"{here}/git/refs/<path:ref>", needs=WRITE)(delete_ref)
    door.route("GET", "/installation/repositories", audience="anyone")(list_repositories)
    door.route("GET", "/rate_limit", audience="anyone")(get_rate_limit)


def get_repository(call: Call, found: Repository) -> Json:
    forks = sum(one.parent is found for one in call.hub.repositories.values())
    writes = call.caller.covers(found) and call.caller.holds("contents", "write")
    held = {"admin": False, "maintain": False, "push": writes, "triage": writes, "pull": True}
    return repository.detailed(call.site, found, held, forks)


def get_permission(call: Call, found: Repository, login: str) -> Json:
    """Any token may ask: metadata is enough for an installation."""
    user = call.hub.users.get(login.lower())
    if user is None:
        raise Refusal(404, f"{login} is not a user")
    if call.caller.kind == "anonymous":
        raise Refusal(401, "Requires authentication")
    if not call.caller.covers(found):
        raise Refusal(403, "Must have push access to view collaborator permission.")
    return accounts.permission(call.site, user, *call.hub.role(found, user))


def get_contents(call: Call, found: Repository, path: str = "") -> Any:
    """A file with its bytes, or the items of a folder."""
    ref = call.query("ref", found.default_branch)
    sha = found.git.resolve(ref)
    if sha is None:
        raise Refusal(404, f"No commit found for the ref {ref}")
    entry = found.git.entry(sha, path.rstrip("/"))
    if entry is None:
        raise not_found()
    if entry.kind == "tree":
        items = [Entry(one.mode, one.kind, one.sha, one.size, f"{entry.path}/{one.path}".lstrip("/")) for one in found.git.listing(entry.sha)]
        return [commit.contents(call.site, found, one, ref) for one in items]
    data = found.git.blob(entry.sha) if entry.kind == "blob" else b""
    if "raw" in call.request.headers.get("Accept", ""):
        return Response(data, 200, {"Content-Type": "application/vnd.github.raw"})
    return commit.contents(call.site, found, entry, ref, data)


def get_commit(call: Call, found: Repository, ref: str) -> Any:
    sha = found.git.resolve(ref)
    if sha is None:
        raise Refusal(422, f"No commit found for SHA: {ref}")
    if "sha" in call.request.headers.get("Accept", ""):
        return Response(sha, 200, {"Content-Type": "application/vnd.github.sha"})
    return commit.detailed_commit(call.site, found, found.git.commit(sha))


def get_branch(call: Call, found: Repository, branch: str) -> Json:
    sha = found.git.branch(branch)
    if sha is None:
        raise Refusal(404, "Branch not found")
    return repository.branch(call.site, found, branch, commit.commit(call.site, found, found.git.commit(sha)))


def get_ref(call: Call, found: Repository, ref: str) -> Json:
    sha = found.git.refs().get(f"refs/{ref}")
    if sha is None:
        raise not_found()
    return repository.ref(call.site, found, f"refs/{ref}", sha)


def create_ref(call: Call, found: Repository) -> tuple[int, Json]:
    asked = call.body()
    ref, sha = asked.get("ref"), asked.get("sha")
    if not isinstance(ref, str) or not ref.startswith("refs/") or ref.count("/") < 2:
        raise Refusal(422, "Reference name must start with 'refs/' and contain at least two slashes.")
    if not isinstance(sha, str) or found.git.resolve(sha) != sha:
        raise Refusal(422, "Object does not exist")
    if ref in found.git.refs():
        raise Refusal(422, "Reference already exists")
    call.hub.set_ref(found, ref, sha, call.app.bot)
    return 201, repository.ref(call.site, found, ref, sha)


def update_ref(call: Call, found: Repository, ref: str) -> Json:
    asked, old = call.body(), found.git.refs().get(f"refs/{ref}")
    if old is None:
        raise Refusal(422, "Reference does not exist")
    sha = asked.get("sha")
    if not isinstance(sha, str) or found.git.resolve(sha) != sha:
        raise Refusal(422, "Object does not exist")
    if not asked.get("force") and not found.git.is_ancestor(old, sha):
        raise Refusal(422, "Update is not a fast forward")
    call.hub.set_ref(found, f"refs/{ref}", sha, call.app.bot)
    return repository.ref(call.site, found, f"refs/{ref}", sha)


def delete_ref(call: Call, found: Repository, ref: str) -> tuple[int, None]:
    if f"refs/{ref}" not in found.git.refs():
        raise Refusal(422, "Reference does not exist")
    call.hub.set_ref(found, f"refs/{ref}", None, call.app.bot)
    return 204, None


def list_repositories(call: Call) -> Any:
    """What the caller's token may see."""
    _ = call.grant
    seen = [one for one in call.hub.repositories.values() if call.caller.covers(one) and not one.deleted]
    chosen, headers = call.page(seen)
    told = [repository.full(call.site, one) for one in chosen]
    return with_headers({"total_count": len(seen), "repository_selection": "selected", "repositories": told}, headers)


def get_rate_limit(call: Call) -> Json:
    core = call.rates.overview(call.caller)
    return {"resources": {"core": core, "search": {**core, "limit": 30, "used": 0, "remaining": 30}}, "rate": core}
