"""The door against probot's, on this machine, in one run: the same signed payload, the same rate, nothing done with it.

    python benchmarks/door/compare.py [--rate 500] [--seconds 20] [--rounds 3] [--no-probot]

probot is installed by npm into a temporary folder, with an App that listens to `pull_request.opened` and returns; its log is turned down to errors.
Ours is `dualgate serve` as it starts by default, with SQLite and the embedded store: each delivery is written to disk and queued before the answer.
Rounds alternate. Afterwards each one's highest rate with a p99 of at most 20 ms and no error is looked for.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.journeys.running_door import Door, free_port, private_key
from tests.unit.webhooks.seeds import SECRET

LOAD = Path(__file__).with_name("load.py")
APP = "export default (app) => { app.on('pull_request.opened', async () => {}); };\n"
GOAL_MS = 20.0
LADDER = (250, 350, 500, 700, 850, 1000, 1200, 1400, 1700, 2000)
Server = Callable[[], Any]


@contextmanager
def dualgate() -> Iterator[str]:
    """Address of a door of ours."""
    with Door() as door:
        yield f"{door.url}/webhooks/github"


@contextmanager
def probot(folder: Path) -> Iterator[str]:
    """Address of a door of probot's."""
    port = free_port()
    known = {"PATH": os.environ["PATH"], "HOME": str(folder), "APP_ID": "7719", "PRIVATE_KEY": private_key(), "WEBHOOK_SECRET": SECRET, "PORT": str(port),
             "NODE_ENV": "production", "LOG_LEVEL": "error"}
    process = subprocess.Popen([str(folder / "node_modules/.bin/probot"), "run", "./app.js"], cwd=folder, env=known, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        _wait(f"http://127.0.0.1:{port}/ping")
        yield f"http://127.0.0.1:{port}/api/github/webhooks"
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def install_probot(folder: Path) -> str:
    """probot and the App that listens; its version."""
    (folder / "package.json").write_text('{"type": "module", "private": true}')
    (folder / "app.js").write_text(APP)
    subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--silent", "probot"], cwd=folder, check=True)
    version: str = json.loads((folder / "node_modules/probot/package.json").read_text())["version"]
    return version


def measure(url: str, rate: float, seconds: float) -> dict[str, Any]:
    """One load, made by another process."""
    words = [sys.executable, str(LOAD), "--url", url, "--secret", SECRET, "--rate", str(rate), "--seconds", str(seconds)]
    measured: dict[str, Any] = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    return measured


def highest(server: Server, seconds: float) -> int:
    """The last step of the ladder that is still answered in time; each gets a second try."""
    reached = 0
    with server() as url:
        measure(url, 100, 2)
        for rate in LADDER:
            tries = (measure(url, rate, seconds) for _ in range(2))
            if not any(one["p99_ms"] <= GOAL_MS and not one["errors"] for one in tries):
                break
            reached = rate
    return reached


def table(title: str, rows: list[tuple[str, float, float | None]]) -> None:
    """Ours, theirs, and how many times theirs ours is."""
    print(f"\n{title}\n{'':<34}{'dualgate':>12}{'probot':>12}{'ratio':>10}")
    for name, ours, theirs in rows:
        shown = f"{theirs:>12.1f}{ours / theirs if theirs else float('nan'):>10.2f}" if theirs is not None else f"{'-':>12}{'-':>10}"
        print(f"{name:<34}{ours:>12.1f}{shown}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rate", type=float, default=500)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--no-probot", action="store_true")
    parser.add_argument("--no-ladder", action="store_true")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="dualgate-probot-"))
    try:
        servers: dict[str, Server] = {"dualgate": dualgate}
        if not options.no_probot:
            print(f"probot {install_probot(folder)}, {subprocess.run(['node', '--version'], capture_output=True, text=True, check=True).stdout.strip()}")
            servers["probot"] = lambda: probot(folder)
        print(f"{os.cpu_count()} cores, shared with the load; load average before: {os.getloadavg()[0]:.1f}")
        _compare(servers, options)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _compare(servers: dict[str, Server], options: argparse.Namespace) -> None:
    rounds: dict[str, list[dict[str, Any]]] = {name: [] for name in servers}
    for _ in range(options.rounds):
        for name, server in servers.items():
            with server() as url:
                measure(url, 100, 2)
                rounds[name].append(measure(url, options.rate, options.seconds))
                print(name, rounds[name][-1], flush=True)

    def of(name: str, key: str) -> float | None:
        return statistics.median(one[key] for one in rounds[name]) if name in rounds else None

    keys = (("p50, ms", "p50_ms"), ("p99, ms", "p99_ms"), ("slowest, ms", "worst_ms"), ("answered 2xx a second", "achieved"), ("errors", "errors"))
    table(f"{options.rate:.0f} deliveries a second for {options.seconds:.0f} s, median of {options.rounds}",
          [(label, of("dualgate", key) or 0.0, of("probot", key)) for label, key in keys])
    if not options.no_ladder:
        best = {name: highest(server, 8) for name, server in servers.items()}
        table("highest rate", [(f"p99 <= {GOAL_MS:.0f} ms, a second", best["dualgate"], best.get("probot"))])


def _wait(url: str) -> None:
    for _ in range(300):
        try:
            urllib.request.urlopen(url, timeout=5)
            return
        except urllib.error.HTTPError:
            return  # it answers
        except OSError:
            time.sleep(0.1)
    raise SystemExit(f"nothing answers at {url}")


if __name__ == "__main__":
    main()
