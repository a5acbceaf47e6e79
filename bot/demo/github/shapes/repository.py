"""Repositories and branches as GitHub writes them."""

from __future__ import annotations

from bot.demo.github.records import Json, Moment, Repository, instant, node_id
from bot.demo.github.shapes.accounts import user
from bot.demo.github.shapes.site import Site

ADDRESSES = {
    "archive_url": "{archive_format}{/ref}", "assignees_url": "assignees{/user}", "blobs_url": "git/blobs{/sha}", "branches_url": "branches{/branch}",
    "collaborators_url": "collaborators{/collaborator}", "comments_url": "comments{/number}", "commits_url": "commits{/sha}",
    "compare_url": "compare/{base}...{head}", "contents_url": "contents/{+path}", "contributors_url": "contributors", "deployments_url": "deployments",
    "downloads_url": "downloads", "events_url": "events", "forks_url": "forks", "git_commits_url": "git/commits{/sha}", "git_refs_url": "git/refs{/sha}",
    "git_tags_url": "git/tags{/sha}", "hooks_url": "hooks", "issue_comment_url": "issues/comments{/number}", "issue_events_url": "issues/events{/number}",
    "issues_url": "issues{/number}", "keys_url": "keys{/key_id}", "labels_url": "labels{/name}", "languages_url": "languages", "merges_url": "merges",
    "milestones_url": "milestones{/number}", "notifications_url": "notifications{?since,all,participating}", "pulls_url": "pulls{/number}",
    "releases_url": "releases{/id}", "stargazers_url": "stargazers", "statuses_url": "statuses/{sha}", "subscribers_url": "subscribers",
    "subscription_url": "subscription", "tags_url": "tags", "teams_url": "teams", "trees_url": "git/trees{/sha}",
}


def short(site: Site, repository: Repository) -> Json:
    """The part that every representation of a repository shares."""
    api = site.repository(repository)
    return {"id": repository.id, "node_id": node_id("Repository", repository.id), "name": repository.name, "full_name": repository.full_name,
            "private": repository.private, "owner": user(site, repository.owner), "html_url": site.page(repository), "description": repository.description,
            "fork": repository.parent is not None, "url": api, **{name: f"{api}/{tail}" for name, tail in ADDRESSES.items()}}


def full(site: Site, repository: Repository, *, forks: int = 0) -> Json:
    """`repository`."""
    page, open_threads = site.page(repository), sum(thread.state == "open" for thread in repository.threads.values())
    host = site.web.split("://", 1)[1]
    return {**short(site, repository), "created_at": instant(repository.created_at), "updated_at": instant(repository.pushed_at),
            "pushed_at": instant(repository.pushed_at), "git_url": f"git://{host}/{repository.full_name}.git",
            "ssh_url": f"git@{host}:{repository.full_name}.git", "clone_url": f"{page}.git", "svn_url": page, "homepage": None, "size": 0,
            "stargazers_count": 0, "watchers_count": 0, "language": None, "has_issues": True, "has_projects": True, "has_downloads": True, "has_wiki": True,
            "has_pages": False, "has_discussions": False, "forks_count": forks, "mirror_url": None, "archived": repository.archived, "disabled": False,
            "open_issues_count": open_threads, "license": None, "allow_forking": True, "is_template": False, "web_commit_signoff_required": False,
            "topics": [], "visibility": "private" if repository.private else "public", "forks": forks, "open_issues": open_threads, "watchers": 0,
            "default_branch": repository.default_branch, "custom_properties": {}}


def in_push(site: Site, repository: Repository) -> Json:
    """The `repository` of a push, which tells times as numbers and an owner's name and address."""
    owner = {"name": repository.owner.login, "email": f"{repository.owner.login}@users.noreply.github.com", **user(site, repository.owner)}
    return {**full(site, repository), "owner": owner, "created_at": _seconds(repository.created_at), "pushed_at": _seconds(repository.pushed_at),
            "stargazers": 0, "master_branch": repository.default_branch}


def detailed(site: Site, repository: Repository, permissions: Json, forks: int) -> Json:
    """`full-repository`."""
    whole = {**full(site, repository, forks=forks), "permissions": permissions, "temp_clone_token": "", "allow_squash_merge": True,
             "allow_merge_commit": True, "allow_rebase_merge": True, "allow_auto_merge": False, "delete_branch_on_merge": False,
             "allow_update_branch": False, "use_squash_pr_title_as_default": False, "subscribers_count": 0, "network_count": forks}
    if repository.owner.kind == "Organization":
        whole["organization"] = user(site, repository.owner)
    if repository.parent is not None:
        whole["parent"] = whole["source"] = full(site, repository.parent)
    return whole


def in_check(site: Site, repository: Repository) -> Json:
    """The three fields that a check run tells of a repository."""
    return {"id": repository.id, "url": site.repository(repository), "name": repository.name}


def in_installation(repository: Repository) -> Json:
    """The fields that an installation's payload tells of a repository."""
    return {"id": repository.id, "node_id": node_id("Repository", repository.id), "name": repository.name, "full_name": repository.full_name,
            "private": repository.private}


def ref(site: Site, repository: Repository, name: str, sha: str) -> Json:
    """`git-ref`; the name is full: `refs/heads/main`."""
    api = site.repository(repository)
    return {"ref": name, "node_id": node_id("Ref", repository.id), "url": f"{api}/git/{name}",
            "object": {"sha": sha, "type": "commit", "url": f"{api}/git/commits/{sha}"}}


def branch(site: Site, repository: Repository, name: str, commit: Json) -> Json:
    """`branch-with-protection`, of an unprotected branch."""
    api = site.repository(repository)
    checks = {"enforcement_level": "off", "contexts": [], "checks": []}
    return {"name": name, "commit": commit, "_links": {"self": f"{api}/branches/{name}", "html": f"{site.page(repository)}/tree/{name}"}, "protected": False,
            "protection": {"enabled": False, "required_status_checks": checks}, "protection_url": f"{api}/branches/{name}/protection"}


def _seconds(moment: Moment) -> int:
    return int(moment.timestamp())
