"""Apps made from a manifest: https://docs.github.com/apps/sharing-github-apps/registering-a-github-app-from-a-manifest."""

from __future__ import annotations

import datetime
import json
import re
import secrets
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from bot.demo.github.accounts import Accounts
from bot.demo.github.records import App, Json, Moment
from bot.demo.github.refusals import Refusal, not_found

CODE_LIFE = datetime.timedelta(hours=1)
REQUIRED = ("url", "redirect_url")


@dataclass
class Conversion:
    """What a code can be exchanged for, once."""

    app: App
    private_key_pem: str
    expires_at: Moment
    client_secret: str = field(default_factory=lambda: secrets.token_hex(20))


class Manifests(Accounts):
    """Registers an App from a manifest and hands its secrets over."""

    def __init__(self, folder: Path | None = None) -> None:
        super().__init__(folder)
        self.conversions: dict[str, Conversion] = {}

    def register_manifest(self, text: str, owner: str) -> tuple[str, str]:
        """(the code, the address to go back to). Raises Refusal for a manifest that GitHub would not take."""
        manifest = read_manifest(text)
        slug = re.sub(r"[^a-z0-9]+", "-", str(manifest.get("name", f"app-of-{owner}")).lower()).strip("-")
        private, public = _key_pair()
        hook = manifest.get("hook_attributes", {})
        with self.lock:
            if any(app.slug == slug for app in self.apps.values()):
                raise Refusal(422, "Name is already taken")
            permissions, events = manifest.get("default_permissions", {}), manifest.get("default_events", [])
            app = self.add_app(slug, self.next_id("app"), public, hook.get("url") if hook.get("active", True) else None, secrets.token_hex(20),
                               permissions, events, owner=owner)
            code = secrets.token_hex(20)
            self.conversions[code] = Conversion(app, private, self.now() + CODE_LIFE)
            return code, str(manifest["redirect_url"])

    def convert(self, code: str) -> Conversion:
        """What a code stands for, and the end of it. Raises Refusal (404) for one that is unknown, used or an hour old."""
        with self.lock:
            found = self.conversions.pop(code, None)
            if found is None or found.expires_at <= self.now():
                raise not_found()
            return found


def read_manifest(text: str) -> Json:
    """A manifest's members. Raises Refusal."""
    try:
        manifest: Any = json.loads(text)
    except ValueError as error:
        raise Refusal(422, f"The manifest is no JSON: {error}") from error
    if not isinstance(manifest, dict) or any(not isinstance(manifest.get(name), str) for name in REQUIRED):
        raise Refusal(422, f"The manifest must have {' and '.join(REQUIRED)}")
    return manifest


def _key_pair() -> tuple[str, str]:
    key = rsa.generate_private_key(65537, 2048)
    private = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption())
    public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    return private.decode(), public.decode()
