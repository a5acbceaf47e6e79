"""The queue: what is to be done next. It may be lost at any moment; the ledger knows what it held."""

from __future__ import annotations

from collections.abc import Sequence

from redis import Redis
from redis.exceptions import RedisError
from rq import Queue
from rq.exceptions import NoSuchJobError
from rq.job import Job
from rq.serializers import JSONSerializer

INTAKE, VERIFY = "intake", "verify"
INTAKE_TIMEOUT_S = 180


class WorkQueue:
    """Two queues on one connection: deliveries to read, which is quick, and runs to make."""

    def __init__(self, connection: Redis) -> None:
        self.connection = connection
        self._intake = Queue(INTAKE, connection=connection, serializer=JSONSerializer)  # never pickle: who writes to a shared store would run code here
        self._verify = Queue(VERIFY, connection=connection, serializer=JSONSerializer)

    def send_delivery(self, guid: str) -> bool:
        """Have a delivery read; False when the queue does not answer: the sweep finds it in the ledger."""
        try:
            self._intake.enqueue("bot.jobs.receive", guid, job_timeout=INTAKE_TIMEOUT_S, result_ttl=0, failure_ttl=3600)
        except RedisError:
            return False
        return True

    def send_deliveries(self, guids: Sequence[str]) -> bool:
        """Have several read, in their order: one job that a worker spreads, since making a job costs as much as answering a delivery."""
        if len(guids) == 1:
            return self.send_delivery(guids[0])
        try:
            self._intake.enqueue("bot.jobs.spread", list(guids), job_timeout=INTAKE_TIMEOUT_S, result_ttl=0, failure_ttl=3600)
        except RedisError:
            return False
        return True

    def spread_deliveries(self, guids: Sequence[str]) -> bool:
        """A job for each of several, in their order, in one round trip."""
        jobs = [Queue.prepare_data("bot.jobs.receive", (guid,), timeout=INTAKE_TIMEOUT_S, result_ttl=0, failure_ttl=3600) for guid in guids]
        try:
            self._intake.enqueue_many(jobs)
        except RedisError:
            return False
        return True

    def send_run(self, run_id: str) -> bool:
        """Have a run made; one that waits already is not queued twice. False when the queue does not answer."""
        try:
            if run_id in self._verify.get_job_ids():
                return True
            self._forget(run_id)
            self._verify.enqueue("bot.jobs.make_run", run_id, job_id=run_id, job_timeout=-1, result_ttl=0, failure_ttl=3600)
        except RedisError:
            return False
        return True

    def _forget(self, job_id: str) -> None:
        try:
            Job.fetch(job_id, connection=self.connection, serializer=JSONSerializer).delete()
        except NoSuchJobError:
            pass

    def send_end(self, run_id: str) -> bool:
        """Have GitHub told how a run ended; False when the queue does not answer."""
        try:
            self._intake.enqueue("bot.jobs.tell_end", run_id, job_timeout=INTAKE_TIMEOUT_S, result_ttl=0, failure_ttl=3600)
        except RedisError:
            return False
        return True

    def intake_is_empty(self) -> bool:
        """Whether no delivery waits in the queue and none is being read."""
        try:
            return len(self._intake) == 0 and self._intake.started_job_registry.get_job_count(cleanup=True) == 0
        except RedisError:
            return False

    def answers(self) -> bool:
        """Whether the store answers."""
        try:
            return bool(self.connection.ping())
        except RedisError:
            return False

    def length(self) -> int | None:
        """How many jobs wait, or None when the store does not answer."""
        try:
            return len(self._intake) + len(self._verify)
        except RedisError:
            return None
