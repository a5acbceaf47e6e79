"""Memory of `dualgate worker` over many runs: MB after each, between two jobs, of the worker and all that it started.

    python benchmarks/worker_memory.py [--runs 50]

Real processes, a stand-in for GitHub, one pull request a run. Flat: the median of the last ten is not over that of the runs 6 to 15 by more than 5 %.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import psutil

from benchmarks.app_overhead import commit, is_judged
from bot.demo.acts import AGENT, AGENT_ID
from bot.demo.sample import make_sample
from bot.demo.stage import set_up
from sandbox.ownership import temporary_folder


def memory_mb(pid: int) -> float:
    """Proportional set size of a process and of everything below it, the queue's embedded store left out."""
    whole = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
    return sum(one.memory_full_info().pss for one in whole if "valkey" not in one.name()) / 1e6


def main() -> None:
    """Print every fifth run and the two medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=50)
    runs = parser.parse_args().runs
    seen: list[float] = []
    with temporary_folder("bench") as folder:
        sample = make_sample(folder)
        with set_up(folder / "data") as stage:
            stage.start("serve")
            worker = stage.start("worker")
            hub = stage.hub
            hub.add_user("maria")
            hub.add_user(AGENT, kind="Bot", id=AGENT_ID)
            repository = hub.add_repository("maria", "invoice", sample.path)
            hub.push(repository, "main", sample.path, sample.base)
            hub.install(stage.app, [repository])
            time.sleep(5)
            for number in range(1, runs + 1):
                head = commit(sample.path, sample.base, number)
                hub.push(repository, f"change-{number}", sample.path, head)
                hub.open_pull(repository, AGENT, f"Change {number}", "", f"change-{number}")
                hub.wait_for(partial(is_judged, hub, repository, head), 300)
                time.sleep(2)  # the job's process ends after its last post
                seen.append(memory_mb(worker.popen.pid))
                if number == 1 or number % 5 == 0:
                    print(f"run {number:3d}: {seen[-1]:6.1f} MB", flush=True)
    early, late = statistics.median(seen[5:15]), statistics.median(seen[-10:])
    print(f"{runs} runs: median of runs 6 to 15 {early:.1f} MB, of the last ten {late:.1f} MB, {late / early:.3f} of it")


if __name__ == "__main__":
    main()
