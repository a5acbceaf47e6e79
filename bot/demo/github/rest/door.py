"""The door of the REST API: who calls, may they, what went wrong, and the log of it all."""

from __future__ import annotations

import functools
import hashlib
import itertools
import json
import socket
import time
from collections.abc import Callable
from typing import Any, Literal

from flask import Blueprint, Request, Response, request

from bot.demo.github.exchange import Exchange
from bot.demo.github.faults import Fault
from bot.demo.github.hub import Hub
from bot.demo.github.records import Repository
from bot.demo.github.refusals import Refusal, bad_credentials, not_accessible, not_found
from bot.demo.github.rest.call import Call
from bot.demo.github.rest.rates import Rates
from bot.demo.github.tokens import Caller, verify_app, verify_grant

View = Callable[..., Any]
Audience = Literal["app", "repository", "anyone"]


class Door:
    """Registers views on a blueprint. A view takes the call (and its repository), returns JSON or (status, JSON), or raises Refusal."""

    def __init__(self, hub: Hub) -> None:
        self.hub = hub
        self.blueprint = Blueprint("rest", __name__)
        self.rates = Rates()
        self._request_ids = itertools.count(0xC0FFEE00)

    def route(self, method: str, rule: str, *, audience: Audience = "repository", needs: tuple[str, ...] = ("metadata:read",)) -> Callable[[View], View]:
        """Serve a method and rule; any one of `needs` lets a token in."""
        def register(view: View) -> View:
            @functools.wraps(view)
            def answer(**arguments: Any) -> Response:
                return self.serve(functools.partial(_perform, view, audience, needs, arguments))
            name = f"{method} {rule}".replace(".", "-")
            self.blueprint.add_url_rule(rule, name, answer, methods=[method])
            return view
        return register

    def serve(self, perform: Callable[[Call], Any]) -> Response:
        """Perform a call and answer as GitHub does, faults included."""
        fault = self.hub.faults.take(request.method, request.path)
        if fault is not None and fault.delay_s:
            time.sleep(fault.delay_s)
        caller, response = Caller(kind="refused"), None
        if fault is None or fault.perform_first:
            caller, response = self._answer(perform)
        else:
            caller = self._recognise(caller)
        if fault is not None:
            response = _faulty(fault)
        assert response is not None
        self._dress(response, caller, fault)
        self._log(response, caller, fault)
        if fault is not None and fault.status == 0:
            request.environ["werkzeug.socket"].shutdown(socket.SHUT_RDWR)
        return response

    def _recognise(self, unknown: Caller) -> Caller:
        try:
            return identify(self.hub, request)
        except Refusal:
            return unknown

    def _answer(self, perform: Callable[[Call], Any]) -> tuple[Caller, Response]:
        caller = Caller(kind="refused")
        try:
            with self.hub.lock:
                caller = identify(self.hub, request)
                given = perform(Call(self.hub, caller, request, self.rates))
        except Refusal as refusal:
            return caller, _json(refusal.status, refusal.body(), refusal.headers)
        if isinstance(given, Response):
            return caller, given
        status, body = given if isinstance(given, tuple) else (200, given)
        return caller, _json(status, body, {})

    def _dress(self, response: Response, caller: Caller, fault: Fault | None) -> None:
        own = {} if fault is None else {name.lower(): value for name, value in fault.headers.items()}
        if response.status_code == 200 and request.method == "GET":
            response.headers["ETag"] = f'W/"{hashlib.sha256(response.get_data()).hexdigest()}"'
            if request.headers.get("If-None-Match") == response.headers["ETag"]:
                response.status_code, response.data = 304, b""
        if response.status_code != 304 and request.path != "/rate_limit":
            self.rates.count(caller)
        dressing = {**self.rates.headers(caller), "X-GitHub-Request-Id": f"{next(self._request_ids):X}:1A2B:3C4D5E:6F7081:{int(time.time()):X}",
                    "X-GitHub-Media-Type": "github.v3; format=json", "X-GitHub-Api-Version-Selected": "2022-11-28", "Cache-Control": "private, max-age=60"}
        for name, value in {**dressing, **own}.items():
            response.headers[name] = value

    def _log(self, response: Response, caller: Caller, fault: Fault | None) -> None:
        grant = caller.grant
        exchange = Exchange(request.method, request.path, dict(request.args), _decoded(request.get_data()), response.status_code,
                            _decoded(response.get_data()), caller.kind, dict(grant.permissions) if grant else {}, grant.repository_ids if grant else None,
                            _plain(request), dict(response.headers), fault is not None)
        with self.hub.lock:
            self.hub.requests.append(exchange)


