"""From the ledger to the queue."""

from __future__ import annotations

from rq import Queue
from rq.serializers import JSONSerializer

from bot.queue import INTAKE, WorkQueue
from webhooks.handover import Handover


def test_jobs_come_in_their_order_and_workers_understand_them(queue: WorkQueue) -> None:
    handover = Handover(queue)
    for number in range(20):
        handover.send(f"guid-{number}")
    handover.close()
    jobs = Queue(INTAKE, connection=queue.connection, serializer=JSONSerializer).jobs
    assert [job.args for job in jobs] == [[f"guid-{number}"] for number in range(20)]
    assert {job.func_name for job in jobs} == {"bot.jobs.receive"}


def test_nothing_waits_when_nothing_was_sent(queue: WorkQueue) -> None:
    assert Handover(queue).drain(0.1)
