"""What the journeys are told with: a repository of its own for each, people, an agent, and what one can see of it on GitHub."""

from __future__ import annotations

import itertools
import json
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from sqlalchemy import func, select

from bot.app_settings import read_app_settings
from bot.demo.github.records import CheckRun, Comment, Pull, Repository
from bot.demo.sample import BAD, DEFECT, GOOD, NEW_TEST, PYPROJECT, TESTS
from bot.demo.stage import Stage
from bot.ledger.database import Database
from bot.ledger.deliveries import Deliveries
from bot.ledger.models import Delivery, Run
from bot.ledger.runs import Runs, subject_of_pull

AGENT = ("Copilot", 198982749)
BASE = {"pyproject.toml": PYPROJECT, "invoice.py": DEFECT, "test_invoice.py": TESTS}
GOOD_CHANGE = {"invoice.py": GOOD, "test_invoice.py": NEW_TEST}
BAD_CHANGE = {"invoice.py": BAD, "test_invoice.py": NEW_TEST}
SLOW = {"test_slow.py": "import time\n\n\ndef test_slow():\n    time.sleep(6)\n"}  # so that something can happen in the middle
LONG_S = 240.0
_names = itertools.count(1)


def git(path: Path, *args: str) -> str:
    identity = ("-c", "user.name=Town", "-c", "user.email=town@example.org", "-c", "commit.gpgSign=false", "-c", "core.hooksPath=/dev/null")
    return subprocess.run(["git", "-C", str(path), *identity, *args], check=True, capture_output=True, text=True).stdout.strip()


@dataclass
class Town:
    """One repository of maria's, with its clone."""

    stage: Stage
    folder: Path
    repository: Repository = field(init=False)
    installation: int = field(init=False)
    base: str = field(init=False)

    def build(self, files: Mapping[str, str], private: bool = False) -> Town:
        hub = self.stage.hub
        for login in ("maria", "olga", "tom"):
            hub.add_user(login)
        hub.add_user(AGENT[0], kind="Bot", id=AGENT[1])
        git(self.folder, "init", "-q", "-b", "main")
        self.base = self.commit(None, files, "Begin")
        self.repository = hub.add_repository("maria", f"invoice-{next(_names)}", self.folder, private)
        self.installation = hub.install(self.stage.app, [self.repository])
        return self

    def commit(self, parent: str | None, files: Mapping[str, str], message: str = "Change") -> str:
        """A commit on another, by files to write; its id."""
        if parent:
            git(self.folder, "checkout", "-q", "--detach", parent)
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        git(self.folder, "add", "-A")
        git(self.folder, "commit", "-q", "-m", message)
        return git(self.folder, "rev-parse", "HEAD")

    def push(self, branch: str, commit: str, repository: Repository | None = None) -> None:
        self.stage.hub.push(repository or self.repository, branch, self.folder, commit)

    def opens(self, author: str, files: Mapping[str, str], branch: str = "change", base: str = "main", draft: bool = False,
              fork: Repository | None = None, message: str = "Change") -> Pull:
        """Somebody opens a pull request."""
        start = self.base if base == "main" else git(self.folder, "rev-parse", base)
        self.push(branch, self.commit(start, files, message), fork)
        return self.stage.hub.open_pull(self.repository, author, "Take a discount in per cent", "It took a tenth.", branch, base, fork, draft)

    def checks(self, pull: Pull) -> list[CheckRun]:
        return self.stage.hub.checks(self.repository, pull.head_sha, "dualgate")

    def check(self, pull: Pull) -> CheckRun:
        """The only check run of the head, when it has ended."""
        self.until(lambda: any(one.status == "completed" for one in self.checks(pull)), f"no check of #{pull.number} ended")
        checks = self.checks(pull)
        assert len(checks) == 1, [f"{one.status} {one.conclusion}" for one in checks]
        return checks[0]

    def last_check(self, pull: Pull, count: int) -> CheckRun:
        """The last of so many check runs of the head, when it has ended."""
        self.until(lambda: len(self.checks(pull)) >= count and self.checks(pull)[-1].status == "completed", f"no check {count} of #{pull.number} ended")
        checks = self.checks(pull)
        assert len(checks) == count
        return checks[-1]

    def comment(self, pull: Pull) -> Comment:
        """Our only verdict comment, when the run is told."""
        self.until_told(pull)
        verdicts = self.verdict_comments(pull)
        assert len(verdicts) == 1, [one.body[:100] for one in verdicts]
        return verdicts[0]

    def verdict_comments(self, pull: Pull) -> list[Comment]:
        return [one for one in self.ours(pull) if one.body.startswith("<!-- dualgate:verdict -->")]

    def ours(self, pull: Pull) -> list[Comment]:
        return self.stage.hub.comments(self.repository, pull.number, "dualgate[bot]")

    @cached_property
    def runs(self) -> Runs:
        return Runs(self.database)

    @cached_property
    def database(self) -> Database:
        return Database(read_app_settings(self.stage.environment, self.stage.data_dir).database_url)

    def run(self, pull: Pull) -> Run | None:
        return self.runs.latest(subject_of_pull(self.repository.id, pull.number))

    def until_running(self, pull: Pull) -> Run:
        self.until(lambda: (run := self.run(pull)) is not None and run.state == "running" and _in_a_suite(run), f"#{pull.number} does not run")
        run = self.run(pull)
        assert run is not None
        return run

    def until_told(self, pull: Pull) -> Run:
        self.until(lambda: (run := self.run(pull)) is not None and run.reported, f"#{pull.number} is not told")
        run = self.run(pull)
        assert run is not None
        return run

    def until_read(self) -> None:
        """Every webhook that was sent has been answered and read."""
        self.stage.hub.settle()
        self.until(lambda: not Deliveries(self.database).overdue(-1.0) and not self._held(), "deliveries are left")

    def _held(self) -> bool:
        with self.database.session() as session:
            return bool(session.scalar(select(func.count()).select_from(Delivery).where(Delivery.state != "done")))

    def until(self, so: Callable[[], object], otherwise: str) -> None:
        try:
            self.stage.hub.wait_for(so, LONG_S, otherwise)
        except TimeoutError as error:
            logs = "\n".join(f"--- {name}\n{process.last_lines(25)}" for name, process in self.stage.processes.items())
            raise AssertionError(f"{error}\n{logs}") from error


def _in_a_suite(run: Run) -> bool:
    return any(step["state"] == "running" and step["name"].endswith("suite") for step in json.loads(run.progress))
