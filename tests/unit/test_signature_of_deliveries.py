"""Webhook signatures."""

from __future__ import annotations

import pytest

from webhooks.signature import is_signed

SECRET, BODY = "It's a Secret to Everybody", b"Hello, World!"
GOOD = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"


@pytest.mark.parametrize(("header", "secrets", "wanted"), [
    (GOOD, [SECRET], True), (GOOD, ["new", SECRET], True), (GOOD, ["other"], False), (GOOD, [], False), (GOOD, [""], False), (None, [SECRET], False),
    (GOOD.replace("sha256", "sha1"), [SECRET], False), (GOOD[:-1] + "8", [SECRET], False), ("sha256=é", [SECRET], False),
])
def test_only_a_right_signature_counts(header: str | None, secrets: list[str], wanted: bool) -> None:
    assert is_signed(BODY, header, secrets) is wanted
