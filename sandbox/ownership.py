"""Who owns a thing of ours in Docker: a process, told apart from later ones of the same number."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

RUN_LABEL = "dualgate.run"
OWNER_LABEL = "dualgate.owner"


def _boot_id() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()


def _start_time(pid: int) -> str | None:
    """Clock ticks since boot at which the process began (proc(5), stat field 22); None if there is no such process."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    return stat.rsplit(")", 1)[1].split()[19]


def this_process() -> str:
    """The owner label of this process: `pid:start:boot`."""
    pid = os.getpid()
    return f"{pid}:{_start_time(pid)}:{_boot_id()}"


def is_alive(owner: str) -> bool:
    """Whether the process that an owner label names still runs. A label that can't be read counts as alive."""
    try:
        pid, start, boot = owner.split(":", 2)
        return boot == _boot_id() and _start_time(int(pid)) == start
    except ValueError:
        return True


@contextmanager
def temporary_folder(purpose: str) -> Iterator[Path]:
    """A folder that is gone afterwards; its name bears the owner, so that a killed one's is found by `sweep_folders`."""
    pid = os.getpid()
    with tempfile.TemporaryDirectory(prefix=f"dualgate-{purpose}-{pid}-{_start_time(pid)}-") as folder:
        yield Path(folder)


def sweep_folders() -> list[str]:
    """Remove temporary folders whose owner died; their names."""
    gone = []
    for path in Path(tempfile.gettempdir()).glob("dualgate-*"):
        match = re.fullmatch(r"dualgate-[a-z]+-(\d+)-(\d+)-\w+", path.name)
        if match and path.is_dir() and not path.is_symlink() and path.stat().st_uid == os.getuid() and _start_time(int(match[1])) != match[2]:
            shutil.rmtree(path, ignore_errors=True)
            gone.append(path.name)
    return gone
