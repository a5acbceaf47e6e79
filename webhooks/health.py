"""Whether this process lives, whether it can work, and its numbers."""

from __future__ import annotations

import json

from flask import Blueprint, Response
from prometheus_client import CONTENT_TYPE_LATEST
from sqlalchemy.exc import SQLAlchemyError

from webhooks.access import Access
from webhooks.metrics import LedgerCollector, exposition
from webhooks.parts import Parts
from webhooks.sign_in import guard


def health_routes(parts: Parts) -> Blueprint:
    """Open to everyone: they say nothing that a closed port would not."""
    routes = Blueprint("health", __name__)

    @routes.get("/healthz")
    def healthz() -> Response:
        return _json({"status": "ok"}, 200)

    @routes.get("/readyz")
    def readyz() -> Response:
        answers = {"database": _database_answers(parts), "queue": parts.queue.answers()}
        missing = [name for name, answer in answers.items() if not answer]
        return _json({"status": "not ready", "missing": missing} if missing else {"status": "ready"}, 503 if missing else 200)

    return routes


def metrics_routes(parts: Parts, access: Access) -> Blueprint:
    """For whoever may see the pages."""
    routes = Blueprint("metrics", __name__)
    guard(routes, access)
    ledger = LedgerCollector(parts.readings, parts.queue)

    @routes.get("/metrics")
    def metrics() -> Response:
        return Response(exposition(parts.counters, ledger), content_type=CONTENT_TYPE_LATEST)

    return routes


def _database_answers(parts: Parts) -> bool:
    try:
        parts.readings.answer()
    except SQLAlchemyError:
        return False
    return True


def _json(body: dict[str, object], status: int) -> Response:
    return Response(json.dumps(body) + "\n", status, content_type="application/json")
