"""What the App adds to a bare `dualgate verify`, and how soon its first check is there: medians of one run, real processes, a stand-in for GitHub.

Goals: first check run at most 2 s after the delivery; the bot adds at most 1 s. Run it on a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

from bot.demo.acts import AGENT, AGENT_ID
from bot.demo.github.hub import Hub
from bot.demo.github.records import Repository
from bot.demo.sample import BAD, GOOD, NEW_TEST, make_sample
from bot.demo.stage import set_up
from sandbox.ownership import temporary_folder

DUALGATE = Path(sys.executable).parent / "dualgate"
GIT = ("git", "-c", "user.name=Bench", "-c", "user.email=bench@example.org")


def commit(path: Path, base: str, number: int) -> str:
    """A change that no cache knows but whose base is known."""
    subprocess.run([*GIT, "-C", str(path), "checkout", "-q", "--detach", base], check=True)
    (path / "invoice.py").write_text(f"{GOOD if number % 2 else BAD.replace('[low] * people', '[low + 1] * rest + [low] * (people - rest)')}\n# {number}\n")
    (path / "test_invoice.py").write_text(NEW_TEST)
    subprocess.run([*GIT, "-C", str(path), "commit", "-qam", f"change {number}"], check=True)
    return subprocess.run([*GIT, "-C", str(path), "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()


def is_judged(hub: Hub, repository: Repository, head: str) -> bool:
    """Whether the check of a commit has come to its end."""
    return any(check.status == "completed" for check in hub.checks(repository, head))


def bare(path: Path, base: str, head: str, data_dir: Path) -> float:
    """Seconds of the command alone."""
    began = time.monotonic()
    done = subprocess.run([str(DUALGATE), "verify", str(path), "--base", base, "--head", head, "--quiet"], check=False, capture_output=True,
                          env={**os.environ, "DUALGATE_DATA_DIR": str(data_dir)})
    assert done.returncode == 0, done.stdout.decode() + done.stderr.decode()
    return time.monotonic() - began


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--changes", type=int, default=7)
    changes = parser.parse_args().changes
    first, whole, alone = [], [], []
    with temporary_folder("bench") as folder:
        sample = make_sample(folder)
        with set_up(folder / "data") as stage:
            stage.start("serve")
            stage.start("worker")
            hub = stage.hub
            hub.add_user("maria")
            hub.add_user(AGENT, kind="Bot", id=AGENT_ID)
            repository = hub.add_repository("maria", "invoice", sample.path)
            hub.push(repository, "main", sample.path, sample.base)
            hub.install(stage.app, [repository])
            time.sleep(5)
            for number in range(changes + 1):
                head = commit(sample.path, sample.base, number)
                hub.push(repository, f"change-{number}", sample.path, head)
                began = time.monotonic()
                pull = hub.open_pull(repository, AGENT, f"Change {number}", "", f"change-{number}")
                hub.wait_for(partial(hub.checks, repository, head), 60)
                seen = time.monotonic() - began
                hub.wait_for(partial(is_judged, hub, repository, head), 300)
                ended = time.monotonic() - began
                hub.wait_for(partial(hub.comments, repository, pull.number), 60)
                time.sleep(2)
                seconds = bare(sample.path, sample.base, head, stage.data_dir)
                if number:  # the first one warms both
                    first.append(seen)
                    whole.append(ended)
                    alone.append(seconds)
    added = [one - other for one, other in zip(whole, alone, strict=True)]
    print(f"{changes} changes, medians: first check {statistics.median(first):.2f} s (worst {max(first):.2f}); App, delivery to completed check "
          f"{statistics.median(whole):.2f} s; bare command {statistics.median(alone):.2f} s; the bot adds {statistics.median(added):+.2f} s "
          f"({statistics.median(whole) / statistics.median(alone):.2f} of the bare command)")


if __name__ == "__main__":
    main()
