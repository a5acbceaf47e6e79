"""Installations that a registry's bad moment interrupts."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox import environment
from sandbox.errors import EnvironmentFailed, HostUnreachable


def attempts(*ends: Any) -> Any:
    left = list(ends)

    def attempt() -> Any:
        end = left.pop(0)
        if isinstance(end, Exception):
            raise end
        return end

    return attempt


def test_a_registry_that_is_away_for_a_moment_costs_a_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "PAUSE_S", 0.0)
    said: list[str] = []
    assert environment._twice(attempts(HostUnreachable("x can't be reached"), "made"), said.append) == "made"  # type: ignore[comparison-overlap]
    assert "x can't be reached" in said[0]
    with pytest.raises(HostUnreachable):
        environment._twice(attempts(HostUnreachable("x"), HostUnreachable("x")), said.append)
    with pytest.raises(EnvironmentFailed):
        environment._twice(attempts(EnvironmentFailed("no"), "made"), said.append)
