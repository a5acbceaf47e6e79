"""A Django project without pytest: its own runner, its own results."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.repository import commit, make, run, verify

pytestmark = pytest.mark.docker

MANAGE = """import os, sys
if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "site_of_ours.settings")
    from django.core.management import execute_from_command_line
    execute_from_command_line(sys.argv)
"""
SETTINGS = """SECRET_KEY = "x"
INSTALLED_APPS = ["shop"]
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
"""
MODELS = """from django.db import models


class Item(models.Model):
    price = models.IntegerField()

    def with_tax(self):
        return self.price + self.price // 10
"""
FIX = MODELS.replace("self.price // 10", "self.price * 19 // 100")
TESTS = """import unittest

from django.test import SimpleTestCase, TestCase

from shop.models import Item


class Stored(TestCase):
    @classmethod
    def setUpTestData(cls):
        Item.objects.create(price=100)

    def test_is_there(self):
        self.assertEqual(Item.objects.count(), 1)

    @unittest.expectedFailure
    def test_is_two(self):
        self.assertEqual(Item.objects.count(), 2)


class Kinds(SimpleTestCase):
    @unittest.skip("not today")
    def test_skipped(self):
        pass

    def test_parts(self):
        for n in range(3):
            with self.subTest(n=n):
                self.assertLess(n, 2)


class Unprepared(SimpleTestCase):
    @classmethod
    def setUpClass(cls):
        raise OSError("no place")

    def test_never(self):
        pass
"""
NEW = TESTS + """

class Taxed(TestCase):
    def test_tax(self):
        self.assertEqual(Item.objects.create(price=200).with_tax(), 238)
"""
BASE: dict[str, str | None] = {
    "web/manage.py": MANAGE, "web/site_of_ours/__init__.py": "", "web/site_of_ours/settings.py": SETTINGS, "web/shop/__init__.py": "",
    "web/shop/models.py": MODELS, "web/shop/tests.py": TESTS, "web/shop/test_gone.py": "import no_such_module_of_anybody\n", "requirements.txt": "django<5\n"}
REPRODUCER = "from django.test import TestCase\nfrom shop.models import Item\n\n\nclass Tax(TestCase):\n    def test_tax(self):\n        self.assertEqual(Item.objects.create(price=300).with_tax(), 357)\n"


def test_a_change_with_tests_and_a_given_reproducer(tmp_path: Path) -> None:
    repo = tmp_path / "site"
    base = make(repo, BASE)
    head = commit(repo, {"web/shop/models.py": FIX, "web/shop/tests.py": NEW})
    answer = verify(repo, "--base", base, "--head", head)
    assert (answer.verdict["verdict"], answer.reason) == ("verified", "verified"), answer.output + answer.errors
    gates = answer.verdict["gates"]
    assert gates["fail_to_pass"]["passed"] == ["web/shop/tests.py::Taxed::test_tax"]
    assert gates["pass_to_pass"]["passed"] == 1
    (repo.parent / "tax.py").write_text(REPRODUCER, encoding="utf-8")
    (repo.parent / "test_tax.py").write_text(REPRODUCER, encoding="utf-8")
    bare = commit(repo, {"web/shop/tests.py": TESTS})
    given = verify(repo, "--base", base, "--head", bare, "--reproducer", repo.parent / "test_tax.py")
    assert (given.verdict["verdict"], given.reason) == ("verified", "verified"), given.output + given.errors
    worse = commit(repo, {"web/shop/models.py": MODELS.replace("models.IntegerField()", "models.IntegerField(default=0)").replace("Item(", "Thing(") + "\n\nItem = Thing\n"})
    assert verify(repo, "--base", base, "--head", worse, "--reproducer", repo.parent / "test_tax.py").reason == "reproducer_still_fails"
    out = tmp_path / "plan.json"
    run("plan", repo, "--run", "--json", out)
    counts = json.loads(out.read_text())["run"][0]
    assert {key: counts[key] for key in ("framework", "passed", "failed", "errors", "skipped")} == {
        "framework": "django", "passed": 1, "failed": 1, "errors": 2, "skipped": 2}, counts  # errors: a class without its set-up, a module that does not load
