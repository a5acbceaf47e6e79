"""Pull requests by REST, and how they follow their branches."""

from __future__ import annotations

from typing import Any

import pytest

from bot.demo.github.refusals import Refusal
from tests.repository import git
from tests.stand_in.place import Place


def test_a_pull_request_by_all_its_addresses(here: Place) -> None:
    pull, client = here.pull(), here.client()
    whole = client.get(f"{here.repo}/pulls/1").json()
    assert (whole["head"]["sha"], whole["commits"], whole["additions"], whole["mergeable"]) == (pull.head_sha, 1, 1, True)
    assert [one["number"] for one in client.get(f"{here.repo}/pulls").json()] == [1]
    assert [one["sha"] for one in client.get(f"{here.repo}/pulls/1/commits").json()] == [pull.head_sha]
    assert [one["filename"] for one in client.get(f"{here.repo}/pulls/1/files").json()] == ["change.py"]
    assert [one["number"] for one in client.get(f"{here.repo}/commits/{pull.head_sha}/pulls").json()] == [1]
    assert client.get(f"{here.repo}/issues/1").json()["pull_request"]["url"] == whole["url"]
    assert "+x = 1" in client.get(f"{here.repo}/pulls/1", headers={"Accept": "application/vnd.github.diff"}).text
    assert client.get(f"{here.repo}/pulls/2").status_code == 404


def test_an_issue_is_no_pull_request(here: Place) -> None:
    here.hub.open_issue(here.repository, "rea", "It fails")
    assert here.client().get(f"{here.repo}/pulls/1").status_code == 404


def test_files_that_were_renamed_and_binary_ones(here: Place) -> None:
    stats = (here.work / "stats.py").read_text()
    here.branch("moves", {"stats.py": None, "figures.py": stats, "data.bin": "\0\1\2", "b.py": "1\n"})
    here.hub.open_pull(here.repository, "ada", "Move", None, "moves")
    files = {one["filename"]: one for one in here.client().get(f"{here.repo}/pulls/1/files").json()}
    assert (files["figures.py"]["status"], files["figures.py"]["previous_filename"]) == ("renamed", "stats.py")
    assert "patch" not in files["data.bin"]
    assert files["b.py"]["patch"] == "@@ -0,0 +1 @@\n+1"


def test_lists_are_filtered_and_cut_into_pages(here: Place) -> None:
    for number in range(5):
        here.pull(f"change-{number}")
    here.hub.close_pull(here.hub.pull(here.repository, 2))
    client = here.client()
    first = client.get(f"{here.repo}/pulls?state=all&per_page=2")
    assert [one["number"] for one in first.json()] == [5, 4]
    assert set(first.links) == {"next", "last"}
    second = client.session.get(first.links["next"]["url"], headers={"Authorization": f"Bearer {client.token}"}, timeout=10)
    assert [one["number"] for one in second.json()] == [3, 2]
    assert set(second.links) == {"first", "prev", "next", "last"}
    assert [one["number"] for one in client.get(f"{here.repo}/pulls?state=closed").json()] == [2]
    assert [one["number"] for one in client.get(f"{here.repo}/pulls?head=octo:change-3").json()] == [4]
    assert client.get(f"{here.repo}/pulls?base=other").json() == []
    assert [one["number"] for one in client.get(f"{here.repo}/pulls?sort=updated&direction=desc&per_page=1&page=4").json()] == [1]


def test_an_app_opens_a_draft_in_its_own_name(here: Place) -> None:
    here.branch("dualgate/issue-1-abc123", {"x.py": "1\n"})
    body = {"title": "Mend it", "head": "dualgate/issue-1-abc123", "base": "main", "body": "Fixes it.", "draft": True}
    made = here.client().post(f"{here.repo}/pulls", body)
    assert made.status_code == 201
    assert (made.json()["user"]["login"], made.json()["user"]["type"], made.json()["draft"]) == ("dualgate[bot]", "Bot", True)
    assert here.client().post(f"{here.repo}/pulls", body).json()["errors"][0]["message"].startswith("A pull request already exists")


