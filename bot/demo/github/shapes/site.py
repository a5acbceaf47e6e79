"""Where the stand-in lives: every link in a representation starts here."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote

from bot.demo.github.records import Issue, Pull, Repository, User


@dataclass(frozen=True)
class Site:
    """`web` is the address of the pages; the API is below it, as on GitHub Enterprise Server."""

    web: str

    @property
    def api(self) -> str:
        return f"{self.web}/api/v3"

    def repository(self, repository: Repository) -> str:
        """A repository's address in the API."""
        return f"{self.api}/repos/{repository.full_name}"

    def page(self, repository: Repository) -> str:
        """A repository's page."""
        return f"{self.web}/{repository.full_name}"

    def thread(self, thread: Issue) -> str:
        """The page of an issue or pull request."""
        return f"{self.page(thread.repository)}/{'pull' if isinstance(thread, Pull) else 'issues'}/{thread.number}"

    def user(self, user: User) -> str:
        """A user's address in the API."""
        return f"{self.api}/users/{quote(user.login)}"

    def profile(self, user: User) -> str:
        """A user's page; a bot's is its App's."""
        return f"{self.web}/apps/{user.login.removesuffix('[bot]')}" if user.kind == "Bot" else f"{self.web}/{user.login}"
