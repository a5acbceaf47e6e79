"""What workflows start beside the tests."""

from __future__ import annotations

import datetime

import pytest

from sandbox.plan import Service
from sandbox.services.kinds import kind_of
from sandbox.services.wanted import wanted_services
from sandbox.toolchains.ci_variables import ci_variables
from sandbox.toolchains.displays import display_choice
from sandbox.toolchains.protocol import Sight
from sandbox.toolchains.registry import detect_plans
from sandbox.workspace import REGULAR, File, Tree

WORKFLOW = '''env:
  DATABASE_URL: postgres://app:secret@localhost:5433/appdb
  API_TOKEN: x
jobs:
  lint:
    services: {cache: {image: redis}}
    steps: [{run: ruff check}]
  test:
    env: {DEBUG: true, HOST: "${{ matrix.host }}", PATH: /evil}
    services:
      db:
        image: postgres:15-alpine
        env: {POSTGRES_USER: app, POSTGRES_PASSWORD: "a'b", POSTGRES_DB: appdb, OTHER: x}
        ports: ["5433:5432"]
      cache: {image: "docker.io/library/redis:7", ports: [6379]}
      search: {image: "elasticsearch:8"}
    steps:
      - run: pytest
        env: {REDIS_URL: "redis://localhost:6379/0"}
'''


def tree(text: str) -> Tree:
    return Tree({".github/workflows/ci.yml": File(REGULAR, text.encode()), "test_a.py": File(REGULAR, b"def test_a():\n    assert 1\n")})


def test_the_job_that_tests_says_what_stands_beside_it() -> None:
    wanted = wanted_services(tree(WORKFLOW))
    path = ".github/workflows/ci.yml"
    assert wanted.services == (
        Service("postgres", "db", 5433, (("POSTGRES_USER", "app"), ("POSTGRES_DB", "appdb")), "postgres:15-alpine", path, 12),
        Service("redis", "cache", 6379, (), "docker.io/library/redis:7", path, 15))
    assert wanted.missing == ("elasticsearch:8 at .github/workflows/ci.yml:16",)
    assert dict(wanted.variables) == {
        "DATABASE_URL": "postgres://app:secret@localhost:5433/appdb", "DEBUG": "true", "REDIS_URL": "redis://localhost:6379/0"}


@pytest.mark.parametrize("text", ["services: [", "services:\n", "jobs: {test: {services: {}, steps: [{run: pytest}]}}", "jobs: {a: {services: 3}}", "- services:", ""])
def test_what_says_nothing_is_nothing(text: str) -> None:
    assert wanted_services(tree(text)) == wanted_services(Tree({}))


@pytest.mark.parametrize(("image", "kind"), [
    ("postgres", "postgres"), ("postgis/postgis:15-3.3", "postgres"), ("ghcr.io/x/mariadb@sha256:00", "mysql"), ("mysql:8.0", "mysql"), ("valkey/valkey:8", "redis"),
    ("mongo:6", None), ("", None),
])
def test_kinds_by_image(image: str, kind: str | None) -> None:
    found = kind_of(image)
    assert (found.name if found else None) == kind


def test_a_plan_says_where_its_services_come_from() -> None:
    plan = detect_plans(tree(WORKFLOW), Sight(datetime.date(2026, 11, 1), datetime.date(2026, 12, 1)))[0]
    assert [choice.line for choice in plan.why if choice.choice == "service"] == [12, 15]
    assert ("DEBUG", "true") in plan.environment
    assert plan.of_environment().services == ()


@pytest.mark.parametrize(("path", "text", "line"), [
    (".github/workflows/ci.yml", "a:\n  run: xvfb-run pytest\n", 2), ("pyproject.toml", "[project]\ndependencies = ['pytest-qt']\n", 2), ("docs/xvfb.md", "xvfb", None), ("tox.ini", "x\n", None),
])
def test_who_asks_for_a_screen(path: str, text: str, line: int | None) -> None:
    choice = display_choice(Tree({path: File(REGULAR, text.encode())}))
    assert (choice and choice.line) == line


def test_of_jobs_that_differ_in_their_database_the_one_with_sqlite_is_taken() -> None:
    text = ("jobs:\n  mysql:\n    services: {db: {image: mariadb}}\n    steps: [{run: tox, env: {DB_BACKEND: mysql}}]\n"
            "  plain:\n    steps: [{run: tox, env: {DB_BACKEND: sqlite3}}]\n")
    assert wanted_services(tree(text)) == wanted_services(Tree({}))
    assert ci_variables(tree(text), "python")[0] == (("DB_BACKEND", "sqlite3"),)