@pytest.mark.parametrize("change", [{"head": "none"}, {"base": "none"}, {"head": "main"}, {"head": "nobody:main"}, {"body": "x" * 65_537}])
def test_pull_requests_that_are_refused(here: Place, change: dict[str, Any]) -> None:
    here.branch("fine", {"x.py": "1\n"})
    answer = here.client().post(f"{here.repo}/pulls", {"title": "t", "head": "fine", "base": "main", **change})
    assert (answer.status_code, answer.json()["message"]) == (422, "Validation Failed")


def test_opening_needs_its_permission(here: Place) -> None:
    here.branch("fine", {"x.py": "1\n"})
    assert here.client(contents="write").post(f"{here.repo}/pulls", {"title": "t", "head": "fine", "base": "main"}).status_code == 403


def test_an_app_edits_and_closes(here: Place) -> None:
    here.pull()
    client = here.client()
    assert client.patch(f"{here.repo}/pulls/1", {"title": "Better", "body": "New"}).json()["title"] == "Better"
    assert client.patch(f"{here.repo}/pulls/1", {"state": "closed"}).json()["state"] == "closed"
    assert client.patch(f"{here.repo}/pulls/1", {"state": "open"}).json()["closed_at"] is None


def test_a_pull_request_from_a_fork(here: Place) -> None:
    fork = here.hub.fork(here.repository, "rea")
    sha = here.branch("mine", {"x.py": "1\n"}, fork)
    pull = here.hub.open_pull(here.repository, "rea", "From outside", None, "mine", head_repository=fork)
    told = here.client().get(f"{here.repo}/pulls/1").json()
    assert (told["head"]["label"], told["head"]["repo"]["fork"]) == ("rea:mine", True)
    assert here.repository.git.refs()["refs/pull/1/head"] == sha
    new = here.branch("mine", {"x.py": "2\n"}, fork)
    assert here.client().get(f"{here.repo}/pulls/1").json()["head"]["sha"] == new == pull.head_sha
    here.hub.delete_head_repository(pull)
    assert here.client().get(f"{here.repo}/pulls/1").json()["head"]["repo"] is None
    assert here.client().get("/repos/rea/stats").status_code == 404


def test_a_forced_push_and_a_deleted_branch(here: Place) -> None:
    pull = here.pull()
    main = here.repository.git.branch("main")
    here.hub.push(here.repository, "change", here.work, str(main))
    assert pull.head_sha == main
    here.hub.delete_branch(here.repository, "change")
    assert here.client().get(f"{here.repo}/pulls/1").json()["state"] == "closed"


def test_a_conflict_is_not_mergeable(here: Place) -> None:
    base = str(here.repository.git.branch("main"))
    here.branch("one", {"stats.py": "one\n"})
    here.hub.merge_pull(here.hub.open_pull(here.repository, "ada", "one", None, "one"))
    here.hub.push(here.repository, "start", here.work, base)
    pull = _from(here, base, "two", {"stats.py": "two\n"})
    told = here.client().get(f"{here.repo}/pulls/{pull.number}").json()
    assert (told["mergeable"], told["mergeable_state"]) == (False, "dirty")
    with pytest.raises(Refusal, match="not mergeable"):
        here.hub.merge_pull(pull)


def _from(here: Place, base: str, name: str, files: dict[str, str | None]) -> Any:
    git(here.work, "checkout", "-q", base)
    here.branch(name, files)
    return here.hub.open_pull(here.repository, "ada", name, None, name)


def test_a_merge_moves_the_base(here: Place) -> None:
    pull = here.pull()
    merged = here.hub.merge_pull(pull, by="mel")
    told = here.client().get(f"{here.repo}/pulls/1").json()
    assert (told["merged"], told["merge_commit_sha"], told["merged_by"]["login"]) == (True, merged, "mel")
    assert here.repository.git.branch("main") == merged


def test_a_base_that_holds_the_head_has_merged_it(here: Place) -> None:
    pull = here.pull()
    here.hub.push(here.repository, "main", here.work, pull.head_sha)
    assert here.client().get(f"{here.repo}/pulls/1").json()["merged"] is True
