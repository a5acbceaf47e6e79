"""What the App's processes work with, wired once a process."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from bot.app_settings import AppSettings, read_app_settings
from bot.embedded_store import connect
from bot.github.api import Api
from bot.github.keeper import KEEPER_SOCKET
from bot.github.tokens import Tokens
from bot.ledger.database import Database
from bot.ledger.deliveries import Deliveries
from bot.ledger.runs import Runs
from bot.ledger.subjects import Subjects
from bot.queue import WorkQueue
from bot.settings import Settings


@dataclass(frozen=True)
class Services:
    """Settings, ledger, queue and tokens."""

    settings: Settings
    app: AppSettings
    deliveries: Deliveries
    runs: Runs
    subjects: Subjects
    queue: WorkQueue
    tokens: Tokens

    def api(self, installation_id: int, repository_id: int, repository: str, patience_s: float = 60.0) -> Api:
        """Requests to one repository, with the reporter's permissions."""
        return Api(self.app.api_url, repository, self.tokens.of(installation_id, repository_id, "reporter"), patience_s)

    def slug(self) -> str:
        """The App's name in addresses; its comments are by `slug[bot]`."""
        return self.tokens.slug()

    def run_url(self, run_id: str) -> str:
        """The page of a run."""
        return f"{self.app.public_url}/runs/{run_id}"

    def pull_url(self, repository: str, number: int) -> str:
        """A pull request on GitHub."""
        return f"{self.app.server_url}/{repository}/pull/{number}"


@cache
def services() -> Services:
    """Those of this process, from its environment. No secret is needed: the keeper has the key, the door the webhook's."""
    settings = Settings()
    app = read_app_settings(os.environ, settings.data_dir, needs=())
    database = Database(app.database_url)
    return Services(settings, app, Deliveries(database), Runs(database), Subjects(database), WorkQueue(connect(app.redis_url, app.data_dir)),
                    Tokens(Path(os.environ.get(KEEPER_SOCKET, ""))))
