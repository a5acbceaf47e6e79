"""RQ's workers as the App uses them: work-horses are spawned, end with their worker, and hand their run back on SIGTERM."""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING, Any

from rq import Queue
from rq.job import Job
from rq.serializers import JSONSerializer
from rq.worker import SimpleWorker, SpawnWorker

from bot.embedded_store import connect, dies_with_parent
from bot.logs import log_to_stderr
from bot.queue import INTAKE, VERIFY
from bot.services import services

if TYPE_CHECKING:
    from types import FrameType


class RunWorker(SpawnWorker):
    """Makes one run at a time, each in a spawned process."""

    def fork_work_horse(self, job: Job, queue: Queue) -> None:
        """Spawn; a store that was emptied has forgotten this worker, and a horse finds its worker there."""
        if not self.connection.exists(self.key):
            self.register_birth()  # type: ignore[no-untyped-call]
        super().fork_work_horse(job, queue)

    def setup_work_horse_signals(self) -> None:
        """In the horse: it ends with its worker, however that dies."""
        super().setup_work_horse_signals()  # type: ignore[no-untyped-call]
        dies_with_parent()
        log_to_stderr()

    def handle_warm_shutdown_request(self) -> None:
        """The run is handed back rather than waited for."""
        if self.horse_pid:
            try:
                os.kill(self.horse_pid, signal.SIGTERM)
            except ProcessLookupError:
                pass

    def request_stop(self, signum: int, frame: FrameType | None) -> None:
        """Stop whether or not the store answers."""
        try:
            super().request_stop(signum, frame)  # type: ignore[no-untyped-call]
        except ConnectionError:
            raise SystemExit(0) from None


def main() -> None:
    """`python -m bot.work_horses intake|verify`: one worker process."""
    dies_with_parent()
    log_to_stderr()
    known = services()
    kind = sys.argv[1]
    connection = connect(known.app.redis_url, known.app.data_dir)
    worker: Any = (SimpleWorker([INTAKE], connection=connection, serializer=JSONSerializer) if kind == INTAKE
                   else RunWorker([VERIFY], connection=connection, serializer=JSONSerializer))
    worker.work(logging_level="WARNING")


if __name__ == "__main__":
    from bot.work_horses import main as start  # a spawned horse finds the classes by this module's name, not as __main__

    start()
