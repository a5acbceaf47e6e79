"""Runs: one living a subject, latest wins; held by leases, so that a dead worker's run is picked up again."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from bot.ledger.database import Database
from bot.ledger.models import Cost, EvidenceRow, Run, Subject, VerdictDocument
from bot.ledger.storable import storable

LEASE_S = 45.0
MOST_TRIES = 3
TOLD_FOR_S = 3 * 86_400  # what GitHub does not take for so long is not told any more
ALIVE = ("queued", "running")


@dataclass(frozen=True)
class NewRun:
    """What is known of a run when it is asked for. `cause`: agent | label | command | rerun | policy | merge_group | retarget."""

    subject: str
    installation_id: int
    repository_id: int
    repository: str
    pull_number: int | None
    title: str
    author: str
    head_sha: str
    head_ref: str
    base_ref: str
    base_sha: str
    from_fork: bool
    cause: str
    actor: str = ""
    hint: str = ""
    policy: str = "{}"
    delivery: str = ""


@dataclass(frozen=True)
class Ended:
    """How a run ends that is never made: `reason` (configuration, budget_exhausted, out_of_scope, head_moved), in words, with a conclusion."""

    reason: str
    words: str
    conclusion: str


TOLD = "told"  # the cause of a run that only tells GitHub why nothing is run


def subject_of_pull(repository_id: int, number: int) -> str:
    """The key of a pull request's runs."""
    return f"{repository_id}/pull/{number}"


def subject_of_group(repository_id: int, head_ref: str) -> str:
    """The key of a merge group's runs."""
    return f"{repository_id}/group/{head_ref}"[:300]


