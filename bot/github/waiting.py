"""How long to wait before a request is made again: pure."""

from __future__ import annotations

from collections.abc import Mapping

UNTOLD_S = 60.0  # a secondary limit without retry-after: "at least one minute", then longer; docs.github.com, "Rate limits for the REST API"
BROKEN = (500, 502, 503, 504)


def wait_before_retry(status: int, headers: Mapping[str, str], body: str, attempt: int, now: float) -> float | None:
    """Seconds, or None where asking again does not help. `attempt` counts from 0; `now`: seconds since the epoch."""
    if status in BROKEN:
        return _told(headers) or min(2.0 ** attempt, 30.0)
    if status not in (403, 429):
        return None
    told = _told(headers)
    if told is not None:
        return told
    if headers.get("x-ratelimit-remaining") == "0":
        try:
            return max(1.0, float(headers.get("x-ratelimit-reset", "")) - now + 1.0)
        except ValueError:
            return UNTOLD_S
    if status == 429 or "rate limit" in body.lower() or "abuse" in body.lower():
        return UNTOLD_S * 2.0 ** min(attempt, 4)
    return None


def _told(headers: Mapping[str, str]) -> float | None:
    try:
        return max(1.0, float(headers["retry-after"]))
    except (KeyError, ValueError):
        return None
