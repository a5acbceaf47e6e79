"""What a trial of an environment tells."""

from __future__ import annotations

import dataclasses

import pytest

from sandbox.results.report import TestReport
from sandbox.toolchains.python.environment import needs
from sandbox.toolchains.python.plan import PythonPlan
from sandbox.trial import starts
from tests.unit.evidence_builder import report

PLAN = PythonPlan(toolchain="python", framework="pytest", interpreters=("3.11",), project=True, known_names=("local-thing",), test_files=("t.py", "u.py", "v.py"))
NOTHING = TestReport(complete=True, status=5)


@pytest.mark.parametrize(("found", "wanted"), [
    (report(t_a="missing"), True), (NOTHING, True), (dataclasses.replace(NOTHING, status=4), False), (dataclasses.replace(NOTHING, internal="x"), False),
    (dataclasses.replace(NOTHING, uncollected={"t.py": "E"}), False), (dataclasses.replace(report(t_a="missing"), uncollected={"t.py": "E"}), True),
    (dataclasses.replace(report(t_a="missing"), uncollected={"t.py": "E", "u.py": "E"}), False), (TestReport(limit="time"), True),
    (TestReport(limit="memory"), False),
])
def test_a_trial_starts_or_asks_for_another_interpreter(found: TestReport, wanted: bool) -> None:
    assert starts(found, PLAN) is wanted


@pytest.mark.parametrize(("text", "wanted"), [
    ("E   ModuleNotFoundError: No module named 'yaml'", ["pyyaml"]), ("ImportError: No module named local_thing.sub", ["local-thing"]),
    ("ModuleNotFoundError: No module named 'leftpad'", []), ("error: unrecognized arguments: --cov=x --timeout=3 --own", ["pytest-cov", "pytest-timeout"]),
])
def test_only_names_that_are_known_are_asked_for(text: str, wanted: list[str]) -> None:
    assert needs(TestReport(log=text), PLAN) == wanted
