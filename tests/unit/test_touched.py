"""Which tests a change touches."""

from __future__ import annotations

import pytest

from sandbox.toolchains.python.touched import changed_fixtures, compare, unit_of
from sandbox.toolchains.touched import Touched, affected_by_data

OLD = """
import os
import pytest

LIMIT = 3

def helper():
    return LIMIT

@pytest.fixture
def data():
    return 1

def test_a():
    assert helper() == 3

def test_b(data):
    assert data == 1

def test_c():
    assert True

class TestThing:
    def setup_method(self):
        self.x = 1

    def test_d(self):
        assert self.x == 1
"""


@pytest.mark.parametrize(("before", "after", "kind", "names"), [
    ("assert True", "assert 1", "edited", {"test_c"}),
    ("LIMIT = 3", "LIMIT = 4", "affected", {"test_a"}),
    ("    return 1\n", "    return 2\n", "affected", {"test_b"}),
    ("self.x = 1\n", "self.x = 2\n", "affected", {"TestThing::test_d"}),
    ("class TestThing:", "class TestThing(Base):", "affected", {"TestThing::test_d"}),
    ("def test_c():\n    assert True\n", "", "deleted", {"test_c"}),
    ("def test_c():", "@pytest.mark.skip\ndef test_c():", "edited", {"test_c"}),
    ("import os\n", "import os\npytestmark = pytest.mark.skip\n", "affected", {"test_a", "test_b", "test_c", "TestThing::test_d"}),
])
def test_a_hunk_touches_what_it_meets(before: str, after: str, kind: str, names: set[str]) -> None:
    assert getattr(compare(OLD, OLD.replace(before, after, 1)), kind) == names


def test_moved_lines_and_comments_touch_nothing() -> None:
    touched = compare(OLD, "# a comment\n" + OLD.replace("assert True", "assert True  # yes"))
    assert not touched.edited | touched.new | touched.deleted | touched.affected


def test_a_renamed_test_with_the_same_body_is_the_same_test() -> None:
    touched = compare(OLD, OLD.replace("def test_c(", "def test_see("))
    assert not touched.new | touched.deleted


def test_a_renamed_test_with_another_body_is_new() -> None:
    touched = compare(OLD, OLD.replace("def test_c():\n    assert True", "def test_see():\n    assert 2"))
    assert (touched.new, touched.deleted) == ({"test_see"}, {"test_c"})


def test_unsure_counts_as_touched() -> None:
    assert compare(OLD, "def broken(:").touches("test_a")


def test_a_changed_fixture_elsewhere_touches_its_users() -> None:
    assert compare(OLD, OLD, frozenset({"data"})).affected == {"test_b"}


def test_changed_fixtures_are_named() -> None:
    assert changed_fixtures("def f():\n    return 1\ndef g():\n    return 1", "def f():\n    return 2\ndef g():\n    return 1") == {"f"}


@pytest.mark.parametrize(("text", "paths", "wanted"), [
    ("open('data/a.toml')", {"tests/data/a.toml"}, True), ("DIR / 'data'", {"tests/data/x/b.toml"}, True), ("nothing", {"tests/data/a.toml"}, False),
])
def test_data_is_known_by_its_name_or_folder(text: str, paths: set[str], wanted: bool) -> None:
    assert affected_by_data(text, frozenset(paths)) is wanted


@pytest.mark.parametrize(("test_id", "wanted"), [
    ("a/t.py::C::test_x[a::b - c]", ("a/t.py", "C::test_x")), ("t.py::test_x #2", ("t.py", "test_x")), ("t.py::test_x[1] #3", ("t.py", "test_x")),
])
def test_an_id_leads_to_its_function(test_id: str, wanted: tuple[str, str]) -> None:
    assert unit_of(test_id) == wanted


def test_a_test_that_a_macro_makes_is_its_invocations() -> None:
    touched = Touched(new=frozenset({"m::made"}), deleted=frozenset({"m::gone"}))
    assert [touched.is_own(unit) for unit in ("m::made", "m::made::case_2", "m::made_too", "m")] == [True, True, False, False]
    assert [touched.touches(unit) for unit in ("m::gone::a", "m::going")] == [True, False]
