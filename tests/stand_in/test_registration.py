"""An App registered from a manifest, and installed, by a person with a browser."""

from __future__ import annotations

import json
import re
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest
import requests

from tests.stand_in.place import Client, Place, app_token

MANIFEST = {"name": "Dual Gate 2", "url": "http://127.0.0.1:8000", "redirect_url": "http://127.0.0.1:8000/setup/done", "public": False,
            "hook_attributes": {"url": "http://127.0.0.1:9/webhooks/github"}, "default_permissions": {"checks": "write"}, "default_events": ["pull_request"]}


def _propose(place: Place, manifest: object) -> requests.Response:
    origin = {"Origin": "http://127.0.0.1:8000"}
    return requests.post(f"{place.url}/settings/apps/new?state=abc", data={"manifest": json.dumps(manifest)}, headers=origin, timeout=10)


def test_from_the_manifest_to_a_token(here: Place) -> None:
    page = _propose(here, MANIFEST)
    assert "form-action 'self' http://127.0.0.1:8000;" in page.headers["Content-Security-Policy"]
    form = {name: unescape(value) for name, value in re.findall(r'type="hidden" name="(manifest|state|owner)" value="([^"]*)"', page.text)}
    back = requests.post(f"{here.url}/settings/apps/create", data=form, allow_redirects=False, timeout=10).headers["Location"]
    answer = parse_qs(urlsplit(back).query)
    assert back.startswith("http://127.0.0.1:8000/setup/done?")
    assert answer["state"] == ["abc"]
    address = f"/app-manifests/{answer['code'][0]}/conversions"
    made = Client(here.url).post(address)
    assert made.status_code == 201
    assert (made.json()["slug"], made.json()["permissions"]) == ("dual-gate-2", {"checks": "write", "metadata": "read"})
    assert Client(here.url).post(address).status_code == 404
    assert 'value="octo/stats"' in requests.get(f"{here.url}/apps/dual-gate-2/installations/new", timeout=10).text
    installed = requests.post(f"{here.url}/apps/dual-gate-2/installations", data={"repository": "octo/stats"}, timeout=10)
    assert "installed" in installed.text
    app = Client(here.url, app_token(made.json()["id"], key=made.json()["pem"]))
    [installation] = app.get("/app/installations").json()
    assert app.post(f"/app/installations/{installation['id']}/access_tokens").status_code == 201


def test_a_code_lives_an_hour(here: Place) -> None:
    code, _ = here.hub.register_manifest(json.dumps(MANIFEST), "ada")
    here.hub.skip(3601)
    assert Client(here.url).post(f"/app-manifests/{code}/conversions").status_code == 404


@pytest.mark.parametrize("manifest", ["no object", {"name": "x"}, {"url": "http://127.0.0.1:8000"}])
def test_a_manifest_that_is_refused(here: Place, manifest: object) -> None:
    assert _propose(here, manifest).status_code == 422


def test_the_last_step_takes_no_form_of_another_site(here: Place) -> None:
    origin = {"Origin": "http://127.0.0.1:8000"}
    assert requests.post(f"{here.url}/settings/apps/create", data={"manifest": json.dumps(MANIFEST)}, headers=origin, timeout=10).status_code == 403
