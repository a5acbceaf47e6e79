"""Repositories, permissions, contents, branches, refs, and what all answers have in common."""

from __future__ import annotations

import base64

import pytest

from tests.stand_in.place import Client, Place


def test_a_repository(here: Place) -> None:
    told = here.client().get(here.repo).json()
    assert (told["full_name"], told["default_branch"], told["organization"]["login"]) == ("octo/stats", "main", "octo")


def test_the_api_is_also_below_its_enterprise_prefix(here: Place) -> None:
    client = here.client()
    assert client.get(f"/api/v3{here.repo}").json() == client.get(here.repo).json()
    assert {one.path for one in here.hub.requests} == {here.repo}


def test_what_is_private_does_not_exist_for_strangers(hidden: Place) -> None:
    assert Client(hidden.url).get(hidden.repo).status_code == 404
    assert Client(hidden.url, "ghs_made_up").get(hidden.repo).status_code == 401


def test_what_is_public_can_be_read_by_anybody_and_written_by_nobody(here: Place) -> None:
    assert Client(here.url).get(f"{here.repo}/contents/stats.py").status_code == 200
    assert Client(here.url).post(f"{here.repo}/git/refs", {"ref": "refs/heads/x", "sha": "0" * 40}).status_code == 401


@pytest.mark.parametrize(("login", "permission", "role"), [
    ("ada", "admin", "admin"), ("mel", "write", "maintain"), ("wes", "write", "write"), ("tri", "read", "triage"), ("rea", "read", "read"), ("octo", "admin", "admin")])
def test_permission_knows_four_words_and_role_name_the_true_one(here: Place, login: str, permission: str, role: str) -> None:
    told = here.client(metadata="read").get(f"{here.repo}/collaborators/{login}/permission").json()
    assert (told["permission"], told["role_name"]) == (permission, role)


def test_a_stranger_may_read_what_is_public_and_nothing_private(here: Place, hidden: Place) -> None:
    for place, permission in ((here, "read"), (hidden, "none")):
        place.hub.add_user("stranger")
        assert place.client().get(f"{place.repo}/collaborators/stranger/permission").json()["permission"] == permission


def test_a_custom_role_maps_to_a_known_one(here: Place) -> None:
    here.hub.set_permission(here.repository, "rea", "write", role_name="release captain")
    told = here.client().get(f"{here.repo}/collaborators/rea/permission").json()
    assert (told["permission"], told["role_name"]) == ("write", "release captain")


def test_somebody_who_is_nobody_is_404(here: Place) -> None:
    assert here.client().get(f"{here.repo}/collaborators/nobody/permission").status_code == 404


def test_a_file_and_a_folder(here: Place) -> None:
    sha = here.branch("docs", {"docs/Über uns.md": "# hé\n", "docs/deep/a.txt": "a\n"})
    client = here.client(contents="read")
    file = client.get(f"{here.repo}/contents/docs/%C3%9Cber%20uns.md?ref={sha}").json()
    assert base64.b64decode(file["content"]).decode() == "# hé\n"
    folder = client.get(f"{here.repo}/contents/docs?ref=docs").json()
    assert [(one["name"], one["type"]) for one in folder] == [("deep", "dir"), ("Über uns.md", "file")]
    assert "stats.py" in [one["path"] for one in client.get(f"{here.repo}/contents/").json()]
    assert client.get(f"{here.repo}/contents/stats.py", headers={"Accept": "application/vnd.github.raw+json"}).text.startswith("def mean")


@pytest.mark.parametrize("path", ["contents/none.py", "contents/stats.py?ref=none", "contents/docs/none"])
def test_contents_that_are_not_there(here: Place, path: str) -> None:
    assert here.client().get(f"{here.repo}/{path}").status_code == 404


def test_a_commit_with_its_files(here: Place) -> None:
    sha = here.branch("change", {"stats.py": None, "data.bin": "\0\1", "new name.py": "1\n"})
    told = here.client().get(f"{here.repo}/commits/{sha}").json()
    assert {one["filename"]: one["status"] for one in told["files"]} == {"stats.py": "removed", "data.bin": "added", "new name.py": "added"}
    assert told["stats"]["additions"] == 1
    assert here.client().get(f"{here.repo}/commits/change").json()["sha"] == sha
    assert here.client().get(f"{here.repo}/commits/{'1' * 40}").status_code == 422


