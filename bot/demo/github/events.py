"""Which App hears of what, and the payload around the thing that happened."""

from __future__ import annotations

from typing import Any

from bot.demo.github.records import App, Installation, Json, Repository, User, node_id
from bot.demo.github.shapes import accounts
from bot.demo.github.shapes.repository import full
from bot.demo.github.state import State

ALWAYS = {"installation", "installation_repositories"}
# An App that may write checks hears of them without asking.
OF_CHECKS = {"check_run", "check_suite"}


class Events(State):
    """Emits webhooks to the Apps that are installed and subscribed."""

    def emit(self, event: str, action: str | None, repository: Repository, sender: User, *, only: App | None = None, told: Json | None = None,
             **fields: Any) -> None:
        """Tell every App that should hear of it; `told` replaces the usual shape of the repository."""
        with self.lock:
            for installation in list(self.installations.values()):
                app = installation.app
                if not installation.covers(repository) or installation.suspended_at is not None or only not in (None, app):
                    continue
                if event in app.events or (event in OF_CHECKS and app.permissions.get("checks") == "write"):
                    payload = self._payload(action, sender, repository.owner, fields)
                    payload["repository"] = told or full(self.site, repository)
                    payload["installation"] = {"id": installation.id, "node_id": node_id("IntegrationInstallation", installation.id)}
                    self.courier.emit(app, event, action, payload, installation.id, repository.id)

    def emit_installation(self, event: str, action: str, installation: Installation, sender: User, **fields: Any) -> None:
        """Tell an App about its own installation."""
        payload = self._payload(action, sender, None, {"installation": accounts.installation(self.site, installation), **fields})
        self.courier.emit(installation.app, event, action, payload, installation.id, None)

    def _payload(self, action: str | None, sender: User, owner: User | None, fields: Json) -> Json:
        payload: Json = {} if action is None else {"action": action}
        payload |= fields
        if owner is not None and owner.kind == "Organization":
            payload["organization"] = accounts.organization(self.site, owner)
        return {**payload, "sender": accounts.user(self.site, sender)}
