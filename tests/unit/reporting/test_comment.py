"""The one comment on a pull request."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bot.reporting.comment import MARKER, Previous, comment_body, is_ours, previous, should_comment
from tests.unit.reporting.rendered import rendered
from tests.unit.reporting.test_check_run import PROSE
from tests.unit.reporting.verdicts import ALL, HEAD, LINKS, regression, verified


@pytest.mark.parametrize("name", ALL)
def test_a_comment_is_ours_and_within_the_limit(name: str) -> None:
    body = comment_body(ALL[name](), LINKS)
    assert is_ours(body)
    assert len(body.encode()) <= 65_536


@pytest.mark.parametrize("body", ["", " " + MARKER, "> " + MARKER, "text\n" + MARKER, "<!-- dualgate:reply kind=refused -->"])
def test_a_marker_elsewhere_is_not_ours(body: str) -> None:
    assert not is_ours(body)
    assert previous(body) is None


def test_what_a_comment_said_can_be_read_back() -> None:
    assert previous(comment_body(regression(), LINKS)) == Previous("20261130-101500-0a1b2c3d4e5f", "rejected", "regression", HEAD)


def test_another_answer_tells_the_one_before() -> None:
    before = Previous("r", "rejected", "regression", "4aa9da5608dbc37d245cb0559c80fa2554d3d747")
    assert "Before, at `4aa9da5608db`: rejected (regression)." in comment_body(verified(), LINKS, before)
    assert "Before, at" not in comment_body(regression(), LINKS, before)


def test_the_first_ten_lines_show_the_first_error() -> None:
    assert "AssertionError: expected 5, got 4" in "\n".join(comment_body(regression(), LINKS).splitlines()[:10])


def test_a_fork_is_asked_again_with_its_commit() -> None:
    assert f"`/dualgate verify {HEAD}`" in comment_body(verified(), replace(LINKS, fork=True))
    assert "`/dualgate verify`" in comment_body(verified(), LINKS)


@pytest.mark.parametrize("name", ALL)
def test_what_is_folded_unfolds(name: str) -> None:
    html = "".join(rendered(comment_body(ALL[name](), LINKS)).html)
    assert html.count("<details>") == html.count("</details>") == html.count("<summary>") == html.count("</summary>")


@pytest.mark.parametrize(("policy", "shown", "has_comment", "wanted"), [
    ("always", verified(), False, True), ("always", regression(), True, True), ("never", regression(), False, False), ("never", regression(), True, False),
    ("failures", regression(), False, True), ("failures", verified(), False, False), ("failures", verified(), True, True), ("failures", PROSE, False, False),
])
def test_when_to_comment(policy: str, shown: dict[str, Any], has_comment: bool, wanted: bool) -> None:
    assert should_comment(policy, shown, has_comment) is wanted
