"""The templates of everything that is posted. Every value that others wrote passes a filter: cleaned, without secrets, then harmless."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined

from bot.reporting import figures, markdown
from bot.reporting.redact import redact

BREAK = "\x1e"  # between sections of a template; cleaned text has no control characters, so nobody else writes one


@cache
def environment() -> Environment:
    """Jinja with the filters that make text of others harmless: `inline`, `code`, `fence` and `line`."""
    made = Environment(loader=PackageLoader("bot.reporting"), autoescape=False, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined)
    for name, escape in (("inline", markdown.inline), ("code", markdown.code), ("fence", markdown.fence), ("line", markdown.one_line)):
        made.filters[name] = _guarded(escape)
    made.filters.update(seconds=figures.seconds, count=figures.count, cost=figures.cost, in_url=_in_url)
    made.globals["BREAK"] = BREAK
    return made


def _guarded(escape: Callable[..., str]) -> Callable[..., str]:
    """Secrets are looked for after cleaning, since an invisible character may part one, and before escaping, which may too."""
    def guarded(text: object, *more: Any, **named: Any) -> str:
        return escape(redact(markdown.cleaned(text)), *more, **named)
    return guarded


def _in_url(path: object) -> str:
    return quote(str(path), safe="/", errors="replace")


def render(template: str, **values: Any) -> str:
    """One template's text, without blank ends."""
    return environment().get_template(template).render(**values).strip()


def sections(template: str, **values: Any) -> list[str]:
    """One template's sections, without empty ones."""
    return [part.strip() for part in render(template, **values).split(BREAK) if part.strip()]


def report(template: str, limit: int, link: str, **values: Any) -> str:
    """A template's sections as one text within `limit` bytes; where it is cut it says so and links on. No secret is left in it."""
    return redact(markdown.cut(sections(template, link=link, **values), limit, render("cut.md", link=link)))
