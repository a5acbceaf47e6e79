"""What is remembered of a pull request beside its runs: its label, our comment, whom we refused; and of installations."""

from __future__ import annotations

import time

from sqlalchemy import delete, insert, select
from sqlalchemy.exc import IntegrityError

from bot.ledger.database import Database
from bot.ledger.models import Cost, EvidenceRow, Installation, Refusal, Run, Subject, VerdictDocument


class Subjects:
    """Rows beside the runs."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def see(self, subject: str, repository_id: int, number: int, head_sha: str, base_ref: str, is_open: bool) -> None:
        """Remember a pull request as it is."""
        with self._database.session() as session:
            session.merge(Subject(id=subject, repository_id=repository_id, number=number, head_sha=head_sha, base_ref=base_ref, is_open=is_open))

    def see_closed(self, subject: str) -> None:
        """Remember that it is closed."""
        with self._database.session() as session:
            session.merge(Subject(id=subject, is_open=False))

    def open_with_head(self, repository_id: int, head_sha: str) -> list[tuple[int, str]]:
        """(number, base) of open pull requests that were seen with this head."""
        with self._database.session() as session:
            rows = select(Subject.number, Subject.base_ref).where(
                Subject.repository_id == repository_id, Subject.head_sha == head_sha, Subject.is_open.is_(True))
            return [(number, base) for number, base in session.execute(rows)]

    def set_labelled(self, subject: str, labelled: bool) -> None:
        """Remember that someone with write asked for verifications by the label."""
        with self._database.session() as session:
            session.merge(Subject(id=subject, labelled=labelled))

    def is_labelled(self, subject: str) -> bool:
        """Whether someone with write did."""
        with self._database.session() as session:
            row = session.get(Subject, subject)
            return row is not None and row.labelled

    def comment(self, subject: str) -> int | None:
        """The id of our verdict comment."""
        with self._database.session() as session:
            row = session.get(Subject, subject)
            return row.comment_id if row else None

    def commented_run(self, subject: str) -> str:
        """The run that our comment is of, or nothing."""
        with self._database.session() as session:
            row = session.get(Subject, subject)
            return row.commented_run if row else ""

    def set_comment(self, subject: str, comment_id: int, run_id: str) -> None:
        """Remember our verdict comment."""
        with self._database.session() as session:
            session.merge(Subject(id=subject, comment_id=comment_id, commented_run=run_id))

    def may_refuse(self, repository_id: int, number: int, user_id: int) -> bool:
        """Whether this person was not refused in this thread before; from now on they were."""
        try:
            with self._database.session() as session:
                session.execute(insert(Refusal).values(repository_id=repository_id, number=number, user_id=user_id, at=time.time()))
        except IntegrityError:
            return False
        return True

    def set_installation(self, installation_id: int, account: str, state: str) -> None:
        """Remember what became of an installation."""
        with self._database.session() as session:
            session.merge(Installation(id=installation_id, account=account, state=state))

    def installation_state(self, installation_id: int) -> str:
        """active | suspended | deleted; one never heard of is active."""
        with self._database.session() as session:
            row = session.get(Installation, installation_id)
            return row.state if row else "active"

    def purge(self, installation_id: int) -> tuple[list[str], set[int]]:
        """Drop everything that is known of an installation's repositories; ids of the runs and repositories that were, for their files."""
        with self._database.session() as session:
            runs = list(session.execute(select(Run.id, Run.subject, Run.repository_id).where(Run.installation_id == installation_id)))
            ids, subjects, repositories = [row[0] for row in runs], {row[1] for row in runs}, {row[2] for row in runs}
            for table in (VerdictDocument, EvidenceRow, Cost):
                session.execute(delete(table).where(table.run_id.in_(ids)))
            session.execute(delete(Run).where(Run.id.in_(ids)))
            session.execute(delete(Subject).where(Subject.id.in_(subjects)))
            session.execute(delete(Refusal).where(Refusal.repository_id.in_(repositories)))
            return ids, repositories

    def rename(self, repository_id: int, full_name: str) -> None:
        """A repository has another name."""
        with self._database.session() as session:
            for run in session.scalars(select(Run).where(Run.repository_id == repository_id)):
                run.repository = full_name
