"""What is where in the stand-in: records by name and number, the lock, the clock and the numbering."""

from __future__ import annotations

import itertools
import shutil
import tempfile
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bot.demo.github.exchange import Exchange
from bot.demo.github.faults import Faults
from bot.demo.github.records import LEVELS, App, CheckRun, Comment, Installation, Issue, Moment, Pull, Repository, User
from bot.demo.github.shapes.site import Site
from bot.demo.github.tokens import Grant
from bot.demo.github.webhooks import Courier

RepositoryOrName = Repository | str


class Unknown(LookupError):
    """A name or number that the stand-in has not."""


class State:
    """Everything the stand-in remembers. Whoever reads or changes more than one thing holds `lock`."""

    def __init__(self, folder: Path | None = None) -> None:
        self.lock = threading.RLock()
        self._own_folder = folder is None
        self.folder = folder or Path(tempfile.mkdtemp(prefix="stand-in-"))
        self.folder.mkdir(parents=True, exist_ok=True)
        self.url = "http://127.0.0.1"
        self.users: dict[str, User] = {}
        self.apps: dict[int, App] = {}
        self.installations: dict[int, Installation] = {}
        self.repositories: dict[int, Repository] = {}
        self.former_names: dict[str, int] = {}
        self.grants: dict[str, Grant] = {}
        self.requests: list[Exchange] = []
        self.faults = Faults()
        self.courier = Courier()
        self.visitor: str | None = None
        self._skipped = timedelta()
        # Numbers of the size that GitHub's have, so that none fits where it should not.
        self._ids = {"user": itertools.count(583_231), "repository": itertools.count(1_296_269_000), "issue": itertools.count(3_000_000_001),
                     "pull": itertools.count(2_500_000_001), "comment": itertools.count(3_100_000_001), "label": itertools.count(9_000_000_001),
                     "check": itertools.count(51_000_000_001), "suite": itertools.count(46_000_000_001), "installation": itertools.count(87_000_001),
                     "reaction": itertools.count(300_000_001), "app": itertools.count(2_900_001), "hook": itertools.count(570_000_001)}

    def close(self) -> None:
        """End the deliveries, and remove the folder unless it was given."""
        self.courier.close()
        if self._own_folder:
            shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def site(self) -> Site:
        return Site(self.url)

    def next_id(self, kind: str) -> int:
        """The next number of a kind of record."""
        return next(self._ids[kind])

    def now(self) -> Moment:
        """The stand-in's time, in whole seconds."""
        return (datetime.now(UTC) + self._skipped).replace(microsecond=0)

    def skip(self, seconds: float) -> None:
        """Let time pass; tokens expire by it."""
        with self.lock:
            self._skipped += timedelta(seconds=seconds)

    def user(self, login: str) -> User:
        """A user by login. Raises Unknown."""
        with self.lock:
            if (found := self.users.get(login.lower())) is None:
                raise Unknown(f"no user {login}")
            return found

    def find_repository(self, name: str) -> Repository | None:
        """A repository by `owner/name`, or None."""
        with self.lock:
            return next((one for one in self.repositories.values() if one.full_name.lower() == name.lower() and not one.deleted), None)

    def repository(self, name: RepositoryOrName) -> Repository:
        """A repository by `owner/name`, or the record itself. Raises Unknown."""
        found = name if isinstance(name, Repository) else self.find_repository(name)
        if found is None:
            raise Unknown(f"no repository {name}")
        return found

    def issue(self, repository: RepositoryOrName, number: int) -> Issue:
        """An issue or pull request. Raises Unknown."""
        found = self.repository(repository).threads.get(number)
        if found is None:
            raise Unknown(f"no issue {number}")
        return found

    def pull(self, repository: RepositoryOrName, number: int) -> Pull:
        """A pull request. Raises Unknown."""
        found = self.issue(repository, number)
        if not isinstance(found, Pull):
            raise Unknown(f"{number} is an issue")
        return found

    def check(self, check_run_id: int) -> CheckRun:
        """A check run by id. Raises Unknown."""
        with self.lock:
            for repository in self.repositories.values():
                for run in repository.checks:
                    if run.id == check_run_id:
                        return run
        raise Unknown(f"no check run {check_run_id}")

    def checks(self, repository: RepositoryOrName, sha: str | None = None, name: str | None = None) -> list[CheckRun]:
        """Check runs in the order they were made."""
        with self.lock:
            return [run for run in self.repository(repository).checks if (sha is None or run.head_sha == sha) and (name is None or run.name == name)]

    def comments(self, repository: RepositoryOrName, number: int, author: str | None = None) -> list[Comment]:
        """Comments on an issue or pull request, oldest first."""
        with self.lock:
            return [one for one in self.issue(repository, number).comments if author is None or one.author.login == author]

    def role(self, repository: Repository, user: User) -> tuple[str, str]:
        """(role, role's name): the owner's, the one that was set, or what everybody has."""
        if user is repository.owner:
            return "admin", "admin"
        everybody = "none" if repository.private else "read"
        return repository.roles.get(user.login.lower(), (everybody, everybody))

    def may(self, repository: Repository, user: User, level: str) -> bool:
        """Whether a user's role reaches a level."""
        return LEVELS[self.role(repository, user)[0]] >= LEVELS[level]

    def wait_for(self, predicate: Callable[[], object], timeout: float = 10.0, message: str = "") -> None:
        """Return when the predicate is true. Raises TimeoutError. The lock is not held, so the predicate may send requests."""
        end = time.monotonic() + timeout
        while not predicate():
            if time.monotonic() > end:
                raise TimeoutError(message or f"not so within {timeout} s")
            time.sleep(0.02)
