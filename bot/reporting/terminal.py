"""The verdict as a person reads it in a terminal."""

from __future__ import annotations

from importlib import resources
from typing import Any

from jinja2 import Environment

from bot.reporting.escape import plain

SHOWN = 8


def render(verdict: dict[str, Any]) -> str:
    """Text of at most some sixty lines: the answer, both gates, what broke and where, the seconds, what was cached."""
    template = resources.files("bot.reporting").joinpath("templates/verdict.txt").read_text(encoding="utf-8")
    environment = Environment(trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True, autoescape=False)  # plain text, cleaned by `plain`
    environment.filters["plain"] = plain
    environment.filters["indent_lines"] = lambda text, mark: "\n".join(mark + line for line in plain(text).splitlines())
    findings = verdict["findings"]
    order = {"blocker": 0, "warning": 1, "note": 2}
    findings = sorted(findings, key=lambda f: (f["code"] != verdict["reason"] or f["severity"] != "blocker", order[f["severity"]]))
    return environment.from_string(template).render(v=verdict, findings=findings, shown=SHOWN, f2p=verdict["gates"]["fail_to_pass"],
                                                     p2p=verdict["gates"]["pass_to_pass"], t=verdict["timing"])
