"""Deliveries of webhooks: signed as GitHub signs them, one at a time, each attempt recorded."""

from __future__ import annotations

import hashlib
import hmac
import itertools
import json
import queue
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Literal

import requests

from bot.demo.github.records import App, Json, Moment

TIMEOUT_S = 10.0
DOWN = {502: "failed to connect to host", 504: "timed out"}
Order = Literal["as_emitted", "reversed"] | Callable[[list["Delivery"]], list["Delivery"]]


@dataclass(frozen=True)
class Delivery:
    """One attempt to deliver an event; attempts at the same event share a `guid`. `status_code` is 0 until it was made."""

    id: int
    guid: str
    app: App
    event: str
    action: str | None
    installation_id: int | None
    repository_id: int | None
    payload: Json
    redelivery: bool = False
    delivered_at: Moment = field(default_factory=lambda: datetime.now(UTC))
    duration: float = 0.0
    status: str = ""
    status_code: int = 0
    request_headers: dict[str, str] = field(default_factory=dict)
    response_headers: dict[str, str] = field(default_factory=dict)
    response_body: str = ""

    @property
    def name(self) -> str:
        """`event.action`."""
        return self.event if self.action is None else f"{self.event}.{self.action}"


class Courier:
    """The thread that delivers; it can be told to hold deliveries back, or to lose them."""

    def __init__(self) -> None:
        self.deliveries: list[Delivery] = []
        self._queue: queue.Queue[Delivery | None] = queue.Queue()
        self._held: list[Delivery] | None = None
        self._losses: list[int] = []
        self._open = 0
        self._quiet = threading.Condition()
        self._ids = itertools.count(104_857_600_000_001)
        self._session = requests.Session()
        self._session.trust_env = False
        self._thread = threading.Thread(target=self._run, name="stand-in-webhooks", daemon=True)
        self._thread.start()

    def emit(self, app: App, event: str, action: str | None, payload: Json, installation_id: int | None, repository_id: int | None) -> None:
        """Send an event, or hold it. An App without an address is sent nothing, as on GitHub."""
        if app.webhook_url is None:
            return
        snapshot = json.loads(json.dumps(payload))
        delivery = Delivery(next(self._ids), str(uuid.uuid4()), app, event, action, installation_id, repository_id, snapshot)
        with self._quiet:
            if self._held is not None:
                self._held.append(delivery)
                return
        self._put(delivery)

    def hold(self) -> None:
        """Keep what is emitted from now on until `release`."""
        with self._quiet:
            self._held = [] if self._held is None else self._held

    @property
    def held(self) -> list[Delivery]:
        """What is held back now."""
        with self._quiet:
            return list(self._held or [])

    def release(self, order: Order = "as_emitted") -> None:
        """Send what was held. A function may leave deliveries out, double them, or put them in another order."""
        with self._quiet:
            waiting, self._held = self._held or [], None
        chosen = waiting if order == "as_emitted" else waiting[::-1] if order == "reversed" else order(waiting)
        for delivery in chosen:
            self._put(delivery)

    def drop_next(self, count: int = 1, status: int = 503) -> None:
        """Let the next attempts fail without reaching the App: 502 cannot connect, 503 it answers so, 504 timed out."""
        with self._quiet:
            self._losses += [status] * count

    def redeliver(self, delivery: Delivery) -> None:
        """Attempt a delivery again, under the same guid."""
        self._put(replace(delivery, id=next(self._ids), redelivery=True))

    def settle(self, timeout: float = 30.0) -> bool:
        """Wait until every delivery that is not held has been attempted; whether that came true."""
        with self._quiet:
            return self._quiet.wait_for(lambda: self._open == 0, timeout)

    def close(self) -> None:
        """End the thread; what waits is not sent."""
        self._queue.put(None)
        self._thread.join(TIMEOUT_S + 1)
        self._session.close()

    def _put(self, delivery: Delivery) -> None:
        with self._quiet:
            self._open += 1
        self._queue.put(delivery)

    def _waiting(self) -> Iterator[Delivery]:
        while (delivery := self._queue.get()) is not None:
            yield delivery

    def _run(self) -> None:
        for delivery in self._waiting():
            with self._quiet:
                loss = self._losses.pop(0) if self._losses else None
            done = self._lose(delivery, loss) if loss is not None else self._attempt(delivery)
            with self._quiet:
                self.deliveries.append(done)
                self._open -= 1
                self._quiet.notify_all()

    def _lose(self, delivery: Delivery, status: int) -> Delivery:
        told = DOWN.get(status, f"Invalid HTTP Response: {status}")
        return replace(delivery, delivered_at=datetime.now(UTC), status=told, status_code=status, duration=TIMEOUT_S if status == 504 else 0.01,
                       request_headers=headers(delivery, _body(delivery)))

    def _attempt(self, delivery: Delivery) -> Delivery:
        body = _body(delivery)
        sent, started = headers(delivery, body), time.monotonic()
        made = replace(delivery, delivered_at=datetime.now(UTC), request_headers=sent)
        try:
            answer = self._session.post(delivery.app.webhook_url or "", data=body, headers=sent, timeout=TIMEOUT_S, allow_redirects=False)
        except requests.Timeout:
            return replace(made, status=DOWN[504], status_code=504, duration=TIMEOUT_S)
        except requests.RequestException:
            return replace(made, status=DOWN[502], status_code=502, duration=round(time.monotonic() - started, 2))
        status = "OK" if answer.ok else f"Invalid HTTP Response: {answer.status_code}"
        return replace(made, status=status, status_code=answer.status_code, duration=round(time.monotonic() - started, 2),
                       response_headers=dict(answer.headers), response_body=answer.text)


def signature(secret: str, body: bytes) -> str:
    """`X-Hub-Signature-256`."""
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def headers(delivery: Delivery, body: bytes) -> dict[str, str]:
    """What GitHub sends with an event."""
    legacy = "sha1=" + hmac.new(delivery.app.webhook_secret.encode(), body, hashlib.sha1).hexdigest()
    return {"Accept": "*/*", "Content-Type": "application/json", "User-Agent": "GitHub-Hookshot/5ca1ab1", "X-GitHub-Event": delivery.event,
            "X-GitHub-Delivery": delivery.guid, "X-GitHub-Hook-ID": str(delivery.app.hook_id),
            "X-GitHub-Hook-Installation-Target-ID": str(delivery.app.id), "X-GitHub-Hook-Installation-Target-Type": "integration",
            "X-Hub-Signature": legacy, "X-Hub-Signature-256": signature(delivery.app.webhook_secret, body)}


def _body(delivery: Delivery) -> bytes:
    return json.dumps(delivery.payload, ensure_ascii=False, separators=(",", ":")).encode()
