"""The list of requests in docs/app.md."""

from __future__ import annotations

import re
from pathlib import Path

from bot.demo.github.exchange import Exchange

PAGE = Path(__file__).parents[3] / "docs" / "app.md"
LIST = re.findall(r"^\| `(GET|POST|PATCH) (/[^`]+)` \| (\w+) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)


def pattern(path: str) -> re.Pattern[str]:
    return re.compile("".join("[^/]+" if part.startswith("{") and part != "{path}" else ".+" if part == "{path}" else re.escape(part)
                              for part in re.split(r"(\{[^}]+\})", path)))


def documented(exchange: Exchange) -> bool:
    """Whether the list in docs/app.md has this request."""
    return any(method == exchange.method and pattern(path).fullmatch(exchange.path) for method, path, _ in LIST)
