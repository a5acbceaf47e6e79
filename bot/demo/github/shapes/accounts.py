"""Users, Apps and installations as GitHub writes them."""

from __future__ import annotations

from bot.demo.github.records import App, Installation, Json, Repository, User, instant, node_id
from bot.demo.github.shapes.site import Site

ADDRESSES = {"followers_url": "followers", "following_url": "following{/other_user}", "gists_url": "gists{/gist_id}", "starred_url": "starred{/owner}{/repo}",
             "subscriptions_url": "subscriptions", "organizations_url": "orgs", "repos_url": "repos", "events_url": "events{/privacy}",
             "received_events_url": "received_events"}
ASSOCIATED = {"admin", "maintain", "write", "triage"}


def user(site: Site, who: User) -> Json:
    """`simple-user`."""
    url = site.user(who)
    return {"login": who.login, "id": who.id, "node_id": node_id(who.kind, who.id), "avatar_url": f"{site.web}/avatars/u/{who.id}?v=4", "gravatar_id": "",
            "url": url, "html_url": site.profile(who), **{name: f"{url}/{tail}" for name, tail in ADDRESSES.items()}, "type": who.kind, "site_admin": False}


def organization(site: Site, who: User) -> Json:
    """The `organization` of a webhook."""
    url = f"{site.api}/orgs/{who.login}"
    return {"login": who.login, "id": who.id, "node_id": node_id("Organization", who.id), "url": url, "repos_url": f"{url}/repos",
            "events_url": f"{url}/events", "hooks_url": f"{url}/hooks", "issues_url": f"{url}/issues", "members_url": f"{url}/members{{/member}}",
            "public_members_url": f"{url}/public_members{{/member}}", "avatar_url": f"{site.web}/avatars/u/{who.id}?v=4", "description": ""}


def app(site: Site, registered: App) -> Json:
    """`integration`."""
    return {"id": registered.id, "slug": registered.slug, "node_id": node_id("App", registered.id), "owner": user(site, registered.owner),
            "name": registered.slug, "description": "", "external_url": f"{site.web}/apps/{registered.slug}",
            "html_url": f"{site.web}/apps/{registered.slug}", "created_at": instant(registered.created_at), "updated_at": instant(registered.created_at),
            "permissions": dict(registered.permissions), "events": list(registered.events)}


def own_app(site: Site, registered: App, installations: int) -> Json:
    """`integration`, as the App sees itself."""
    return {**app(site, registered), "client_id": registered.client_id, "installations_count": installations}


def installation(site: Site, installed: Installation) -> Json:
    """`installation`."""
    return {"id": installed.id, "account": user(site, installed.account), "repository_selection": "all" if installed.repository_ids is None else "selected",
            "access_tokens_url": f"{site.api}/app/installations/{installed.id}/access_tokens",
            "repositories_url": f"{site.api}/installation/repositories", "html_url": f"{site.web}/settings/installations/{installed.id}",
            "app_id": installed.app.id, "app_slug": installed.app.slug, "target_id": installed.account.id,
            "target_type": "Organization" if installed.account.kind == "Organization" else "User", "permissions": dict(installed.permissions),
            "events": list(installed.events), "created_at": instant(installed.created_at), "updated_at": instant(installed.updated_at),
            "single_file_name": None, "has_multiple_single_files": False, "single_file_paths": [],
            "suspended_by": None if installed.suspended_by is None else user(site, installed.suspended_by), "suspended_at": instant(installed.suspended_at)}


def association(repository: Repository, who: User) -> str:
    """The author association, which says nothing about permissions."""
    if who is repository.owner:
        return "OWNER"
    role, _ = repository.roles.get(who.login.lower(), ("none", "none"))
    if role in ASSOCIATED:
        return "MEMBER" if repository.owner.kind == "Organization" else "COLLABORATOR"
    merged = any(pull.merged_at is not None and pull.author is who for pull in repository.pulls())
    return "CONTRIBUTOR" if merged else "NONE"


def permission(site: Site, who: User, role: str, role_name: str) -> Json:
    """`repository-collaborator-permission`: `permission` knows four words, `role_name` the true one."""
    held = {"pull": role != "none", "triage": role in ("triage", "write", "maintain", "admin"), "push": role in ("write", "maintain", "admin"),
            "maintain": role in ("maintain", "admin"), "admin": role == "admin"}
    short = {"maintain": "write", "triage": "read"}.get(role, role)
    return {"permission": short, "role_name": role_name, "user": {**user(site, who), "permissions": held, "role_name": role_name}}
