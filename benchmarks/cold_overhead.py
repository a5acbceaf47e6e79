"""What the first verification of a repository costs beyond installing it and running its suite on both sides: seconds of one run.

    python benchmarks/cold_overhead.py [--repo PATH --base REV --head REV]

Cold: a data folder of its own, so that no environment and no suite is known (the base image is there). Install: the commands that run in the build
container with a network. Overhead: cold less install, less a warm verification of the same change, less the base suite. Goal: at most 3 s.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.warm_ratio import Subject, synthetic
from tests.repository import DUALGATE

GOAL_S = 3.0
INSTALLS = ("install", "add", "ci", "fetch", "download", "sync", "venv", "mvn", "cargo", "go", "npm", "pnpm", "yarn", "gradle", "build", "test")
# Run in a process of its own: the command as it is, with a clock around each step of a build container.
CLOCKED = """
import json, os, sys
from sandbox.build_container import BuildContainer
from bot.cli import main
step, seconds = BuildContainer.step, []
def clocked(self, argv, limit, *more, **named):
    done = step(self, argv, limit, *more, **named)
    seconds.append((done.seconds, " ".join(argv)[:100]))
    return done
BuildContainer.step = clocked
try:
    main()
finally:
    json.dump(seconds, open(os.environ["STEPS"], "w"))
"""


@dataclass(frozen=True)
class Verified:
    seconds: float
    verdict: dict[str, Any]
    steps: tuple[tuple[float, str], ...] = ()


def clocked(subject: Subject, data: Path, steps: Path) -> Verified:
    """`dualgate verify` with the seconds of its build steps."""
    steps.write_text("[]")
    words = [sys.executable, "-c", CLOCKED, "verify", str(subject.repo), "--base", subject.base, "--head", subject.head, "--json", "-", "--quiet"]
    started = time.perf_counter()
    done = subprocess.run(words, capture_output=True, text=True, check=False, env={**os.environ, "DUALGATE_DATA_DIR": str(data), "STEPS": str(steps)})
    seconds = time.perf_counter() - started
    return Verified(seconds, json.loads(done.stdout), tuple((one, words) for one, words in json.loads(steps.read_text())))


def forget(verdict: dict[str, Any]) -> None:
    """Remove the environment's image: it is known by its key, whatever the data folder."""
    for plan in verdict["plans"]:
        subprocess.run(["docker", "image", "rm", "-f", plan["image"]], check=True, capture_output=True)


def measure(subject: Subject) -> float:
    """Print one row; the overhead in seconds."""
    folder = Path(tempfile.mkdtemp(prefix="dualgate-cold-"))
    try:
        forget(clocked(subject, folder / "first", folder / "steps").verdict)  # base image, proxy's image, caches of the host: not what is measured
        cold = clocked(subject, folder / "data", folder / "steps")
        warm = clocked(subject, folder / "data", folder / "steps")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    installing = [(seconds, words) for seconds, words in cold.steps if is_install(words)]
    install, suite = sum(seconds for seconds, _ in installing), cold.verdict["timing"]["base_s"]
    over = cold.seconds - install - suite - warm.seconds
    print(f"{subject.name:<24} {cold.verdict['verdict']:<10} cold {cold.seconds:6.1f}   install {install:6.1f}   base suite {suite:6.1f}   "
          f"warm {warm.seconds:6.1f}   overhead {over:5.1f} s (goal {GOAL_S:.0f})", flush=True)
    spent: defaultdict[str, float] = defaultdict(float)
    for seconds, words in cold.steps:
        spent[words] += seconds
    for words, seconds in sorted(spent.items(), key=lambda row: -row[1])[:8]:
        print(f"    {seconds:6.2f} s{'  (install)' if is_install(words) else '':<11} {words}")
    return float(over)


def is_install(words: str) -> bool:
    """Whether a step is the installation's own work, not ours around it."""
    return any(f" {name} " in f" {words} " for name in INSTALLS) or "uv" in words.split(" ")[0]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repo", type=Path)
    parser.add_argument("--base")
    parser.add_argument("--head")
    options = parser.parse_args()
    assert DUALGATE.exists()
    with tempfile.TemporaryDirectory() as folder:
        subject = Subject(options.repo.name, options.repo, options.base, options.head) if options.repo else synthetic(Path(folder), 12)
        measure(subject)


if __name__ == "__main__":
    main()
