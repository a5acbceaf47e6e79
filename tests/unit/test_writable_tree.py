"""When a suite is tried again on a tree that can be written."""

from __future__ import annotations

import pytest

from bot.verification.bench import needs_writable
from tests.unit.evidence_builder import report, result


@pytest.mark.parametrize(("outcomes", "message", "wanted"), [
    ({"a": "passed", "b": "failed"}, "EACCES: permission denied", True), ({"a": "passed", "b": "failed"}, "1 is not 2", False),
    ({"b": "failed"}, "the database is not open", True), ({"a": "passed"}, "", False),
])
def test_a_tree_that_tests_want_to_write_is_seen_by_their_words_or_where_none_passes(outcomes: dict[str, str], message: str, wanted: bool) -> None:
    assert needs_writable(report(**{name: result(name, outcome, message=message) for name, outcome in outcomes.items()})) is wanted
