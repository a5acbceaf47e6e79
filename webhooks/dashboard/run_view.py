"""One run as its page shows it, of a bounded size whatever the verdict's is."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from bot.ledger.models import EvidenceRow, Run
from bot.reporting import facts
from webhooks.dashboard.diff_view import DiffView, view
from webhooks.dashboard.first_error import Excerpt, first_error
from webhooks.readings import Readings

SHOWN_FAILURES, SHOWN_FINDINGS, SHOWN_TESTS, SHOWN_BOXES, SHOWN_SIBLINGS, SHOWN_NAMES = 10, 12, 50, 60, 20, 20
IN_CHANGE = re.compile(r"inside the change: (\S.{0,300}?):(\d{1,9}) in ")
PHASES = (("environment_s", "environment"), ("base_s", "base"), ("patched_s", "patched"), ("reproducer_s", "reproducer"))
CATEGORIES = {"F2P": "failed, passes now", "P2P": "passed, still passes", "P2F": "passed, fails now", "F2F": "failed, still fails",
              "NEW": "new with the change", "GONE": "gone with the change", "FLAKY": "not the same on every run"}
INTERESTING = ("P2F", "GONE", "FLAKY", "F2P", "F2F", "NEW")


@dataclass(frozen=True)
class Bar:
    """A phase of the time; `share` is its percentage of the longest."""

    name: str
    seconds: float
    share: float


@dataclass(frozen=True)
class Links:
    """Pages of GitHub, by the server of the settings."""

    repository: str
    head_sha: str

    @classmethod
    def of(cls, run: Run, server_url: str) -> Links:
        """Those of a run."""
        return cls(f"{server_url}/{quote(run.repository)}", quote(run.head_sha))

    def pull(self, number: int) -> str:
        """A pull request."""
        return f"{self.repository}/pull/{number}"

    def commit(self, sha: str) -> str:
        """A commit."""
        return f"{self.repository}/commit/{quote(sha)}"

    def line(self, path: str, line: int | None) -> str:
        """A line of a file at the head."""
        return f"{self.repository}/blob/{self.head_sha}/{quote(path)}" + (f"#L{line}" if line else "")


@dataclass(frozen=True)
class RunView:
    """What run.html is filled with. Everything that is missing in the ledger is empty or None."""

    run: Run
    links: Links
    siblings: Sequence[Run]
    boxes: Sequence[EvidenceRow] = ()
    verdict: dict[str, Any] | None = None
    failures: Sequence[facts.Failure] = ()
    findings: Sequence[dict[str, Any]] = ()
    excerpt: Excerpt | None = None
    tests: Sequence[dict[str, Any]] = ()
    categories: Sequence[tuple[str, str, int]] = ()
    bars: Sequence[Bar] = ()
    diff: DiffView = field(default_factory=lambda: DiffView((), False))
    base_cached: bool = False


def read_view(readings: Readings, run: Run, server_url: str) -> RunView:
    """The view of a run that has ended, or of its head alone while it has not."""
    siblings = [one for one in readings.runs(SHOWN_SIBLINGS + 1, subject=run.subject) if one.id != run.id][:SHOWN_SIBLINGS]
    links = Links.of(run, server_url)
    kept = readings.document(run.id)
    if kept is None:
        return RunView(run, links, siblings)
    document, diff = kept
    verdict: dict[str, Any] = json.loads(document)
    boxes = readings.boxes(run.id)
    rows = verdict["tests"]
    return RunView(
        run=run, links=links, siblings=siblings, boxes=boxes, verdict=verdict, failures=facts.failures(verdict), findings=facts.told_findings(verdict),
        excerpt=first_error(boxes) if run.verdict != "verified" else None, tests=interesting(rows), categories=_categories(rows), bars=_bars(verdict["timing"]),
        diff=view(diff, marks_of(verdict)), base_cached=facts.base_cached(verdict))


def interesting(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows of every category but the one in which nothing happened; what broke first."""
    order = {name: number for number, name in enumerate(INTERESTING)}
    return sorted((row for row in rows if row["category"] in order), key=lambda row: order[row["category"]])


def marks_of(verdict: dict[str, Any]) -> dict[str, dict[int, str]]:
    """path -> line -> which test goes wrong there: innermost frames, and frames inside the change."""
    marks: dict[str, dict[int, str]] = {}
    for finding in facts.diagnoses(verdict):
        places = [facts.place(path) for path in finding["paths"]]
        places += [(match[1], int(match[2])) for match in IN_CHANGE.finditer(finding["detail"])]
        words = finding["detail"].partition("\n")[0][:200] or finding["code"]
        for known in places:
            if known is not None and known[1] is not None:
                marks.setdefault(known[0], {}).setdefault(known[1], words)
    return marks


def _categories(rows: Sequence[dict[str, Any]]) -> list[tuple[str, str, int]]:
    counts = Counter(row["category"] for row in rows)
    return [(name, meaning, counts[name]) for name, meaning in CATEGORIES.items() if counts[name]]


def _bars(timing: dict[str, float]) -> list[Bar]:
    longest = max([float(timing[key]) for key, _ in PHASES] + [0.001])
    return [Bar(name, float(timing[key]), round(100 * float(timing[key]) / longest, 1)) for key, name in PHASES]
