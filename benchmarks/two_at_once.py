"""Two verifications at once against one after the other, on this machine, in one run: seconds and their ratio.

    python benchmarks/two_at_once.py [--seconds 20] [--rounds 3]

Two repositories with suites of that much work on one core; environments and base suites are known. A verification has two lanes, so two of them share
the cores; the ratio tells whether a second worker pays.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.warm_ratio import synthetic, verify


def main() -> None:
    """Print one line a round and the medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        subjects = [synthetic(Path(folder) / name, options.seconds) for name in ("one", "two")]
        for subject in subjects:
            verify(subject)
        one_by_one, together = [], []
        for _ in range(options.rounds):
            started = time.perf_counter()
            verdicts = [verify(subject)[1]["verdict"] for subject in subjects]
            one_by_one.append(time.perf_counter() - started)
            started = time.perf_counter()
            verdicts += [verdict["verdict"] for _, verdict in pool.map(verify, subjects)]
            together.append(time.perf_counter() - started)
            print(f"one after the other {one_by_one[-1]:6.1f} s   at once {together[-1]:6.1f} s   {set(verdicts)}", flush=True)
        alone, both = statistics.median(one_by_one), statistics.median(together)
        print(f"medians: {alone:.1f} s and {both:.1f} s, at once takes {both / alone:.2f} of one after the other")


if __name__ == "__main__":
    main()
