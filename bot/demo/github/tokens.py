"""Who is calling: an App by its signed token, an installation by a token that was minted for it, or nobody."""

from __future__ import annotations

import datetime
import secrets
import time
from dataclasses import dataclass, field
from typing import Literal

import jwt

from bot.demo.github.records import App, Installation, Moment, Repository, instant
from bot.demo.github.refusals import Refusal, bad_credentials

LIFE = datetime.timedelta(hours=1)
LONGEST_APP_TOKEN_S = 600
# GitHub bears with clocks that are a little off.
DRIFT_S = 30
RANKS = {"read": 1, "write": 2, "admin": 3}
Kind = Literal["app", "installation", "anonymous", "refused"]


@dataclass(eq=False)
class Grant:
    """An installation token: what it may see and do, and until when."""

    token: str
    installation: Installation
    repository_ids: frozenset[int] | None
    permissions: dict[str, str]
    expires_at: Moment
    revoked: bool = False


@dataclass(frozen=True)
class Caller:
    """Whoever sent a request."""

    kind: Kind = "anonymous"
    app: App | None = None
    grant: Grant | None = field(default=None)

    def sees(self, repository: Repository) -> bool:
        """Whether a repository exists for this caller."""
        return not repository.private or self.covers(repository)

    def covers(self, repository: Repository) -> bool:
        """Whether the caller's token was made for a repository."""
        if self.grant is None or not self.grant.installation.covers(repository):
            return False
        return self.grant.repository_ids is None or repository.id in self.grant.repository_ids

    def holds(self, permission: str, level: str) -> bool:
        """Whether the caller's token has a permission; every token may read metadata."""
        if self.grant is None:
            return False
        return (permission, level) == ("metadata", "read") or RANKS.get(self.grant.permissions.get(permission, ""), 0) >= RANKS[level]


def mint(installation: Installation, repository_ids: frozenset[int] | None, permissions: dict[str, str], now: Moment) -> Grant:
    """A new installation token, of the form that GitHub gives them since 2026."""
    token = f"ghs_{installation.app.id}_{'.'.join(secrets.token_urlsafe(size) for size in (30, 290, 64))}"
    return Grant(token, installation, repository_ids, permissions, now + LIFE)


def verify_app(token: str, apps: dict[int, App]) -> App:
    """The App that signed a JSON web token. Raises Refusal with GitHub's words."""
    try:
        claims = jwt.decode(token, options={"verify_signature": False, "verify_exp": False, "verify_iat": False})
    except jwt.PyJWTError as error:
        raise Refusal(401, "A JSON web token could not be decoded") from error
    issuer = str(claims.get("iss", ""))
    app = next((app for app in apps.values() if issuer in (str(app.id), app.client_id)), None)
    if app is None:
        raise Refusal(404, "Integration not found") if issuer else Refusal(401, "Missing 'issuer' claim ('iss') in assertion")
    try:
        jwt.decode(token, app.public_key_pem, algorithms=["RS256"], options={"verify_exp": False, "verify_iat": False})
    except jwt.PyJWTError as error:
        raise Refusal(401, "A JSON web token could not be decoded") from error
    _check_times(claims.get("iat"), claims.get("exp"), time.time())
    return app


def verify_grant(token: str, grants: dict[str, Grant], now: Moment) -> Grant:
    """What an installation token grants. Raises Refusal."""
    grant = grants.get(token)
    if grant is None or grant.revoked or grant.expires_at <= now:
        raise bad_credentials()
    if grant.installation.suspended_at is not None:
        raise Refusal(403, "This installation has been suspended")
    return grant


def expiry(grant: Grant) -> str:
    """When a token ends, as the API tells it."""
    return str(instant(grant.expires_at))


def _check_times(issued: object, expires: object, now: float) -> None:
    if isinstance(expires, bool) or not isinstance(expires, int | float) or expires <= now:
        raise Refusal(401, "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires")
    if expires > now + LONGEST_APP_TOKEN_S + DRIFT_S:
        raise Refusal(401, "'Expiration time' claim ('exp') is too far in the future")
    if isinstance(issued, bool) or not isinstance(issued, int | float) or issued > now + DRIFT_S:
        raise Refusal(401, "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued")
