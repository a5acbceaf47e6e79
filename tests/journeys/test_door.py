"""The door as an operator runs it: real processes, a real store, a real database."""

from __future__ import annotations

import contextlib
import http.client
import os
import re
import signal
import socket
import sqlite3
import stat
import subprocess
import threading
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.ledger.database import Database
from bot.ledger.deliveries import Deliveries
from tests.journeys.running_door import SERVE, Door, private_key
from tests.postgres import Postgres, is_here
from tests.unit.webhooks.seeds import SECRET, TOKEN, headers_of, payload
from webhooks.deliveries import LARGEST_BODY
from webhooks.patience import LONGEST_REQUEST_S


@pytest.fixture
def door() -> Iterator[Door]:
    with Door() as opened:
        wait(lambda: len(opened.processes) == 4)  # gunicorn, the store, two workers
        yield opened


def serve(**environment: str) -> tuple[int, str]:
    known = {"PATH": os.environ["PATH"], "DUALGATE_DATA_DIR": "/nonexistent/data", **environment}
    done = subprocess.run(SERVE, env=known, capture_output=True, text=True, cwd=Path(__file__).parents[2], timeout=60, check=False)
    return done.returncode, done.stderr


def wait(condition: object, seconds: float = 15.0) -> None:
    assert callable(condition)
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it did not come to pass"
        time.sleep(0.05)


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def store_of(door: Door) -> int:
    return next(pid for pid in door.processes if b"valkey" in Path(f"/proc/{pid}/cmdline").read_bytes())


def test_without_its_settings_it_names_them_all_in_one_line() -> None:
    status, errors = serve(PORT="99999", WEB_CONCURRENCY="many")
    assert status == 2
    assert errors.count("\n") == 1
    for name in ("GITHUB_APP_ID", "GITHUB_WEBHOOK_SECRET", "GITHUB_PRIVATE_KEY", "PORT"):
        assert name in errors
    status, errors = serve(GITHUB_APP_ID="1", GITHUB_WEBHOOK_SECRET="s", GITHUB_PRIVATE_KEY=private_key(), WEB_CONCURRENCY="many")
    assert (status, "WEB_CONCURRENCY" in errors, errors.count("\n")) == (2, True, 1)


def test_a_delivery_goes_the_whole_way(door: Door) -> None:
    body, guid = payload(), str(uuid.uuid4())
    assert door.deliver(body, headers_of(body, guid=guid)) == (202, {"status": "accepted"})
    assert Deliveries(Database(f"sqlite:///{door.data_dir}/dualgate.sqlite3")).known([guid]) == {guid}
    wait(lambda: "dualgate_queue_jobs 1.0" in door.get("/metrics")[1])
    assert door.deliver(body, {**headers_of(body), "X-Hub-Signature-256": "sha256=" + "0" * 64})[0] == 401
    assert door.get("/readyz") == (200, '{"status": "ready"}\n')
    assert stat.S_IMODE(door.data_dir.stat().st_mode) == 0o700


def test_the_private_key_is_in_no_process(door: Door) -> None:
    door.deliver()
    for pid in door.processes:
        environment = Path(f"/proc/{pid}/environ").read_bytes()
        assert b"GITHUB_PRIVATE_KEY" not in environment
        assert b"PRIVATE KEY" not in environment
        assert b"GITHUB_PRIVATE_KEY" not in Path(f"/proc/{pid}/cmdline").read_bytes()
    assert SECRET not in door.errors


def test_numbers_are_of_all_processes_and_begin_anew(door: Door) -> None:
    for _ in range(30):
        door.deliver()
    answers = {re.search(r'outcome="accepted"} (\S+)', door.get("/metrics")[1])[1] for _ in range(6)}  # type: ignore[index]
    assert answers == {"30.0"}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_and_leaves_nothing(door: Door, number: int) -> None:
    processes = door.processes
    kept_alive = http.client.HTTPConnection("127.0.0.1", door.port, timeout=10)
    kept_alive.request("GET", "/healthz")
    kept_alive.getresponse().read()
    door.process.send_signal(number)
    assert door.process.wait(30) == 0, door.errors
    assert [pid for pid in processes if is_alive(pid)] == []


def test_when_it_is_killed_nothing_outlives_it(door: Door) -> None:
    processes = door.processes
    door.process.kill()
    door.process.wait(10)
    wait(lambda: not any(is_alive(pid) for pid in processes), 20)


def test_what_was_accepted_just_before_the_end_is_handed_over_or_kept(door: Door) -> None:
    guids = [str(uuid.uuid4()) for _ in range(40)]
    for guid in guids:
        body = payload()
        door.deliver(body, headers_of(body, guid=guid))
    door.process.terminate()
    door.process.wait(15)
    assert Deliveries(Database(f"sqlite:///{door.data_dir}/dualgate.sqlite3")).known(guids) == set(guids)


def test_a_store_that_dies_is_started_again(door: Door) -> None:
    first = store_of(door)
    os.kill(first, signal.SIGKILL)
    assert door.deliver()[0] == 202
    wait(lambda: door.get("/readyz")[0] == 200)
    wait(lambda: store_of(door) != first)
    door.deliver()
    wait(lambda: "dualgate_queue_jobs 1.0" in door.get("/metrics")[1])


