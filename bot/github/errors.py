"""What can go wrong between GitHub and us."""

from __future__ import annotations

from bot.errors import BotError


class GitHubError(BotError):
    """Root of this family; the message names the request, never a token."""


class NotThere(GitHubError):
    """404: gone, renamed, or hidden from the token. 410 too."""


class Refused(GitHubError):
    """401, 403 or 422: what we asked for can't be had, and asking again does not help."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class Later(GitHubError):
    """Rate limits, outages, broken connections: worth another try after some seconds."""

    def __init__(self, message: str, after_s: float) -> None:
        super().__init__(message)
        self.after_s = after_s


class Uninstalled(GitHubError):
    """The installation is gone."""


class Suspended(GitHubError):
    """The installation is suspended: stop work, keep data."""
