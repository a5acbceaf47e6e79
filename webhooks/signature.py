"""Raw bytes -> trusted or not."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable


def is_signed(body: bytes, header: str | None, secrets: Iterable[str]) -> bool:
    """Whether `X-Hub-Signature-256` is the HMAC-SHA256 of the raw body under one of the secrets (several while rotating).

    Compared in constant time; SHA-1 is not accepted. Source: GitHub, "Validating webhook deliveries".
    """
    if not header or not header.startswith("sha256="):
        return False
    given = header.removeprefix("sha256=").encode("utf-8", "replace")
    matches = [hmac.compare_digest(hmac.new(secret.encode(), body, hashlib.sha256).hexdigest().encode(), given) for secret in secrets if secret]
    return any(matches)
