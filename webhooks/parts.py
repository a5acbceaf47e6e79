"""What the door's routes are made of, once a process."""

from __future__ import annotations

from dataclasses import dataclass

from bot.app_settings import AppSettings
from bot.embedded_store import connect
from bot.ledger.database import Database
from bot.queue import WorkQueue
from webhooks.handover import Handover
from webhooks.metrics import Counters
from webhooks.readings import Readings
from webhooks.recording import Recorder

PATIENCE_S = 5.0  # nothing else is answered meanwhile, and GitHub gives up after 10


@dataclass(frozen=True)
class Parts:
    """`readings` can't write: every page goes through it."""

    settings: AppSettings
    database: Database
    recorder: Recorder
    queue: WorkQueue
    handover: Handover
    readings: Readings
    counters: Counters


def assemble(settings: AppSettings, database: Database | None = None, queue: WorkQueue | None = None) -> Parts:
    """The parts as the settings name them; `database` and `queue` take the place of theirs."""
    database = database or Database(settings.database_url, PATIENCE_S)
    queue = queue or WorkQueue(connect(settings.redis_url, settings.data_dir))
    return Parts(settings=settings, database=database, recorder=Recorder(database), queue=queue, handover=Handover(queue),
                 readings=Readings(settings.database_url), counters=Counters())
