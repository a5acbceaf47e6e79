"""Deliveries at a fixed rate, whatever the answers do: latency counts from the moment at which a delivery was due.

    python -m benchmarks.door.load --url http://127.0.0.1:8000/webhooks/github --secret S --rate 500 --seconds 20

Cheap on purpose: requests are built beforehand, answers are scanned for their status and length alone, connections are kept alive.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
import time
import uuid
from collections import Counter, deque
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.door.payload import signed_body

CONNECTIONS = 64
LENGTH = re.compile(rb"(?i)\r\ncontent-length: (\d+)")
LONGEST_WAIT_S = 15.0  # for answers after the last delivery was due


@dataclass(frozen=True)
class Measured:
    """Milliseconds of answered deliveries, deliveries a second that were answered 2xx, and those that were not."""

    rate: float
    achieved: float
    p50_ms: float
    p99_ms: float
    worst_ms: float
    errors: int
    statuses: dict[str, int]


class Line(asyncio.Protocol):
    """One connection with at most one delivery on its way."""

    def __init__(self, load: Load) -> None:
        self._load, self._heard, self._due = load, b"", 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._load.free(self)

    def send(self, request: bytes, due: float) -> None:
        self._due = due
        self._transport.write(request)

    def data_received(self, data: bytes) -> None:
        self._heard += data
        end = self._heard.find(b"\r\n\r\n")
        length = LENGTH.search(self._heard, 0, end + 2) if end >= 0 else None
        if end < 0 or (length and len(self._heard) < end + 4 + int(length[1])):
            return
        status, self._heard, due, self._due = self._heard[9:12].decode(), b"", self._due, 0.0
        self._load.answered(status, due)
        self._load.free(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._load.lost(self, self._due)


class Load:
    """The clock, the deliveries that are due, and what came of them."""

    def __init__(self, url: str, secret: str, rate: float, seconds: float) -> None:
        parts = urlsplit(url)
        self._host, self._port, self._rate, self._total = str(parts.hostname), int(parts.port or 80), rate, int(rate * seconds)
        body, signature = signed_body(secret)
        head = (f"POST {parts.path} HTTP/1.1\r\nHost: {parts.netloc}\r\nContent-Type: application/json\r\n"
                "User-Agent: GitHub-Hookshot/abc1234\r\nAccept: */*\r\n"
                f"X-GitHub-Event: pull_request\r\nX-Hub-Signature-256: {signature}\r\nContent-Length: {len(body)}\r\nX-GitHub-Delivery: ")
        self._requests = [f"{head}{uuid.uuid4()}\r\n\r\n".encode() + body for _ in range(self._total)]
        self._free: deque[Line] = deque()
        self._due: deque[float] = deque()
        self._latencies: list[float] = []
        self._statuses: Counter[str] = Counter()
        self._ended = 0.0
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self) -> Measured:
        """Send them all and wait for the answers."""
        for _ in range(CONNECTIONS):
            await self._connect()
        begun = time.perf_counter() + 0.2
        for number in range(self._total):
            due = begun + number / self._rate
            pause = due - time.perf_counter()
            if pause > 0.0005:
                await asyncio.sleep(pause)
            self._due.append(due)
            self._send()
        until = time.perf_counter() + LONGEST_WAIT_S
        while self._statuses.total() < self._total and time.perf_counter() < until:
            await asyncio.sleep(0.01)
        return self._measured(begun)

    def free(self, line: Line) -> None:
        """A connection may be used."""
        self._free.append(line)
        self._send()

    def answered(self, status: str, due: float) -> None:
        """One more answer."""
        now = time.perf_counter()
        self._latencies.append(now - due)
        self._statuses[status] += 1
        self._ended = now

    def lost(self, line: Line, due: float) -> None:
        """A connection is gone; with a delivery on its way that one is an error."""
        if line in self._free:
            self._free.remove(line)
        if due:
            self._statuses["lost"] += 1
        task = asyncio.ensure_future(self._connect())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _send(self) -> None:
        while self._due and self._free and self._requests:
            self._free.popleft().send(self._requests.pop(), self._due.popleft())

    async def _connect(self) -> None:
        await asyncio.get_running_loop().create_connection(lambda: Line(self), self._host, self._port)

    def _measured(self, begun: float) -> Measured:
        times = sorted(self._latencies) or [float("inf")]
        good = sum(number for status, number in self._statuses.items() if status.startswith("2"))
        return Measured(rate=self._rate, achieved=good / max(self._ended - begun, 1e-9), p50_ms=1000 * times[len(times) // 2],
                        p99_ms=1000 * times[min(len(times) - 1, int(len(times) * 0.99))], worst_ms=1000 * times[-1], errors=self._total - good,
                        statuses=dict(self._statuses))


def main() -> None:
    """Print the measurement as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", required=True)
    parser.add_argument("--secret", required=True)
    parser.add_argument("--rate", type=float, default=500)
    parser.add_argument("--seconds", type=float, default=20)
    options = parser.parse_args()
    print(json.dumps(asdict(asyncio.run(Load(options.url, options.secret, options.rate, options.seconds).run()))))


if __name__ == "__main__":
    main()
