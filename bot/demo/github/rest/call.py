"""One call of the REST API, as the views see it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import urlencode

from flask import Request, Response, json

from bot.demo.github.hub import Hub
from bot.demo.github.records import App, Json
from bot.demo.github.refusals import Refusal, not_accessible
from bot.demo.github.rest.rates import Rates
from bot.demo.github.shapes.site import Site
from bot.demo.github.tokens import Caller, Grant

Item = TypeVar("Item")
MOST_PER_PAGE = 100


@dataclass(frozen=True)
class Call:
    """The hub, who calls, and what is asked."""

    hub: Hub
    caller: Caller
    request: Request
    rates: Rates

    @property
    def site(self) -> Site:
        return self.hub.site

    @property
    def app(self) -> App:
        """The App that calls, by either kind of token. Raises Refusal."""
        if self.caller.app is None:
            raise not_accessible()
        return self.caller.app

    @property
    def grant(self) -> Grant:
        """The caller's installation token. Raises Refusal."""
        if self.caller.grant is None:
            raise not_accessible()
        return self.caller.grant

    def query(self, name: str, default: str = "") -> str:
        """One word of the query."""
        return self.request.args.get(name, default)

    def body(self) -> Json:
        """The JSON object that was sent; none is an empty one. Raises Refusal (400)."""
        if not self.request.get_data():
            return {}
        try:
            sent = json.loads(self.request.get_data())
        except ValueError as error:
            raise Refusal(400, "Problems parsing JSON") from error
        if not isinstance(sent, dict):
            raise Refusal(400, "Body should be a JSON object")
        return sent

    def sent(self) -> Any:
        """The JSON that was sent, of any kind. Raises Refusal (400)."""
        try:
            return json.loads(self.request.get_data() or b"null")
        except ValueError as error:
            raise Refusal(400, "Problems parsing JSON") from error

    def per_page(self) -> int:
        """How many items a page has: 30 unless asked, 100 at most."""
        asked = self.query("per_page", "30")
        return min(int(asked), MOST_PER_PAGE) if asked.isdecimal() and int(asked) > 0 else 30

    def page(self, items: Sequence[Item]) -> tuple[list[Item], dict[str, str]]:
        """(the items of the page that is asked for, the Link header that leads to the others)."""
        size, asked = self.per_page(), self.query("page", "1")
        number = max(1, int(asked)) if asked.isdecimal() else 1
        last = max(1, -(-len(items) // size))
        places = {"prev": number - 1, "next": number + 1, "last": last, "first": 1}
        told = {rel: place for rel, place in places.items() if (number > 1 if rel in ("prev", "first") else number < last) and place >= 1}
        return list(items[(number - 1) * size:number * size]), self.links({rel: {"page": str(place)} for rel, place in told.items()})

    def links(self, changes: dict[str, dict[str, str]]) -> dict[str, str]:
        """A Link header: the address of this call with some words of its query changed, by relation."""
        address = self.site.api + self.request.path
        parts = [f'<{address}?{urlencode({**self.request.args, **words})}>; rel="{rel}"' for rel, words in changes.items()]
        return {"Link": ", ".join(parts)} if parts else {}


def with_headers(body: Any, headers: dict[str, str], status: int = 200) -> Response:
    """JSON with headers of its own."""
    return Response(json.dumps(body), status, {"Content-Type": "application/json; charset=utf-8", **headers})
