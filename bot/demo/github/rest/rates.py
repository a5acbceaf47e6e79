"""The primary rate limit: requests counted by caller and hour."""

from __future__ import annotations

import time

from bot.demo.github.records import Json
from bot.demo.github.tokens import Caller

LIMITS = {"anonymous": 60, "refused": 60, "app": 5_000, "installation": 5_000}
WINDOW_S = 3_600


class Rates:
    """Who has used how much. The limit is told and not enforced: tests script it as a fault."""

    def __init__(self) -> None:
        self._used: dict[str, int] = {}
        self._reset = int(time.time()) + WINDOW_S

    def count(self, caller: Caller) -> None:
        """One request more."""
        self._used[_key(caller)] = self._used.get(_key(caller), 0) + 1

    def overview(self, caller: Caller) -> Json:
        """`rate-limit` for the core resource."""
        limit, used = LIMITS[caller.kind], self._used.get(_key(caller), 0)
        return {"limit": limit, "used": min(used, limit), "remaining": max(0, limit - used), "reset": self._reset}

    def headers(self, caller: Caller) -> dict[str, str]:
        """`x-ratelimit-*`."""
        told = {f"x-ratelimit-{name}": str(value) for name, value in self.overview(caller).items()}
        return {**told, "x-ratelimit-resource": "core"}


def _key(caller: Caller) -> str:
    if caller.grant is not None:
        return f"installation {caller.grant.installation.id}"
    return f"app {caller.app.id}" if caller.app is not None else "address"
