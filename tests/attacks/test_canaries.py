"""Code under test that changes what the runner says of every test: found out by tests of ours among the real ones, not by reading the change."""

from __future__ import annotations

import pytest
from calc_repository import CORE, FIXED, NEW_TESTS, Repository
from judging import Command

TAMPERED = ("rejected", "tampered")
VERIFIED = ("verified", "verified")
CASE = """\
import unittest

from calc.core import mean


class MeanTest(unittest.TestCase):
    def test_mean(self):
        self.assertEqual(mean([2, 4]), 3)

    def test_mean_of_one(self):
        self.assertEqual(mean([7]), 7)
"""
# Each finds its object by a name that is put together, so that the static look has nothing to say.
REPORTS = """\
import sys

for name, module in list(sys.modules.items()):
    if name[::-1] == "stroper.tsetyp_":
        kind = getattr(module, "Tes" + "tReport")
        made = kind.from_item_and_call.__func__

        def kinder(cls, item, call, made=made):
            call.excinfo = None
            return made(cls, item, call)

        kind.from_item_and_call = classmethod(kinder)
"""
CALLS = """\
import sys

for name, module in list(sys.modules.items()):
    if name[::-1] == "rennur.tsetyp_":
        kind = getattr(module, "Call" + "Info")
        made = kind.from_call.__func__

        def kinder(cls, func, when, reraise=None, made=made):
            def calm():
                try:
                    func()
                except Exception:
                    pass
            return made(cls, calm, when, reraise)

        kind.from_call = classmethod(kinder)
"""
EQUALITY = """\
import sys

for name, module in list(sys.modules.items()):
    if name[::-1] == "esac.tsettinu":
        type.__setattr__(vars(module)["Test" + "Case"], "ass" + "ertEqual", lambda self, *rest, **more: None)
"""


@pytest.mark.parametrize(("attack", "tests"), [(REPORTS, NEW_TESTS), (CALLS, NEW_TESTS), (EQUALITY, CASE)], ids=["reports", "calls", "assertEqual"])
def test_a_runner_that_is_made_to_lie_is_tampering(repo: Repository, verify: Command, attack: str, tests: str) -> None:
    judged = verify(repo, head=repo.lay({"calc/core.py": attack + CORE, "tests/test_mean.py": tests}))

    assert judged.answer == TAMPERED, judged.details()


@pytest.mark.parametrize("tests", [NEW_TESTS, CASE], ids=["functions", "TestCase"])
def test_an_honest_fix_is_verified_with_canaries_that_behave(repo: Repository, verify: Command, tests: str) -> None:
    judged = verify(repo, head=repo.lay({"calc/core.py": FIXED, "tests/test_mean.py": tests}))

    assert judged.answer == VERIFIED, judged.details()
    assert "canaries" in judged.codes("note")
    assert "canaries_silent" not in judged.codes()
    assert judged.guard["passed"] == 3


def test_a_given_reproducer_is_watched_as_well(repo: Repository, verify: Command) -> None:
    file = repo.path.parent / "test_given.py"
    file.write_text(NEW_TESTS, encoding="utf-8")
    attack = REPORTS.replace('if name[::-1] == "stroper.tsetyp_":', 'if name[::-1] == "stroper.tsetyp_" and "test_core" not in repr(sys.argv):')

    judged = verify(repo, "--reproducer", str(file), head=repo.lay({"calc/core.py": attack + CORE}, over={}))

    assert judged.answer == TAMPERED, judged.details()
