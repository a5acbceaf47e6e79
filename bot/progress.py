"""What a verification says of itself while it runs -> the phases that people see."""

from __future__ import annotations

import re
import threading
import time
from dataclasses import dataclass, field

from bot.reporting.check_progress import Step

PHASES = ("environment", "base suite", "patched suite", "reproducer")
ENDED = re.compile(r"^(cached$|done\b|\d+ pass, )")


@dataclass
class Progress:
    """Safe from several threads: suites run beside each other."""

    _begun: dict[str, float] = field(default_factory=dict)
    _ended: dict[str, float] = field(default_factory=dict)
    _counts: dict[str, str] = field(default_factory=dict)
    _known: set[str] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def hear(self, text: str) -> bool:
        """Take in one line (`phase` or `phase: detail`); whether a phase began or ended by it."""
        head, _, detail = text.partition(": ")
        phase = next((name for name in PHASES if head.startswith(name)), None)
        with self._lock:
            now = time.monotonic()
            before = (len(self._begun), len(self._ended))
            if phase is None:
                self._counts[self._latest()] = text
                return False
            if phase != "environment":
                self._begun.setdefault("environment", now)
                self._ended.setdefault("environment", now)
            self._begun.setdefault(phase, now)
            if detail:
                self._counts[phase] = detail
            if ENDED.match(detail):
                self._ended[phase] = now
                if detail == "cached":
                    self._known.add(phase)
            return before != (len(self._begun), len(self._ended))

    def steps(self) -> list[Step]:
        """The phases as they are now."""
        with self._lock:
            return [Step(name, self._state(name), self._seconds(name), self._counts.get(name, "")) for name in PHASES]

    def _latest(self) -> str:
        return max(self._begun, key=lambda name: self._begun[name], default=PHASES[0])

    def _state(self, name: str) -> str:
        if name in self._known:
            return "cached"
        return "done" if name in self._ended else "running" if name in self._begun else "waiting"

    def _seconds(self, name: str) -> float | None:
        if name in self._known or name not in self._begun:
            return None
        return self._ended.get(name, time.monotonic()) - self._begun[name]
