"""The first page: which runs it shows, by the address's query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bot.ledger.models import Run
from webhooks.readings import Readings

PAGE = 30
LAST_PAGE = 1000
VERDICTS = ("verified", "rejected", "inconclusive")
STATES = ("queued", "running", "cancelled")


@dataclass(frozen=True)
class Listing:
    """One page of runs. `older` and `newer` are pages to go to, or None; `outcome` is a verdict or a state."""

    runs: tuple[Run, ...]
    repositories: tuple[str, ...]
    repository: str
    outcome: str
    page: int
    older: int | None
    newer: int | None
    alive: int
    total: int

    @property
    def is_filtered(self) -> bool:
        """Whether other runs may be hidden."""
        return bool(self.repository or self.outcome or self.page > 1)


def read_listing(readings: Readings, query: Mapping[str, str]) -> Listing:
    """The page that a query asks for; what it says wrongly is left out."""
    repository, outcome = query.get("repository", "")[:300].replace("\0", ""), query.get("verdict", "")
    wanted: dict[str, Any] = {"repository": repository} if repository else {}
    if outcome in VERDICTS:
        wanted.update(state="finished", verdict=outcome)
    elif outcome in STATES:
        wanted.update(state=outcome)
    else:
        outcome = ""
    page = _page(query.get("page", ""))
    runs = readings.runs(PAGE + 1, (page - 1) * PAGE, **wanted)
    counts = readings.run_counts()
    return Listing(
        runs=tuple(runs[:PAGE]), repositories=tuple(readings.repositories()), repository=repository, outcome=outcome, page=page,
        older=page + 1 if len(runs) > PAGE and page < LAST_PAGE else None, newer=page - 1 if page > 1 else None,
        alive=sum(count for (state, _), count in counts.items() if state in ("queued", "running")), total=sum(counts.values()))


def _page(text: str) -> int:
    return min(max(int(text), 1), LAST_PAGE) if text.isascii() and text.isdigit() and len(text) < 6 else 1
