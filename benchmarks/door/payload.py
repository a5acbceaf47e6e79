"""A `pull_request.opened` of GitHub's size and shape: some 22 KB, mostly addresses of the API."""

from __future__ import annotations

import hashlib
import hmac
import json
from typing import Any

API = "https://api.github.com"
USER_PARTS = "followers following{/other} gists{/id} starred{/owner}{/repo} subscriptions orgs repos events{/privacy} received_events"
REPOSITORY_PARTS = """forks keys{/key_id} collaborators{/collaborator} teams hooks issues/events{/number} events assignees{/user} branches{/branch} tags
    git/blobs{/sha} git/tags{/sha} git/refs{/sha} git/trees{/sha} statuses/{sha} languages stargazers contributors subscribers subscription commits{/sha}
    git/commits{/sha} comments{/number} issues/comments{/number} contents/{+path} compare/{base}...{head} merges {archive_format}{/ref} downloads
    issues{/number} pulls{/number} milestones{/number} notifications{?since,all,participating} labels{/name} releases{/id} deployments"""
SWITCHES = """has_issues has_projects has_downloads has_wiki has_pages has_discussions allow_squash_merge allow_merge_commit allow_rebase_merge allow_auto_merge
    delete_branch_on_merge allow_update_branch use_squash_pr_title_as_default"""
NOTHING = "closed_at merged_at merge_commit_sha milestone auto_merge active_lock_reason mergeable rebaseable merged_by"
AGENT = "devin-ai-integration[bot]"


def user(login: str, number: int) -> dict[str, Any]:
    """An account as payloads have it."""
    parts = {f"{part.split('{')[0]}_url": f"{API}/users/{login}/{part}" for part in USER_PARTS.split()}
    return {"login": login, "id": number, "node_id": f"U_kgDO{number}", "avatar_url": f"https://avatars.githubusercontent.com/u/{number}?v=4",
            "gravatar_id": "", "url": f"{API}/users/{login}", "html_url": f"https://github.com/{login}", **parts, "type": "User", "user_view_type": "public",
            "site_admin": False}


def repository() -> dict[str, Any]:
    """A repository as payloads have it."""
    url, page = f"{API}/repos/acme/shop", "github.com/acme/shop"
    parts = {f"{part.split('{')[0].replace('/', '_')}_url": f"{url}/{part}" for part in REPOSITORY_PARTS.split()}
    return {"id": 501, "node_id": "R_kgDO501", "name": "shop", "full_name": "acme/shop", "private": False, "owner": user("acme", 77), "fork": False,
            "url": url, "html_url": f"https://{page}", "description": "Prices, baskets and invoices of a shop that sells by the line", **parts,
            "git_url": f"git://{page}.git", "ssh_url": "git@github.com:acme/shop.git", "clone_url": f"https://{page}.git", "svn_url": f"https://{page}",
            "homepage": None, "size": 10_240, "stargazers_count": 812, "watchers_count": 812, "language": "Python", **dict.fromkeys(SWITCHES.split(), True),
            "forks_count": 61, "archived": False, "disabled": False, "open_issues_count": 37, "topics": ["python", "shop", "invoices"],
            "license": {"key": "mit", "name": "MIT License", "spdx_id": "MIT"}, "visibility": "public", "default_branch": "main"}


def opened() -> dict[str, Any]:
    """The whole event."""
    url, agent = f"{API}/repos/acme/shop/pulls/12", {**user(AGENT, 158243242), "type": "Bot"}
    links = {name: {"href": f"{url}/{name}"} for name in ("self", "html", "issue", "comments", "review_comments", "review_comment", "commits", "statuses")}
    sides = {name: {"label": f"acme:{ref}", "ref": ref, "sha": sha * 40, "user": user("acme", 77), "repo": repository()}
             for name, ref, sha in (("head", "fix/total", "a"), ("base", "main", "b"))}
    body = "Totals ignored how often a line was ordered.\n\n" + "- a line of what was done, as agents write it, with a word on why\n" * 12
    pull = {"url": url, "id": 9912, "node_id": "PR_kwDO9912", "html_url": "https://github.com/acme/shop/pull/12", "number": 12, "state": "open",
            "locked": False, "title": "Count each line when adding up", "user": agent, "body": body, "created_at": "2026-11-29T20:00:00Z",
            "updated_at": "2026-11-29T20:00:00Z", "assignees": [], "requested_reviewers": [user("reviewer-of-prices", 4711)], "requested_teams": [],
            "labels": [], "draft": False, **dict.fromkeys(NOTHING.split()), **sides, "_links": links, "author_association": "CONTRIBUTOR", "merged": False,
            "mergeable_state": "unknown", "comments": 0, "review_comments": 0, "maintainer_can_modify": False, "commits": 2, "additions": 61,
            "deletions": 12, "changed_files": 3}
    return {"action": "opened", "number": 12, "pull_request": pull, "repository": repository(), "organization": user("acme", 77), "sender": agent,
            "installation": {"id": 9, "node_id": "MDIzOkludGVncmF0aW9uSW5zdGFsbGF0aW9u"}}


def signed_body(secret: str) -> tuple[bytes, str]:
    """(body, X-Hub-Signature-256)."""
    body = json.dumps(opened(), separators=(",", ":")).encode()
    return body, "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
