"""How long to wait for GitHub, as a table."""

from __future__ import annotations

import pytest

from bot.github.waiting import wait_before_retry


@pytest.mark.parametrize(("status", "headers", "body", "attempt", "wait"), [
    (500, {}, "", 0, 1.0), (502, {}, "", 3, 8.0), (503, {"retry-after": "7"}, "", 0, 7.0), (504, {}, "", 9, 30.0),
    (403, {"retry-after": "30"}, "", 0, 30.0), (429, {"retry-after": "0"}, "", 0, 1.0),
    (403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1100"}, "", 0, 101.0),
    (403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "900"}, "", 0, 1.0),
    (403, {"x-ratelimit-remaining": "0"}, "", 0, 60.0),
    (403, {}, "You have exceeded a secondary rate limit", 0, 60.0), (403, {}, "You have exceeded a secondary rate limit", 2, 240.0),
    (429, {}, "", 0, 60.0),
    (403, {}, "Resource not accessible by integration", 0, None), (404, {}, "", 0, None), (422, {}, "", 0, None), (401, {}, "", 0, None),
])
def test_the_wait_before_a_request_is_made_again(status: int, headers: dict[str, str], body: str, attempt: int, wait: float | None) -> None:
    assert wait_before_retry(status, headers, body, attempt, now=1000.0) == wait