def identify(hub: Hub, incoming: Request) -> Caller:
    """Who sends a request. Raises Refusal for a token that is no good."""
    scheme, _, token = incoming.headers.get("Authorization", "").partition(" ")
    if not scheme:
        return Caller()
    if scheme.lower() not in ("bearer", "token"):
        raise bad_credentials()
    if token.startswith("ghs_"):
        grant = verify_grant(token, hub.grants, hub.now())
        return Caller("installation", grant.installation.app, grant)
    if token.startswith("eyJ") and token.count(".") == 2:
        return Caller("app", verify_app(token, hub.apps))
    raise bad_credentials()


def _perform(view: View, audience: Audience, needs: tuple[str, ...], arguments: dict[str, Any], call: Call) -> Any:
    if audience == "app" and call.caller.kind != "app":
        raise Refusal(401, "A JSON web token could not be decoded")
    if audience != "repository":
        return view(call, **arguments)
    repository = visible(call, f"{arguments.pop('owner')}/{arguments.pop('name')}")
    _admit(call, repository, needs)
    return view(call, repository, **arguments)


def visible(call: Call, name: str) -> Repository:
    """A repository that exists for the caller. Raises Refusal: 301 or 307 after a renaming, 404 for what is hidden or is not there."""
    if call.caller.kind == "app":
        raise bad_credentials()
    found = call.hub.find_repository(name)
    if found is None and name.lower() in call.hub.former_names:
        repository = call.hub.repositories[call.hub.former_names[name.lower()]]
        address = call.hub.site.api + f"/repositories/{repository.id}" + call.request.path.removeprefix(f"/repos/{name}")
        if not repository.deleted and call.caller.sees(repository):
            moved = (301, "Moved Permanently") if call.request.method in ("GET", "HEAD") else (307, "Temporary Redirect")
            raise Refusal(*moved, headers={"Location": address})
    if found is None or not call.caller.sees(found):
        raise not_found()
    return found


def _admit(call: Call, repository: Repository, needs: tuple[str, ...]) -> None:
    """Let a caller in or raise Refusal. Stricter than GitHub in one thing: a token that was made for a public repository and lacks a
    permission cannot read what anybody could, so that a missing permission shows here and not first on a private repository."""
    reads = call.request.method in ("GET", "HEAD")
    if call.caller.covers(repository):
        if not any(call.caller.holds(*need.split(":")) for need in needs):
            raise not_accessible()
    elif call.caller.kind == "anonymous" and not reads:
        raise Refusal(401, "Requires authentication")
    elif not reads:
        raise not_accessible()
    if repository.archived and not reads:
        raise Refusal(403, "Repository was archived so is read-only.")


def _json(status: int, body: Any, headers: dict[str, str]) -> Response:
    text = "" if status == 204 else json.dumps(body, ensure_ascii=False)
    return Response(text, status, {"Content-Type": "application/json; charset=utf-8", **headers})


def _faulty(fault: Fault) -> Response:
    text = fault.body if isinstance(fault.body, str) else json.dumps(fault.body)
    return Response(text, fault.status or 500, {"Content-Type": "application/json; charset=utf-8"})


def _decoded(data: bytes) -> Any:
    try:
        return json.loads(data) if data else None
    except ValueError:
        return None


def _plain(incoming: Request) -> dict[str, str]:
    """The request's headers without the credentials."""
    return {name: value for name, value in incoming.headers.items() if name.lower() != "authorization"}
