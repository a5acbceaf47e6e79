"""The stand-in as a web server on this machine."""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from flask import Flask, Response, request
from werkzeug.exceptions import HTTPException
from werkzeug.serving import BaseWSGIServer, WSGIRequestHandler, make_server

from bot.demo.github import git_http
from bot.demo.github.hub import Hub
from bot.demo.github.pages.actions import Actions
from bot.demo.github.pages.registration import Registration
from bot.demo.github.pages.views import Pages
from bot.demo.github.refusals import not_found
from bot.demo.github.rest import app_routes, check_routes, issue_routes, pull_routes, repository_routes
from bot.demo.github.rest.call import Call
from bot.demo.github.rest.door import Door

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

PREFIX = "/api/v3"
OF_THE_API = {"repos", "app", "app-manifests", "installation", "rate_limit", "user", "users", "orgs", "graphql", "api"}
BY_NUMBER = re.compile(r"/repositories/(\d+)(/.*)?")
LOCAL_HOSTS = {"127.0.0.1", "localhost"}


class Addresses:
    """Maps what GitHub serves under several addresses to one: the API's prefix, and repositories by number."""

    def __init__(self, hub: Hub, inner: WSGIApplication) -> None:
        self._hub, self._inner = hub, inner

    def __call__(self, environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        path = environ["PATH_INFO"]
        if path == PREFIX or path.startswith(PREFIX + "/"):
            path, environ["stand_in.api"] = path.removeprefix(PREFIX) or "/", True
        if numbered := BY_NUMBER.fullmatch(path):
            found = self._hub.repositories.get(int(numbered[1]))
            path = path if found is None else f"/repos/{found.full_name}{numbered[2] or ''}"
        environ["PATH_INFO"] = path
        return self._inner(environ, start)


def create_app(hub: Hub) -> Flask:
    """REST, Git and pages of a hub."""
    app = Flask("stand_in", static_folder=None)
    door = Door(hub)
    for routes in (app_routes, repository_routes, pull_routes, issue_routes, check_routes):
        routes.register(door)
    app.register_blueprint(door.blueprint)
    app.register_blueprint(git_http.blueprint(hub))
    pages = Pages(hub)
    app.register_blueprint(pages.blueprint)
    app.register_blueprint(Actions(pages).blueprint)
    app.register_blueprint(Registration(pages).blueprint)

    @app.before_request
    def refuse_foreign_hosts() -> Response | None:
        # A page of another site must not reach the stand-in by a name that points here.
        return None if request.host.rsplit(":", 1)[0] in LOCAL_HOSTS else Response("Forbidden\n", 403)

    @app.errorhandler(HTTPException)
    def tell(error: HTTPException) -> Any:
        if request.environ.get("stand_in.api") or request.path.split("/")[1] in OF_THE_API:
            return door.serve(_nothing_here)
        return error

    app.wsgi_app = Addresses(hub, app.wsgi_app)  # type: ignore[assignment]
    return app


def _nothing_here(call: Call) -> Any:
    raise not_found()


class Running:
    """A server in a thread, until it is closed."""

    def __init__(self, hub: Hub, port: int = 0) -> None:
        self.hub = hub
        self._server: BaseWSGIServer = make_server("127.0.0.1", port, create_app(hub), threaded=True, request_handler=_Quiet)
        self.url = hub.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, name="stand-in-server", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop answering; the hub stays as it is."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)


@contextmanager
def serving(hub: Hub, port: int = 0) -> Iterator[str]:
    """The address of the hub while it is served."""
    running = Running(hub, port)
    try:
        yield running.url
    finally:
        running.close()


class _Quiet(WSGIRequestHandler):
    """Keeps connections open as GitHub does, and logs nothing that worked."""

    protocol_version = "HTTP/1.1"

    def log(self, type: str, message: str, *args: Any) -> None:
        if type == "error":
            logging.getLogger(__name__).error(message, *args)
