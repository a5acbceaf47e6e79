"""Our comments: one that is edited in place, and short replies."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any

from bot.github.api import Api
from bot.github.errors import NotThere, Refused
from bot.reporting.redact import redact


class Comments:
    """The comments of this App in one repository's threads."""

    def __init__(self, api: Api, app_id: int, slug: Callable[[], str]) -> None:
        self._api, self._app_id, self._slug = api, app_id, slug

    def keep(self, number: int, known: int | None, body: str, is_ours: Callable[[str], bool]) -> int:
        """Edit the comment that is known, or that is found by its marker; else write it. Its id."""
        text = redact(body)
        there = [known] if known is not None else self._ours(number, is_ours)
        for comment_id in there[:1]:
            try:
                self._api.patch(f"/issues/comments/{comment_id}", {"body": text}, partial(self._says, comment_id, text))
                return comment_id
            except (NotThere, Refused):
                there = self._ours(number, is_ours)  # somebody deleted it, or locked the thread: then writing says so
        return self._write(number, text, is_ours, there)

    def reply(self, number: int, body: str, is_ours: Callable[[str], bool]) -> int:
        """Write a short reply, once even where GitHub's answer is lost."""
        return self._write(number, redact(body), is_ours, self._ours(number, is_ours))

    def _says(self, comment_id: int, body: str) -> Any | None:
        there = self._api.get(f"/issues/comments/{comment_id}")
        return there if (there.get("body") or "").replace("\r\n", "\n") == body else None

    def _write(self, number: int, body: str, is_ours: Callable[[str], bool], before: Collection[int]) -> int:
        def made() -> dict[str, Any] | None:
            new = [one for one in self._ours(number, is_ours) if one not in before]
            return {"id": new[0]} if new else None

        return int(self._api.post(f"/issues/{number}/comments", {"body": body}, made)["id"])

    def _ours(self, number: int, is_ours: Callable[[str], bool]) -> list[int]:
        """Ids of comments that this App wrote and that bear the marker: a marker alone could be anybody's."""
        rows = self._api.pages(f"/issues/{number}/comments")
        return [int(row["id"]) for row in rows if is_ours(row.get("body") or "") and self._by_us(row)]

    def _by_us(self, row: Mapping[str, Any]) -> bool:
        app = row.get("performed_via_github_app")
        if app:
            return bool(app["id"] == self._app_id)
        author = row.get("user") or {}
        return author.get("type") == "Bot" and author.get("login") == f"{self._slug()}[bot]"
