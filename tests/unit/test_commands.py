"""Commands are lines that a person wrote; quotes, code and hidden text are not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.commands import Command, read_command


@pytest.mark.parametrize(("body", "command"), [
    ("/dualgate verify", Command("verify")),
    ("Thanks!\n\n  /dualgate verify  \nbye", Command("verify")),
    ("/DUALGATE Verify", Command("verify")),
    ("/dualgate verify ABCDEF1", Command("verify", "abcdef1")),
    ("/dualgate retry\r\n", Command("retry")),
    ("/dualgate", Command("")),
    ("/dualgate verify please", Command("verify", "", "please")),
    ("/dualgate verify abcdef1 now", Command("verify", "abcdef1", "now")),
    ("/dualgate dance", Command("dance")),
    ("> /dualgate verify", None),
    ("```\n/dualgate verify\n```", None),
    ("~~~~\n```\n/dualgate verify\n~~~\n", None),
    ("```\ncode\n```\n/dualgate cancel", Command("cancel")),
    ("    /dualgate verify", None),
    ("\t/dualgate verify", None),
    ("<!-- /dualgate verify -->", None),
    ("<!--\n/dualgate verify", None),
    ("`/dualgate verify`", None),
    ("use /dualgate verify", None),
    ("/dualgatex verify", None),
    ("> quoted\u2028/dualgate verify", None),
    ("", None),
])
def test_what_is_a_command(body: str, command: Command | None) -> None:
    assert read_command(body) == command


@given(st.text())
def test_any_comment_is_read(body: str) -> None:
    found = read_command(body)
    assert found is None or "/dualgate" in body.lower()


@given(st.text(alphabet="/dualgte vrify\n`>~ ").map(lambda text: "\n".join("> " + line for line in text.split("\n"))))
def test_a_quote_is_never_a_command(body: str) -> None:
    assert read_command(body) is None
