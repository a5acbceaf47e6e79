"""Issues, comments, labels and reactions; pull requests are issues here."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

from bot.demo.github import limits
from bot.demo.github.records import Comment, Issue, Json, Pull, Repository
from bot.demo.github.refusals import Refusal, invalid, malformed, not_accessible, not_found
from bot.demo.github.rest.call import Call, with_headers
from bot.demo.github.rest.door import Door
from bot.demo.github.shapes import thread as shapes

READ, WRITE = ("issues:read", "pull_requests:read"), ("issues:write", "pull_requests:write")


def register(door: Door) -> None:
    """Serve what is asked about a conversation."""
    here = "/repos/<owner>/<name>/issues"
    door.route("GET", f"{here}/<int:number>", needs=READ)(get_issue)
    door.route("PATCH", f"{here}/<int:number>", needs=WRITE)(update_issue)
    door.route("GET", f"{here}/<int:number>/comments", needs=READ)(list_comments)
    door.route("POST", f"{here}/<int:number>/comments", needs=WRITE)(create_comment)
    door.route("GET", f"{here}/comments/<int:comment_id>", needs=READ)(get_comment)
    door.route("PATCH", f"{here}/comments/<int:comment_id>", needs=WRITE)(update_comment)
    door.route("DELETE", f"{here}/comments/<int:comment_id>", needs=WRITE)(delete_comment)
    door.route("POST", f"{here}/comments/<int:comment_id>/reactions", needs=WRITE)(create_reaction)
    door.route("GET", f"{here}/comments/<int:comment_id>/reactions", needs=READ)(list_reactions)
    door.route("GET", f"{here}/<int:number>/labels", needs=READ)(list_labels)
    door.route("POST", f"{here}/<int:number>/labels", needs=WRITE)(add_labels)
    door.route("DELETE", f"{here}/<int:number>/labels/<path:label>", needs=WRITE)(remove_label)


def _find(call: Call, repository: Repository, number: int) -> Issue:
    """An issue or pull request, for which the permission of its kind is needed. Raises Refusal."""
    found = repository.threads.get(number)
    if found is None:
        raise not_found()
    _admit(call, repository, found)
    return found


def _admit(call: Call, repository: Repository, thread: Issue) -> None:
    """Issues need `issues`; conversations on pull requests are open to `pull_requests` too."""
    level = "read" if call.request.method == "GET" else "write"
    kinds = ("issues", "pull_requests") if isinstance(thread, Pull) else ("issues",)
    if call.caller.covers(repository) and not any(call.caller.holds(kind, level) for kind in kinds):
        raise not_accessible()


def _find_comment(call: Call, repository: Repository, comment_id: int) -> Comment:
    found = call.hub.find_comment(repository, comment_id)
    if found is None:
        raise not_found()
    _admit(call, repository, found.thread)
    return found


def get_issue(call: Call, repository: Repository, number: int) -> Json:
    return shapes.detailed_issue(call.site, _find(call, repository, number))


def update_issue(call: Call, repository: Repository, number: int) -> Json:
    found, asked, actor = _find(call, repository, number), call.body(), call.app.bot.login
    if asked.get("state") not in (None, found.state):
        if asked["state"] == "closed":
            call.hub.close_issue(actor, found, asked.get("state_reason") or "completed")
        else:
            call.hub.reopen_issue(actor, found)
    if "title" in asked or "body" in asked:
        call.hub.edit_issue(actor, found, title=asked.get("title"), body=asked.get("body"))
    return shapes.detailed_issue(call.site, found)


def list_comments(call: Call, repository: Repository, number: int) -> Any:
    comments = list(_find(call, repository, number).comments)
    if since := call.query("since"):
        comments = [one for one in comments if one.updated_at >= limits.moment(since)]
    page, headers = call.page(comments)
    return with_headers([shapes.comment(call.site, one) for one in page], headers)


def create_comment(call: Call, repository: Repository, number: int) -> tuple[int, Json]:
    made = call.hub.comment(call.app.bot.login, _find(call, repository, number), call.body().get("body", ""), app=call.app)
    return 201, shapes.comment(call.site, made)


def get_comment(call: Call, repository: Repository, comment_id: int) -> Json:
    return shapes.comment(call.site, _find_comment(call, repository, comment_id))


def update_comment(call: Call, repository: Repository, comment_id: int) -> Json:
    found = _find_comment(call, repository, comment_id)
    call.hub.edit_comment(call.app.bot.login, found, call.body().get("body", ""))
    return shapes.comment(call.site, found)


def delete_comment(call: Call, repository: Repository, comment_id: int) -> tuple[int, None]:
    call.hub.delete_comment(call.app.bot.login, _find_comment(call, repository, comment_id))
    return 204, None


def create_reaction(call: Call, repository: Repository, comment_id: int) -> tuple[int, Json]:
    found, content = _find_comment(call, repository, comment_id), call.body().get("content")
    if content not in shapes.REACTIONS:
        raise malformed(f"For 'content', {content!r} is not a member of {list(shapes.REACTIONS)}.")
    made, new = call.hub.react(call.app.bot.login, found, str(content))
    return 201 if new else 200, shapes.reaction(call.site, made)


def list_reactions(call: Call, repository: Repository, comment_id: int) -> Any:
    page, headers = call.page(_find_comment(call, repository, comment_id).reactions)
    return with_headers([shapes.reaction(call.site, one) for one in page], headers)


def list_labels(call: Call, repository: Repository, number: int) -> Any:
    page, headers = call.page(_find(call, repository, number).labels)
    return with_headers([shapes.label(call.site, repository, one) for one in page], headers)


def add_labels(call: Call, repository: Repository, number: int) -> list[Json]:
    found, sent = _find(call, repository, number), call.sent()
    names = sent.get("labels", []) if isinstance(sent, dict) else sent
    if not isinstance(names, list) or not names:
        raise invalid("Label", "name", "missing_field")
    for name in names:
        call.hub.add_label(call.app.bot.login, found, name["name"] if isinstance(name, dict) else str(name))
    return [shapes.label(call.site, repository, one) for one in found.labels]


def remove_label(call: Call, repository: Repository, number: int, label: str) -> list[Json]:
    found = _find(call, repository, number)
    if unquote(label).lower() not in [one.name.lower() for one in found.labels]:
        raise Refusal(404, "Label does not exist")
    call.hub.remove_label(call.app.bot.login, found, unquote(label))
    return [shapes.label(call.site, repository, one) for one in found.labels]
