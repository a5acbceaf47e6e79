"""Every fault of the environment in one line, and no secret in it."""

from __future__ import annotations

from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from bot.app_settings import SECRETS, is_loopback, read_app_settings, read_private_key, without_secrets
from bot.errors import BadInput


def pem(key: rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey) -> str:
    return key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()).decode()


KEY = pem(rsa.generate_private_key(public_exponent=65537, key_size=2048))
GOOD = {"GITHUB_APP_ID": "42", "GITHUB_PRIVATE_KEY": KEY, "GITHUB_WEBHOOK_SECRET": "s3cr3t-1, s3cr3t-2"}


def test_the_defaults(tmp_path: Path) -> None:
    settings = read_app_settings(GOOD, tmp_path)
    assert (settings.app_id, settings.webhook_secrets, settings.port) == (42, ("s3cr3t-1", "s3cr3t-2"), 8000)
    assert (settings.api_url, settings.server_url, settings.redis_url) == ("https://api.github.com", "https://github.com", None)
    assert settings.database_url == f"sqlite:///{tmp_path}/dualgate.sqlite3"
    assert settings.minutes_per_repo_day == 240
    assert "s3cr3t" not in repr(settings)


def test_every_fault_is_named_at_once(tmp_path: Path) -> None:
    with pytest.raises(BadInput) as caught:
        read_app_settings({"PORT": "x", "GITHUB_API_URL": "ftp://x", "DATABASE_URL": "mysql://u:secret@h/d", "REDIS_URL": "http://x",
                           "DUALGATE_ADMIN_TOKEN": "short", "DUALGATE_MINUTES_PER_REPO_DAY": "-1"}, tmp_path)
    line = str(caught.value)
    for name in ("GITHUB_APP_ID", "GITHUB_PRIVATE_KEY", "GITHUB_WEBHOOK_SECRET", "PORT", "GITHUB_API_URL", "DATABASE_URL", "REDIS_URL",
                 "DUALGATE_ADMIN_TOKEN", "DUALGATE_MINUTES_PER_REPO_DAY"):
        assert name in line
    assert "secret" not in line
    assert "\n" not in line


@pytest.mark.parametrize("value", ["", "not a key", "-----BEGIN PRIVATE KEY-----\nxxxx\n-----END PRIVATE KEY-----", "/no/such/file"])
def test_a_key_that_is_none_is_refused_without_being_shown(value: str) -> None:
    with pytest.raises(BadInput) as caught:
        read_private_key(value)
    assert not value.strip() or value not in str(caught.value)


def test_a_key_comes_as_text_as_one_line_or_as_a_path(tmp_path: Path) -> None:
    path = tmp_path / "key.pem"
    path.write_text(KEY)
    assert read_private_key(KEY) == read_private_key(KEY.replace("\n", "\\n")) == read_private_key(str(path)) == KEY


def test_a_key_of_another_kind_is_refused() -> None:
    with pytest.raises(BadInput, match="RSA"):
        read_private_key(pem(ec.generate_private_key(ec.SECP256R1())))


def test_postgres_has_two_names(tmp_path: Path) -> None:
    for scheme in ("postgres", "postgresql"):
        assert read_app_settings({**GOOD, "DATABASE_URL": f"{scheme}://u@h/d"}, tmp_path).database_url == "postgresql+psycopg://u@h/d"


def test_no_secret_is_left_in_an_environment() -> None:
    environment = dict.fromkeys(SECRETS, "x") | {"PATH": "/bin"}
    assert without_secrets(environment) == {"PATH": "/bin"}
    assert set(without_secrets(environment, keep=("GITHUB_WEBHOOK_SECRET",))) == {"PATH", "GITHUB_WEBHOOK_SECRET"}


@pytest.mark.parametrize(("address", "own"), [("127.0.0.1", True), ("::1", True), ("127.9.9.9", True), ("10.0.0.1", False), ("", False), ("localhost", False)])
def test_loopback(address: str, own: bool) -> None:
    assert is_loopback(address) is own
