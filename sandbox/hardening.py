"""The profile of a box: what it may not do, one value with a reason for each flag."""

from __future__ import annotations

from typing import Any

from sandbox.limits import Limits

SUPERVISOR_UID = 2000  # PID 1 and the owner of the tree: the runner can't signal, trace or overwrite either
RUNNER_UID = 1000
HOSTNAME = "box"
HOME = "/home/runner"

# PID 1 only reaps orphans and dies with the container.
SUPERVISOR = (
    "import os,signal,time\n"
    "signal.signal(signal.SIGTERM, lambda *a: os._exit(0))\n"
    "while True:\n"
    "    try: os.wait()\n"
    "    except ChildProcessError: time.sleep(0.5)\n"
)


def _tmpfs(size_mb: int, inodes: int, uid: int, mode: str) -> str:
    # `exec` must be written: Docker's tmpfs is noexec, and compiled tests and extension modules would fail.
    return f"rw,exec,nosuid,nodev,size={size_mb}m,nr_inodes={inodes},uid={uid},gid={uid},mode={mode}"


def box_arguments(root: str, limits: Limits, tree_mb: int, runtime: str | None, writable: bool, network: str | None = None) -> dict[str, Any]:
    """Keyword arguments of docker's `create_host_config`. `tree_mb`: room that the tree itself takes.

    `network`: the container whose loopback is shared, which has no other network either.
    `writable`: new files may be made in the tree's folders; the sticky bit keeps those of the tree as they are.
    """
    room = tree_mb + limits.tree_mb
    return {
        "network_mode": f"container:{network}" if network else "none",  # loopback stays
        "cap_drop": ["ALL"],
        "security_opt": ["no-new-privileges"],
        "read_only": True,
        "ipc_mode": "private",
        "log_config": {"type": "none"},  # a flood would fill the host's disk
        "mem_limit": (limits.memory_mb + tree_mb) * 1024 * 1024,  # pages of a tmpfs count too
        "memswap_limit": (limits.memory_mb + tree_mb) * 1024 * 1024,
        "nano_cpus": int(limits.cpus * 1e9),
        "pids_limit": limits.pids,
        "shm_size": 64 * 1024 * 1024,
        "oom_score_adj": 500,  # the host's own processes are spared
        **({} if network else {"sysctls": {"net.ipv6.conf.all.disable_ipv6": "0"}}),  # else there is no ::1
        "ulimits": [
            {"Name": "core", "Soft": 0, "Hard": 0},
            {"Name": "nofile", "Soft": limits.open_files, "Hard": limits.open_files},
            {"Name": "fsize", "Soft": limits.file_mb * 1024 * 1024, "Hard": limits.file_mb * 1024 * 1024},
        ],
        "tmpfs": {
            root: _tmpfs(room, limits.inodes, SUPERVISOR_UID, "1777" if writable else "755"),
            "/tmp": _tmpfs(limits.temporary_mb, limits.inodes, RUNNER_UID, "1777"),
            HOME: _tmpfs(limits.temporary_mb, limits.inodes, RUNNER_UID, "755"),
            "/run": _tmpfs(16, 1000, 0, "755"),
            "/var/tmp": _tmpfs(64, 10_000, RUNNER_UID, "1777"),
        },
        **({"runtime": runtime} if runtime else {}),
    }


def run_environment(extra: tuple[tuple[str, str], ...] = ()) -> dict[str, str]:
    """The environment of every run: fixed values, the same on both sides, nothing of the host's."""
    return {
        "PATH": "/opt/env/bin:/usr/local/bin:/usr/bin:/bin",
        "HOME": HOME, "USER": "runner", "LOGNAME": "runner",
        "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TZ": "UTC", "TERM": "dumb",
        "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONNOUSERSITE": "1",
        "PYTHONUNBUFFERED": "1",
        "VIRTUAL_ENV": "/opt/env", "MPLBACKEND": "Agg",
        "HYPOTHESIS_STORAGE_DIRECTORY": "/tmp/hypothesis",  # its default is in the tree, which is read-only
        **dict(extra),
    }
