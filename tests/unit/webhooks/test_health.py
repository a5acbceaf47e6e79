"""Health and numbers."""

from __future__ import annotations

import re
import time
from pathlib import Path

from flask.testing import FlaskClient

from bot.ledger.database import Database
from bot.ledger.deliveries import Deliveries
from bot.queue import WorkQueue
from tests.unit.webhooks.seeds import add_finished, add_run, headers_of, payload, rejected, settings_for, verdict_of
from webhooks.app import create_app


def value(text: str, line: str) -> float:
    found = re.search(rf"^{re.escape(line)} (\S+)$", text, re.MULTILINE)
    assert found, f"{line} is not in:\n{text}"
    return float(found[1])


def test_with_all_parts_it_is_ready(client: FlaskClient) -> None:
    assert (client.get("/healthz").status_code, client.get("/readyz").json) == (200, {"status": "ready"})


def test_what_does_not_answer_is_named(tmp_path: Path) -> None:
    client = create_app(settings_for(tmp_path, database_url="postgresql+psycopg://x@127.0.0.1:1/none")).test_client()
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json) == (503, {"status": "not ready", "missing": ["database", "queue"]})
    assert client.get("/healthz").status_code == 200
    assert client.get("/").status_code == 503
    numbers = client.get("/metrics").text
    assert (value(numbers, 'dualgate_up{part="database"}'), value(numbers, 'dualgate_up{part="queue"}')) == (0, 0)


def test_deliveries_are_counted_by_what_became_of_them(client: FlaskClient) -> None:
    body = payload()
    client.post("/webhooks/github", data=body, headers=headers_of(body))
    client.post("/webhooks/github", data=body, headers={**headers_of(body), "X-Hub-Signature-256": ""})
    client.post("/webhooks/github", data=body, headers=headers_of(body, "an_event_of_nobody"))
    numbers = client.get("/metrics").text
    assert value(numbers, 'dualgate_deliveries_total{event="pull_request",outcome="accepted"}') == 1
    assert value(numbers, 'dualgate_deliveries_total{event="unknown",outcome="unsigned"}') == 1
    assert value(numbers, 'dualgate_deliveries_total{event="other",outcome="ignored"}') == 1
    assert value(numbers, "dualgate_delivery_answer_seconds_count") == 3


def test_the_ledger_and_the_queue_are_told_as_they_are(client: FlaskClient, database: Database, deliveries: Deliveries, queue: WorkQueue) -> None:
    add_run(database, "one")
    add_finished(database, "two", verdict_of())
    add_finished(database, "three", rejected())
    queue.send_run("one")
    deliveries.record("old", "pull_request", "opened", "{}")
    time.sleep(0.05)
    numbers = client.get("/metrics").text
    assert value(numbers, 'dualgate_runs{state="queued",verdict=""}') == 1
    assert value(numbers, 'dualgate_runs{state="finished",verdict="rejected"}') == 1
    assert (value(numbers, "dualgate_queue_jobs"), value(numbers, "dualgate_deliveries_waiting")) == (1, 1)
    assert 0.04 < value(numbers, "dualgate_oldest_waiting_delivery_seconds") < 60
