"""What becomes of a delivery, by its bytes and headers."""

from __future__ import annotations

import io
import json
import socket
import uuid
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote_plus

import pytest
from flask import Flask
from flask.testing import FlaskClient

from bot.ledger.database import Database
from bot.ledger.deliveries import Deliveries
from bot.queue import WorkQueue
from tests.unit.webhooks.seeds import APP_ID, SECRET, headers_of, payload, settings_for, signed
from webhooks.app import create_app
from webhooks.deliveries import LARGEST_BODY
from webhooks.parts import Parts

URL = "/webhooks/github"


def test_a_delivery_is_recorded_and_queued(client: FlaskClient, parts: Parts, deliveries: Deliveries, queue: WorkQueue) -> None:
    body, guid = payload(), str(uuid.uuid4())
    answer = client.post(URL, data=body, headers=headers_of(body, guid=guid))
    assert (answer.status_code, answer.json) == (202, {"status": "accepted"})
    held = deliveries.hold(guid, "a test", 9)
    assert held is not None
    assert (held.event, held.payload) == ("pull_request", json.loads(body))
    assert parts.handover.drain()
    assert queue.length() == 1


def test_a_delivery_that_is_done_is_a_duplicate(client: FlaskClient, parts: Parts, deliveries: Deliveries, queue: WorkQueue) -> None:
    body, guid = payload(), str(uuid.uuid4())
    client.post(URL, data=body, headers=headers_of(body, guid=guid))
    deliveries.hold(guid, "a worker", 60)
    assert client.post(URL, data=body, headers=headers_of(body, guid=guid)).json == {"status": "duplicate"}
    deliveries.done(guid, "ok")
    assert client.post(URL, data=body, headers=headers_of(body, guid=guid)).json == {"status": "duplicate"}
    assert parts.handover.drain()
    assert queue.length() == 1


def test_a_delivery_whose_worker_died_is_queued_again(client: FlaskClient, deliveries: Deliveries) -> None:
    body, guid = payload(), str(uuid.uuid4())
    client.post(URL, data=body, headers=headers_of(body, guid=guid))
    deliveries.hold(guid, "a dead worker", -1)
    assert client.post(URL, data=body, headers=headers_of(body, guid=guid)).json == {"status": "accepted"}


@pytest.mark.parametrize("event", ["ping", "push", "watch", "issues"])
def test_what_nobody_reads_is_answered_and_not_kept(client: FlaskClient, deliveries: Deliveries, event: str) -> None:
    body = payload("started")
    answer = client.post(URL, data=body, headers=headers_of(body, event, "a-guid"))
    assert (answer.status_code, answer.json) == (202, {"status": "pong" if event == "ping" else "ignored"})
    assert deliveries.known(["a-guid"]) == set()


@pytest.mark.parametrize("secret", ["old secret", SECRET])
def test_while_rotating_both_secrets_are_good(make_app: Callable[..., Flask], secret: str) -> None:
    body = payload()
    client = make_app(webhook_secrets=("old secret", SECRET)).test_client()
    answer = client.post(URL, data=body, headers={**headers_of(body), "X-Hub-Signature-256": signed(body, secret)})
    assert answer.status_code == 202


@pytest.mark.parametrize("header", ["", "sha256=", "sha256=" + "0" * 64, "sha1=" + "0" * 40, signed(payload(), "another"), signed(payload()).upper(),
                                    signed(payload()) + "0", "sha256=" + "é" * 64, f"{signed(payload())}, {signed(payload())}"])
def test_unsigned_or_wrongly_signed_is_401(client: FlaskClient, header: str) -> None:
    body = payload()
    answer = client.post(URL, data=body, headers={**headers_of(body), "X-Hub-Signature-256": header})
    assert answer.status_code == 401
    assert set(answer.json or {}) == {"error"}


def test_the_signature_is_of_the_raw_bytes(client: FlaskClient) -> None:
    body = payload()
    assert client.post(URL, data=body + b" ", headers=headers_of(body)).status_code == 401
    assert client.post(URL, data=body + b"\n", headers=headers_of(body + b"\n")).status_code == 202


@pytest.mark.parametrize("body", [b"", b"no JSON", b"[]", b"null", b'"text"', b"1", b"{", b'{"a": "\xff"}', b"\xff\xfe{}", b"[" * 100_000, b'{"a":' * 50_000,
                                  b"1" * 5000, b'{"a": ' + b"9" * 5000 + b"}", "{}".encode("utf-16"), b"\xef\xbb\xbf{}"])
def test_what_is_signed_and_no_object_is_400(client: FlaskClient, body: bytes) -> None:
    answer = client.post(URL, data=body, headers=headers_of(body))
    assert answer.status_code == 400
    assert answer.text.count("\n") == 1
    assert "Traceback" not in answer.text


