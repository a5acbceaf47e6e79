"""POST /webhooks/github: trusted or refused on its raw bytes, recorded, handed to the queue, answered."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

import structlog
from flask import Blueprint, Request, Response, request
from gunicorn.http.errors import ParseException
from pydantic_core import from_json
from sqlalchemy.exc import SQLAlchemyError
from werkzeug.exceptions import ClientDisconnected, RequestEntityTooLarge

from bot.events import is_read
from webhooks.parts import Parts
from webhooks.signature import is_signed

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

LARGEST_BODY = 25 * 1024 * 1024  # GitHub delivers no larger one, "Webhook events and payloads"
SIGNATURE = re.compile(r"sha256=[0-9a-f]{64}")
GUID = re.compile(r"[A-Za-z0-9._:-]{1,64}")
EVENT = re.compile(r"[a-z0-9_]{1,64}")
PATH = "/webhooks/github"
HEADERS = {"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"}
FORM = "application/x-www-form-urlencoded"
log = structlog.get_logger()


class Refused(Exception):
    """A delivery that is not taken: the status and one line of why."""

    def __init__(self, status: int, outcome: str, why: str) -> None:
        super().__init__(why)
        self.status, self.outcome, self.why = status, outcome, why


@dataclass(frozen=True)
class Parcel:
    """A delivery of GitHub's. `text`: its payload as it came, which is JSON."""

    guid: str
    event: str
    action: str
    text: str


class DeliveriesFirst:
    """WSGI before flask: a delivery goes past its contexts, dispatch and hooks, which cost a third of the answer's time; all else goes on to it."""

    def __init__(self, parts: Parts, others: WSGIApplication) -> None:
        self._parts, self._others = parts, others

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if environ.get("PATH_INFO") != PATH or environ.get("REQUEST_METHOD") != "POST":
            return self._others(environ, start_response)
        return receive(self._parts, Request(environ))(environ, start_response)


def delivery_routes(parts: Parts) -> Blueprint:
    """The one route that strangers may use."""
    routes = Blueprint("deliveries", __name__)

    @routes.post(PATH)
    def deliver() -> Response:
        return receive(parts, request)

    return routes


def receive(parts: Parts, incoming: Request) -> Response:
    """The answer to one delivery: JSON of one line, whatever happens."""
    started = time.perf_counter()
    event = incoming.headers.get("X-GitHub-Event", "")
    try:
        outcome = take(parts, incoming)
        status, body = 202, {"status": outcome}
    except Refused as refused:
        status, outcome, body = refused.status, refused.outcome, {"error": refused.why}
        log.warning("delivery_refused", status=status, why=refused.why, delivery=incoming.headers.get("X-GitHub-Delivery", "")[:64],
                    peer=incoming.remote_addr)
    except Exception:
        status, outcome, body = 500, "fault", {"error": "a fault of the door's own; its log has the details"}
        log.exception("fault", path=PATH)
    # before the signature is checked, a name is only somebody's word
    parts.counters.count_delivery(event if outcome not in ("unsigned", "too_large") else "unknown", outcome, time.perf_counter() - started)
    return Response(json.dumps(body) + "\n", status, HEADERS, content_type="application/json")


def take(parts: Parts, incoming: Request) -> str:
    """What became of a delivery: accepted | duplicate | ignored | pong. Raises Refused."""
    secrets = parts.settings.webhook_secrets
    parcel = open_parcel(trusted_body(incoming, secrets), incoming)
    of_an_app = incoming.headers.get("X-GitHub-Hook-Installation-Target-Type", "integration") == "integration"
    target = incoming.headers.get("X-GitHub-Hook-Installation-Target-ID", "")
    if of_an_app and target and target != str(parts.settings.app_id):
        return "ignored"
    if parcel.event == "ping":
        return "pong"
    if not is_read(parcel.event, parcel.action):
        return "ignored"
    try:
        new = parts.recorder.record(parcel.guid, parcel.event, parcel.action, parcel.text)
    except SQLAlchemyError as error:
        log.error("delivery_not_recorded", delivery=parcel.guid, error=type(error).__name__)
        raise Refused(503, "not_recorded", "the database does not answer; send it again later") from error
    if not new:
        return "duplicate"
    parts.handover.send(parcel.guid)
    log.info("delivery_accepted", delivery=parcel.guid, event_name=parcel.event, action=parcel.action)
    return "accepted"


def trusted_body(incoming: Request, secrets: tuple[str, ...]) -> bytes:
    """The raw body, once its signature is right. Raises Refused."""
    if (incoming.content_length or 0) > LARGEST_BODY:
        raise Refused(413, "too_large", "the body is larger than 25 MB")
    header = incoming.headers.get("X-Hub-Signature-256", "")
    if not SIGNATURE.fullmatch(header):  # before the body is read: strangers get no memory of ours
        raise Refused(401, "unsigned", "X-Hub-Signature-256 is missing or no sha256 signature")
    try:
        incoming.max_content_length = LARGEST_BODY + 1
        body = incoming.get_data(cache=False)
    except RequestEntityTooLarge:
        raise Refused(413, "too_large", "the body is larger than 25 MB") from None
    except (ClientDisconnected, ParseException, OSError):
        raise Refused(400, "unreadable", "the body ended before its time") from None
    if len(body) > LARGEST_BODY:  # a body without a length: werkzeug cuts it at its maximum, which is one byte more
        raise Refused(413, "too_large", "the body is larger than 25 MB")
    if not is_signed(body, header, secrets):
        raise Refused(401, "unsigned", "the signature is not of this body under our secret")
    return body


def open_parcel(body: bytes, incoming: Request) -> Parcel:
    """What a trusted body and its headers say. Raises Refused."""
    is_form = incoming.mimetype == FORM and not body.lstrip().startswith(b"{")  # curl names a form whatever it sends
    text = _form_payload(body) if is_form else _decoded(body)
    try:
        payload = _parsed(text)
    except (ValueError, RecursionError):
        raise Refused(400, "unreadable", "the payload is not JSON") from None
    if not isinstance(payload, dict):
        raise Refused(400, "unreadable", "the payload is not a JSON object")
    event, guid = incoming.headers.get("X-GitHub-Event", ""), incoming.headers.get("X-GitHub-Delivery", "")
    if not EVENT.fullmatch(event):
        raise Refused(400, "unreadable", "X-GitHub-Event is missing or malformed")
    if not GUID.fullmatch(guid):
        raise Refused(400, "unreadable", "X-GitHub-Delivery is missing or malformed")
    action = payload.get("action")
    return Parcel(guid, event, action if isinstance(action, str) else "", text)


def _parsed(text: str) -> Any:
    try:
        return from_json(text)  # half the time of json's
    except ValueError:
        return json.loads(text)  # which takes a little more: an escaped half of a surrogate pair


def _decoded(body: bytes) -> str:
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        raise Refused(400, "unreadable", "the payload is not UTF-8") from None


def _form_payload(body: bytes) -> str:
    try:
        fields = parse_qsl(body.decode("ascii"), keep_blank_values=True, max_num_fields=8, errors="strict")
    except ValueError:
        raise Refused(400, "unreadable", "the form can't be read") from None
    values = [value for name, value in fields if name == "payload"]
    if len(values) != 1:
        raise Refused(400, "unreadable", "the form has no payload")
    return values[0]
