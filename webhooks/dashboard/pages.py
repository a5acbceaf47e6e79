"""The pages' routes."""

from __future__ import annotations

import re
from collections.abc import Mapping

from flask import Blueprint, Response, render_template, request
from werkzeug.exceptions import NotFound

from bot.ledger.models import Run
from webhooks.access import Access
from webhooks.dashboard import run_view
from webhooks.dashboard.badge import badge_of, seconds_of, sentence_of
from webhooks.dashboard.box_log import log_text
from webhooks.dashboard.listing import STATES, VERDICTS, read_listing
from webhooks.dashboard.live import is_alive, live_json, phases_of
from webhooks.dashboard.run_view import read_view
from webhooks.parts import Parts
from webhooks.sign_in import guard

RUN_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


def page_routes(parts: Parts, access: Access) -> Blueprint:
    """For whoever `access` admits."""
    routes = Blueprint("pages", __name__)
    guard(routes, access)
    settings, readings = parts.settings, parts.readings

    def known(run_id: str) -> Run:
        run = readings.run(run_id) if RUN_ID.fullmatch(run_id) else None
        if run is None:
            raise NotFound
        return run

    @routes.context_processor
    def shared() -> dict[str, object]:
        return {"badge_of": badge_of, "seconds_of": seconds_of, "sentence_of": sentence_of, "settings": settings, "may_leave": access.has_token}

    @routes.get("/")
    def index() -> str:
        return render_template("index.html", listing=read_listing(readings, request.args), outcomes=(*VERDICTS, *STATES))

    @routes.get("/runs/<run_id>")
    def one(run_id: str) -> str:
        run = known(run_id)
        view = read_view(readings, run, settings.server_url)
        return render_template("run.html", view=view, run=run, alive=is_alive(run), phases=phases_of(run), limits=run_view)

    @routes.get("/runs/<run_id>/live")
    def live(run_id: str) -> Mapping[str, object]:
        return live_json(known(run_id))

    @routes.get("/runs/<run_id>.json")
    def document(run_id: str) -> Response:
        kept = readings.document(known(run_id).id)
        if kept is None:
            raise NotFound
        return Response(kept[0], content_type="application/json")

    @routes.get("/runs/<run_id>/logs/<int:number>")
    def log(run_id: str, number: int) -> Response:
        boxes = readings.boxes(known(run_id).id)
        if not 1 <= number <= len(boxes):
            raise NotFound
        return Response(log_text(boxes[number - 1], settings.data_dir), content_type="text/plain; charset=utf-8")

    return routes
