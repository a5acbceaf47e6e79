"""Requests of the App itself, signed with its private key: tokens for one repository, and deliveries that failed."""

from __future__ import annotations

import datetime
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jwt
import requests

from bot.github.api import API_VERSION
from bot.github.errors import GitHubError, Later, Suspended, Uninstalled
from bot.github.waiting import wait_before_retry
from bot.reporting.redact import redact

BACKDATED_S, LIFE_S = 60, 540  # docs.github.com, "Generating a JWT for a GitHub App": iat 60 s back, exp at most 10 min
ROLES: dict[str, dict[str, str]] = {
    "reader": {"contents": "read"},
    "reporter": {"checks": "write", "issues": "write", "pull_requests": "write", "contents": "read"},
}


@dataclass(frozen=True)
class RepositoryToken:
    """`expires_at`: seconds since the epoch. The token is not in its repr."""

    token: str
    expires_at: float

    def __repr__(self) -> str:
        return f"RepositoryToken(expires_at={self.expires_at})"


@dataclass(frozen=True)
class PastDelivery:
    """A webhook as GitHub remembers it; `delivered`: we answered one of its attempts with 2xx. `id`: of an attempt, to repeat."""

    id: int
    guid: str
    event: str
    action: str
    at: float
    delivered: bool


class AppRequests:
    """Holds the private key. `patience_s`: how long one request may wait for GitHub in all."""

    def __init__(
        self, app_id: int, private_key: str, api_url: str, patience_s: float = 60.0, sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._app_id, self._key, self._api_url, self._patience_s, self._sleep = app_id, private_key, api_url, patience_s, sleep
        self._session = requests.Session()

    def __repr__(self) -> str:
        return f"AppRequests({self._app_id})"

    def repository_token(self, installation_id: int, repository_id: int, role: str) -> RepositoryToken:
        """A token of one repository with a role's permissions, valid for an hour. Raises Suspended, Uninstalled, Later."""
        answer = self._send("POST", f"/app/installations/{installation_id}/access_tokens",
                            {"repository_ids": [repository_id], "permissions": ROLES[role]})
        return RepositoryToken(answer["token"], _seconds(answer["expires_at"]))

    def slug(self) -> str:
        """The App's name in addresses."""
        return str(self._send("GET", "/app", None)["slug"])

    def past_deliveries(self, since: float) -> list[PastDelivery]:
        """Webhooks after `since`, oldest first, each once however often it was attempted."""
        found: dict[str, PastDelivery] = {}
        cursor: str | None = None
        for _ in range(20):
            rows, cursor = self._deliveries_page(cursor)
            for row in rows:
                at, ok = _seconds(row["delivered_at"]), 200 <= int(row.get("status_code") or 0) < 300
                before = found.get(row["guid"])
                found[row["guid"]] = PastDelivery(int(row["id"]), row["guid"], row["event"], row.get("action") or "", at,
                                                  ok or (before is not None and before.delivered))
            if not rows or cursor is None or _seconds(rows[-1]["delivered_at"]) < since:
                break
        return sorted((one for one in found.values() if one.at >= since), key=lambda one: one.at)

    def attempt_again(self, delivery_id: int) -> None:
        """Have GitHub deliver a webhook once more."""
        self._send("POST", f"/app/hook/deliveries/{delivery_id}/attempts", None)

    def _deliveries_page(self, cursor: str | None) -> tuple[list[dict[str, Any]], str | None]:
        parameters: dict[str, str | int] = {"per_page": 100} | ({"cursor": cursor} if cursor else {})
        response = self._request("GET", "/app/hook/deliveries", None, parameters)
        following = parse_qs(urlsplit(response.links.get("next", {}).get("url", "")).query)
        return response.json(), next(iter(following.get("cursor", [])), None)

    def _send(self, verb: str, path: str, body: Mapping[str, Any] | None) -> Any:
        response = self._request(verb, path, body, None)
        return response.json() if response.content else None

    def _request(self, verb: str, path: str, body: Mapping[str, Any] | None, parameters: Mapping[str, str | int] | None) -> requests.Response:
        deadline, attempt = time.monotonic() + self._patience_s, 0
        while True:
            headers = {"Authorization": f"Bearer {self._signed()}", "Accept": "application/vnd.github+json", "X-GitHub-Api-Version": API_VERSION,
                       "User-Agent": "dualgate"}
            try:
                response = self._session.request(verb, self._api_url + path, json=body, params=parameters, headers=headers, timeout=30)
                status, answered, text = response.status_code, {k.lower(): v for k, v in response.headers.items()}, response.text
            except requests.RequestException as error:
                status, answered, text = 503, {}, type(error).__name__
            if status < 400:
                return response
            wait = wait_before_retry(status, answered, text, attempt, time.time())
            what = f"{verb} {path}: {status} {redact(text[:200])}"
            if wait is None:
                raise _fault(path, status, what)
            if time.monotonic() + wait > deadline:
                raise Later(what, wait)
            self._sleep(wait)
            attempt += 1

    def _signed(self) -> str:
        now = int(time.time())
        return jwt.encode({"iat": now - BACKDATED_S, "exp": now + LIFE_S, "iss": str(self._app_id)}, self._key, algorithm="RS256")


def _fault(path: str, status: int, what: str) -> GitHubError:
    if path.endswith("/access_tokens"):
        if status == 403:
            return Suspended(what)
        if status == 404:
            return Uninstalled(what)
    return GitHubError(what)


def _seconds(text: str) -> float:
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()
