"""Parsing under threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from sandbox.toolchains.python.syntax import parse_module


def test_two_threads_can_parse_at_once() -> None:
    text = "\n".join(f"def f{i}(a, b=({i}, [a for a in range({i})])):\n    return lambda: (a, {{b: {i}}})" for i in range(400))
    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(parse_module, [text] * 60))


@pytest.mark.parametrize("text", ["def (", "\0", "(" * 5000 + ")" * 5000, "x = " + "-" * 100_000 + "1"])
def test_what_is_no_python_is_none(text: str) -> None:
    assert parse_module(text) is None
