"""What was lost is found again: in the ledger, what the queue forgot or a dead worker held; at GitHub, webhooks that did not reach us."""

from __future__ import annotations

import time
from collections.abc import Callable

import structlog

from bot.events import is_read
from bot.github.app_requests import AppRequests
from bot.github.errors import GitHubError
from bot.ledger.deliveries import Deliveries
from bot.ledger.runs import MOST_TRIES, Runs
from bot.queue import WorkQueue

OVERDUE_S = 3.0
QUEUED_S = 15.0  # a horse takes a second or two to start
REDELIVER_EVERY_S, REDELIVER_AGAIN_S = 180.0, 900.0
REDELIVERABLE_S = 3 * 86_400 - 3600  # GitHub redelivers for three days
TELL_AGAIN_S = 30.0
SETTLED_S = 120.0
log = structlog.get_logger()


class Sweep:
    """Its `tick` is called every few seconds by the process that holds the key."""

    def __init__(self, deliveries: Deliveries, runs: Runs, queue: WorkQueue, app: AppRequests, forget_old_files: Callable[[], object]) -> None:
        self._deliveries, self._runs, self._queue, self._app, self._forget_old_files = deliveries, runs, queue, app, forget_old_files
        self._next_redelivery = 0.0
        self._attempted: dict[str, float] = {}
        self._told: dict[str, float] = {}
        self._day = 0

    def tick(self) -> None:
        """One pass; every part may be repeated, here or on another machine, without harm."""
        self._lost_deliveries()
        self._lost_runs()
        self._untold_ends()
        if time.time() >= self._next_redelivery:
            self._next_redelivery = time.time() + REDELIVER_EVERY_S
            self._missed_webhooks()
        if self._day != int(time.time() // 86_400):
            self._day = int(time.time() // 86_400)
            self._deliveries.forget_old()
            self._forget_old_files()

    def _lost_deliveries(self) -> None:
        overdue = self._deliveries.overdue(OVERDUE_S)
        if overdue and self._queue.intake_is_empty():
            for guid in overdue:
                self._queue.send_delivery(guid)
            log.info("deliveries_found", count=len(overdue))

    def _lost_runs(self) -> None:
        now = time.time()
        for run in self._runs.lost():
            if run.state == "queued" and run.created_at > now - QUEUED_S:
                continue
            if run.state == "running" and run.tries >= MOST_TRIES:
                words = f"{run.tries} attempts ended early" + (f"; the last: {run.why}" if run.why else "")
                self._runs.conclude(run.id, "inconclusive", "infrastructure", words, "timed_out")
                log.error("run_given_up", run=run.id, why=run.why)
            elif self._queue.send_run(run.id) and run.state == "running":
                log.warning("run_found", run=run.id, holder=run.holder)

    def _untold_ends(self) -> None:
        now = time.time()
        for run in self._runs.unreported():
            if (run.finished_at or 0) < now - OVERDUE_S and self._told.get(run.id, 0.0) < now - TELL_AGAIN_S:
                self._told[run.id] = now
                self._queue.send_end(run.id)
        self._told = {run_id: at for run_id, at in self._told.items() if at > now - 3600}

    def _missed_webhooks(self) -> None:
        """Those that did not reach us, and those that we answered and lost with the disk's last second."""
        now = time.time()
        try:
            past = self._app.past_deliveries(now - REDELIVERABLE_S)
            known = self._deliveries.known([one.guid for one in past])
            ours_since = self._deliveries.oldest()
            for one in past:
                lost = is_read(one.event, one.action) and ours_since is not None and ours_since < one.at < now - SETTLED_S
                wanted = one.guid not in known and (lost if one.delivered else True)
                if wanted and self._attempted.get(one.guid, 0.0) < now - REDELIVER_AGAIN_S:
                    self._attempted[one.guid] = now
                    self._app.attempt_again(one.id)
                    log.info("webhook_asked_again", delivery=one.guid, github_event=one.event)
        except GitHubError as error:
            log.warning("redelivery_failed", error=str(error))
        self._attempted = {guid: at for guid, at in self._attempted.items() if at > now - REDELIVERABLE_S}
