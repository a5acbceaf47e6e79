"""Where the output of a failing run begins to tell what is wrong."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from bot.ledger.models import EvidenceRow
from bot.reporting.escape import plain

SHOWN_LINES, LONGEST_LINE = 60, 300
# The first that is found, in this order: pytest's own section, a line that it marks, a traceback, an error at a line's start.
SIGNS = tuple(map(re.compile, (r"^=+ (FAILURES|ERRORS) =+$", r"^E  ", r"^Traceback \(most recent call last\)", r"(?i)^\w*(error|fatal|panic)\b")))
SIDES = ("patched", "reproducer", "base")


@dataclass(frozen=True)
class Excerpt:
    """Lines of one box's output. `number`: of the box, from 1; `more`: lines that follow."""

    number: int
    box: EvidenceRow
    text: str
    more: int


def first_error(boxes: Sequence[EvidenceRow]) -> Excerpt | None:
    """The beginning of the real error in the first box that failed with the change, else in one of another side; None where none failed."""
    failed = [(number, box) for number, box in enumerate(boxes, 1) if box.exit_status not in (0, None) and box.output.strip()]
    for number, box in sorted(failed, key=lambda pair: SIDES.index(pair[1].side) if pair[1].side in SIDES else len(SIDES)):
        lines = plain(box.output, 64_000).rstrip().splitlines()
        start = _start(lines)
        shown = [line[:LONGEST_LINE] for line in lines[start:start + SHOWN_LINES]]
        return Excerpt(number, box, "\n".join(shown), max(0, len(lines) - start - SHOWN_LINES))
    return None


def _start(lines: list[str]) -> int:
    for sign in SIGNS:
        found = next((number for number, line in enumerate(lines) if sign.search(line)), None)
        if found is not None:
            return found
    return max(0, len(lines) - SHOWN_LINES)
