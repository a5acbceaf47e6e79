"""From the ledger to the queue."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from rq import Queue
from rq.job import Job
from rq.serializers import JSONSerializer

from bot.queue import INTAKE, WorkQueue
from webhooks.handover import Handover


def jobs_in(queue: WorkQueue) -> list[Job]:
    return Queue(INTAKE, connection=queue.connection, serializer=JSONSerializer).jobs


def test_jobs_come_in_their_order_and_workers_understand_them(queue: WorkQueue, monkeypatch: pytest.MonkeyPatch) -> None:
    handover = Handover(queue)
    for number in range(20):
        handover.send(f"guid-{number}")
    handover.close()
    monkeypatch.setattr("bot.jobs.services", lambda: SimpleNamespace(queue=queue))
    while (job := next((job for job in jobs_in(queue) if job.func_name == "bot.jobs.spread"), None)) is not None:
        job.perform()
        queue.connection.lrem(f"rq:queue:{INTAKE}", 1, job.id)
    jobs = jobs_in(queue)
    assert [job.args for job in jobs] == [[f"guid-{number}"] for number in range(20)]
    assert {job.func_name for job in jobs} == {"bot.jobs.receive"}


def test_one_alone_is_not_spread(queue: WorkQueue) -> None:
    handover = Handover(queue)
    handover.send("guid")
    handover.close()
    assert [(job.func_name, job.args) for job in jobs_in(queue)] == [("bot.jobs.receive", ["guid"])]


def test_nothing_waits_when_nothing_was_sent(queue: WorkQueue) -> None:
    assert Handover(queue).drain(0.1)
