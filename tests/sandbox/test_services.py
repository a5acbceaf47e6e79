"""Databases beside the tests, in real boxes."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandbox.box import RunRequest, open_box
from sandbox.docker import DockerEngine
from sandbox.images import bootstrap
from sandbox.limits import Limits
from sandbox.plan import Service
from sandbox.results.events import build_report
from sandbox.workspace import REGULAR, File, Tree, to_tar

pytestmark = pytest.mark.docker
ROOT = "/repo/data"
SPEAKS = "import socket, sys\nname, port, words, answer = sys.argv[1:]\ns = socket.create_connection((name, int(port)), 5)\ns.sendall(words.encode().decode('unicode_escape').encode('latin1'))\nsys.exit(answer not in s.recv(200).decode('latin1'))\n"
OUTSIDE = "import socket, sys\ntry:\n    socket.create_connection(('192.0.2.1', 80), 2)\nexcept OSError:\n    sys.exit(0)\nsys.exit(1)\n"
POSTGRES = Service("postgres", "db", 5433, (("POSTGRES_USER", "app"), ("POSTGRES_DB", "appdb"), ("POSTGRES_PASSWORD", "secret")))
MYSQL = Service("mysql", "sql", 3306, (("MYSQL_ROOT_PASSWORD", "root"), ("MYSQL_DATABASE", "shop")))
HELLO = r"\x00\x00\x00\x21\x00\x03\x00\x00user\x00app\x00database\x00appdb\x00\x00"  # PostgreSQL's start-up message, protocol 3.0; the answer begins with R


def answers(engine: DockerEngine, services: tuple[Service, ...], *lines: str) -> bool:
    tree = Tree({"speak.py": File(REGULAR, SPEAKS.encode()), "outside.py": File(REGULAR, OUTSIDE.encode()), "x.sh": File(REGULAR, "\n".join(("set -e", *lines)).encode())})
    settings = {"build": [], "test": "sh x.sh", "form": "output", "reports": [], "group": "it", "whole": "exit status", "place": "x.sh", "directory": ""}
    with open_box(engine, bootstrap(engine), ROOT, to_tar(tree), Limits(), services=services) as box:
        report = build_report(box.run(RunRequest(mode="command", settings=settings)), ROOT)
    return report.results["it::exit status"].passed


@pytest.fixture
def engine(tmp_path: Path) -> DockerEngine:
    return DockerEngine("test-services")


def test_a_service_stands_on_the_loopback_of_its_box_alone(engine: DockerEngine) -> None:
    redis = (Service("redis", "cache", 6380),)
    ping = r"speak.py {} 6380 'PING\r\n' PONG"
    assert answers(engine, redis, "python3 " + ping.format("localhost"), "python3 " + ping.format("cache"), "python3 outside.py")
    assert answers(engine, redis, r"python3 speak.py localhost 6380 'SET a 1\r\n' OK", r"python3 speak.py localhost 6380 'GET a\r\n' 1")
    assert answers(engine, redis, r"python3 speak.py localhost 6380 'GET a\r\n' '$-1'")
    assert not answers(engine, (), "python3 " + ping.format("localhost"))
    engine.close()
    assert engine.api.containers(all=True, filters={"label": "dualgate.run=test-services"}) == []


@pytest.mark.thorough
def test_several_services_are_told_apart(engine: DockerEngine) -> None:
    both = (POSTGRES, MYSQL)
    assert answers(engine, both, f"python3 speak.py db 5433 '{HELLO}' R", "python3 speak.py sql 3306 '' MariaDB", "python3 outside.py")
    engine.close()
