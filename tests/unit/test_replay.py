"""What a verdict says of how it came about, and what is told when it comes out otherwise."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from bot.changes.change import Request
from bot.errors import BadInput
from bot.replay import MOST_NAMED, differences, order_of, read_verdict
from bot.verification.verify import Order, replay_words

VERDICT: dict[str, Any] = {
    "schema": "dualgate/verdict/v1", "verdict": "verified", "reason": "verified", "base": "a" * 40, "head": "b" * 40, "patch_sha256": "c", "plans": [{"environment_key": "k"}],
    "tests": [{"id": f"t.py::{n}", "plan": 0, "from": "base", "base": "passed", "patched": "passed"} for n in range(30)],
    "evidence": {"replay": "dualgate verify '/a b/repo' --base main --head topic"}}


def test_an_order_is_read_back_at_the_commits_of_the_verdict() -> None:
    order = order_of(VERDICT, None, 60)
    assert (order.repository, order.request) == (Path("/a b/repo"), Request("a" * 40, "b" * 40))
    assert order_of(VERDICT, Path("/other"), 60).repository == Path("/other")


def test_every_option_of_an_order_comes_back() -> None:
    order = Order(Path("/r"), Request("x", None, Path("p.diff"), Path("t.diff")), (Path("one.py"), Path("two words.py")), Path("c.yml"), 7, 60)
    again = order_of({**VERDICT, "evidence": {"replay": replay_words(order)}}, None, 60)
    assert again == Order(Path("/r"), Request("a" * 40, None, Path("p.diff"), Path("t.diff")), order.reproducers, Path("c.yml"), 7, 60)


@pytest.mark.parametrize("words", ["", "rm -rf /", "dualgate verify /r", "dualgate verify /r --base x --json", "dualgate verify /r --base x --exec y"])
def test_other_words_are_bad_input(words: str) -> None:
    with pytest.raises(BadInput):
        order_of({**VERDICT, "evidence": {"replay": words}}, None, 60)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema": "dualgate/plan/v1"}'])
def test_what_is_no_verdict_is_bad_input(tmp_path: Path, text: str) -> None:
    (tmp_path / "v.json").write_text(text, encoding="utf-8")
    with pytest.raises(BadInput):
        read_verdict(tmp_path / "v.json")


def test_what_differs_is_named_and_bounded() -> None:
    after = copy.deepcopy(VERDICT)
    assert differences(VERDICT, after) == []
    after["reason"], after["plans"] = "regression", [{"environment_key": "l"}]
    for row in after["tests"][:25]:
        row["patched"] = "failed"
    told = differences(VERDICT, json.loads(json.dumps(after)))
    assert told[:3] == ["reason: verified, now regression", "environment: k, now l", "test t.py::0: passed on base and passed with the change, now passed on base and failed with the change"]
    assert told[-1] == "and 5 more tests"
    assert len(told) == 3 + MOST_NAMED
