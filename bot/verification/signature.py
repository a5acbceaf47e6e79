"""The shape of a failure: the same on every run of the same fault, different for another fault."""

from __future__ import annotations

import re

from sandbox.results.report import TestResult

NUMBERS = re.compile(r"0x[0-9a-fA-F]+|\b[0-9a-f]{8,}\b|\d+(\.\d+)?")
PLACES = re.compile(r"(/[\w.+-]+)+|\bdualgate_[a-z0-9]+\b")


def message_shape(text: str) -> str:
    """A message without its numbers, addresses and paths; runs of blanks as one."""
    first = "\n".join(text.strip().splitlines()[:3])
    return re.sub(r"\s+", " ", NUMBERS.sub("N", PLACES.sub("P", first)))[:300]


def deepest_frame(result: TestResult) -> tuple[str, str]:
    """(file, function) of the innermost frame inside the repository; empty where there is none."""
    inside = [f for f in result.frames if not f[0].startswith("/") and not f[0].startswith("<")]
    return (inside[-1][0], inside[-1][2]) if inside else ("", "")


def signature(result: TestResult) -> tuple[str, str, tuple[str, str]]:
    """Exception type, message shape, deepest frame in the repository."""
    return (result.exception or result.kind or result.outcome.value, message_shape(result.short or result.message), deepest_frame(result))
