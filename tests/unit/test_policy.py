"""dualgate.yml."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
import yaml

from bot.errors import BadInput
from bot.policy import read_policy, schema
from sandbox.limits import Limits


def test_limits_are_laid_over_the_defaults() -> None:
    limits = read_policy("limits: {suite_s: 60, memory_mb: 512}").limits.over(Limits())
    assert (limits.suite_s, limits.memory_mb, limits.pids) == (60, 512, Limits().pids)


def test_the_published_schema_is_that_of_the_reader() -> None:
    published = Path(__file__).resolve().parents[2] / "docs/dualgate.schema.json"
    assert published.read_text(encoding="utf-8") == schema()  # python -c 'from bot.policy import schema; print(schema(), end="")' > docs/dualgate.schema.json


@pytest.mark.parametrize("text", [
    "limits: {suite_s: 60}", "limits: {suite_s: -1}", "limts: {}", "comment: sometimes", "plans: [{directory: web, env: {A: b}}]", "plans: [{path: web}]",
    "agents: {add: [1]}", "agents: {add: [x]}", "trigger_label: ''", "budget: {run: -1}",
])
def test_the_schema_and_the_reader_agree(text: str) -> None:
    agrees = jsonschema.Draft202012Validator(json.loads(schema())).is_valid(yaml.safe_load(text))
    try:
        read_policy(text)
    except BadInput:
        assert not agrees
    else:
        assert agrees


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
