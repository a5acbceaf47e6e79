"""From the ledger to the queue, beside the answer: a queue that hangs must not hold up the door."""

from __future__ import annotations

import atexit
import threading
import time
from collections import deque

from bot.queue import WorkQueue

MOST_WAITING = 100_000  # guids; what is dropped beyond is in the ledger, where the sweep finds it
LONGEST_DRAIN_S = 2.0
PAUSE_S, MOST_AT_ONCE = 0.03, 200  # a job alone costs several times what it costs among others; a worker does not notice the pause


class Handover:
    """One thread a process that hands recorded deliveries to the queue, in their order."""

    def __init__(self, queue: WorkQueue) -> None:
        self._queue = queue
        self._waiting: deque[str] = deque(maxlen=MOST_WAITING)
        self._changed = threading.Condition()
        self._busy = False
        self._closed = False
        self._thread: threading.Thread | None = None

    def send(self, guid: str) -> None:
        """Have a delivery queued soon. Returns at once."""
        with self._changed:
            self._waiting.append(guid)
            if self._thread is None:
                atexit.register(self.close)
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._work, name="handover", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def drain(self, seconds: float = LONGEST_DRAIN_S) -> bool:
        """Wait until nothing waits; False when that takes longer."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._waiting and not self._busy, seconds)

    def close(self) -> None:
        """Hand over what waits, for a moment, and stop."""
        self.drain()
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _work(self) -> None:
        while True:
            with self._changed:
                self._busy = False
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._waiting or self._closed)
                if self._closed:
                    return
                self._busy = True
            time.sleep(PAUSE_S)
            self._queue.send_deliveries([self._waiting.popleft() for _ in range(min(len(self._waiting), MOST_AT_ONCE))])
