"""What CI and tox tell the tests by variables."""

from __future__ import annotations

import pytest

from sandbox.toolchains.ci_variables import ci_variables, is_for_tests
from sandbox.workspace import REGULAR, File, Tree

CI = """env:
  APP_MODE: test
  FORCE_COLOR: 1
jobs:
  lint:
    env: {LINT: 1}
    steps: [{run: ruff check}]
  tests:
    env:
      DEBUG: true
      SECRET: ${{ secrets.KEY }}
      PYTEST_ADDOPTS: -x
    steps:
      - run: pip install .
        env: {BUILD_ONLY: 1}
      - run: python -m pytest
        env:
          DJANGO_SETTINGS_MODULE: shop.settings
          API_TOKEN: abc
          QUOTED: "a'b"
"""
TOX = "[testenv]\nsetenv =\n    PYTHONPATH = {toxinidir}\n    HOME_PAGE = {toxinidir}/x\n    DEBUG=0\n    LEVEL = 3\ndeps = pytest\n"


def tree(files: dict[str, str]) -> Tree:
    return Tree({path: File(REGULAR, text.encode()) for path, text in files.items()})


def test_of_the_testing_job_and_step_and_of_tox() -> None:
    found, why = ci_variables(tree({".github/workflows/ci.yml": CI, "tox.ini": TOX}), "python")
    assert dict(found) == {"APP_MODE": "test", "DEBUG": "0", "DJANGO_SETTINGS_MODULE": "shop.settings", "LEVEL": "3"}
    assert {choice.value: (choice.file, choice.line) for choice in why} == {
        "APP_MODE=test": (".github/workflows/ci.yml", 2), "DEBUG=0": ("tox.ini", 5), "DJANGO_SETTINGS_MODULE=shop.settings": (".github/workflows/ci.yml", 18),
        "LEVEL=3": ("tox.ini", 6)}


def test_another_languages_job_says_nothing_to_this_one() -> None:
    text = "jobs:\n  js:\n    env: {WHAT: js}\n    steps: [{run: npm test}]\n  rs:\n    env: {WHAT: rs}\n    steps: [{run: cargo test}]\n"
    here = tree({".github/workflows/ci.yml": text, "tox.ini": TOX})
    assert dict(ci_variables(here, "node")[0]) == {"WHAT": "js"}
    assert dict(ci_variables(here, "rust")[0]) == {"WHAT": "rs"}
    assert ci_variables(here, "go") == ((), ())


@pytest.mark.parametrize("files", [
    {".github/workflows/ci.yml": "env: [\n"}, {".github/workflows/ci.yml": "env: {A: 1}\njobs: 3\n"}, {".github/workflows/ci.yml": "- env:\n"},
    {"tox.ini": "[testenv\nsetenv = A=1"}, {"tox.ini": "[testenv]\nsetenv\n"}, {},
])
def test_what_says_nothing_is_nothing(files: dict[str, str]) -> None:
    assert ci_variables(tree(files), "python") == ((), ())


@pytest.mark.parametrize(("name", "reaches"), [
    ("GO111MODULE", False), ("CGO_ENABLED", False), ("GOFLAGS", False), ("RUSTFLAGS", False), ("NODE_OPTIONS", False), ("PYTEST_ADDOPTS", False), ("MY_TOKEN", False),
    ("GOPHER_MODE", False), ("MONGO_URL", True), ("DB_HOST", True), ("APP_ENV", True),
])
def test_what_steers_a_toolchain_stays_out(name: str, reaches: bool) -> None:
    assert is_for_tests(name, "x") is reaches
