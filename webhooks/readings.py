"""Questions that the pages and the metrics ask the ledger, over connections that can't write."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import create_engine, event, func, select
from sqlalchemy.orm import Session

from bot.ledger.models import Delivery, EvidenceRow, Run, VerdictDocument

SLOWEST_S = 5  # a page would rather fail than wait


class Readings:
    """Read-only, and without the write lock that the ledger's own sessions take on SQLite."""

    def __init__(self, url: str) -> None:
        if url.startswith("sqlite"):
            self._engine = create_engine(url, connect_args={"timeout": SLOWEST_S})
            event.listen(self._engine, "connect", _read_only)
        else:
            self._engine = create_engine(url, pool_pre_ping=True, pool_timeout=SLOWEST_S, connect_args={"connect_timeout": SLOWEST_S},
                                         execution_options={"postgresql_readonly": True})

    @contextmanager
    def _session(self) -> Iterator[Session]:
        with Session(self._engine, expire_on_commit=False) as session:
            yield session

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    def answer(self) -> None:
        """Raises SQLAlchemyError when the database can't be asked."""
        with self._session() as session:
            session.execute(select(1))

    def run(self, run_id: str) -> Run | None:
        """A run by its id."""
        with self._session() as session:
            return session.get(Run, run_id)

    def runs(self, limit: int, offset: int = 0, **equal: Any) -> list[Run]:
        """Runs whose columns equal what is given, newest first."""
        with self._session() as session:
            query = select(Run).filter_by(**equal).order_by(Run.created_at.desc(), Run.id.desc())
            return list(session.scalars(query.limit(limit).offset(offset)))

    def repositories(self, limit: int = 200) -> list[str]:
        """Names of the repositories that have runs."""
        with self._session() as session:
            return list(session.scalars(select(Run.repository).distinct().order_by(Run.repository).limit(limit)))

    def document(self, run_id: str) -> tuple[str, str] | None:
        """(verdict as JSON text, diff) of a run that has them."""
        with self._session() as session:
            row = session.get(VerdictDocument, run_id)
            return None if row is None else (row.document, row.diff)

    def boxes(self, run_id: str) -> list[EvidenceRow]:
        """The boxes of a run, in order."""
        with self._session() as session:
            return list(session.scalars(select(EvidenceRow).where(EvidenceRow.run_id == run_id).order_by(EvidenceRow.id)))

    def run_counts(self) -> dict[tuple[str, str], int]:
        """(state, verdict) -> how many runs."""
        with self._session() as session:
            rows = session.execute(select(Run.state, Run.verdict, func.count()).group_by(Run.state, Run.verdict))
            return {(state, verdict): count for state, verdict, count in rows}

    def waiting_deliveries(self) -> tuple[int, float]:
        """(how many are not done, seconds since the oldest of them came)."""
        with self._session() as session:
            count, oldest = session.execute(select(func.count(), func.min(Delivery.received_at)).where(Delivery.state.in_(("waiting", "held")))).one()
            return int(count), max(0.0, time.time() - oldest) if oldest is not None else 0.0


def _read_only(connection: Any, _: Any) -> None:
    connection.execute("PRAGMA query_only=ON")
