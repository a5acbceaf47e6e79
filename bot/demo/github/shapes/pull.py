"""Pull requests as GitHub writes them."""

from __future__ import annotations

from bot.demo.github.records import Json, Pull, Repository, User, instant, node_id
from bot.demo.github.shapes.accounts import association, user
from bot.demo.github.shapes.repository import full, in_check
from bot.demo.github.shapes.site import Site
from bot.demo.github.shapes.thread import label

MERGING = {"allow_squash_merge": True, "allow_merge_commit": True, "allow_rebase_merge": True, "allow_auto_merge": False, "delete_branch_on_merge": False,
           "allow_update_branch": False}


def simple(site: Site, told: Pull) -> Json:
    """`pull-request-simple`, an item of a list."""
    repository, page = told.repository, site.thread(told)
    api = site.repository(repository)
    url, issue_url = f"{api}/pulls/{told.number}", f"{api}/issues/{told.number}"
    addresses = {"comments": f"{issue_url}/comments", "commits": f"{url}/commits", "statuses": f"{api}/statuses/{told.head_sha}",
                 "review_comments": f"{url}/comments", "review_comment": f"{api}/pulls/comments{{/number}}"}
    links = {"self": url, "html": page, "issue": issue_url, **addresses}
    return {"url": url, "id": told.pull_id, "node_id": node_id("PullRequest", told.pull_id), "html_url": page, "diff_url": f"{page}.diff",
            "patch_url": f"{page}.patch", "issue_url": issue_url, "number": told.number, "state": told.state, "locked": False, "title": told.title,
            "user": user(site, told.author), "body": told.body, "created_at": instant(told.created_at), "updated_at": instant(told.updated_at),
            "closed_at": instant(told.closed_at), "merged_at": instant(told.merged_at), "merge_commit_sha": told.merge_sha, "assignee": None,
            "assignees": [], "requested_reviewers": [], "requested_teams": [], "labels": [label(site, repository, one) for one in told.labels],
            "milestone": None, "draft": told.draft, **{f"{name}_url": address for name, address in addresses.items()},
            "head": _end(site, told.head_owner, told.head_ref, told.head_sha, told.head_repository),
            "base": _end(site, repository.owner, told.base_ref, told.base_sha, repository),
            "_links": {name: {"href": address} for name, address in links.items()},
            "author_association": association(repository, told.author), "auto_merge": None, "active_lock_reason": None}


def whole(site: Site, told: Pull) -> Json:
    """`pull-request`."""
    git = told.repository.git
    fork_point = git.merge_base(told.base_sha, told.head_sha) or told.base_sha
    counts = [line.split("\t")[:2] for line in git.text("diff", "--numstat", fork_point, told.head_sha).splitlines()]
    state = {None: "unknown", True: "draft" if told.draft else "clean", False: "dirty"}[told.mergeable]
    return {**simple(site, told), "merged": told.merged_at is not None, "mergeable": told.mergeable, "rebaseable": told.mergeable,
            "mergeable_state": state, "merged_by": None if told.merged_by is None else user(site, told.merged_by), "comments": len(told.comments),
            "review_comments": 0, "maintainer_can_modify": False, "commits": len(git.between(fork_point, told.head_sha)),
            "additions": sum(int(added) for added, _ in counts if added != "-"), "deletions": sum(int(gone) for _, gone in counts if gone != "-"),
            "changed_files": len(counts)}


def minimal(site: Site, told: Pull) -> Json:
    """`pull-request-minimal`, an item of a check run's list."""
    repository = in_check(site, told.repository)
    return {"url": f"{site.repository(told.repository)}/pulls/{told.number}", "id": told.pull_id, "number": told.number,
            "head": {"ref": told.head_ref, "sha": told.head_sha, "repo": repository},
            "base": {"ref": told.base_ref, "sha": told.base_sha, "repo": repository}}


def _end(site: Site, owner: User | None, ref: str, sha: str, repository: Repository | None) -> Json:
    return {"label": f"{owner.login if owner else 'unknown'}:{ref}", "ref": ref, "sha": sha, "user": None if owner is None else user(site, owner),
            "repo": None if repository is None else {**full(site, repository), **MERGING}}
