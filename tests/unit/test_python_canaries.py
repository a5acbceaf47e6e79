"""Canaries in Python's test files: where they stand, what they are, and that nothing else moves."""

from __future__ import annotations

import ast
import random

import pytest

from sandbox.results.report import Outcome
from sandbox.toolchains.python.canaries import plant_in

FUNCTIONS = '"""Words."""\n\nfrom __future__ import annotations\n\nimport pytest\n\n\ndef test_parse_empty():\n    text = """\n\n    """\n    assert not text.strip()\n\n\n' \
    '@pytest.mark.slow\ndef test_parse_value():\n    with pytest.raises(ValueError):\n        int("a")\n'
CLASSES = "import unittest\n\n\nclass TestWords(unittest.TestCase):\n    def test_one(self):\n        self.assertEqual(1, 1)\n\n    def testTwo(self):\n        pass\n\n\n\n    def test_three(self):\n" \
    "        pass\n"


def planted(text: str, seed: int = 1) -> tuple[str, dict[str, Outcome]]:
    found = plant_in("tests/test_x.py", text, random.Random(seed))
    assert found is not None
    return found


@pytest.mark.parametrize("text", [FUNCTIONS, CLASSES, FUNCTIONS.replace("\n", "\r\n"), "def test_a():\n    pass\ndef test_b():\n    pass"])
@pytest.mark.parametrize("seed", range(6))
def test_the_other_lines_stay_where_they_are(text: str, seed: int) -> None:
    after, expected = planted(text, seed)
    old, new = text.splitlines(keepends=True), after.splitlines(keepends=True)
    moved = [number for number, (a, b) in enumerate(zip(old, new, strict=False)) if a.rstrip("\r\n") != b.rstrip("\r\n")]
    assert all(not old[number].strip() for number in moved)
    assert len(moved) + len(new) - len(old) >= 1
    assert expected
    assert len({line.endswith("\r\n") for line in new}) == 1


def test_each_is_a_test_of_its_scope_and_one_of_them_must_fail() -> None:
    after, expected = planted(CLASSES)
    case = next(node for node in ast.parse(after).body if isinstance(node, ast.ClassDef))
    names = {node.name for node in case.body if isinstance(node, ast.FunctionDef)}
    assert {name.rsplit("::", 1)[1] for name in expected} < names
    assert all(name.startswith("tests/test_x.py::TestWords::test") for name in expected)
    assert Outcome.FAILED in expected.values()


def test_a_string_of_several_lines_is_no_place() -> None:
    for seed in range(20):
        after, _ = planted(FUNCTIONS, seed)
        first = next(node for node in ast.parse(after).body if isinstance(node, ast.FunctionDef) and node.name == "test_parse_empty")
        assert ast.unparse(first) == ast.unparse(next(node for node in ast.parse(FUNCTIONS).body if isinstance(node, ast.FunctionDef)))


def test_names_differ_from_seed_to_seed_and_are_not_the_file_s_own() -> None:
    first, second = planted(FUNCTIONS, 1)[1], planted(FUNCTIONS, 2)[1]
    assert set(first) != set(second)
    assert not {name.rsplit("::", 1)[1] for name in first} & {"test_parse_empty", "test_parse_value"}


def test_the_styles_of_the_file_are_used() -> None:
    text = FUNCTIONS + "\n\n" * 6 + "def test_last():\n    np.testing.assert_allclose(1, 1)\n"
    after, _ = planted(text)
    assert "assert_allclose(" in after.replace("np.testing.assert_allclose", "")
    assert '__import__("pytest").raises' in after


@pytest.mark.parametrize("text", ["def broken(:\n", "x = 1\n", ""])
def test_what_holds_no_test_is_left_alone(text: str) -> None:
    assert plant_in("test_x.py", text, random.Random(1)) is None
