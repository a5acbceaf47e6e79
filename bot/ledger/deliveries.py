"""Deliveries: claimed, then done. Seen is not done: a claim whose holder died can be taken again."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import Any

from sqlalchemy import delete, func, insert, or_, select, update

from bot.ledger.database import Database
from bot.ledger.models import Delivery
from bot.ledger.storable import storable

MOST_TRIES = 6
KEPT_S = 30 * 86_400
PATIENCE_S = 86_400


@dataclass(frozen=True)
class Held:
    """A delivery that is ours for a while."""

    guid: str
    event: str
    payload: dict[str, Any]
    tries: int


class Deliveries:
    """The delivery table."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._new = database.compiled(insert(Delivery.__table__))  # type: ignore[arg-type]

    def record(self, guid: str, event: str, action: str, payload: str) -> bool:
        """Keep a new delivery; False if it is done or in somebody's hands already, and needs nothing."""
        row = {"guid": guid, "event": event, "action": action, "received_at": time.time(), "payload": payload, "state": "waiting", "holder": "",
               "held_until": 0.0, "tries": 0, "outcome": ""}
        if self._database.insert(self._new, row):
            return True
        with self._database.session() as session:
            known = session.get(Delivery, guid)
            return known is not None and known.state != "done" and known.held_until < time.time()

    def hold(self, guid: str, holder: str, seconds: float) -> Held | None:
        """Take a delivery that is not done and that nobody living holds."""
        now = time.time()
        free = or_(Delivery.state == "waiting", Delivery.held_until < now)
        with self._database.session() as session:
            taken = session.execute(
                update(Delivery).where(Delivery.guid == guid, Delivery.state != "done", free)
                .values(state="held", holder=holder, held_until=now + seconds, tries=Delivery.tries + 1).returning(Delivery))
            row = taken.scalar_one_or_none()
            return None if row is None else Held(row.guid, row.event, json.loads(row.payload or "{}"), row.tries)

    def done(self, guid: str, outcome: str) -> None:
        """Nothing is left to do for it; its payload is dropped."""
        with self._database.session() as session:
            session.execute(update(Delivery).where(Delivery.guid == guid).values(state="done", outcome=storable(outcome[:2000]), payload=None, held_until=0.0))

    def put_back(self, guid: str, outcome: str, after_s: float, counts: bool = True) -> None:
        """Try again after some seconds, or give up after MOST_TRIES, or after PATIENCE_S where a try does not count (GitHub was away)."""
        with self._database.session() as session:
            row = session.get(Delivery, guid)
            if row is None:
                return
            row.outcome = storable(outcome[:2000])
            if not counts:
                row.tries -= 1
            if row.tries >= MOST_TRIES or row.received_at < time.time() - PATIENCE_S:
                row.state, row.payload = "done", None
            else:
                row.state, row.held_until = "held", time.time() + after_s

    def overdue(self, older_than_s: float) -> list[str]:
        """Deliveries that nobody holds and that have waited for this long, oldest first."""
        now = time.time()
        with self._database.session() as session:
            waiting = (Delivery.state == "waiting") & (Delivery.received_at < now - older_than_s)
            lost = (Delivery.state == "held") & (Delivery.held_until < now)
            return list(session.scalars(select(Delivery.guid).where(or_(waiting, lost)).order_by(Delivery.received_at).limit(500)))

    def known(self, guids: list[str]) -> set[str]:
        """Those of them that were received."""
        found: set[str] = set()
        with self._database.session() as session:
            for start in range(0, len(guids), 500):
                found.update(session.scalars(select(Delivery.guid).where(Delivery.guid.in_(guids[start:start + 500]))))
        return found

    def oldest(self) -> float | None:
        """When the first delivery came that is still remembered."""
        with self._database.session() as session:
            return session.scalar(select(func.min(Delivery.received_at)))

    def forget_old(self) -> None:
        """Drop what was done a month ago; GitHub redelivers for three days."""
        with self._database.session() as session:
            session.execute(delete(Delivery).where(Delivery.state == "done", Delivery.received_at < time.time() - KEPT_S))
