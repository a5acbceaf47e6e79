"""Requests to one repository with a token of that repository alone. PyGithub carries them; when to repeat one is decided here."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

import requests
import structlog
from github import Auth, Github, GithubException
from github.Requester import Requester

from bot.github.errors import Later, NotThere, Refused
from bot.github.waiting import wait_before_retry
from bot.reporting.redact import redact

T = TypeVar("T")
Token = Callable[[bool], str]  # True: the one before was refused
API_VERSION = "2022-11-28"
PER_PAGE, MOST_PAGES = 100, 10
log = structlog.get_logger()


class Api:
    """`patience_s`: how long one request may wait for GitHub in all, before Later is raised."""

    def __init__(self, api_url: str, repository: str, token: Token, patience_s: float = 60.0, sleep: Callable[[float], None] = time.sleep) -> None:
        self.repository = repository
        self._api_url, self._token, self._patience_s, self._sleep = api_url, token, patience_s, sleep
        self._requester = self._connect(fresh=False)

    def get(self, path: str, **parameters: str | int) -> Any:
        """The answer to a GET of `/repos/OWNER/NAME` + path. Raises NotThere, Refused, Later."""
        return self._send("GET", path, parameters=parameters)

    def pages(self, path: str, key: str | None = None, **parameters: str | int) -> Iterator[Any]:
        """The rows of a list, page by page (at most MOST_PAGES); `key`: where the list stands in the answer."""
        for page in range(1, MOST_PAGES + 1):
            answer = self.get(path, per_page=PER_PAGE, page=page, **parameters)
            rows = answer[key] if key else answer
            yield from rows
            if len(rows) < PER_PAGE:
                return

    def post(self, path: str, body: Mapping[str, Any], made: Callable[[], Any | None]) -> Any:
        """Make something. `made` looks whether an earlier try, whose answer was lost, did; then that is the answer."""
        return self._send("POST", path, body=body, made=made)

    def patch(self, path: str, body: Mapping[str, Any], made: Callable[[], Any | None]) -> Any:
        """Change something. `made` looks whether an earlier try, whose answer was lost, did; then that is the answer."""
        return self._send("PATCH", path, body=body, made=made)

    def _send(
        self, verb: str, path: str, parameters: Mapping[str, Any] | None = None, body: Mapping[str, Any] | None = None,
        made: Callable[[], Any | None] | None = None,
    ) -> Any:
        deadline, attempt, renewed = time.monotonic() + self._patience_s, 0, False
        while True:
            status, headers, text = self._once(verb, path, parameters, body)
            if status < 400:
                return json.loads(text) if text else None
            if status == 401 and not renewed:
                self._requester, renewed = self._connect(fresh=True), True
                continue
            wait = wait_before_retry(status, headers, text, attempt, time.time())
            what = f"{verb} {self.repository}{path}: {status} {redact(_message(text))}"
            if wait is None:
                raise NotThere(what) if status in (404, 410) else Refused(what, status)
            if time.monotonic() + wait > deadline:
                raise Later(what, wait)
            log.warning("github_retry", request=f"{verb} {path}", status=status, wait_s=round(wait, 1))
            self._sleep(wait)
            attempt += 1
            if made is not None and (found := made()) is not None:
                return found

    def _once(self, verb: str, path: str, parameters: Mapping[str, Any] | None, body: Mapping[str, Any] | None) -> tuple[int, dict[str, str], str]:
        """(status, headers, body); a connection that breaks is a 503."""
        headers = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": API_VERSION}
        try:
            answered, data = self._requester.requestJsonAndCheck(
                verb, f"/repos/{self.repository}{path}", parameters=dict(parameters or {}) or None, headers=headers, input=dict(body) if body else None)
        except GithubException as error:
            found = {name.lower(): str(value) for name, value in (error.headers or {}).items()}
            return error.status, found, error.data if isinstance(error.data, str) else json.dumps(error.data)
        except (requests.RequestException, OSError) as error:
            return 503, {}, type(error).__name__
        return 200, dict(answered), json.dumps(data) if data is not None else ""

    def _connect(self, fresh: bool) -> Requester:
        client = Github(
            auth=Auth.Token(self._token(fresh)), base_url=self._api_url, timeout=30, retry=None, seconds_between_requests=None,
            user_agent="dualgate", per_page=PER_PAGE)
        return client.requester


def _message(text: str) -> str:
    try:
        data = json.loads(text)
        return f"{data.get('message', '')} {json.dumps(data['errors']) if data.get('errors') else ''}".strip()[:300]
    except (ValueError, AttributeError, TypeError):
        return text[:200]