def test_a_store_that_hangs_holds_up_no_answer(door: Door) -> None:
    store = store_of(door)
    os.kill(store, signal.SIGSTOP)
    try:
        begun = time.monotonic()
        assert [door.deliver()[0] for _ in range(20)] == [202] * 20
        assert time.monotonic() - begun < 3
    finally:
        os.kill(store, signal.SIGCONT)


def test_too_large_a_body_is_413_with_and_without_a_length(door: Door) -> None:
    headers = headers_of(payload())
    connection = http.client.HTTPConnection("127.0.0.1", door.port, timeout=20)
    connection.request("POST", "/webhooks/github", headers={**headers, "Content-Length": str(LARGEST_BODY + 1)})
    assert connection.getresponse().status == 413
    connection = http.client.HTTPConnection("127.0.0.1", door.port, timeout=20)
    connection.request("POST", "/webhooks/github", (b"x" * 1_048_576 for _ in range(26)), headers, encode_chunked=True)
    assert connection.getresponse().status == 413


def test_a_body_that_ends_early_or_is_garbled_is_no_fault_of_ours(door: Door) -> None:
    head = "".join(f"{name}: {value}\r\n" for name, value in headers_of(payload()).items())
    for rest, status in (("Content-Length: 100\r\n\r\n{", b" 401 "), ("Transfer-Encoding: chunked\r\n\r\nnot a size\r\n", b" 400 ")):
        with socket.create_connection(("127.0.0.1", door.port), 10) as client:
            client.sendall(f"POST /webhooks/github HTTP/1.1\r\nHost: x\r\n{head}{rest}".encode())
            client.shutdown(socket.SHUT_WR)
            assert status in client.recv(100)
    assert "Traceback" not in door.errors
    assert door.deliver()[0] == 202


@pytest.mark.thorough
def test_clients_that_trickle_or_say_nothing_more_are_let_go() -> None:
    with Door(WEB_CONCURRENCY="1") as door, socket.create_connection(("127.0.0.1", door.port), 10) as silent:
        silent.sendall(b"POST /webhooks/github HTTP/1.1\r\nHost: x\r\n")
        clients = [socket.create_connection(("127.0.0.1", door.port), 10) for _ in range(12)]
        ended = threading.Event()

        def trickle(client: socket.socket) -> None:
            try:
                while not ended.wait(0.5):
                    client.sendall(b"X")
            except OSError:
                pass  # hung up on, as it should be

        for client in clients:
            client.sendall(b"POST /webhooks/github HTTP/1.1\r\nX-Long: ")
            threading.Thread(target=trickle, args=(client,), daemon=True).start()
        silent.settimeout(LONGEST_REQUEST_S + 10)
        assert silent.recv(100) == b""
        time.sleep(3)
        assert door.deliver()[0] == 202
        assert "Traceback" not in door.errors
        ended.set()
        for client in clients:
            client.close()


def test_a_ledger_that_is_locked_is_503_and_holds_nothing_else_up_for_long() -> None:
    with Door(WEB_CONCURRENCY="1") as door, contextlib.closing(sqlite3.connect(door.data_dir / "dualgate.sqlite3", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert door.deliver()[0] == 503
        assert door.get("/healthz")[0] == 200
        other.execute("ROLLBACK")
        assert door.deliver()[0] == 202


def test_with_a_token_the_pages_ask_for_it_and_the_door_does_not() -> None:
    with Door(DUALGATE_ADMIN_TOKEN=TOKEN) as door:
        assert door.get("/metrics")[0] == 401
        assert door.get("/metrics", {"Authorization": f"Bearer {TOKEN}"})[0] == 200
        assert door.deliver()[0] == 202
        assert TOKEN not in door.errors


def test_a_port_that_is_taken_is_said(door: Door) -> None:
    status, errors = serve(**{**door.environment, "DUALGATE_DATA_DIR": str(door.data_dir / "second")})
    assert (status, errors.count("\n")) == (2, 1)
    assert f"port {door.port} can't be used" in errors
    assert door.get("/readyz")[0] == 200


@pytest.mark.skipif(not is_here(), reason="this machine has no PostgreSQL; apt-get install -y postgresql")
def test_on_postgresql_it_works_and_bears_its_absence() -> None:
    with Postgres() as postgres, Door(DATABASE_URL=postgres.url) as door, Door(DATABASE_URL=postgres.url) as other:
        body, guid = payload(), str(uuid.uuid4())
        assert door.deliver(body, headers_of(body, guid=guid)) == (202, {"status": "accepted"})
        Deliveries(Database(postgres.url.replace("postgresql://", "postgresql+psycopg://"))).hold(guid, "a worker", 60)
        assert other.deliver(body, headers_of(body, guid=guid)) == (202, {"status": "duplicate"})
        assert door.get("/")[0] == 200
        postgres.stop()
        assert door.deliver()[0] == 503
        assert door.get("/readyz") == (503, '{"status": "not ready", "missing": ["database"]}\n')
        assert door.get("/healthz")[0] == 200
        assert door.get("/")[0] == 503
        postgres.start()
        assert door.deliver()[0] == 202
        assert door.get("/readyz")[0] == 200
