"""One JSON object a line: an event's name, when, and what it is about; never a body, never a token."""

from __future__ import annotations

from typing import TextIO

import structlog


def write_json_lines(stream: TextIO) -> None:
    """Configure this process's log."""
    structlog.configure(
        processors=[structlog.processors.add_log_level, structlog.processors.TimeStamper(fmt="iso"), structlog.processors.format_exc_info,
                    structlog.processors.JSONRenderer()],
        logger_factory=structlog.WriteLoggerFactory(stream), cache_logger_on_first_use=True)
