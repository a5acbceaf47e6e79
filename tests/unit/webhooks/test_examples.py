"""GitHub's own example payloads at the door: each is answered, none with a fault of ours."""

from __future__ import annotations

import json

import pytest
from flask.testing import FlaskClient

from bot.events import is_read
from tests.github_description import examples
from tests.unit.webhooks.seeds import headers_of


@pytest.mark.parametrize("event", sorted(examples()))
def test_an_example_payload_is_taken(client: FlaskClient, event: str) -> None:
    for number, payload in enumerate(examples()[event]):
        body = json.dumps(payload).encode()
        headers = {**headers_of(body, event), "X-GitHub-Delivery": f"example-{event}-{number}"[:64]}
        answer = client.post("/webhooks/github", data=body, headers=headers)
        expected = "pong" if event == "ping" else "accepted" if is_read(event, str(payload.get("action", ""))) else "ignored"
        assert (answer.status_code, answer.json) == (202, {"status": expected})
