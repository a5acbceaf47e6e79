"""The App's own token, installations, and the tokens that are minted for them."""

from __future__ import annotations

import re
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from bot.demo.github import Hub
from tests.repository import make
from tests.stand_in.place import APP_ID, PERMISSIONS, Client, Place, app_token, key_pair


def test_an_app_sees_itself_and_its_installations(here: Place) -> None:
    app = here.as_app()
    assert app.get("/app").json()["slug"] == "dualgate"
    assert [one["id"] for one in app.get("/app/installations").json()] == [here.installation]
    assert app.get(f"/app/installations/{here.installation}").json()["target_type"] == "Organization"
    assert app.get(f"{here.repo}/installation").json()["id"] == here.installation
    assert app.get("/repos/octo/none/installation").status_code == 404


@pytest.mark.parametrize("claims", [{"expires": 3600}, {"expires": -1}, {"issued": 600}])
def test_times_that_github_refuses(here: Place, claims: dict[str, Any]) -> None:
    assert Client(here.url, app_token(**claims)).get("/app").status_code == 401


def test_a_token_signed_by_another_key_is_refused(here: Place) -> None:
    other = rsa.generate_private_key(65537, 2048).private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    answer = Client(here.url, app_token(key=other.decode())).get("/app")
    assert (answer.status_code, answer.json()["message"]) == (401, "A JSON web token could not be decoded")


def test_an_unknown_app_is_refused(here: Place) -> None:
    assert Client(here.url, app_token(1)).get("/app").json()["message"] == "Integration not found"


def test_an_installation_token_is_none_of_the_app(here: Place) -> None:
    assert here.client().get("/app").status_code == 401
    assert here.as_app().get(here.repo).status_code == 401


def _mint(place: Place, body: Any = None) -> Any:
    return place.as_app().post(f"/app/installations/{place.installation}/access_tokens", body)


def test_a_token_has_githubs_form_and_life(here: Place) -> None:
    minted = _mint(here).json()
    assert re.fullmatch(rf"ghs_{APP_ID}_[A-Za-z0-9._-]{{400,}}", minted["token"])
    assert minted["permissions"] == {**PERMISSIONS, "metadata": "read"}
    assert Client(here.url, minted["token"]).get(here.repo).status_code == 200
    here.hub.skip(3601)
    answer = Client(here.url, minted["token"]).get(here.repo)
    assert (answer.status_code, answer.json()["message"]) == (401, "Bad credentials")


def test_a_scoped_token_reaches_no_other_repository(hidden: Place) -> None:
    hidden.hub.install(hidden.app, [hidden.hub.add_repository("octo", "other", hidden.work, private=True)])
    minted = _mint(hidden, {"repository_ids": [hidden.repository.id], "permissions": {"contents": "read"}}).json()
    assert [one["name"] for one in minted["repositories"]] == ["stats"]
    client = Client(hidden.url, minted["token"])
    assert client.get(hidden.repo).status_code == 200
    assert client.get("/repos/octo/other").status_code == 404
    assert hidden.hub.requests[-1].permissions == {"metadata": "read", "contents": "read"}


@pytest.mark.parametrize("body", [{"permissions": {"workflows": "write"}}, {"permissions": {"contents": "admin"}}, {"repository_ids": [1]}, {"repository_ids": []}])
def test_more_than_was_granted_is_422(here: Place, body: Any) -> None:
    assert _mint(here, body).status_code == 422


def test_a_suspended_installation(here: Place) -> None:
    client = here.client()
    here.hub.suspend(here.installation)
    assert _mint(here).status_code == 403
    assert client.get(here.repo).json()["message"] == "This installation has been suspended"
    here.hub.unsuspend(here.installation)
    assert _mint(here).status_code == 201


def test_an_uninstalled_app(hidden: Place) -> None:
    client = hidden.client()
    hidden.hub.uninstall(hidden.installation)
    assert _mint(hidden).status_code == 404
    assert client.get(hidden.repo).status_code == 401


def test_expired_tokens(here: Place) -> None:
    client = here.client()
    here.hub.expire_tokens()
    assert client.get(here.repo).status_code == 401
    assert here.client().get(here.repo).status_code == 200


def test_another_apps_installation_is_not_found(here: Place) -> None:
    here.hub.add_app("other", 77, key_pair()[1])
    assert Client(here.url, app_token(77)).post(f"/app/installations/{here.installation}/access_tokens").status_code == 404


def test_an_installation_on_two_accounts_is_refused(here: Place) -> None:
    other = here.hub.add_repository("somebody", "else", here.work)
    with pytest.raises(ValueError, match="one account"):
        here.hub.install(here.app, [here.repository, other])


def test_a_hub_of_its_own_folder_leaves_nothing(tmp_path: Any) -> None:
    hub = Hub()
    make(tmp_path / "w")
    hub.add_repository("o", "r", tmp_path / "w")
    hub.close()
    assert not hub.folder.exists()
