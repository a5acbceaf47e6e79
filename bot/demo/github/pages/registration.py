"""Pages on which a person registers an App from a manifest and installs it."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode, urlsplit

from flask import Blueprint, Response, abort, make_response, redirect, render_template, request

from bot.demo.github.manifests import read_manifest
from bot.demo.github.pages.actions import refuse_foreign_forms
from bot.demo.github.pages.views import POLICY, Pages, guard
from bot.demo.github.records import User
from bot.demo.github.refusals import Refusal
from bot.demo.github.state import Unknown


class Registration:
    """`/settings/apps/new` and `/apps/SLUG/installations/new`."""

    def __init__(self, pages: Pages) -> None:
        self.pages, self.hub = pages, pages.hub
        self.blueprint = Blueprint("registration", __name__)
        self.blueprint.after_request(guard)
        self.blueprint.post("/settings/apps/new")(self.propose)
        self.blueprint.post("/organizations/<organization>/settings/apps/new")(self.propose)
        self.blueprint.post("/settings/apps/create")(self.create)
        self.blueprint.get("/apps/<slug>/installations/new")(self.choose)
        self.blueprint.post("/apps/<slug>/installations")(self.install)

    def propose(self, organization: str = "") -> Response:
        """Show what a manifest asks for. The form comes from the set-up page of the App, so from another site."""
        text = request.form.get("manifest", "")
        try:
            manifest = read_manifest(text)
        except Refusal as refusal:
            abort(422, description=refusal.message)
        page = render_template("register.html", manifest=manifest, text=text, state=request.args.get("state", ""), owner=organization or self._visitor().login)
        answer = make_response(page)
        back = urlsplit(manifest["redirect_url"])
        # The browser follows the form's redirect back to the App only where this names it.
        answer.headers["Content-Security-Policy"] = POLICY.replace("form-action 'self'", f"form-action 'self' {back.scheme}://{back.netloc}")
        return answer

    def create(self) -> Any:
        """Register, and go back with the code and the state."""
        refuse_foreign_forms()
        try:
            code, back = self.hub.register_manifest(request.form["manifest"], request.form["owner"])
        except Refusal as refusal:
            abort(422, description=refusal.message)
        return redirect(f"{back}{'&' if '?' in back else '?'}{urlencode({'code': code, 'state': request.form.get('state', '')})}", 303)

    def choose(self, slug: str) -> str:
        """The repositories that the App can be given."""
        with self.hub.lock:
            app = self._app(slug)
            free = [one for one in self.hub.repositories.values() if not one.deleted]
            held = {one.id for one in free for each in self.hub.installations.values() if each.app is app and each.covers(one)}
            return render_template("install.html", app=app, repositories=free, held=held)

    def install(self, slug: str) -> Any:
        """Install on what was ticked, account by account."""
        refuse_foreign_forms()
        by_owner: dict[str, list[str]] = {}
        for name in request.form.getlist("repository"):
            by_owner.setdefault(name.split("/")[0], []).append(name)
        try:
            for names in by_owner.values():
                self.hub.install(self._app(slug), names, by=self._visitor().login)
        except Unknown as error:
            abort(422, description=str(error))
        return redirect(f"/apps/{slug}/installations/new", 303)

    def _app(self, slug: str) -> Any:
        try:
            return self.hub.app(slug)
        except Unknown:
            abort(404)

    def _visitor(self) -> User:
        return self.pages.visitor() or self.hub.add_user("app-owner")
