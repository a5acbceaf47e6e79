"""Tokens of one repository and one role, asked of the keeper and kept until shortly before they end."""

from __future__ import annotations

import threading
import time
from pathlib import Path

from bot.github.api import Token
from bot.github.app_requests import RepositoryToken
from bot.github.keeper import ask_keeper, ask_slug

MARGIN_S = 300.0


class Tokens:
    """Safe from several threads."""

    def __init__(self, keeper: Path) -> None:
        self._keeper = keeper
        self._kept: dict[tuple[int, int, str], RepositoryToken] = {}
        self._slug = ""
        self._lock = threading.Lock()

    def slug(self) -> str:
        """The App's slug."""
        with self._lock:
            if not self._slug:
                self._slug = ask_slug(self._keeper)
            return self._slug

    def of(self, installation_id: int, repository_id: int, role: str) -> Token:
        """What gives a valid token at any time; `True` asks for a new one because GitHub refused the last."""
        key = (installation_id, repository_id, role)

        def give(fresh: bool) -> str:
            with self._lock:
                kept = self._kept.get(key)
                if fresh or kept is None or kept.expires_at - MARGIN_S < time.time():
                    kept = self._kept[key] = ask_keeper(self._keeper, *key)
                return kept.token

        return give
