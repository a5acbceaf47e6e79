"""Untrusted text on its way to a terminal."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.reporting.escape import plain


@pytest.mark.parametrize(("text", "wanted"), [
    ("\x1b[31mred\x1b[0m", "red"), ("\x1b]0;title\x07x", "x"), ("a\u202eb", "a\ufffdb"), ("a\u200bb", "a\ufffdb"), ("tab\tline\n", "tab\tline\n"), ("é✓", "é✓"),
    ("\rover", "\ufffdover"),
])
def test_escapes_and_invisible_characters_are_gone(text: str, wanted: str) -> None:
    assert plain(text) == wanted


@given(st.text())
def test_nothing_steers_the_terminal(text: str) -> None:
    assert all(c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cf") for c in plain(text))


def test_long_text_is_cut_and_says_so() -> None:
    assert plain("x" * 9000, 100).endswith("[...]")
