"""Warm `dualgate verify` against one bare run of the same suite in a plain container, as ratios in one run.

    python benchmarks/warm_ratio.py [--pairs 3] [--repo PATH --base REV --head REV]

Without --repo: three repositories made on the spot, with suites of some 12, 25 and 65 seconds of work on one core. Bare: the same
environment image and tree, `python -m pytest` as the repository configures it, one cpu, from creating the container to removing it.
Goals: at most 1.10 above 60 s, 1.25 above 20 s, and never more than 6 s over it.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import docker

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bot.changes.git import GitRepository
from bot.verification.preparing import tree_root
from sandbox.build_container import open_build
from sandbox.docker import DockerEngine
from sandbox.workspace import to_tar
from tests.repository import DUALGATE, FIX, NEW_TEST, PYPROJECT, commit, make

WORK = """
import pytest

@pytest.mark.parametrize("n", range({count}))
def test_work(n):
    total = 0
    for i in range(1_000_000):
        total += i * n
    assert total >= 0
"""


@dataclass(frozen=True)
class Subject:
    name: str
    repo: Path
    base: str
    head: str


def synthetic(folder: Path, seconds: int) -> Subject:
    started = time.perf_counter()
    total = 0
    for i in range(3_000_000):
        total += i * 7
    count = int(seconds / ((time.perf_counter() - started) / 3))
    path = folder / f"suite{seconds}"
    from tests.repository import BASE

    base = make(path, {**BASE, "pyproject.toml": PYPROJECT, "test_work.py": WORK.format(count=count)})
    return Subject(f"{seconds} s of work", path, base, commit(path, {"stats.py": FIX, "test_stats.py": NEW_TEST}))


def verify(subject: Subject) -> tuple[float, dict[str, Any]]:
    started = time.perf_counter()
    done = subprocess.run([str(DUALGATE), "verify", str(subject.repo), "--base", subject.base, "--head", subject.head, "--json", "-", "--quiet"],
                          capture_output=True, text=True, check=False)
    return time.perf_counter() - started, json.loads(done.stdout)


def bare(subject: Subject, image: str) -> float:
    repository = GitRepository(subject.repo)
    root = tree_root(repository.name())
    archive = to_tar(repository.tree(subject.base).tree)
    engine = DockerEngine("benchmark")
    started = time.perf_counter()
    with open_build(engine, image, {root: "rw,exec,mode=777", "/tmp": "rw,exec,mode=1777"}, network="none") as box:
        docker.from_env().api.update_container(box.container, cpu_quota=100_000, cpu_period=100_000)
        box.need(["/bin/sh", "-c", f"tar -x -C {root} -f -; cp -rn /opt/overlay/. {root}/ 2>/dev/null; true"], 60, archive)
        box.step(["/bin/sh", "-c", f"cd {root} && /opt/env/bin/python -m pytest -q -p no:cacheprovider"], 3600)
    return time.perf_counter() - started


def within(alone: float, warm: float) -> bool:
    """Whether a warm verification of a suite of `alone` seconds keeps to the goals."""
    return warm - alone <= 6 and warm / alone <= (1.10 if alone > 60 else 1.25 if alone > 20 else float("inf"))


def measure(subject: Subject, pairs: int) -> None:
    _, verdict = verify(subject)
    image = verdict["plans"][0]["image"]
    rows = [(bare(subject, image), *verify(subject)) for _ in range(pairs)]
    alone, warm = statistics.median(r[0] for r in rows), statistics.median(r[1] for r in rows)
    timing = rows[-1][2]["timing"]
    print(f"{subject.name:<16} {verdict['verdict']:<12} bare {alone:6.1f} s   warm {warm:6.1f} s   ratio {warm / alone:.2f}, {warm - alone:+.1f} s: "
          f"{'within' if within(alone, warm) else 'OVER'} the goal   "
          f"(patched {timing['patched_s']:.1f}, reproducer {timing['reproducer_s']:.1f} on the second lane)", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--repo", type=Path)
    parser.add_argument("--base")
    parser.add_argument("--head")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if options.repo:
            subjects = [Subject(options.repo.name, options.repo, options.base, options.head)]
        else:
            subjects = [synthetic(Path(folder), seconds) for seconds in (12, 25, 65)]
        for subject in subjects:
            measure(subject, options.pairs)


if __name__ == "__main__":
    main()
