"""The host's end of the report channel: records signed with a key that moves on, read while they stream in."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from typing import Any

Record = dict[str, Any]
LINE_LIMIT = 4 * 1024 * 1024


class ReportChannel:
    """Checks each line against the chained key. The first line that does not fit breaks the channel for good."""

    def __init__(self) -> None:
        self.key = secrets.token_bytes(32)
        self._next_key = self.key
        self._sequence = 0
        self._rest = b""
        self.broken: str | None = None
        self.ended = False

    def feed(self, data: bytes) -> list[Record]:
        """The records that these bytes complete; none once the channel is broken."""
        self._rest += data
        *lines, self._rest = self._rest.split(b"\n")
        if len(self._rest) > LINE_LIMIT:
            self.broken, self._rest = "a record without an end", b""
        return [record for line in lines if (record := self._check(line)) is not None]

    def _check(self, line: bytes) -> Record | None:
        if self.broken:
            return None
        mac, _, body = line.partition(b" ")
        expected = hmac.new(self._next_key, b"%d:" % self._sequence + body, hashlib.sha256).hexdigest()[:32].encode()
        if not hmac.compare_digest(mac, expected):
            self.broken = f"record {self._sequence} is not signed by the reporter: {line[:80]!r}"
            return None
        if self.ended:
            self.broken = "a record after the last one"
            return None
        self._sequence += 1
        self._next_key = hashlib.sha256(self._next_key + b"next").digest()
        record: Record = json.loads(body)
        self.ended = record.get("k") == "exit"
        return record
