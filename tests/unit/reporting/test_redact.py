"""No secret leaves, whatever text it comes in; and no text takes long."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.reporting import redact as module
from bot.reporting.redact import REDACTED, Redactor, redact

BODY = "\n".join(["MIIEpAIBAAKCAQEA" + "a1B2+/" * 8] * 6)
LETTERS = "A1b2C3d4" * 12
SECRETS = {
    "an installation token": f"ghs_{LETTERS[:36]}", "one of 2026": f"ghs_123456_eyJhbGciOiJSUzI1NiJ9.{LETTERS * 4}.{LETTERS}-_x", "personal": f"ghp_{LETTERS[:36]}", "oauth": f"gho_{LETTERS[:36]}",
    "user": f"ghu_{LETTERS[:36]}", "refresh": f"ghr_{LETTERS[:40]}", "fine-grained": f"github_pat_{LETTERS[:22]}_{LETTERS[:59]}", "anthropic": f"sk-ant-api03-{LETTERS}-_AA",
    "openai": f"sk-{LETTERS[:48]}", "openai project": f"sk-proj-{LETTERS}_-", "aws": "AKIAIOSFODNN7EXAMPLE", "google": f"AIza{LETTERS[:35]}", "slack": "xoxb-123456789012-abcdefABCDEF",
    "gitlab": f"glpat-{LETTERS[:20]}", "npm": f"npm_{LETTERS[:36]}", "pypi": f"pypi-AgEIcHlwaS5vcmc{LETTERS}", "hugging face": f"hf_{LETTERS[:34]}", "a web token": f"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.{LETTERS[:43]}",
}
HURTFUL = {
    "one long token": "ghs_" + "a" * 1_000_000, "many short ones": "ghs_a " * 200_000, "begin lines": "-----BEGIN RSA PRIVATE KEY-----\n" * 40_000, "dashes": "-" * 1_000_000,
    "begin and blanks": "-----BEGIN " + "A " * 500_000, "web token starts": "eyJ" * 333_333, "web tokens without end": "eyJaaaaaaaaaa." * 70_000, "addresses": "http://" * 140_000,
    "users": "http://" + "a:" * 500_000, "at signs": "x://a:b" + "@" * 1_000_000, "authorizations": "authorization: " * 70_000, "letters": "a" * 1_000_000, "schemes": "a+.-" * 250_000,
    "keys": "sk-" * 333_333, "letters before a colon": "A" * 500_000 + "://" + "b" * 500_000,
}


@pytest.mark.parametrize("kind", SECRETS)
@pytest.mark.parametrize("frame", ["{}", "token={}", "a {} b", "\"{}\"", "https://{}@github.com/a/b", "({})", "Authorization: Bearer {}\n", "authorization: token {}"])
def test_a_secret_is_gone(kind: str, frame: str) -> None:
    shown = redact(frame.format(SECRETS[kind]))
    assert REDACTED in shown
    assert SECRETS[kind][4:16] not in shown
    assert shown[:1] == frame[:1] or frame.startswith("{")


@pytest.mark.parametrize("text", [
    f"-----BEGIN RSA PRIVATE KEY-----\n{BODY}\n-----END RSA PRIVATE KEY-----", f"-----BEGIN PRIVATE KEY-----\n{BODY}", "-----BEGIN EC PRIVATE KEY-----\\n" + BODY.replace("\n", "\\n") + "\\n-----END EC PRIVATE KEY-----",
    f"-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,AB12\n\n{BODY}\n-----END RSA PRIVATE KEY-----",
])
def test_a_key_is_gone_finished_or_not(text: str) -> None:
    shown = redact(f"before. {text} `after`")
    assert "MIIE" not in shown
    assert shown.startswith("before. [redacted]")
    assert shown.endswith("`after`")


def test_a_begin_line_hides_no_later_result() -> None:
    assert "2 tests broke" in redact("-----BEGIN PRIVATE KEY-----\n```\n\n2 tests broke")


@pytest.mark.parametrize(("text", "wanted"), [
    ("Authorization: Basic dXNlcjpwYXNz", "Authorization: [redacted]"), ("{'Authorization': 'abcdefghij'}", "{'Authorization': '[redacted]'}"),
    ("https://me:secret@host/x", "https://[redacted]@host/x"), ("postgresql+psycopg://u:p%40ss@db:5432/x", "postgresql+psycopg://[redacted]@db:5432/x"), ("redis://:pw@r", "redis://[redacted]@r"),
])
def test_headers_and_addresses(text: str, wanted: str) -> None:
    assert redact(text) == wanted


@pytest.mark.parametrize("text", [
    "task-aaaaaaaaaaaaaaaaaaaaaaaaa", "sk-learn", "https://host:8080/a@b", "797db88c8c1b9af5e1a8e1c3f4ebb6d071b1a25d", "-----BEGIN CERTIFICATE-----", "tests/test_hf_hub.py::test_npm_install[a@b]",
    "Authorization failed", "pypi-simple", "git@github.com:a/b",
])
def test_ordinary_text_stays(text: str) -> None:
    assert redact(text) == text


def test_the_process_own_secrets_are_gone() -> None:
    hide = Redactor(["hunter22", "abc", f"-----BEGIN X-----\n{BODY}\n-----END X-----"])
    assert hide("hunter22 abc") == "[redacted] abc"
    assert hide(f"| {BODY.splitlines()[2]} |") == "| [redacted] |"


def test_a_longer_secret_goes_before_its_own_beginning() -> None:
    assert Redactor(["secret", "secret-and-more"])("x secret-and-more") == "x [redacted]"


def test_registered_secrets_are_gone_from_every_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_process", Redactor())
    module.register("correct horse")
    assert redact("the correct horse") == "the [redacted]"


@pytest.mark.parametrize("kind", HURTFUL)
def test_a_megabyte_shaped_to_hurt_comes_through(kind: str) -> None:
    assert redact(HURTFUL[kind]) is not None


@given(st.text())
def test_redacting_twice_is_redacting_once(text: str) -> None:
    assert redact(redact(text)) == redact(text)
