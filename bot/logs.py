"""Logs: structured, on stderr, JSON where nobody sits before it."""

from __future__ import annotations

import logging
import sys

import structlog

from bot.reporting.redact import redact


def _redacted(_: object, __: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    return {name: redact(value) if isinstance(value, str) else value for name, value in event.items()}


def log_to_stderr() -> None:
    """Set it up for this process."""
    shape: structlog.typing.Processor = structlog.dev.ConsoleRenderer() if sys.stderr.isatty() else structlog.processors.JSONRenderer()
    structlog.configure(
        processors=[structlog.processors.add_log_level, structlog.processors.TimeStamper(fmt="iso"), structlog.processors.format_exc_info, _redacted, shape],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr), cache_logger_on_first_use=True)
