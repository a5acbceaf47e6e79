"""Who sees the pages."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.unit.webhooks.seeds import TOKEN, headers_of, payload
from webhooks.access import MOST_WRONG, Attempts
from webhooks.sign_in import own_page

GUARDED = ("/", "/runs/x", "/runs/x.json", "/runs/x/live", "/runs/x/logs/1", "/metrics")


@pytest.fixture
def guarded(make_app: Callable[..., Flask]) -> FlaskClient:
    return make_app(admin_token=TOKEN).test_client()


def sign_in(client: FlaskClient, token: str = TOKEN, target: str = "/") -> tuple[int, str, str]:
    answer = client.post("/login", data={"token": token, "next": target})
    return answer.status_code, answer.headers.get("Location", ""), answer.headers.get("Set-Cookie", "")


@pytest.mark.parametrize("path", GUARDED)
def test_without_a_token_strangers_are_told_what_to_set(client: FlaskClient, path: str) -> None:
    answer = client.get(path, environ_base={"REMOTE_ADDR": "203.0.113.9"})
    assert answer.status_code == 403
    assert "DUALGATE_ADMIN_TOKEN" in answer.text
    assert answer.text.count("\n") == 1


@pytest.mark.parametrize("host", ["localhost", "localhost:8000", "127.0.0.1:9", "[::1]", "[::1]:8000"])
@pytest.mark.parametrize("peer", ["127.0.0.1", "127.8.9.1", "::1"])
def test_this_machine_is_let_in(make_app: Callable[..., Flask], host: str, peer: str) -> None:
    client = make_app(public_url="https://dualgate.example").test_client()
    assert client.get("/", headers={"Host": host}, environ_base={"REMOTE_ADDR": peer}).status_code == 200


def test_the_public_name_is_not_this_machine(make_app: Callable[..., Flask]) -> None:
    client = make_app(public_url="https://dualgate.example").test_client()
    assert client.get("/", headers={"Host": "dualgate.example"}).status_code == 403, "it may come through a tunnel that says nothing of itself"


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "", "[::1", "127.0.0.2", "0.0.0.0"])
def test_a_rebound_name_is_not_this_machine(client: FlaskClient, host: str) -> None:
    assert client.get("/", headers={"Host": host}).status_code == 403


@pytest.mark.parametrize("name", ["X-Forwarded-For", "Forwarded", "X-Real-IP", "Via", "X-Forwarded-Proto"])
def test_a_proxy_on_this_machine_is_not_this_machine(client: FlaskClient, name: str) -> None:
    assert client.get("/", headers={name: "127.0.0.1"}).status_code == 403
    assert client.get("/", environ_overrides={"SERVER_PROTOCOL": "HTTP/1.0"}).status_code == 403


def test_the_door_itself_is_never_behind_the_token(guarded: FlaskClient) -> None:
    body = payload()
    assert guarded.post("/webhooks/github", data=body, headers=headers_of(body), environ_base={"REMOTE_ADDR": "203.0.113.9"}).status_code == 202
    assert guarded.get("/healthz", environ_base={"REMOTE_ADDR": "203.0.113.9"}).status_code == 200
    assert guarded.get("/readyz", environ_base={"REMOTE_ADDR": "203.0.113.9"}).status_code == 200


@pytest.mark.parametrize("path", GUARDED)
def test_with_a_token_even_this_machine_needs_it(guarded: FlaskClient, path: str) -> None:
    answer = guarded.get(path)
    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"].startswith("Bearer")


@pytest.mark.parametrize(("header", "status"), [(f"Bearer {TOKEN}", 200), (f"bearer {TOKEN}", 200), (f"Bearer {TOKEN}x", 401), ("Bearer ", 401),
                                                (f"Basic {TOKEN}", 401), (f"Bearer {TOKEN[:-1]}é", 401)])
def test_the_bearer_of_the_token_is_let_in(guarded: FlaskClient, header: str, status: int) -> None:
    assert guarded.get("/metrics", headers={"Authorization": header}, environ_base={"REMOTE_ADDR": "203.0.113.9"}).status_code == status


def test_a_person_is_led_to_the_form_and_back(guarded: FlaskClient) -> None:
    answer = guarded.get("/?repository=acme/shop&verdict=rejected", headers={"Accept": "text/html"})
    assert (answer.status_code, answer.headers["Location"]) == (303, "/login?next=/?repository%3Dacme/shop%26verdict%3Drejected")
    form = guarded.get(answer.headers["Location"])
    assert 'value="/?repository=acme/shop&amp;verdict=rejected"' in form.text
    assert sign_in(guarded, target="/?repository=acme/shop&verdict=rejected")[:2] == (303, "/?repository=acme/shop&verdict=rejected")
    assert guarded.get("/", headers={"Accept": "text/html"}).status_code == 200


def test_the_cookie_is_for_this_site_alone(guarded: FlaskClient, make_app: Callable[..., Flask]) -> None:
    _, _, cookie = sign_in(guarded)
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert "Secure" not in cookie
    assert TOKEN not in cookie
    _, _, cookie = sign_in(make_app(admin_token=TOKEN, public_url="https://dualgate.example").test_client())
    assert cookie.startswith("__Host-dualgate=")
    assert "Secure" in cookie


@pytest.mark.parametrize("change", [lambda value: value[:-6] + ("A" if value[-6] != "A" else "B") + value[-5:], lambda value: "root" + value[5:], lambda _: "admin", lambda _: ""])
def test_a_forged_session_is_none(guarded: FlaskClient, change: Callable[[str], str]) -> None:
    value = sign_in(guarded)[2].split("=", 1)[1].split(";")[0]
    guarded.set_cookie("dualgate", change(value))
    assert guarded.get("/").status_code == 401


def test_a_session_of_another_token_is_none(guarded: FlaskClient, make_app: Callable[..., Flask]) -> None:
    other = make_app(admin_token="another token of the operator").test_client()
    sign_in(other, "another token of the operator")
    cookie = other.get_cookie("dualgate")
    assert cookie is not None
    guarded.set_cookie("dualgate", cookie.value)
    assert guarded.get("/").status_code == 401


def test_leaving_ends_the_session(guarded: FlaskClient) -> None:
    sign_in(guarded)
    assert guarded.post("/logout").status_code == 303
    assert guarded.get("/").status_code == 401


def test_an_address_gets_so_many_wrong_tokens_a_minute(guarded: FlaskClient) -> None:
    assert [sign_in(guarded, "wrong")[0] for _ in range(MOST_WRONG)] == [401] * MOST_WRONG
    assert sign_in(guarded)[0] == 429
    assert guarded.get("/", headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 429
    assert guarded.get("/", headers={"Authorization": f"Bearer {TOKEN}"}, environ_base={"REMOTE_ADDR": "203.0.113.9"}).status_code == 200


def test_after_a_minute_it_may_try_again() -> None:
    now = [0.0]
    attempts = Attempts(lambda: now[0])
    for _ in range(MOST_WRONG):
        attempts.note("203.0.113.9")
    assert attempts.exhausted("203.0.113.9")
    now[0] = 61.0
    assert not attempts.exhausted("203.0.113.9")


@pytest.mark.parametrize("target", ["//evil.example", "/\\evil.example", "https://evil.example", "javascript:alert(1)", "/runs/../../evil", "/%2f/evil.example", "\n//evil",
                                    "/runs/x\r\nSet-Cookie: a=b", "", "runs/x", "/login", "/runs/x?next=//evil.example:80"])
def test_the_form_leads_nowhere_else(target: str) -> None:
    assert own_page(target) == "/"


@pytest.mark.parametrize("target", ["/", "/runs/20261129-abcdef", "/?repository=acme/shop&page=2"])
def test_the_form_leads_back_to_our_pages(target: str) -> None:
    assert own_page(target) == target


@pytest.mark.parametrize("path", ["/", "/login", "/runs/none", "/nothing", "/static/page.css", "/metrics", "/webhooks/github"])
def test_every_answer_bears_the_headers(guarded: FlaskClient, path: str) -> None:
    answer = guarded.get(path, headers={"Authorization": f"Bearer {TOKEN}"})
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert (answer.headers["X-Frame-Options"], answer.headers["X-Content-Type-Options"], answer.headers["Referrer-Policy"]) == ("DENY", "nosniff", "no-referrer")
    assert answer.headers["Cache-Control"] == ("public, max-age=300" if path.startswith("/static") else "no-store")
