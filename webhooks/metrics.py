"""What Prometheus is told: counted here by every process of the door, or read from the ledger and the queue when it asks."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector
from sqlalchemy.exc import SQLAlchemyError

from bot.queue import WorkQueue
from webhooks.readings import Readings
from webhooks.serve import SHARED_FOLDER

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1.0, 5.0, 10.0)
# Any other name counts as "other": a label's values must not grow by what is sent.
EVENTS = frozenset(("check_run", "check_suite", "installation", "installation_repositories", "issue_comment", "issues", "merge_group", "ping",
                    "pull_request", "push", "repository", "unknown"))


class Counters:
    """Of one process; with SHARED_FOLDER set, added up over all of them."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._deliveries = Counter("dualgate_deliveries", "Deliveries, by event and by what became of them.", ("event", "outcome"), registry=self.registry)
        self._seconds = Histogram("dualgate_delivery_answer_seconds", "From the request's headers to the answer.", registry=self.registry, buckets=BUCKETS)

    def count_delivery(self, event: str, outcome: str, seconds: float) -> None:
        """One delivery was answered."""
        self._deliveries.labels(event if event in EVENTS else "other", outcome).inc()
        self._seconds.observe(seconds)


class LedgerCollector(Collector):
    """Gauges of what the ledger and the queue hold now. One that does not answer is 0 under `up`, and its gauges are left out."""

    def __init__(self, readings: Readings, queue: WorkQueue) -> None:
        self._readings = readings
        self._queue = queue

    def collect(self) -> Iterator[Metric]:
        """What is there when it is asked for."""
        up = GaugeMetricFamily("dualgate_up", "Whether a part answers.", labels=("part",))
        length = self._queue.length()
        up.add_metric(("queue",), float(length is not None))
        if length is not None:
            yield GaugeMetricFamily("dualgate_queue_jobs", "Jobs that wait in the queue.", value=length)
        try:
            ledger = list(self._ledger())
        except SQLAlchemyError:
            ledger = []
        up.add_metric(("database",), float(bool(ledger)))
        yield from ledger
        yield up

    def _ledger(self) -> Iterator[Metric]:
        runs = GaugeMetricFamily("dualgate_runs", "Runs in the ledger, by state and verdict.", labels=("state", "verdict"))
        for (state, verdict), count in self._readings.run_counts().items():
            runs.add_metric((state, verdict), count)
        yield runs
        waiting, oldest_s = self._readings.waiting_deliveries()
        yield GaugeMetricFamily("dualgate_deliveries_waiting", "Deliveries that are recorded and not done.", value=waiting)
        yield GaugeMetricFamily("dualgate_oldest_waiting_delivery_seconds", "Age of the oldest of them; 0 when there is none.", value=oldest_s)


def exposition(counters: Counters, ledger: LedgerCollector) -> bytes:
    """The text that Prometheus reads."""
    registry = CollectorRegistry()
    if os.environ.get(SHARED_FOLDER):
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        registry.register(ledger)
        return generate_latest(registry)
    registry.register(ledger)
    return generate_latest(counters.registry) + generate_latest(registry)


def empty_shared_folder(path: Path) -> None:
    """Counts begin at nothing with the server, as Prometheus expects of a new process."""
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(mode=0o700, parents=True)
