"""The one comment of ours on a pull request: posted with the first verdict, edited in place with every later one. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from bot.reporting.check_run import Links, values
from bot.reporting.facts import only_prose
from bot.reporting.texts import render, report

MARKER = "<!-- dualgate:verdict -->"
LIMIT = 65_536  # GitHub answers 422 above it
LISTED = 40  # names in a collapsed list
TOLD = re.compile(re.escape(MARKER) + r"<!-- run=(?P<run>[\w.-]+) verdict=(?P<verdict>\w+) reason=(?P<reason>\w+) head=(?P<sha>[0-9a-f]{7,64}) -->")


@dataclass(frozen=True)
class Previous:
    """What the comment said before it was edited."""

    run: str
    verdict: str
    reason: str
    sha: str


def is_ours(body: str) -> bool:
    """Whether a comment's body is one of our verdicts: the marker is the very first thing in it. Its author is for the caller to check."""
    return body.startswith(MARKER)


def previous(body: str) -> Previous | None:
    """What a comment of ours says; None for any other body, or one whose first line was edited."""
    match = TOLD.match(body)
    return Previous(**match.groupdict()) if match else None


def comment_body(verdict: dict[str, Any], links: Links, previous: Previous | None = None) -> str:
    """The whole comment, at most 65,536 bytes: the answer, what broke and where, what to do, both gates, cost, seconds, how to ask again.

    `previous`: what it said before; told where the answer is another one.
    """
    changed = previous if previous and (previous.verdict, previous.reason) != (verdict["verdict"], verdict["reason"]) else None
    first = render("marker.md", marker=MARKER, v=verdict, sha=links.head_sha)
    return report("comment.md", LIMIT, links.run_url, marker=first, previous=changed, listed=LISTED, **values(verdict, links))


def should_comment(policy_comment: str, verdict: dict[str, Any], has_comment: bool) -> bool:
    """Whether to post or edit the comment. always: yes; never: no; failures: where the answer is not a good one, or a comment of ours has to say
    that it is now.
    """
    if policy_comment == "failures":
        return has_comment or not (verdict["verdict"] == "verified" or only_prose(verdict))
    return policy_comment != "never"
