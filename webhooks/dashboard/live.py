"""A run while it is queued or running: its phases, as the worker writes them into the ledger."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass
from typing import Any

from bot.ledger.models import Run
from webhooks.dashboard.badge import badge_of, seconds_of
from webhooks.dashboard.tidy import tidy

ALIVE = ("queued", "running")
MOST_PHASES = 12
PHASES = ("environment", "base suite", "patched suite", "reproducer")
STATES = ("waiting", "running", "done", "cached", "failed", "left out")
SIGNS = {"waiting": "\N{WHITE CIRCLE}", "running": "\N{BLACK RIGHT-POINTING SMALL TRIANGLE}", "done": "\N{CHECK MARK}", "cached": "\N{CHECK MARK}",
         "failed": "\N{MULTIPLICATION X}", "left out": "\N{EN DASH}"}


@dataclass(frozen=True)
class Phase:
    """One step of a verification. `state` is one of STATES; `seconds` is None where it did not begin."""

    name: str
    state: str
    sign: str
    detail: str
    seconds: float | None


def phases_of(run: Run) -> tuple[Phase, ...]:
    """Its phases, or those that every run has where the worker has not said any yet."""
    try:
        rows = json.loads(run.progress or "[]")
    except ValueError:
        rows = []
    found = [_phase(row) for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    return tuple(found[:MOST_PHASES]) or tuple(Phase(name, "waiting", SIGNS["waiting"], "", None) for name in PHASES)


def is_alive(run: Run) -> bool:
    """Whether it has no end yet."""
    return run.state in ALIVE


def live_json(run: Run) -> dict[str, Any]:
    """What the page asks for every two seconds."""
    waited = None if run.started_at else time.time() - run.created_at
    phases = [{key: tidy(value) for key, value in asdict(phase).items()} for phase in phases_of(run)]
    return {"state": run.state, "word": badge_of(run).word, "ended": not is_alive(run), "seconds": seconds_of(run), "waited": waited, "phases": phases}


def _phase(row: dict[str, Any]) -> Phase:
    state, seconds = str(row.get("state", "")), row.get("seconds")
    state = state if state in STATES else "waiting"
    number = float(seconds) if isinstance(seconds, int | float) and not isinstance(seconds, bool) else None
    return Phase(str(row.get("name") or row.get("phase") or "")[:60], state, SIGNS[state], str(row.get("counts") or row.get("detail") or "")[:300], number)
