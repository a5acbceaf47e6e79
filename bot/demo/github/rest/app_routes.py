"""What an App asks as itself: who am I, where am I installed, tokens, deliveries."""

from __future__ import annotations

from typing import Any

from bot.demo.github.records import Installation, Json, Repository, instant
from bot.demo.github.refusals import Refusal, not_found
from bot.demo.github.rest.call import Call, with_headers
from bot.demo.github.rest.door import Door
from bot.demo.github.shapes import accounts
from bot.demo.github.shapes.repository import full
from bot.demo.github.tokens import RANKS, expiry
from bot.demo.github.webhooks import Delivery


def register(door: Door) -> None:
    """Serve the routes that take an App's own token."""
    door.route("GET", "/app", audience="app")(get_app)
    door.route("GET", "/app/installations", audience="app")(list_installations)
    door.route("GET", "/app/installations/<int:installation_id>", audience="app")(get_installation)
    door.route("GET", "/repos/<owner>/<name>/installation", audience="app")(find_installation)
    door.route("POST", "/app/installations/<int:installation_id>/access_tokens", audience="app")(create_token)
    door.route("GET", "/app/hook/deliveries", audience="app")(list_deliveries)
    door.route("GET", "/app/hook/deliveries/<int:delivery_id>", audience="app")(get_delivery)
    door.route("POST", "/app/hook/deliveries/<int:delivery_id>/attempts", audience="app")(redeliver)
    door.route("POST", "/app-manifests/<code>/conversions", audience="anyone")(convert_manifest)


def get_app(call: Call) -> Json:
    return accounts.own_app(call.site, call.app, len(_installations(call)))


def convert_manifest(call: Call, code: str) -> tuple[int, Json]:
    """The secrets of an App that was just registered: whoever has the code gets them, once."""
    made = call.hub.convert(code)
    secrets = {"client_id": made.app.client_id, "client_secret": made.client_secret, "webhook_secret": made.app.webhook_secret, "pem": made.private_key_pem}
    return 201, {**accounts.own_app(call.site, made.app, 0), **secrets}


def list_installations(call: Call) -> Any:
    chosen, headers = call.page(_installations(call))
    return with_headers([accounts.installation(call.site, one) for one in chosen], headers)


def get_installation(call: Call, installation_id: int) -> Json:
    return accounts.installation(call.site, _own(call, installation_id))


def find_installation(call: Call, owner: str, name: str) -> Json:
    repository = call.hub.find_repository(f"{owner}/{name}")
    for installed in _installations(call):
        if repository is not None and installed.covers(repository):
            return accounts.installation(call.site, installed)
    raise not_found()


def create_token(call: Call, installation_id: int) -> tuple[int, Json]:
    """A token for all that was granted, or for the repositories and permissions that are asked for."""
    installed = _own(call, installation_id)
    if installed.suspended_at is not None:
        raise Refusal(403, "This installation has been suspended")
    asked = call.body()
    chosen = _repositories(call, installed, asked)
    permissions = _permissions(installed, asked.get("permissions"))
    grant = call.hub.grant(installed, None if chosen is None else frozenset(one.id for one in chosen), permissions)
    selected = chosen is not None or installed.repository_ids is not None
    told: Json = {"token": grant.token, "expires_at": expiry(grant), "permissions": permissions, "repository_selection": "selected" if selected else "all"}
    if chosen is not None:
        told["repositories"] = [full(call.site, one) for one in chosen]
    return 201, told


def _repositories(call: Call, installed: Installation, asked: Json) -> list[Repository] | None:
    if "repository_ids" not in asked and "repositories" not in asked:
        return None
    reachable = [one for one in call.hub.repositories.values() if installed.covers(one) and not one.deleted]
    by_id, by_name = {one.id: one for one in reachable}, {one.name: one for one in reachable}
    wanted = [by_id.get(number) for number in asked.get("repository_ids", [])] + [by_name.get(name) for name in asked.get("repositories", [])]
    found = [one for one in wanted if one is not None]
    if len(found) < len(wanted) or not wanted:
        raise Refusal(422, "There is at least one repository that does not exist or is not accessible to the parent installation.")
    return found


def _permissions(installed: Installation, asked: Json | None) -> dict[str, str]:
    if asked is None:
        return dict(installed.permissions)
    for name, level in asked.items():
        if level not in RANKS or RANKS[level] > RANKS.get(installed.permissions.get(name, ""), 0):
            raise Refusal(422, "The permissions requested are not granted to this installation.")
    return {"metadata": "read", **asked}


def list_deliveries(call: Call) -> Any:
    """Newest first, by cursor."""
    rows = [one for one in reversed(call.hub.deliveries) if one.app is call.app]
    cursor, size = call.query("cursor"), call.per_page()
    if cursor:
        if not cursor.removeprefix("v1_").isdecimal():
            raise Refusal(400, "Invalid cursor")
        rows = [one for one in rows if one.id <= int(cursor.removeprefix("v1_"))]
    headers = call.links({"next": {"cursor": f"v1_{rows[size].id}"}}) if len(rows) > size else {}
    return with_headers([_item(one) for one in rows[:size]], headers)


def get_delivery(call: Call, delivery_id: int) -> Json:
    one = _delivery(call, delivery_id)
    answered = bool(one.response_headers)
    return {**_item(one), "url": one.app.webhook_url or "", "request": {"headers": one.request_headers, "payload": one.payload},
            "response": {"headers": one.response_headers if answered else None, "payload": one.response_body if answered else None}}


def redeliver(call: Call, delivery_id: int) -> tuple[int, Json]:
    call.hub.courier.redeliver(_delivery(call, delivery_id))
    return 202, {}


def _delivery(call: Call, delivery_id: int) -> Delivery:
    for one in call.hub.deliveries:
        if one.id == delivery_id and one.app is call.app:
            return one
    raise not_found()


def _item(one: Delivery) -> Json:
    return {"id": one.id, "guid": one.guid, "delivered_at": instant(one.delivered_at), "redelivery": one.redelivery, "duration": one.duration,
            "status": one.status, "status_code": one.status_code, "event": one.event, "action": one.action, "installation_id": one.installation_id,
            "repository_id": one.repository_id, "throttled_at": None}


def _installations(call: Call) -> list[Installation]:
    return [one for one in call.hub.installations.values() if one.app is call.app]


def _own(call: Call, installation_id: int) -> Installation:
    installed = call.hub.installations.get(installation_id)
    if installed is None or installed.app is not call.app:
        raise not_found()
    return installed
