"""Git over HTTP: the real `git http-backend`, behind the stand-in's tokens."""

from __future__ import annotations

import base64
import binascii
import subprocess
import threading
from collections.abc import Iterator
from typing import IO

from flask import Blueprint, Request, Response, request

from bot.demo.github.bare import git_environment
from bot.demo.github.hub import Hub
from bot.demo.github.records import Repository
from bot.demo.github.refusals import Refusal
from bot.demo.github.tokens import Caller, verify_grant

SERVICES = ("git-upload-pack", "git-receive-pack")
CHUNK = 65_536


def blueprint(hub: Hub) -> Blueprint:
    """`/OWNER/NAME(.git)/info/refs` and the two services."""
    made = Blueprint("git", __name__)

    @made.get("/<owner>/<name>/info/refs")
    def info_refs(owner: str, name: str) -> Response:
        return _serve(hub, owner, name, "info/refs", request.args.get("service", ""))

    @made.post("/<owner>/<name>/<any('git-upload-pack', 'git-receive-pack'):service>")
    def service(owner: str, name: str, service: str) -> Response:
        return _serve(hub, owner, name, service, service)

    return made


def _serve(hub: Hub, owner: str, name: str, path: str, service: str) -> Response:
    fault = hub.faults.take(request.method, request.path)
    if fault is not None and not fault.perform_first:
        return _said(fault.status or 503, "Server Error", fault.headers)
    if service not in SERVICES:
        return _said(403, "Please upgrade your git client.")
    try:
        with hub.lock:
            repository, caller = _admit(hub, f"{owner}/{name.removesuffix('.git')}", service, _caller(hub))
    except Refusal as refusal:
        return _said(refusal.status, refusal.message, refusal.headers)
    if path == "git-receive-pack":
        answer = _receive(hub, repository, caller)
        return answer if fault is None else _said(fault.status or 503, "Server Error", fault.headers)
    return _run(repository, path, caller)


def _caller(hub: Hub) -> Caller:
    scheme, _, encoded = request.headers.get("Authorization", "").partition(" ")
    if not scheme:
        return Caller()
    try:
        _, _, token = base64.b64decode(encoded).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        token = ""
    if scheme.lower() != "basic" or token not in hub.grants:
        raise Refusal(401, "Invalid username or password.", headers=_challenge())
    try:
        grant = verify_grant(token, hub.grants, hub.now())
    except Refusal as refusal:
        raise Refusal(refusal.status, refusal.message, headers=_challenge()) from refusal
    return Caller("installation", grant.installation.app, grant)


def _admit(hub: Hub, name: str, service: str, caller: Caller) -> tuple[Repository, Caller]:
    """The repository, if the caller may use the service. Raises Refusal; nobody learns whether a hidden repository exists."""
    found = hub.find_repository(name)
    if found is None and name.lower() in hub.former_names:
        found = hub.repositories[hub.former_names[name.lower()]]
    writes = service == "git-receive-pack"
    if caller.kind == "anonymous" and (found is None or found.private or writes):
        raise Refusal(401, "No anonymous write access." if writes else "Repository not found.", headers=_challenge())
    if found is None or not caller.sees(found):
        raise Refusal(404, "Repository not found.")
    if writes and not (caller.covers(found) and caller.holds("contents", "write")):
        raise Refusal(403, "Write access to repository not granted.")
    if found.private and not caller.holds("contents", "read"):
        raise Refusal(403, "Read access to repository not granted.")
    if writes and found.archived:
        raise Refusal(403, "This repository was archived so it is read-only.")
    return found, caller


def _receive(hub: Hub, repository: Repository, caller: Caller) -> Response:
    """A push: what moved is told to everybody whom it concerns before the client learns that it is done."""
    with hub.lock:
        before = repository.git.refs()
        answer = _run(repository, "git-receive-pack", caller)
        answer.set_data(answer.get_data())
        after = repository.git.refs()
        for ref in sorted(set(before) | set(after)):
            if before.get(ref) != after.get(ref) and caller.app is not None:
                hub.moved(repository, ref, before.get(ref), after.get(ref), caller.app.bot)
    return answer


def _run(repository: Repository, path: str, caller: Caller) -> Response:
    process = subprocess.Popen(["git", "http-backend"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=_cgi(request, repository, path, caller))
    assert process.stdin is not None
    assert process.stdout is not None
    feeder = threading.Thread(target=_feed, args=(request.stream, process.stdin), daemon=True)
    feeder.start()
    status, headers = _head(process.stdout)
    return Response(_rest(process, process.stdout, feeder), status, headers)


def _cgi(incoming: Request, repository: Repository, path: str, caller: Caller) -> dict[str, str]:
    workflows = caller.kind != "installation" or caller.holds("workflows", "write")
    variables = {
        "GIT_PROJECT_ROOT": str(repository.git.path.parent), "GIT_HTTP_EXPORT_ALL": "1", "PATH_INFO": f"/{repository.git.path.name}/{path}",
        "REQUEST_METHOD": incoming.method, "QUERY_STRING": incoming.query_string.decode(), "CONTENT_TYPE": incoming.content_type or "",
        "REMOTE_USER": "x-access-token", "REMOTE_ADDR": incoming.remote_addr or "", "GIT_PROTOCOL": incoming.headers.get("Git-Protocol", ""),
        "HTTP_CONTENT_ENCODING": incoming.headers.get("Content-Encoding", ""), "STAND_IN_MAY_EDIT_WORKFLOWS": "yes" if workflows else "no",
    }
    if incoming.content_length is not None:
        variables["CONTENT_LENGTH"] = str(incoming.content_length)
    return git_environment(variables)


def _feed(source: IO[bytes], sink: IO[bytes]) -> None:
    try:
        while chunk := source.read(CHUNK):
            sink.write(chunk)
        sink.close()
    except BrokenPipeError:
        # Git has refused before it read everything; its answer tells why.
        pass


def _head(output: IO[bytes]) -> tuple[int, dict[str, str]]:
    headers: dict[str, str] = {}
    while (line := output.readline().decode("latin-1").strip()):
        name, _, value = line.partition(":")
        headers[name] = value.strip()
    return int(headers.pop("Status", "200").split()[0]), headers


def _rest(process: subprocess.Popen[bytes], output: IO[bytes], feeder: threading.Thread) -> Iterator[bytes]:
    try:
        while chunk := output.read(CHUNK):
            yield chunk
    finally:
        output.close()
        feeder.join(1)
        process.kill()
        process.wait()


def _challenge() -> dict[str, str]:
    return {"WWW-Authenticate": 'Basic realm="GitHub"'}


def _said(status: int, message: str, headers: dict[str, str] | None = None) -> Response:
    return Response(message + "\n", status, {"Content-Type": "text/plain; charset=utf-8", **(headers or {})})
