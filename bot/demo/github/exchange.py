"""One request and its answer, as the log keeps them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Exchange:
    """A REST request and its answer. `path` has no `/api/v3`; `token` is app, installation, anonymous or refused; `body` and `response` are
    decoded JSON, or None; `faulted` tells that a scripted fault answered."""

    method: str
    path: str
    query: dict[str, str]
    body: Any
    status: int
    response: Any
    token: str = "anonymous"
    permissions: dict[str, str] = field(default_factory=dict)
    repository_ids: frozenset[int] | None = None
    request_headers: dict[str, str] = field(default_factory=dict)
    response_headers: dict[str, str] = field(default_factory=dict)
    faulted: bool = False

    @property
    def is_write(self) -> bool:
        return self.method not in ("GET", "HEAD")

    def __str__(self) -> str:
        return f"{self.method} {self.path} -> {self.status}"
