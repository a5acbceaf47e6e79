"""How GitHub says no: a status, a message, and for 422 the fields at fault."""

from __future__ import annotations

from bot.demo.github.records import Json

DOCUMENTATION = "https://docs.github.com/rest"


class Refusal(Exception):
    """An answer other than the one that was asked for."""

    def __init__(self, status: int, message: str, errors: list[Json] | None = None, headers: dict[str, str] | None = None) -> None:
        super().__init__(message)
        self.status, self.message, self.errors, self.headers = status, message, errors, headers or {}

    def body(self) -> Json:
        """GitHub's `basic-error`, or `validation-error` where fields are named."""
        named = {} if self.errors is None else {"errors": self.errors}
        return {"message": self.message, **named, "documentation_url": DOCUMENTATION, "status": str(self.status)}


def not_found() -> Refusal:
    """Also the answer for what the caller may not see."""
    return Refusal(404, "Not Found")


def bad_credentials() -> Refusal:
    """A token that is unknown, expired or revoked."""
    return Refusal(401, "Bad credentials")


def not_accessible() -> Refusal:
    """A permission that the token lacks."""
    return Refusal(403, "Resource not accessible by integration")


def invalid(resource: str, field: str, code: str, message: str | None = None) -> Refusal:
    """A 422 about one field."""
    told = {} if message is None else {"message": message}
    return Refusal(422, "Validation Failed", [{"resource": resource, "field": field, "code": code, **told}])


def malformed(why: str) -> Refusal:
    """A 422 about a request that does not fit its schema."""
    return Refusal(422, f"Invalid request.\n\n{why}")