def test_refs_are_made_moved_and_deleted(here: Place) -> None:
    client, sha = here.client(), here.repository.git.branch("main")
    new = here.branch("other", {"x": "1"})
    made = client.post(f"{here.repo}/git/refs", {"ref": "refs/heads/dualgate/issue-1-abc123", "sha": sha})
    assert made.status_code == 201
    assert client.post(f"{here.repo}/git/refs", {"ref": "refs/heads/dualgate/issue-1-abc123", "sha": sha}).status_code == 422
    assert client.get(f"{here.repo}/git/ref/heads/dualgate/issue-1-abc123").json()["object"]["sha"] == sha
    assert client.get(f"{here.repo}/branches/dualgate/issue-1-abc123").json()["commit"]["sha"] == sha
    assert client.patch(f"{here.repo}/git/refs/heads/dualgate/issue-1-abc123", {"sha": new}).status_code == 200
    assert client.patch(f"{here.repo}/git/refs/heads/dualgate/issue-1-abc123", {"sha": sha}).json()["message"] == "Update is not a fast forward"
    assert client.delete(f"{here.repo}/git/refs/heads/dualgate/issue-1-abc123").status_code == 204
    assert client.delete(f"{here.repo}/git/refs/heads/dualgate/issue-1-abc123").status_code == 422
    assert client.get(f"{here.repo}/branches/none").json()["message"] == "Branch not found"


def test_reading_only_is_not_writing(here: Place) -> None:
    answer = here.client(contents="read").post(f"{here.repo}/git/refs", {"ref": "refs/heads/x", "sha": here.repository.git.branch("main")})
    assert (answer.status_code, answer.json()["message"]) == (403, "Resource not accessible by integration")


def test_a_renamed_repository_is_found_by_its_old_name(here: Place) -> None:
    here.hub.rename_repository(here.repository, "figures")
    client = here.client()
    moved = client.get("/repos/octo/stats/branches/main")
    assert moved.status_code == 301
    assert client.session.get(moved.headers["Location"], timeout=10).json()["name"] == "main"
    assert client.post("/repos/octo/stats/git/refs", {"ref": "refs/heads/x", "sha": "0" * 40}).status_code == 307


def test_an_archived_repository_is_read_only(here: Place) -> None:
    here.hub.archive_repository(here.repository)
    assert here.client().get(here.repo).json()["archived"] is True
    assert here.client().post(f"{here.repo}/git/refs", {"ref": "refs/heads/x", "sha": "0" * 40}).status_code == 403


def test_headers_and_what_costs_nothing(here: Place) -> None:
    client = here.client()
    first = client.get(here.repo)
    second = client.get(here.repo, headers={"If-None-Match": first.headers["ETag"]})
    assert (second.status_code, second.content) == (304, b"")
    third = client.get(f"{here.repo}/branches/main")
    remaining = [int(one.headers["x-ratelimit-remaining"]) for one in (first, second, third)]
    assert remaining == [4999, 4999, 4998]
    assert client.get("/rate_limit").json()["resources"]["core"]["remaining"] == 4998
    assert {"X-GitHub-Request-Id", "X-GitHub-Media-Type", "x-ratelimit-reset"} <= set(first.headers)


def test_bodies_that_are_no_json(here: Place) -> None:
    client = here.client()
    address = f"{here.url}{here.repo}/git/refs"
    headers = {"Authorization": f"Bearer {client.token}"}
    assert client.session.post(address, data=b"{", headers=headers, timeout=10).status_code == 400
    assert client.session.post(address, data=b"[]", headers=headers, timeout=10).status_code == 400
    here.hub.requests.clear()


def test_an_unknown_address_is_answered_in_json_and_logged(here: Place) -> None:
    assert here.client().get(f"{here.repo}/no-such-thing").json()["message"] == "Not Found"
    assert here.hub.requests.pop().path == f"{here.repo}/no-such-thing"


def test_a_page_of_another_site_cannot_reach_it_by_name(here: Place) -> None:
    assert Client(here.url).get("/", headers={"Host": "evil.example"}).status_code == 403
