"""The guard before the pages, and the form that takes the admin token."""

from __future__ import annotations

import json
import re

import structlog
from flask import Blueprint, Response, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from webhooks.access import SESSION_S, Access

LARGEST_FORM = 4096
OWN_PAGE = re.compile(r"/(?:runs/[A-Za-z0-9_-]{1,64})?(?:\?[A-Za-z0-9_.~%=&/+-]{0,500})?")
ASK_OPERATOR = "these pages answer this machine alone; set DUALGATE_ADMIN_TOKEN to open them to whoever holds it"
log = structlog.get_logger()


def guard(routes: Blueprint, access: Access) -> None:
    """Let nobody at these routes whom `access` does not admit."""

    @routes.before_request
    def check() -> ResponseReturnValue | None:
        if access.admits(request):
            return None
        if not access.has_token:
            return _refusal(403, ASK_OPERATOR)
        if access.exhausted(request):
            return _refusal(429, "too many wrong tokens from this address; wait a minute")
        if request.method == "GET" and request.accept_mimetypes.best_match(("application/json", "text/html")) == "text/html":
            return redirect(url_for("sign_in.form", next=request.full_path.rstrip("?")), 303)
        answer = _refusal(401, "send the admin token: Authorization: Bearer TOKEN")
        answer.headers["WWW-Authenticate"] = 'Bearer realm="dualgate"'
        return answer


def sign_in_routes(access: Access) -> Blueprint:
    """The form, and the way out."""
    routes = Blueprint("sign_in", __name__)

    @routes.get("/login")
    def form() -> ResponseReturnValue:
        if not access.has_token:
            return redirect(url_for("pages.index"), 303)
        return _form(own_page(request.args.get("next", "")), "", 200)

    @routes.post("/login")
    def enter() -> ResponseReturnValue:
        request.max_content_length = LARGEST_FORM
        target = own_page(request.form.get("next", ""))
        if access.exhausted(request):
            return _form(target, "Too many wrong tokens from this address. Wait a minute.", 429)
        if not access.is_token(request.form.get("token", "").strip(), request):
            log.warning("wrong_token", peer=request.remote_addr)
            return _form(target, "That is not the token.", 401)
        answer = redirect(target, 303)
        answer.set_cookie(access.cookie, access.new_session(), max_age=SESSION_S, httponly=True, samesite="Lax", secure=access.secure, path="/")
        return answer

    @routes.post("/logout")
    def leave() -> ResponseReturnValue:
        answer = redirect(url_for("sign_in.form"), 303)
        answer.delete_cookie(access.cookie, path="/", secure=access.secure, httponly=True, samesite="Lax")
        return answer

    return routes


def own_page(wanted: str) -> str:
    """A page of ours that may be gone to, else the first one: never another site."""
    return wanted if OWN_PAGE.fullmatch(wanted) else "/"


def _form(target: str, fault: str, status: int) -> tuple[str, int]:
    return render_template("login.html", target=target, fault=fault), status


def _refusal(status: int, why: str) -> Response:
    return Response(json.dumps({"error": why}) + "\n", status, content_type="application/json")
