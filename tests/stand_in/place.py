"""A stand-in with a repository, an App installed on it, and clients to drive both."""

from __future__ import annotations

import datetime
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import jwt
import requests
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from bot.demo.github import Hub, Running
from bot.demo.github.accounts import Kind, Role
from bot.demo.github.records import App, Pull, Repository
from tests.repository import commit, make

APP_ID, SECRET = 4242, "a secret of the test"
PERMISSIONS = {"checks": "write", "contents": "write", "issues": "write", "pull_requests": "write"}
ROLES: dict[str, Role] = {"ada": "admin", "mel": "maintain", "wes": "write", "tri": "triage", "rea": "read"}
EVENTS = ("check_run", "check_suite", "issue_comment", "issues", "merge_group", "pull_request", "push", "repository")


@cache
def key_pair() -> tuple[str, str]:
    """(private key, public key) in PEM."""
    key = rsa.generate_private_key(65537, 2048)
    private = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    return private.decode(), public.decode()


def app_token(app_id: int = APP_ID, *, issued: int = -60, expires: int = 540, key: str | None = None, **claims: Any) -> str:
    now = int(datetime.datetime.now(datetime.UTC).timestamp())
    return jwt.encode({"iat": now + issued, "exp": now + expires, "iss": str(app_id), **claims}, key or key_pair()[0], algorithm="RS256")


@dataclass
class Client:
    """Speaks REST with one token, or none."""

    url: str
    token: str | None = None
    session: requests.Session = field(default_factory=requests.Session)

    def ask(self, method: str, path: str, body: Any = None, **more: Any) -> requests.Response:
        headers = {"Accept": "application/vnd.github+json", **more.pop("headers", {})}
        if self.token is not None:
            headers["Authorization"] = f"Bearer {self.token}"
        return self.session.request(method, self.url + path, json=body, headers=headers, timeout=10, allow_redirects=False, **more)

    def get(self, path: str, **more: Any) -> requests.Response:
        return self.ask("GET", path, **more)

    def post(self, path: str, body: Any = None, **more: Any) -> requests.Response:
        return self.ask("POST", path, body, **more)

    def patch(self, path: str, body: Any = None, **more: Any) -> requests.Response:
        return self.ask("PATCH", path, body, **more)

    def delete(self, path: str, **more: Any) -> requests.Response:
        return self.ask("DELETE", path, **more)


@dataclass
class Place:
    """What most tests start from. `work` is a checkout with `main`; `commit` makes commits there."""

    hub: Hub
    url: str
    app: App
    repository: Repository
    installation: int
    work: Path

    @property
    def repo(self) -> str:
        return f"/repos/{self.repository.full_name}"

    def as_app(self) -> Client:
        return Client(self.url, app_token())

    def client(self, **permissions: str) -> Client:
        """With a token of the installation: all that it was granted, or what is named."""
        return Client(self.url, self.hub.mint(self.installation, permissions=permissions or None))

    def commit(self, files: dict[str, str | None]) -> str:
        return commit(self.work, files)

    def branch(self, name: str, files: dict[str, str | None], repository: Repository | None = None) -> str:
        """Push a commit to a branch; its id."""
        return self.hub.push(repository or self.repository, name, self.work, self.commit(files))

    def pull(self, name: str = "change", author: str = "ada", **more: Any) -> Pull:
        """An open pull request with one commit."""
        self.branch(name, {f"{name}.py": "x = 1\n"})
        return self.hub.open_pull(self.repository, author, f"Add {name}", "What and why.", name, **more)


@contextmanager
def place(folder: Path, *, private: bool = False, kind: Kind = "Organization") -> Iterator[Place]:
    hub = Hub(folder / "hub")
    make(folder / "work")
    running = Running(hub)
    try:
        hub.add_user("octo", kind=kind)
        repository = hub.add_repository("octo", "stats", folder / "work", private=private)
        for login, role in ROLES.items():
            hub.add_user(login)
            hub.set_permission(repository, login, role)
        app = hub.add_app("dualgate", APP_ID, key_pair()[1], None, SECRET, PERMISSIONS, EVENTS)
        yield Place(hub, running.url, app, repository, hub.install(app, [repository]), folder / "work")
    finally:
        running.close()
        hub.close()


@dataclass
class Listener:
    """An App's server that keeps what it is sent."""

    url: str = ""
    status: int = 202
    received: list[tuple[dict[str, str], bytes]] = field(default_factory=list)


@contextmanager
def listening() -> Iterator[Listener]:
    listener = Listener()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            listener.received.append((dict(self.headers.items()), body))
            self.send_response(listener.status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    listener.url = f"http://127.0.0.1:{server.server_port}/webhooks"
    try:
        yield listener
    finally:
        server.shutdown()
        server.server_close()
