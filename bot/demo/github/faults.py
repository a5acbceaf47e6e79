"""Faults that a test scripts: the next matching requests are answered badly, before or after they took effect."""

from __future__ import annotations

import re
import threading
import time
from dataclasses import dataclass, field
from typing import Any

MESSAGES = {429: "API rate limit exceeded", 500: "Server Error", 502: "Server Error", 503: "Service unavailable", 504: "Gateway Timeout"}
SECONDARY = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."


@dataclass
class Fault:
    """One scripted fault; `status` 0 closes the connection without an answer."""

    method: str
    path: re.Pattern[str]
    status: int
    headers: dict[str, str] = field(default_factory=dict)
    body: Any = None
    left: int = 1
    perform_first: bool = False
    delay_s: float = 0.0


class Faults:
    """The script; the first fault that matches a request is used up first."""

    def __init__(self) -> None:
        self._faults: list[Fault] = []
        self._lock = threading.Lock()

    def add(self, method: str, path_regex: str, status: int, *, headers: dict[str, str] | None = None, body: Any = None, times: int = 1,
            perform_first: bool = False, delay_s: float = 0.0) -> Fault:
        """Answer the next `times` requests whose method (`*` for any) and whole path match with `status`. With `perform_first` what was
        asked is done before. The body is GitHub's own for the status unless given; text is sent as it is, anything else as JSON."""
        told = _body(status, headers or {}) if body is None else body
        fault = Fault(method, re.compile(path_regex), status, headers or {}, told, times, perform_first, delay_s)
        with self._lock:
            self._faults.append(fault)
        return fault

    def rate_limited(self, method: str, path_regex: str, *, retry_after_s: int | None = 1, reset_in_s: int | None = None, times: int = 1) -> Fault:
        """The secondary limit (`retry-after`), or the primary one where `reset_in_s` tells when it is over."""
        if reset_in_s is None:
            return self.add(method, path_regex, 403, headers={} if retry_after_s is None else {"retry-after": str(retry_after_s)}, times=times,
                            body={"message": SECONDARY, "documentation_url": "https://docs.github.com/rest/overview/rate-limits-for-the-rest-api"})
        reset = str(int(time.time()) + reset_in_s)
        return self.add(method, path_regex, 403, headers={"x-ratelimit-remaining": "0", "x-ratelimit-reset": reset}, times=times,
                        body={"message": "API rate limit exceeded for installation.", "documentation_url": "https://docs.github.com/rest"})

    def clear(self) -> None:
        """Forget the script."""
        with self._lock:
            self._faults.clear()

    def take(self, method: str, path: str) -> Fault | None:
        """The fault that a request meets, used up by one."""
        with self._lock:
            for fault in self._faults:
                if fault.left > 0 and fault.method in ("*", method) and fault.path.fullmatch(path):
                    fault.left -= 1
                    return fault
        return None


def _body(status: int, headers: dict[str, str]) -> Any:
    message = SECONDARY if status in (403, 429) and "retry-after" in {name.lower() for name in headers} else MESSAGES.get(status, "Forbidden")
    return {"message": message, "documentation_url": "https://docs.github.com/rest", "status": str(status)}
