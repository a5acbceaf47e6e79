"""People, Apps and installations: who exists, and which App was given which repository."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from bot.demo.github.events import Events
from bot.demo.github.records import LEVELS, App, Installation, Repository, User
from bot.demo.github.shapes.repository import in_installation
from bot.demo.github.state import RepositoryOrName, Unknown
from bot.demo.github.tokens import Grant, mint

Kind = Literal["User", "Bot", "Organization"]
Role = Literal["admin", "maintain", "write", "triage", "read", "none"]


class Accounts(Events):
    """Registers users and Apps, installs, suspends and uninstalls."""

    def add_user(self, login: str, *, kind: Kind = "User", id: int | None = None) -> User:
        """A new user, bot or organization; an existing login is returned as it is."""
        with self.lock:
            if login.lower() not in self.users:
                self.users[login.lower()] = User(self.next_id("user") if id is None else id, login, kind)
            return self.users[login.lower()]

    def add_app(self, slug: str, app_id: int, public_key_pem: str, webhook_url: str | None = None, webhook_secret: str = "",
                permissions: Mapping[str, str] | None = None, events: Iterable[str] = (), *, owner: str = "app-owner") -> App:
        """Register an App; its bot is `slug[bot]`. `metadata: read` is implied."""
        with self.lock:
            granted = {"metadata": "read", **(permissions or {})}
            app = App(app_id, slug, self.add_user(owner), self.add_user(f"{slug}[bot]", kind="Bot"), public_key_pem, webhook_url, webhook_secret, granted,
                      tuple(events), self.next_id("hook"), self.now())
            self.apps[app_id] = app
            return app

    def app(self, slug: str) -> App:
        """An App by its slug. Raises Unknown."""
        for app in self.apps.values():
            if app.slug == slug:
                return app
        raise Unknown(f"no App {slug}")

    def set_webhook(self, app: App, url: str | None, secret: str | None = None) -> None:
        """Change where an App's events go, and the secret unless it stays."""
        app.webhook_url, app.webhook_secret = url, app.webhook_secret if secret is None else secret

    def installation(self, installation_id: int) -> Installation:
        """An installation. Raises Unknown."""
        found = self.installations.get(installation_id)
        if found is None:
            raise Unknown(f"no installation {installation_id}")
        return found

    def install(self, app: App, repositories: Sequence[RepositoryOrName] | Literal["all"], *, account: str | None = None, by: str | None = None) -> int:
        """The installation's id. More repositories of an account that has the App already are added to it."""
        with self.lock:
            chosen = [] if repositories == "all" else [self.repository(one) for one in repositories]
            owner = chosen[0].owner if account is None else self.user(account)
            if any(one.owner is not owner for one in chosen):
                raise ValueError("an installation is on the repositories of one account")
            sender = owner if by is None else self.user(by)
            for installed in self.installations.values():
                if installed.app is app and installed.account is owner:
                    return self._add_repositories(installed, chosen, sender)
            ids = None if repositories == "all" else {one.id for one in chosen}
            installed = Installation(self.next_id("installation"), app, owner, ids, dict(app.permissions), app.events, self.now(), self.now())
            self.installations[installed.id] = installed
            listed = [one for one in self.repositories.values() if installed.covers(one)]
            self.emit_installation("installation", "created", installed, sender, repositories=[in_installation(one) for one in listed])
            return installed.id

    def _add_repositories(self, installed: Installation, chosen: list[Repository], sender: User) -> int:
        added = [one for one in chosen if not installed.covers(one)]
        if installed.repository_ids is not None:
            installed.repository_ids |= {one.id for one in added}
        self._tell_selection("added", installed, sender, added, [])
        return installed.id

    def remove_repository(self, installation_id: int, repository: RepositoryOrName, *, by: str | None = None) -> None:
        """Take a repository away from an installation."""
        with self.lock:
            installed, gone = self.installation(installation_id), self.repository(repository)
            kept = {one.id for one in self.repositories.values() if installed.covers(one)} if installed.repository_ids is None else installed.repository_ids
            installed.repository_ids = kept - {gone.id}
            self._tell_selection("removed", installed, installed.account if by is None else self.user(by), [], [gone])

    def _tell_selection(self, action: str, installed: Installation, sender: User, added: list[Repository], removed: list[Repository]) -> None:
        installed.updated_at = self.now()
        self.emit_installation("installation_repositories", action, installed, sender, requester=None,
                               repository_selection="all" if installed.repository_ids is None else "selected",
                               repositories_added=[in_installation(one) for one in added], repositories_removed=[in_installation(one) for one in removed])

    def suspend(self, installation_id: int, *, by: str | None = None) -> None:
        """Suspend: tokens answer 403, and nothing but this is told."""
        with self.lock:
            installed = self.installation(installation_id)
            installed.suspended_by = installed.account if by is None else self.user(by)
            installed.suspended_at = self.now()
            self.emit_installation("installation", "suspend", installed, installed.suspended_by)

    def unsuspend(self, installation_id: int) -> None:
        """Lift a suspension."""
        with self.lock:
            installed = self.installation(installation_id)
            installed.suspended_at = installed.suspended_by = None
            self.emit_installation("installation", "unsuspend", installed, installed.account)

    def uninstall(self, installation_id: int, *, by: str | None = None) -> None:
        """Uninstall: its tokens are revoked."""
        with self.lock:
            installed = self.installations.pop(installation_id)
            for grant in self.grants.values():
                grant.revoked = grant.revoked or grant.installation is installed
            listed = [in_installation(one) for one in self.repositories.values() if installed.covers(one)]
            self.emit_installation("installation", "deleted", installed, installed.account if by is None else self.user(by), repositories=listed)

    def mint(self, installation_id: int, *, repositories: Sequence[RepositoryOrName] | None = None, permissions: Mapping[str, str] | None = None) -> str:
        """An installation token without the detour over the API."""
        installed = self.installation(installation_id)
        ids = None if repositories is None else frozenset(self.repository(one).id for one in repositories)
        return self.grant(installed, ids, dict(installed.permissions if permissions is None else permissions)).token

    def grant(self, installed: Installation, repository_ids: frozenset[int] | None, permissions: dict[str, str]) -> Grant:
        """A new token, remembered."""
        with self.lock:
            made = mint(installed, repository_ids, permissions, self.now())
            self.grants[made.token] = made
            return made

    def expire_tokens(self) -> None:
        """Let every installation token that was minted so far have expired."""
        with self.lock:
            for grant in self.grants.values():
                grant.revoked = True

    def set_permission(self, repository: RepositoryOrName, login: str, role: Role, *, role_name: str | None = None) -> None:
        """Give a user a role on a repository; `role_name` is that of a custom role which maps to it."""
        if role not in LEVELS:
            raise ValueError(f"no such role: {role}")
        with self.lock:
            self.repository(repository).roles[self.user(login).login.lower()] = (role, role_name or role)
