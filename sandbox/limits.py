"""The limits of a box and of a run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Everything that bounds a run. Seconds are wall clock."""

    suite_s: float = 900.0  # after this the suite stops before its next test, and the verdict says so
    test_s: float = 120.0
    collect_s: float = 180.0
    silence_s: float = 30.0  # on top of a test's own limit, before the whole run is ended from outside
    memory_mb: int = 3072
    cpus: float = 1.0
    pids: int = 512
    open_files: int = 4096
    tree_mb: int = 1024
    temporary_mb: int = 512
    inodes: int = 200_000
    file_mb: int = 512
    output_mb: int = 64
    kept_log_kb: int = 256
