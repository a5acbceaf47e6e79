"""Short replies to people: why a command or a label did nothing. Each kind bears a marker, so that it is given once and found again. Pure."""

from __future__ import annotations

import re
from enum import StrEnum

from bot.commands import VERBS
from bot.reporting.redact import redact
from bot.reporting.texts import render

COMMANDS = VERBS
KIND = re.compile(r"<!-- dualgate:reply kind=(?P<kind>[a-z-]+)(?: person=(?P<person>\d{1,20}))? -->")


class Reply(StrEnum):
    """What a reply of ours is about."""

    REFUSED = "refused"
    SHA_NEEDED = "sha-needed"
    HEAD_MOVED = "head-moved"
    LABEL_IGNORED = "label-ignored"
    UNKNOWN_COMMAND = "unknown-command"
    NOTHING_TO_CANCEL = "nothing-to-cancel"
    MINUTES_SPENT = "minutes-spent"


def reply_kind(body: str) -> tuple[Reply, int | None] | None:
    """(kind, the person's numeric id) of a reply of ours, by its very first characters; None for any other body. The author is for the caller to check."""
    match = KIND.match(body)
    if match is None or match["kind"] not in {kind.value for kind in Reply}:
        return None
    return Reply(match["kind"]), int(match["person"]) if match["person"] else None


def refused(login: str, person: int, command: str) -> str:
    """To someone without write access, once a person (their numeric id) and thread. `command`: what they wrote, or the label."""
    return _reply(Reply.REFUSED, person, login=login, command=command)


def sha_needed(head_sha: str, person: int | None = None) -> str:
    """To a command on a fork's pull request that names no commit."""
    return _reply(Reply.SHA_NEEDED, person, head_sha=head_sha)


def head_moved(named_sha: str, head_sha: str, person: int | None = None) -> str:
    """To a command or label for a commit that is no longer the head."""
    return _reply(Reply.HEAD_MOVED, person, named_sha=named_sha, head_sha=head_sha)


def label_ignored(label: str, why: str, person: int | None = None) -> str:
    """To a label that did nothing. `why` is a sentence."""
    return _reply(Reply.LABEL_IGNORED, person, label=label, why=why)


def unknown_command(word: str, person: int | None = None) -> str:
    """To a command that there is not; lists those that there are."""
    return _reply(Reply.UNKNOWN_COMMAND, person, word=word)


def nothing_to_cancel(person: int | None = None) -> str:
    """To `cancel` where nothing runs or waits."""
    return _reply(Reply.NOTHING_TO_CANCEL, person)


def minutes_spent(spent: int, limit: int, resets: str, person: int | None = None) -> str:
    """To a request when the repository's minutes of the day are spent. `resets`: when there are new ones, such as `00:00 UTC`."""
    return _reply(Reply.MINUTES_SPENT, person, spent=spent, limit=limit, resets=resets)


def _reply(kind: Reply, person: int | None, **values: object) -> str:
    first = f"<!-- dualgate:reply kind={kind.value}{f' person={person}' if person is not None else ''} -->"
    return f"{first}\n{redact(render(f'reply_{kind.value}.md'.replace('-', '_'), commands=COMMANDS, **values))}"
