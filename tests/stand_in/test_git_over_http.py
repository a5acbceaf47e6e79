"""Git over HTTP with the real client."""

from __future__ import annotations

import base64
import gzip
import os
import subprocess
from pathlib import Path

import pytest
import requests

from tests.repository import commit
from tests.stand_in.place import Place


def _git(*words: str | Path, token: str | None = None, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """The client, with the token in a header of the environment: never in the address."""
    variables = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "true", "PATH": os.environ["PATH"]}
    if token is not None:
        secret = base64.b64encode(f"x-access-token:{token}".encode()).decode()
        variables |= {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "http.extraHeader", "GIT_CONFIG_VALUE_0": f"Authorization: Basic {secret}"}
    return subprocess.run(["git", *map(str, words)], capture_output=True, text=True, check=False, env=variables, cwd=folder)


def _address(place: Place) -> str:
    return f"{place.url}/{place.repository.full_name}.git"


def test_a_public_repository_can_be_cloned_by_anybody(here: Place, tmp_path: Path) -> None:
    assert _git("clone", "-q", _address(here), tmp_path / "c").returncode == 0


def test_a_private_one_only_with_a_token_that_may_read(hidden: Place, tmp_path: Path) -> None:
    tokens = {"none": None, "wrong": "ghs_1_x", "of other work": hidden.hub.mint(hidden.installation, permissions={"issues": "write"}),
              "right": hidden.hub.mint(hidden.installation, permissions={"contents": "read"})}
    ended = {name: _git("clone", "-q", _address(hidden), tmp_path / name, token=token).returncode for name, token in tokens.items()}
    assert ended == {"none": 128, "wrong": 128, "of other work": 128, "right": 0}


def test_a_token_for_another_repository_sees_nothing(hidden: Place) -> None:
    other = hidden.hub.add_repository("octo", "other", hidden.work, private=True)
    hidden.hub.install(hidden.app, [other])
    token = hidden.hub.mint(hidden.installation, repositories=[other])
    assert "not found" in _git("ls-remote", _address(hidden), token=token).stderr


def test_an_expired_token_is_refused(hidden: Place) -> None:
    token = hidden.hub.mint(hidden.installation)
    hidden.hub.expire_tokens()
    assert _git("ls-remote", _address(hidden), token=token).returncode == 128


def test_the_head_of_a_pull_request_and_any_commit_can_be_fetched(here: Place, tmp_path: Path) -> None:
    fork = here.hub.fork(here.repository, "rea")
    sha = here.branch("mine", {"x.py": "1\n"}, fork)
    here.hub.open_pull(here.repository, "rea", "From outside", None, "mine", head_repository=fork)
    _git("init", "-q", tmp_path / "c")
    for wanted in ("refs/pull/1/head", sha):
        assert _git("fetch", "-q", "--depth=1", _address(here), wanted, folder=tmp_path / "c").returncode == 0
        assert _git("rev-parse", "FETCH_HEAD", folder=tmp_path / "c").stdout.strip() == sha


@pytest.mark.parametrize("contents", ["read", "write"])
def test_pushing_needs_write(here: Place, tmp_path: Path, contents: str) -> None:
    clone, token = tmp_path / "c", here.hub.mint(here.installation, permissions={"contents": contents})
    _git("clone", "-q", _address(here), clone)
    sha = commit(clone, {"x.py": "1\n"})
    pushed = _git("push", "-q", "origin", "HEAD:refs/heads/dualgate/issue-1-abc123", token=token, folder=clone)
    assert (pushed.returncode == 0) is (contents == "write"), pushed.stderr
    assert here.repository.git.branch("dualgate/issue-1-abc123") == (sha if contents == "write" else None)


def test_a_push_is_told_and_moves_the_pull_request(here: Place, tmp_path: Path) -> None:
    pull, clone = here.pull(), tmp_path / "c"
    _git("clone", "-q", "-b", "change", _address(here), clone)
    sha = commit(clone, {"large.bin": "x" * 3_000_000})
    # The body is sent in chunks when it is larger than the client's buffer.
    pushed = _git("-c", "http.postBuffer=65536", "push", "-q", "origin", "change", token=here.hub.mint(here.installation), folder=clone)
    assert pushed.returncode == 0, pushed.stderr
    assert pull.head_sha == sha


def test_workflows_need_their_own_permission(here: Place, tmp_path: Path) -> None:
    _git("clone", "-q", _address(here), tmp_path / "c")
    commit(tmp_path / "c", {".github/workflows/ci.yml": "on: push\n"})
    pushed = _git("push", "-q", "origin", "HEAD:refs/heads/x", token=here.hub.mint(here.installation), folder=tmp_path / "c")
    assert "without `workflows` permission" in pushed.stderr
    assert here.repository.git.branch("x") is None


def test_refs_of_pull_requests_are_githubs_own(here: Place, tmp_path: Path) -> None:
    here.pull()
    _git("clone", "-q", _address(here), tmp_path / "c")
    assert _git("push", "-q", "origin", "HEAD:refs/pull/1/head", token=here.hub.mint(here.installation), folder=tmp_path / "c").returncode != 0


def test_a_compressed_request_is_read(here: Place) -> None:
    body = b"0014command=ls-refs\n0000"
    answer = requests.post(f"{_address(here)}/git-upload-pack", gzip.compress(body), timeout=10, headers={
        "Content-Encoding": "gzip", "Content-Type": "application/x-git-upload-pack-request", "Git-Protocol": "version=2"})
    assert b"refs/heads/main" in answer.content


def test_a_fault_of_git(here: Place) -> None:
    here.hub.faults.add("GET", r"/octo/stats\.git/info/refs", 503)
    assert _git("ls-remote", _address(here)).returncode == 128
    assert _git("ls-remote", _address(here)).returncode == 0
