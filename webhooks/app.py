"""The door's application: its rooms, its error pages, the headers of every answer."""

from __future__ import annotations

import json

import structlog
from flask import Flask, Response, render_template, request
from flask.typing import ResponseReturnValue
from sqlalchemy.exc import SQLAlchemyError
from werkzeug.exceptions import HTTPException, InternalServerError, ServiceUnavailable

from bot.app_settings import AppSettings
from bot.ledger.database import Database
from bot.queue import WorkQueue
from bot.reporting.redact import register
from webhooks.access import Access
from webhooks.dashboard import tidy
from webhooks.dashboard.pages import page_routes
from webhooks.deliveries import DeliveriesFirst, delivery_routes
from webhooks.health import health_routes, metrics_routes
from webhooks.parts import assemble
from webhooks.sign_in import sign_in_routes

# No inline script or style, nothing from elsewhere, no frame: what a repository wrote can only ever be text.
POLICY = ("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
          "frame-ancestors 'none'")
HEADERS = {"Content-Security-Policy": POLICY, "X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
           "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin"}
log = structlog.get_logger()


def create_app(settings: AppSettings, database: Database | None = None, queue: WorkQueue | None = None) -> Flask:
    """The application over a migrated database. `database` and `queue` take the place of those that the settings name."""
    app = Flask(__name__, static_folder="dashboard/static", template_folder="dashboard/templates")
    app.json.sort_keys = False  # type: ignore[attr-defined]
    tidy.install(app)
    app.jinja_env.trim_blocks = app.jinja_env.lstrip_blocks = True
    register(*settings.webhook_secrets, settings.admin_token or "")
    parts = assemble(settings, database, queue)
    access = Access(settings)
    for routes in (delivery_routes(parts), health_routes(parts), metrics_routes(parts, access), sign_in_routes(access), page_routes(parts, access)):
        app.register_blueprint(routes)
    app.add_url_rule("/favicon.ico", "favicon", lambda: app.send_static_file("mark.svg"))  # asked for by browsers beside a log, which can't name one
    app.register_error_handler(Exception, _explain)
    app.after_request(_seal)
    app.wsgi_app = DeliveriesFirst(parts, app.wsgi_app)  # type: ignore[method-assign]
    app.extensions["dualgate"] = parts
    return app


def _explain(error: Exception) -> ResponseReturnValue:
    """One line for a program, a page for a person; a trace of ours is for the log alone."""
    if isinstance(error, SQLAlchemyError):
        log.error("database_fault", path=request.path, error=type(error).__name__)
        error = ServiceUnavailable("The database does not answer.")
    elif not isinstance(error, HTTPException):
        log.exception("fault", path=request.path)
        error = InternalServerError("A fault of the door's own; its log has the details.")
    status = error.code or 500
    if status < 400 and isinstance(error, HTTPException):
        return error.get_response()
    text = "There is no such run or page." if status == 404 else error.description or error.name  # one answer, whatever the address lacks
    if _is_for_programs():
        return Response(json.dumps({"error": text}) + "\n", status, _kept(error), content_type="application/json")
    return render_template("error.html", status=status, name=error.name, text=text), status, _kept(error)


def _kept(error: HTTPException) -> dict[str, str]:
    allowed = getattr(error, "valid_methods", None)
    return {"Allow": ", ".join(sorted(allowed))} if allowed else {}


def _is_for_programs() -> bool:
    return not (request.path == "/" or request.path.startswith(("/runs/", "/login"))) or request.path.endswith((".json", "/live"))


def _seal(answer: Response) -> Response:
    answer.headers.update(HEADERS)
    if request.endpoint == "static":
        answer.headers["Cache-Control"] = "public, max-age=300"
    else:
        answer.headers["Cache-Control"] = "no-store"
    return answer
