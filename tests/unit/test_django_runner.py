"""Which script starts Django's runner, and with which words; and how its results are told."""

from __future__ import annotations

import datetime

import pytest

from sandbox.toolchains.python.detect import detect
from sandbox.toolchains.python.django import DjangoRun, django_run
from sandbox.toolchains.python.running import PythonRunner
from sandbox.workspace import REGULAR, File, Tree

MANAGE = "import os, sys\nos.environ.setdefault('DJANGO_SETTINGS_MODULE', 'shop.settings')\nfrom django.core.management import execute_from_command_line\n"
RUNTESTS = "from django.test.utils import get_runner\n"
TEST = "from django.test import TestCase\n\n\nclass A(TestCase):\n    def test_a(self):\n        pass\n"
DAY = datetime.date(2024, 5, 1)


def tree(files: dict[str, str]) -> Tree:
    return Tree({path: File(REGULAR, text.encode()) for path, text in files.items()})


def tox(command: str, more: str = "") -> str:
    return f"[testenv]\n{more}deps = django\ncommands =\n    {command}\n"


@pytest.mark.parametrize(("files", "script", "folder", "words"), [
    ({"manage.py": MANAGE}, "manage.py", "", ("test",)),
    ({"example/manage.py": MANAGE, "example/deep/manage.py": MANAGE}, "example/manage.py", "example", ("test",)),
    ({"runtests.py": RUNTESTS, "manage.py": MANAGE}, "runtests.py", "", ()),
    ({"tests/runtests.py": RUNTESTS, "tox.ini": tox("python -W error tests/runtests.py {posargs:--settings=test_sqlite} --parallel=4 -v2 --testrunner xmlrunner.X")},
     "tests/runtests.py", "", ("--settings=test_sqlite",)),
    ({"tox.ini": tox("coverage run --source=shop {envbindir}/django-admin test --settings=tests.settings -v 2 tests")}, "-m django", "",
     ("test", "--settings=tests.settings", "tests")),
    ({"demo/manage.py": MANAGE, "tox.ini": tox("{envpython} manage.py test shop --failfast", "changedir = {toxinidir}/demo\n")}, "demo/manage.py", "demo", ("test", "shop")),
    ({"demo/manage.py": MANAGE, ".github/workflows/ci.yml": "jobs:\n  t:\n    steps:\n    - run: |\n        cd demo && python manage.py test --noinput shop\n"},
     "demo/manage.py", "demo", ("test", "shop")),
    ({"demo/manage.py": MANAGE, ".github/workflows/ci.yml": "jobs:\n  t:\n    steps:\n    - run: coverage run manage.py test\n      working-directory: demo\n"},
     "demo/manage.py", "demo", ("test",)),
])
def test_the_script_that_starts_it(files: dict[str, str], script: str, folder: str, words: tuple[str, ...]) -> None:
    found = django_run(tree(files))
    assert found is not None
    assert (found.script, found.folder, found.words) == (script, folder, words)


@pytest.mark.parametrize("files", [
    {"manage.py": "print('not of Django')"}, {"runtests.py": "import unittest\nunittest.main()\n"}, {"tox.ini": tox("python manage.py migrate")},
    {"tox.ini": "[testenv\ncommands = python manage.py test"}, {".github/workflows/ci.yml": "jobs: [manage.py\n"},
])
def test_what_starts_none(files: dict[str, str]) -> None:
    assert django_run(tree(files)) is None


@pytest.mark.parametrize(("more", "framework"), [
    ({}, "django"),
    ({"pytest.ini": "[pytest]\nDJANGO_SETTINGS_MODULE = shop.settings\n"}, "pytest"),
    ({"shop/test_more.py": "import pytest\n\n\ndef test_b(db):\n    assert 1\n"}, "pytest"),
])
def test_pytest_comes_first_where_the_repository_uses_it(more: dict[str, str], framework: str) -> None:
    files = {"manage.py": MANAGE, "shop/tests.py": TEST, "requirements.txt": "django\n", **more}
    plan = detect(tree(files), DAY, ("3.11", "3.12"), None, datetime.date(2026, 1, 1))
    assert plan is not None
    assert plan.framework == framework
    assert (plan.django is not None) == (framework == "django")


def test_words_for_people_and_for_the_driver() -> None:
    files = {"demo/manage.py": MANAGE, "demo/shop/tests.py": TEST, "requirements.txt": "django\n"}
    plan = detect(tree(files), DAY, ("3.11",), None, datetime.date(2026, 1, 1))
    assert plan is not None
    assert plan.django == DjangoRun("demo/manage.py", "demo", ("test",), "demo/manage.py", 1)
    request = PythonRunner().groups(plan, ["demo/shop/tests.py"])
    assert request.mode == "django"
    assert request.args == ("demo/shop/tests.py",)
    assert dict(request.settings) == {"script": "demo/manage.py", "folder": "demo", "words": ["test"]}
    assert PythonRunner().test_words(plan) == ["cd", "demo", "&&", "python", "manage.py", "test"]
