"""Who may see the pages and the metrics: whoever holds the admin token, or without one this machine alone."""

from __future__ import annotations

import hashlib
import hmac
import time
from collections import deque
from collections.abc import Callable
from urllib.parse import urlsplit

from flask import Request
from itsdangerous import BadSignature, TimestampSigner

from bot.app_settings import AppSettings, is_loopback

SESSION_S = 7 * 86_400
MOST_WRONG, WRONG_WINDOW_S = 10, 60.0
MOST_ADDRESSES = 10_000
# What a proxy on this machine leaves: its peers are not this machine, whatever the socket says.
PROXY_HEADERS = ("Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-IP", "CF-Connecting-IP")
LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")


class Attempts:
    """Wrong tokens of an address in the last minute, in this process."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._wrong: dict[str, deque[float]] = {}

    def exhausted(self, address: str) -> bool:
        """Whether an address has had its wrong ones."""
        times = self._wrong.get(address)
        while times and times[0] < self._clock() - WRONG_WINDOW_S:
            times.popleft()
        return times is not None and len(times) >= MOST_WRONG

    def note(self, address: str) -> None:
        """One more wrong token."""
        if len(self._wrong) >= MOST_ADDRESSES:
            self._wrong.clear()
        self._wrong.setdefault(address, deque(maxlen=MOST_WRONG)).append(self._clock())


class Access:
    """Decides by the settings and the request alone."""

    def __init__(self, settings: AppSettings, attempts: Attempts | None = None) -> None:
        self._token = settings.admin_token
        self._attempts = attempts or Attempts()
        self._local_hosts = LOCAL_HOSTS  # not the public one: a tunnel that adds no header would let everybody in
        self.secure = urlsplit(settings.public_url).scheme == "https"
        self.cookie = "__Host-dualgate" if self.secure else "dualgate"
        self._signer = TimestampSigner(hmac.digest(self._token.encode(), b"dualgate: sessions of the pages", "sha256"), "session") if self._token else None

    @property
    def has_token(self) -> bool:
        """Whether the operator set one."""
        return self._token is not None

    def exhausted(self, incoming: Request) -> bool:
        """Whether the address of a request is refused unseen for a while."""
        return self._attempts.exhausted(incoming.remote_addr or "")

    def is_token(self, given: str, incoming: Request) -> bool:
        """Whether this is the token, in constant time; a wrong one counts against the address. Always False once it is exhausted."""
        if self._token is None or self.exhausted(incoming):
            return False
        same = hmac.compare_digest(hashlib.sha256(given.encode("utf-8", "replace")).digest(), hashlib.sha256(self._token.encode()).digest())
        if not same:
            self._attempts.note(incoming.remote_addr or "")
        return same

    def new_session(self) -> str:
        """The value of a session's cookie."""
        return self._signer.sign("admin").decode() if self._signer else ""

    def admits(self, incoming: Request) -> bool:
        """Whether a request may see the pages."""
        if self._token is None:
            return self._is_local(incoming)
        scheme, _, given = incoming.headers.get("Authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            return self.is_token(given.strip(), incoming)
        return self._has_session(incoming)

    def _has_session(self, incoming: Request) -> bool:
        value = incoming.cookies.get(self.cookie)
        if not value or self._signer is None:
            return False
        try:
            self._signer.unsign(value, max_age=SESSION_S)
        except BadSignature:
            return False
        return True

    def _is_local(self, incoming: Request) -> bool:
        """By the peer, by no trace of a proxy (nginx's own requests are HTTP/1.0), and by the name in Host, which a rebound DNS name can't bear."""
        if not is_loopback(incoming.remote_addr or "") or any(name in incoming.headers for name in PROXY_HEADERS):
            return False
        if incoming.environ.get("SERVER_PROTOCOL") == "HTTP/1.0":
            return False
        try:
            return urlsplit(f"//{incoming.headers.get('Host', '')}").hostname in self._local_hosts
        except ValueError:
            return False