class Runs:
    """The run table and what hangs on it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def create(self, new: NewRun, again: bool = False, ended: Ended | None = None) -> tuple[Run | None, list[Run]]:
        """(the run, runs that it supersedes). `again`: though a finished one of the same head and base is what the commit's check shows.

        No new run where one of the same head and base lives, or where this delivery has made one. A check belongs to a commit: what was finished
        before another pull request of the same commit, or another base, was run does not count. `ended`: it is over as soon as it is there.
        """
        now = time.time()
        with self._database.session() as session:
            _lock(session, new.subject)
            superseded = [] if new.cause == TOLD else _cancel(session, new, "a newer run took its place", now)
            of_delivery = select(func.count()).select_from(Run).where(Run.delivery == new.delivery, Run.subject == new.subject)
            if new.delivery and session.scalar(of_delivery):
                return None, superseded
            of_head = session.scalars(select(Run).where(
                Run.repository_id == new.repository_id, Run.head_sha == new.head_sha, Run.cause != TOLD).order_by(Run.created_at)).all()
            same = [run for run in of_head if run.subject == new.subject and run.base_ref == new.base_ref and run.state != "cancelled"]
            if new.cause != TOLD and (any(run.state in ALIVE for run in same) or (same and not again and of_head[-1].id == same[-1].id)):
                return None, superseded
            known = {name: storable(value) if isinstance(value, str) else value for name, value in vars(new).items()}
            run = Run(id=f"{time.strftime('%Y%m%d', time.gmtime(now))}-{secrets.token_hex(16)}", created_at=now, state="queued", holder="",
                      held_until=0.0, tries=0, reported=False, progress="[]", why="", verdict="", reason="", summary="", conclusion="",
                      told_until=0.0, check_asked=False, **known)
            if ended is not None:
                run.state, run.verdict, run.reason, run.summary = "finished", "inconclusive", ended.reason, storable(ended.words)
                run.conclusion, run.finished_at = ended.conclusion, now
            session.add(run)
            return run, superseded

    def cancel(self, subject: str, why: str) -> list[Run]:
        """Cancel what lives of a subject; the runs that were."""
        with self._database.session() as session:
            _lock(session, subject)
            return _cancel(session, subject, why, time.time())

    def cancel_others(self, subject: str, head_sha: str, base_ref: str, why: str) -> list[Run]:
        """Cancel what lives of a subject for another head or base."""
        with self._database.session() as session:
            _lock(session, subject)
            kept = {run.id for run in session.scalars(select(Run).where(Run.subject == subject, Run.head_sha == head_sha, Run.base_ref == base_ref))}
            return _cancel(session, subject, why, time.time(), kept)

    def cancel_where(self, why: str, installation_id: int | None = None, repository_id: int | None = None) -> list[Run]:
        """Cancel what lives of an installation, or of a repository."""
        with self._database.session() as session:
            query = select(Run.subject).where(Run.state.in_(ALIVE))
            if installation_id is not None:
                query = query.where(Run.installation_id == installation_id)
            if repository_id is not None:
                query = query.where(Run.repository_id == repository_id)
            subjects = set(session.scalars(query))
        return [run for subject in sorted(subjects) for run in self.cancel(subject, why)]

    def take(self, run_id: str, holder: str) -> Run | None:
        """Hold a queued run, or one whose holder died."""
        now = time.time()
        free = or_(Run.state == "queued", (Run.state == "running") & (Run.held_until < now))
        with self._database.session() as session:
            return session.execute(
                update(Run).where(Run.id == run_id, free)
                .values(state="running", holder=holder, held_until=now + LEASE_S, tries=Run.tries + 1, started_at=func.coalesce(Run.started_at, now))
                .returning(Run)).scalar_one_or_none()

    def renew(self, run_id: str, holder: str) -> bool:
        """Lengthen the lease; False when the run is no longer ours (cancelled, or taken by another)."""
        with self._database.session() as session:
            mine = update(Run).where(Run.id == run_id, Run.state == "running", Run.holder == holder).values(held_until=time.time() + LEASE_S)
            return session.execute(mine.returning(Run.id)).scalar_one_or_none() is not None

    def hand_back(self, run_id: str, holder: str) -> None:
        """Give a run up unfinished, without counting the try."""
        with self._database.session() as session:
            session.execute(update(Run).where(Run.id == run_id, Run.state == "running", Run.holder == holder)
                            .values(state="queued", holder="", held_until=0.0, tries=Run.tries - 1))

    def finish(self, run_id: str, holder: str, verdict: Mapping[str, Any], conclusion: str, diff: str, outputs: Mapping[str, str]) -> bool:
        """Keep a verdict with its evidence and cost; False when the run is no longer ours. `outputs`: log path -> its last lines."""
        now = time.time()
        with self._database.session() as session:
            mine = session.execute(
                update(Run).where(Run.id == run_id, Run.state == "running", Run.holder == holder)
                .values(state="finished", finished_at=now, held_until=0.0, verdict=verdict["verdict"], reason=verdict["reason"],
                        summary=storable(verdict["summary"]), conclusion=conclusion).returning(Run)).scalar_one_or_none()
            if mine is None:
                return False
            session.merge(VerdictDocument(run_id=run_id, document=json.dumps(verdict), diff=storable(diff)))
            for row in verdict["evidence"]["runs"]:
                told = {name: storable(value) if isinstance(value, str) else value for name, value in row.items()}
                session.add(EvidenceRow(run_id=run_id, output=storable(outputs.get(row["log"], "")), **told))
            cost = verdict["cost"]
            session.merge(Cost(run_id=run_id, repository_id=mine.repository_id, at=now, usd=cost["usd"], input_tokens=cost["input_tokens"],
                               output_tokens=cost["output_tokens"], seconds=cost["seconds"]))
            return True

    def conclude(self, run_id: str, verdict: str, reason: str, summary: str, conclusion: str) -> bool:
        """End a living run for want of a verification (configuration, budget, lost too often); False when it does not live."""
        with self._database.session() as session:
            done = update(Run).where(Run.id == run_id, Run.state.in_(ALIVE)).values(
                state="finished", finished_at=time.time(), held_until=0.0, verdict=verdict, reason=reason, summary=storable(summary), conclusion=conclusion)
            return session.execute(done.returning(Run.id)).scalar_one_or_none() is not None

    def update(self, run_id: str, **values: Any) -> None:
        """Set columns of a run."""
        with self._database.session() as session:
            told = {name: storable(value) if isinstance(value, str) else value for name, value in values.items()}
            session.execute(update(Run).where(Run.id == run_id).values(**told))

    def load(self, run_id: str) -> Run | None:
        """A run by its id."""
        with self._database.session() as session:
            return session.get(Run, run_id)

    def of_check(self, check_run_id: int) -> Run | None:
        """The newest run that GitHub shows as this check run."""
        with self._database.session() as session:
            return session.scalars(select(Run).where(Run.check_run_id == check_run_id).order_by(Run.created_at.desc()).limit(1)).first()

    def latest(self, subject: str) -> Run | None:
        """The newest run of a subject."""
        with self._database.session() as session:
            query = select(Run).where(Run.subject == subject, Run.cause != TOLD).order_by(Run.created_at.desc()).limit(1)
            return session.scalars(query).first()

    def of_head(self, repository_id: int, head_sha: str) -> list[Run]:
        """Runs of one commit, newest first."""
        with self._database.session() as session:
            query = select(Run).where(Run.repository_id == repository_id, Run.head_sha == head_sha, Run.cause != TOLD)
            return list(session.scalars(query.order_by(Run.created_at.desc())))

    def speak(self, run_id: str, seconds: float) -> bool:
        """Be the one who tells GitHub of a run for a while; False while another process is."""
        now = time.time()
        with self._database.session() as session:
            mine = update(Run).where(Run.id == run_id, Run.told_until < now).values(told_until=now + seconds)
            return session.execute(mine.returning(Run.id)).scalar_one_or_none() is not None

    def fall_silent(self, run_id: str) -> None:
        """Let others tell of it."""
        self.update(run_id, told_until=0.0)

    def ask_for_check(self, run_id: str) -> bool:
        """Note that a check is being made; True for the first time, when there can be none yet."""
        with self._database.session() as session:
            first = update(Run).where(Run.id == run_id, Run.check_asked.is_(False)).values(check_asked=True)
            return session.execute(first.returning(Run.id)).scalar_one_or_none() is not None

    def tell_again(self, run_id: str) -> None:
        """Have the end of a run told once more, if it has ended."""
        with self._database.session() as session:
            session.execute(update(Run).where(Run.id == run_id, Run.state.in_(("finished", "cancelled"))).values(reported=False))

    def lost(self) -> list[Run]:
        """Running ones whose holder died, and queued ones; the queue may have forgotten them."""
        with self._database.session() as session:
            dead = (Run.state == "running") & (Run.held_until < time.time())
            return list(session.scalars(select(Run).where(or_(dead, Run.state == "queued")).order_by(Run.created_at).limit(500)))

    def unreported(self) -> list[Run]:
        """Ended ones, oldest first, whose end GitHub was not told."""
        with self._database.session() as session:
            now = time.time()
            ended = select(Run).where(Run.state.in_(("finished", "cancelled")), Run.reported.is_(False), Run.told_until < now,
                                      Run.finished_at > now - TOLD_FOR_S)
            return list(session.scalars(ended.order_by(Run.created_at).limit(200)))

    def minutes_since(self, repository_id: int, since: float) -> float:
        """Minutes of verification that a repository has had, those of cancelled and of living runs too."""
        now = time.time()
        with self._database.session() as session:
            spent = select(func.coalesce(func.sum(func.coalesce(Run.finished_at, now) - Run.started_at), 0.0))
            return float(session.scalar(spent.where(Run.repository_id == repository_id, Run.created_at >= since, Run.started_at.is_not(None))) or 0.0) / 60

    def document(self, run_id: str) -> tuple[dict[str, Any], str] | None:
        """(verdict, diff) of a finished run."""
        with self._database.session() as session:
            row = session.get(VerdictDocument, run_id)
            return None if row is None else (json.loads(row.document), row.diff)

    def evidence(self, run_id: str) -> list[EvidenceRow]:
        """The boxes of a run, in order."""
        with self._database.session() as session:
            return list(session.scalars(select(EvidenceRow).where(EvidenceRow.run_id == run_id).order_by(EvidenceRow.id)))

    def recent(self, limit: int, before: float | None = None) -> list[Run]:
        """The newest runs first."""
        with self._database.session() as session:
            query = select(Run).order_by(Run.created_at.desc()).limit(limit)
            return list(session.scalars(query.where(Run.created_at < before) if before is not None else query))

    def counts(self) -> dict[tuple[str, str], int]:
        """(state, verdict) -> how many runs."""
        with self._database.session() as session:
            rows = session.execute(select(Run.state, Run.verdict, func.count()).group_by(Run.state, Run.verdict))
            return {(state, verdict): count for state, verdict, count in rows}


def _lock(session: Session, subject: str) -> None:
    """Make the subject's row if need be, and hold it until the transaction ends."""
    if session.get(Subject, subject) is None:
        try:
            with session.begin_nested():
                session.add(Subject(id=subject, generation=0, labelled=False, commented_run=""))
        except IntegrityError:
            pass  # another process was quicker
    session.execute(update(Subject).where(Subject.id == subject).values(generation=Subject.generation + 1))


def _cancel(session: Session, what: str | NewRun, why: str, now: float, kept: Collection[str] = ()) -> list[Run]:
    """Cancel what lives of a subject; for a new run, of other heads and bases than its own."""
    subject = what if isinstance(what, str) else what.subject
    rows = [run for run in session.scalars(select(Run).where(Run.subject == subject, Run.state.in_(ALIVE))) if run.id not in kept
            and (isinstance(what, str) or (run.head_sha, run.base_ref) != (what.head_sha, what.base_ref))]
    for run in rows:
        run.state, run.why, run.finished_at, run.held_until, run.conclusion = "cancelled", why, now, 0.0, "cancelled"
    return list(rows)
