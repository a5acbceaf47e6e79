"""The log of one box: its file where this machine has it, else the last lines that the ledger kept."""

from __future__ import annotations

import stat
from pathlib import Path

from bot.ledger.models import EvidenceRow
from bot.reporting.escape import plain
from bot.reporting.redact import redact

LARGEST = 2_000_000  # bytes of a file, counted from its end


def log_text(box: EvidenceRow, data_dir: Path) -> str:
    """Cleaned text without secrets, and a first line that says what is missing of it."""
    whole = _from_file(box.log, data_dir)
    if whole is not None:
        return whole
    if not box.output:
        return "[the log is not on this machine, and nothing of it was kept]\n"
    return "[the log is not on this machine: these are its last lines]\n" + _clean(box.output)


def _from_file(named: str, data_dir: Path) -> str | None:
    """None unless it is a log among the runs below the data folder, by its real path."""
    try:
        path = (data_dir / named).resolve(strict=True)
        if not path.is_relative_to((data_dir / "runs").resolve()) or path.suffix != ".log" or not stat.S_ISREG(path.stat().st_mode):
            return None
        with path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - LARGEST))
            text = _clean(file.read(LARGEST).decode("utf-8", "replace"))
    except (OSError, ValueError):
        return None
    return f"[the first {size - LARGEST:,} bytes are left out]\n{text}" if size > LARGEST else text


def _clean(text: str) -> str:
    return redact(plain(text, LARGEST))
