"""The keeper: the one process that holds the private key. Others ask it, over a socket of this user's alone, for tokens of one repository."""

from __future__ import annotations

import json
import os
import socket
import struct
import threading
from pathlib import Path
from typing import Any

import structlog

from bot.errors import BotError
from bot.github.app_requests import ROLES, AppRequests, RepositoryToken
from bot.github.errors import GitHubError, Later, Suspended, Uninstalled

KEEPER_SOCKET = "DUALGATE_KEEPER_SOCKET"  # in the environment of the workers that a keeper starts
LONGEST = 65_536
ANSWER_S = 120
FAULTS: dict[str, type[GitHubError]] = {"suspended": Suspended, "uninstalled": Uninstalled, "refused": GitHubError}
log = structlog.get_logger()


class KeeperServer:
    """Answers one line of JSON with one line of JSON, a connection each. The socket is 0600, and the peer's user is checked."""

    def __init__(self, path: Path, app: AppRequests) -> None:
        self._app = app
        path.unlink(missing_ok=True)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        before = os.umask(0o177)
        try:
            self._socket.bind(str(path))
        finally:
            os.umask(before)
        self._socket.listen(64)

    def start(self) -> None:
        """Answer, in threads that end with the process."""
        threading.Thread(target=self._accept, daemon=True, name="keeper").start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection:
            connection.settimeout(ANSWER_S)
            try:
                if _peer(connection) != os.getuid():
                    return
                asked = json.loads(_line(connection))
                answer = self._identity() if asked.get("ask") == "identity" else self._token(asked)
                connection.sendall(json.dumps(answer).encode() + b"\n")
            except (OSError, ValueError, KeyError, TypeError) as error:
                log.warning("keeper_request_failed", error=type(error).__name__)

    def _identity(self) -> dict[str, Any]:
        try:
            return {"slug": self._app.slug()}
        except Later as error:
            return {"fault": "later", "message": str(error), "after_s": error.after_s}
        except GitHubError as error:
            return {"fault": "refused", "message": str(error)}

    def _token(self, asked: dict[str, Any]) -> dict[str, Any]:
        if asked["role"] not in ROLES:
            return {"fault": "refused", "message": f"no such role: {asked['role']}"}
        try:
            made = self._app.repository_token(int(asked["installation_id"]), int(asked["repository_id"]), asked["role"])
        except Later as error:
            return {"fault": "later", "message": str(error), "after_s": error.after_s}
        except GitHubError as error:
            name = next((name for name, kind in FAULTS.items() if type(error) is kind), "refused")
            return {"fault": name, "message": str(error)}
        log.info("token_minted", installation=asked["installation_id"], repository_id=asked["repository_id"], role=asked["role"])
        return {"token": made.token, "expires_at": made.expires_at}


class KeeperUnavailable(BotError):
    """Nobody answers at the keeper's socket."""


def ask_keeper(path: Path, installation_id: int, repository_id: int, role: str) -> RepositoryToken:
    """A token from the keeper. Raises KeeperUnavailable, Suspended, Uninstalled, Later, GitHubError."""
    answer = _ask(path, {"installation_id": installation_id, "repository_id": repository_id, "role": role})
    return RepositoryToken(answer["token"], float(answer["expires_at"]))


def ask_slug(path: Path) -> str:
    """The App's slug, from the keeper. Raises as ask_keeper does."""
    return str(_ask(path, {"ask": "identity"})["slug"])


def _ask(path: Path, question: dict[str, Any]) -> dict[str, Any]:
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(ANSWER_S)
            connection.connect(str(path))
            connection.sendall(json.dumps(question).encode() + b"\n")
            answer: dict[str, Any] = json.loads(_line(connection) or b"{}")
    except (OSError, ValueError) as error:
        raise KeeperUnavailable(f"the keeper of the private key does not answer at {path}: {error}") from error
    if "token" in answer or "slug" in answer:
        return answer
    message = str(answer.get("message", "no answer"))
    if answer.get("fault") == "later":
        raise Later(message, float(answer["after_s"]))
    raise FAULTS.get(str(answer.get("fault")), KeeperUnavailable)(message)


def _line(connection: socket.socket) -> bytes:
    data = b""
    while not data.endswith(b"\n") and len(data) < LONGEST:
        part = connection.recv(LONGEST)
        if not part:
            break
        data += part
    return data


def _peer(connection: socket.socket) -> int:
    """The user id at the other end; unix(7), SO_PEERCRED."""
    _, uid, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")))
    return int(uid)
