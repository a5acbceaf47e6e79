"""What every value of a page passes on its way out: nothing invisible, nothing that turns the direction, no secret."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Any

from flask import Flask
from markupsafe import Markup

from bot.reporting import figures
from bot.reporting.escape import plain
from bot.reporting.redact import redact

LONGEST = 200_000  # characters of one value
SHORTEST_SECRET = 12


def tidy(value: Any) -> Any:
    """Text of others, made fit for a page; jinja escapes it afterwards. Anything but text, and our own markup, stays as it is."""
    if type(value) is not str:
        return value
    text = value if value.isascii() and value.isprintable() else plain(value, LONGEST)
    return redact(text) if len(text) >= SHORTEST_SECRET else text


def install(app: Flask) -> None:
    """Have each `{{ }}` of each template tidied, so that none can be forgotten, and the filters that the templates use."""
    app.jinja_env.finalize = tidy
    app.jinja_env.filters.update(seconds=figures.seconds, count=figures.count, cost=figures.cost, ago=ago, moment=moment, words=words, short=short)


def words(code: object) -> str:
    """`pass_to_pass` as people write it."""
    return str(code).replace("_", " ")


def short(text: object, limit: int = 80) -> str:
    """The beginning of it, and a sign that there is more."""
    one = " ".join(str(text).split())
    return one if len(one) <= limit else one[: limit - 1] + "\N{HORIZONTAL ELLIPSIS}"


def ago(at: float | None) -> str:
    """`just now`, `5 min ago`, `3 h ago`, `2 d ago`."""
    if at is None:
        return ""
    past = max(0.0, time.time() - at)
    for size, name in ((86_400, "d"), (3600, "h"), (60, "min")):
        if past >= size:
            return f"{int(past // size)} {name} ago"
    return "just now"


def moment(at: float | None) -> Markup:
    """A time element with the exact moment behind what `ago` says."""
    if at is None:
        return Markup("")
    exact = datetime.fromtimestamp(at, UTC)
    return Markup('<time datetime="{}" title="{}">{}</time>').format(exact.isoformat(timespec="seconds"), exact.strftime("%Y-%m-%d %H:%M:%S UTC"), ago(at))