@pytest.mark.parametrize(("name", "value"), [
    ("X-GitHub-Event", ""), ("X-GitHub-Event", "pull request"), ("X-GitHub-Event", "x" * 65), ("X-GitHub-Event", "PULL"), ("X-GitHub-Delivery", ""),
    ("X-GitHub-Delivery", "x" * 65), ("X-GitHub-Delivery", "a b"), ("X-GitHub-Delivery", "é"), ("X-GitHub-Delivery", "'; drop table"), ("X-GitHub-Delivery", "a/../b")])
def test_odd_headers_are_400(client: FlaskClient, name: str, value: str) -> None:
    body = payload()
    assert client.post(URL, data=body, headers={**headers_of(body), name: value}).status_code == 400


def test_a_form_is_read_as_github_sends_it(client: FlaskClient, deliveries: Deliveries) -> None:
    body = b"payload=" + quote_plus(json.dumps({"action": "opened", "title": "ä & b"})).encode()
    answer = client.post(URL, data=body, headers=headers_of(body, guid="form", Content_Type="application/x-www-form-urlencoded"))
    assert answer.json == {"status": "accepted"}
    held = deliveries.hold("form", "a test", 9)
    assert held is not None
    assert held.payload["title"] == "ä & b"


@pytest.mark.parametrize("body", [b"", b"payload=", b"payload=%FF", b"other=1", b"payload=%7B%7D&payload=%7B%7D", b"payload=[]", b"&".join([b"a=1"] * 20), b"\xff=1"])
def test_a_form_without_one_good_payload_is_400(client: FlaskClient, body: bytes) -> None:
    answer = client.post(URL, data=body, headers=headers_of(body, Content_Type="application/x-www-form-urlencoded"))
    assert answer.status_code == 400


def test_a_body_named_a_form_that_is_json_is_read(client: FlaskClient) -> None:
    body = payload()
    assert client.post(URL, data=body, headers=headers_of(body, Content_Type="application/x-www-form-urlencoded")).json == {"status": "accepted"}


def test_more_than_25_mb_is_413_and_25_mb_are_read(client: FlaskClient) -> None:
    fits = b'{"action": "x", "text": "' + b"x" * (LARGEST_BODY - 27) + b'"}'
    assert len(fits) == LARGEST_BODY
    assert client.post(URL, data=fits, headers=headers_of(fits)).json == {"status": "ignored"}
    assert client.post(URL, data=fits + b" ", headers=headers_of(fits + b" ")).status_code == 413


def test_more_than_25_mb_without_a_length_is_413(client: FlaskClient) -> None:
    body = b"x" * (LARGEST_BODY + 1)
    chunked = {"wsgi.input_terminated": True, "HTTP_TRANSFER_ENCODING": "chunked"}
    answer = client.post(URL, input_stream=io.BytesIO(body), headers=headers_of(body), environ_overrides=chunked)
    assert answer.status_code == 413


@pytest.mark.parametrize(("target", "status"), [(str(APP_ID), "accepted"), ("1", "ignored"), ("not a number", "ignored")])
def test_what_is_meant_for_another_app_is_ignored(client: FlaskClient, target: str, status: str) -> None:
    body = payload()
    assert client.post(URL, data=body, headers=headers_of(body, X_GitHub_Hook_Installation_Target_ID=target)).json == {"status": status}


def test_without_a_queue_it_is_taken_all_the_same(tmp_path: Path, database: Database) -> None:
    app = create_app(settings_for(tmp_path), database)  # no store listens in that folder
    body = payload()
    answer = app.test_client().post(URL, data=body, headers=headers_of(body, guid="kept"))
    assert answer.json == {"status": "accepted"}
    assert Deliveries(database).known(["kept"]) == {"kept"}


def test_a_queue_that_hangs_does_not_hold_up_the_answer(tmp_path: Path, database: Database) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        app = create_app(settings_for(tmp_path, redis_url=f"redis://127.0.0.1:{silent.getsockname()[1]}/0"), database)
        body = payload()
        assert app.test_client().post(URL, data=body, headers=headers_of(body)).json == {"status": "accepted"}


def test_without_a_database_it_is_503(tmp_path: Path, queue: WorkQueue) -> None:
    app = create_app(settings_for(tmp_path, database_url="postgresql+psycopg://nobody@127.0.0.1:1/none"), None, queue)
    body = payload()
    answer = app.test_client().post(URL, data=body, headers=headers_of(body))
    assert answer.status_code == 503
    assert "nobody" not in answer.text


def test_other_methods_are_refused_in_json(client: FlaskClient) -> None:
    answer = client.get(URL)
    assert (answer.status_code, answer.headers["Allow"]) == (405, "OPTIONS, POST")
    assert answer.is_json


def test_a_fault_of_ours_leaves_no_trace_in_the_answer(client: FlaskClient, parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: str) -> bool:
        raise RuntimeError("the details")

    monkeypatch.setattr(parts.recorder, "record", fail)
    body = payload()
    answer = client.post(URL, data=body, headers=headers_of(body))
    assert answer.status_code == 500
    assert answer.json == {"error": "a fault of the door's own; its log has the details"}
