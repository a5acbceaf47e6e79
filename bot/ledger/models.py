"""Tables of the ledger. Times are seconds since the epoch (UTC); ids of GitHub are 64 bits wide."""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Float, ForeignKey, Index, Integer, String, Text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column


class Base(DeclarativeBase):
    """Root of the tables."""


class Delivery(Base):
    """One webhook. `state`: waiting | held | done; the payload is kept until it is done."""

    __tablename__ = "deliveries"
    guid: Mapped[str] = mapped_column(String(64), primary_key=True)
    event: Mapped[str] = mapped_column(String(64))
    action: Mapped[str] = mapped_column(String(64), default="")
    received_at: Mapped[float] = mapped_column(Float)
    state: Mapped[str] = mapped_column(String(16), default="waiting")
    holder: Mapped[str] = mapped_column(String(200), default="")
    held_until: Mapped[float] = mapped_column(Float, default=0.0)
    tries: Mapped[int] = mapped_column(Integer, default=0)
    outcome: Mapped[str] = mapped_column(Text, default="")
    payload: Mapped[str | None] = mapped_column(Text)
    __table_args__ = (Index("ix_deliveries_state", "state", "received_at"),)


class Subject(Base):
    """What is verified one run at a time: a pull request or a merge group of a repository. Its row is the lock of its runs."""

    __tablename__ = "subjects"
    id: Mapped[str] = mapped_column(String(300), primary_key=True)
    generation: Mapped[int] = mapped_column(Integer, default=0)
    repository_id: Mapped[int] = mapped_column(BigInteger, default=0)
    number: Mapped[int] = mapped_column(Integer, default=0)
    head_sha: Mapped[str] = mapped_column(String(64), default="")  # as it was seen last, while it was open
    base_ref: Mapped[str] = mapped_column(Text, default="")
    is_open: Mapped[bool] = mapped_column(Boolean, default=False)
    labelled: Mapped[bool] = mapped_column(Boolean, default=False)  # by someone with write
    comment_id: Mapped[int | None] = mapped_column(BigInteger)
    commented_run: Mapped[str] = mapped_column(String(64), default="")
    __table_args__ = (Index("ix_subjects_head", "repository_id", "head_sha"),)


class Run(Base):
    """One verification. `state`: queued | running | finished | cancelled; `reported`: GitHub shows how it ended."""

    __tablename__ = "runs"
    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    subject: Mapped[str] = mapped_column(ForeignKey("subjects.id"))
    installation_id: Mapped[int] = mapped_column(BigInteger)
    repository_id: Mapped[int] = mapped_column(BigInteger)
    repository: Mapped[str] = mapped_column(String(300))
    pull_number: Mapped[int | None] = mapped_column(Integer)
    title: Mapped[str] = mapped_column(Text, default="")
    author: Mapped[str] = mapped_column(String(200), default="")
    head_sha: Mapped[str] = mapped_column(String(64))
    head_ref: Mapped[str] = mapped_column(Text, default="")
    base_ref: Mapped[str] = mapped_column(Text, default="")
    base_sha: Mapped[str] = mapped_column(String(64))
    from_fork: Mapped[bool] = mapped_column(Boolean, default=False)
    cause: Mapped[str] = mapped_column(String(32))
    actor: Mapped[str] = mapped_column(String(200), default="")
    hint: Mapped[str] = mapped_column(Text, default="")
    delivery: Mapped[str] = mapped_column(String(64), default="", index=True)  # that asked for it: read twice, it asks once
    policy: Mapped[str] = mapped_column(Text, default="{}")
    state: Mapped[str] = mapped_column(String(16), default="queued")
    why: Mapped[str] = mapped_column(Text, default="")  # of a cancelled one
    created_at: Mapped[float] = mapped_column(Float)
    started_at: Mapped[float | None] = mapped_column(Float)
    finished_at: Mapped[float | None] = mapped_column(Float)
    holder: Mapped[str] = mapped_column(String(200), default="")
    held_until: Mapped[float] = mapped_column(Float, default=0.0)
    tries: Mapped[int] = mapped_column(Integer, default=0)
    check_run_id: Mapped[int | None] = mapped_column(BigInteger)
    reported: Mapped[bool] = mapped_column(Boolean, default=False)
    told_until: Mapped[float] = mapped_column(Float, default=0.0)  # one process at a time speaks to GitHub about it
    check_asked: Mapped[bool] = mapped_column(Boolean, default=False)  # a check may be there whose answer was lost
    progress: Mapped[str] = mapped_column(Text, default="[]")
    verdict: Mapped[str] = mapped_column(String(16), default="")
    reason: Mapped[str] = mapped_column(String(64), default="")
    summary: Mapped[str] = mapped_column(Text, default="")
    conclusion: Mapped[str] = mapped_column(String(32), default="")
    __table_args__ = (
        Index("ix_runs_subject", "subject", "created_at"), Index("ix_runs_state", "state", "held_until"), Index("ix_runs_created", "created_at"),
        Index("ix_runs_head", "repository_id", "head_sha"), Index("ix_runs_check", "check_run_id"))


class VerdictDocument(Base):
    """The verdict of a run, whole (`dualgate/verdict/v1`), and the diff that it is of."""

    __tablename__ = "verdicts"
    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id"), primary_key=True)
    document: Mapped[str] = mapped_column(Text)
    diff: Mapped[str] = mapped_column(Text, default="")


class EvidenceRow(Base):
    """One box of a run; `log`: a path below the data directory of the machine that made it."""

    __tablename__ = "evidence"
    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id"), index=True)
    side: Mapped[str] = mapped_column(String(32))
    command: Mapped[str] = mapped_column(Text)
    exit_status: Mapped[int | None] = mapped_column(Integer)
    seconds: Mapped[float] = mapped_column(Float)
    image: Mapped[str] = mapped_column(Text)
    log: Mapped[str] = mapped_column(Text)
    output: Mapped[str] = mapped_column(Text, default="")  # its last lines, so that every machine can show them


class Cost(Base):
    """What a run cost: dollars and tokens of models, seconds of this machine."""

    __tablename__ = "costs"
    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id"), primary_key=True)
    repository_id: Mapped[int] = mapped_column(BigInteger, index=True)
    at: Mapped[float] = mapped_column(Float)
    usd: Mapped[float] = mapped_column(Float, default=0.0)
    input_tokens: Mapped[int] = mapped_column(BigInteger, default=0)
    output_tokens: Mapped[int] = mapped_column(BigInteger, default=0)
    seconds: Mapped[float] = mapped_column(Float, default=0.0)


class Refusal(Base):
    """A reply that said no: one a person and thread, then silence."""

    __tablename__ = "refusals"
    repository_id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    number: Mapped[int] = mapped_column(Integer, primary_key=True)
    user_id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    at: Mapped[float] = mapped_column(Float)


class Installation(Base):
    """Where the App is installed. `state`: active | suspended | deleted."""

    __tablename__ = "installations"
    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    account: Mapped[str] = mapped_column(String(200), default="")
    state: Mapped[str] = mapped_column(String(16), default="active")
