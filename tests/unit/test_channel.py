"""The report channel's host end."""

from __future__ import annotations

import hashlib
import hmac
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.channel import ReportChannel


def signed(key: bytes, records: list[dict[str, Any]]) -> list[bytes]:
    """What an honest reporter writes."""
    lines = []
    for sequence, record in enumerate(records):
        body = json.dumps(record).encode()
        mac = hmac.new(key, b"%d:" % sequence + body, hashlib.sha256).hexdigest()[:32]
        lines.append(mac.encode() + b" " + body + b"\n")
        key = hashlib.sha256(key + b"next").digest()
    return lines


RECORDS: list[dict[str, Any]] = [{"k": "hello"}, {"k": "phase", "i": 0}, {"k": "exit", "status": 0}]


@given(st.integers(1, 30))
def test_records_survive_any_cutting(size: int) -> None:
    channel = ReportChannel()
    data = b"".join(signed(channel.key, RECORDS))
    got = [record for start in range(0, len(data), size) for record in channel.feed(data[start:start + size])]
    assert got == RECORDS
    assert channel.ended


@pytest.mark.parametrize("attack", ["plain line", "replay", "dropped", "swapped", "changed", "after the end"])
def test_what_the_reporter_did_not_write_breaks_the_channel(attack: str) -> None:
    channel = ReportChannel()
    lines = signed(channel.key, [*RECORDS, {"k": "late"}])
    sent = {
        "plain line": [lines[0], b"3 passed\n"], "replay": [lines[0], lines[0]], "dropped": [lines[0], lines[2]], "swapped": [lines[1], lines[0]],
        "changed": [lines[0].replace(b"hello", b"hallo")], "after the end": lines,
    }[attack]
    for line in sent:
        channel.feed(line)
    assert channel.broken


def test_nothing_is_believed_after_a_break() -> None:
    channel = ReportChannel()
    lines = signed(channel.key, RECORDS)
    channel.feed(b"noise\n")
    assert channel.feed(b"".join(lines)) == []
    assert not channel.ended


def test_an_endless_line_breaks_the_channel() -> None:
    channel = ReportChannel()
    channel.feed(b"x" * (5 * 1024 * 1024))
    assert channel.broken
