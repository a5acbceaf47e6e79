"""Issues, comments, labels and reactions as GitHub writes them."""

from __future__ import annotations

from urllib.parse import quote

from bot.demo.github.records import Comment, Issue, Json, Label, Pull, Reaction, Repository, instant, node_id
from bot.demo.github.shapes.accounts import app, association, user
from bot.demo.github.shapes.site import Site

REACTIONS = ("+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes")


def label(site: Site, repository: Repository, told: Label) -> Json:
    """`label`."""
    return {"id": told.id, "node_id": node_id("Label", told.id), "url": f"{site.repository(repository)}/labels/{quote(told.name)}", "name": told.name,
            "color": told.color, "default": False, "description": told.description}


def issue(site: Site, told: Issue) -> Json:
    """`issue`; a pull request has the member `pull_request`."""
    api = f"{site.repository(told.repository)}/issues/{told.number}"
    shape = {"url": api, "repository_url": site.repository(told.repository), "labels_url": f"{api}/labels{{/name}}", "comments_url": f"{api}/comments",
             "events_url": f"{api}/events", "html_url": site.thread(told), "id": told.id, "node_id": node_id("Issue", told.id), "number": told.number,
             "title": told.title, "user": user(site, told.author), "labels": [label(site, told.repository, one) for one in told.labels],
             "state": told.state, "locked": False, "assignee": None, "assignees": [], "milestone": None, "comments": len(told.comments),
             "created_at": instant(told.created_at), "updated_at": instant(told.updated_at), "closed_at": instant(told.closed_at),
             "author_association": association(told.repository, told.author), "active_lock_reason": None, "body": told.body,
             "reactions": _rollup(f"{api}/reactions", []), "timeline_url": f"{api}/timeline", "state_reason": told.state_reason,
             "performed_via_github_app": None if told.app is None else app(site, told.app)}
    return {**shape, **_as_pull(site, told)} if isinstance(told, Pull) else shape


def detailed_issue(site: Site, told: Issue) -> Json:
    """`issue` with who closed it."""
    return {**issue(site, told), "closed_by": None if told.closed_by is None else user(site, told.closed_by)}


def comment(site: Site, told: Comment) -> Json:
    """`issue-comment`."""
    thread = told.thread
    api = f"{site.repository(thread.repository)}/issues"
    url = f"{api}/comments/{told.id}"
    return {"url": url, "html_url": f"{site.thread(thread)}#issuecomment-{told.id}", "issue_url": f"{api}/{thread.number}", "id": told.id,
            "node_id": node_id("IssueComment", told.id), "user": user(site, told.author), "created_at": instant(told.created_at),
            "updated_at": instant(told.updated_at), "author_association": association(thread.repository, told.author), "body": told.body,
            "reactions": _rollup(f"{url}/reactions", told.reactions), "performed_via_github_app": None if told.app is None else app(site, told.app)}


def reaction(site: Site, told: Reaction) -> Json:
    """`reaction`."""
    return {"id": told.id, "node_id": node_id("Reaction", told.id), "user": user(site, told.user), "content": told.content,
            "created_at": instant(told.created_at)}


def _rollup(url: str, reactions: list[Reaction]) -> Json:
    return {"url": url, "total_count": len(reactions), **{name: sum(one.content == name for one in reactions) for name in REACTIONS}}


def _as_pull(site: Site, told: Pull) -> Json:
    page = site.thread(told)
    return {"draft": told.draft, "pull_request": {"url": f"{site.repository(told.repository)}/pulls/{told.number}", "html_url": page,
                                                  "diff_url": f"{page}.diff", "patch_url": f"{page}.patch", "merged_at": instant(told.merged_at)}}
