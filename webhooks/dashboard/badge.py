"""How a run stands, in a word, a sign and a colour's name; the word alone is enough to read it."""

from __future__ import annotations

import time
from dataclasses import dataclass

from bot.ledger.models import Run

SIGNS = {"verified": "\N{CHECK MARK}", "rejected": "\N{MULTIPLICATION X}", "inconclusive": "?", "cancelled": "\N{EN DASH}",
         "running": "\N{BLACK RIGHT-POINTING SMALL TRIANGLE}", "queued": "\N{HORIZONTAL ELLIPSIS}"}


@dataclass(frozen=True)
class Badge:
    """`word` is also the name of its style."""

    word: str
    sign: str


def badge_of(run: Run) -> Badge:
    """The verdict of a finished run, else its state."""
    word = run.verdict if run.state == "finished" and run.verdict in SIGNS else run.state
    return Badge(word if word in SIGNS else "inconclusive", SIGNS.get(word, "?"))


def seconds_of(run: Run) -> float | None:
    """How long it ran, or has run so far; None where it did not begin."""
    if run.started_at is None:
        return None
    return max(0.0, (run.finished_at or time.time()) - run.started_at)


def sentence_of(run: Run) -> str:
    """How it stands, as a sentence without the word of the badge."""
    if run.state == "queued":
        return "Waiting for a worker."
    if run.state == "running":
        return "The tests are running."
    if run.state == "cancelled":
        return _sentence(run.why or "it was stopped before it had a verdict")
    head, _, rest = run.summary.partition(": ")
    text = rest if head == run.verdict and rest else run.summary or run.reason
    return _sentence(text.removeprefix(run.reason.replace("_", " ") + " - "))


def _sentence(text: str) -> str:
    text = text.strip()
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")
