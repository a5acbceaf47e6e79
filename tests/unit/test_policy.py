"""dualgate.yml."""

from __future__ import annotations

import pytest

from bot.errors import BadInput
from bot.policy import read_policy
from sandbox.limits import Limits


def test_limits_are_laid_over_the_defaults() -> None:
    limits = read_policy("limits: {suite_s: 60, memory_mb: 512}").limits.over(Limits())
    assert (limits.suite_s, limits.memory_mb, limits.pids) == (60, 512, Limits().pids)


def test_an_empty_file_is_the_default() -> None:
    assert read_policy("") == read_policy("{}")


@pytest.mark.parametrize(("text", "where"), [
    ("limits:\n  suite_s: soon\n", "f.yml:2:3: limits.suite_s"), ("limts: {}\n", "f.yml:1:1: limts"), ("a: [\n", "f.yml:2:1"),
    ("limits:\n  pids: 1\n", "f.yml:2:3: limits.pids"), ("- x\n", "f.yml:1:1"),
])
def test_a_fault_has_file_line_and_column(text: str, where: str) -> None:
    with pytest.raises(BadInput, match=where.replace(".", r"\.").replace("[", r"\[")):
        read_policy(text, "f.yml")


@pytest.mark.parametrize("text", [
    "trigger_label: 2024-13-45\n", "plans:\n- test: \"pytest 'x\"\n", "a: " + "[" * 5000, "trigger_label: \"\\ud800\"\n", "x" * 70_000,
])
def test_what_no_reader_can_read_is_bad_input_all_the_same(text: str) -> None:
    with pytest.raises(BadInput, match=r"dualgate\.yml"):
        read_policy(text)
