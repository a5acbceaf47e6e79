"""The client library that the bot uses, against the stand-in."""

from __future__ import annotations

import pytest
from github import Auth, Github, GithubException, GithubIntegration

from tests.stand_in.place import APP_ID, Place, key_pair


@pytest.mark.parametrize("prefix", ["", "/api/v3"])
def test_pygithub_speaks_to_it_below_either_address(here: Place, prefix: str) -> None:
    pull = here.pull()
    integration = GithubIntegration(auth=Auth.AppAuth(APP_ID, key_pair()[0]), base_url=here.url + prefix)
    installation = integration.get_repo_installation("octo", "stats")
    token = integration.get_access_token(installation.id, permissions={"checks": "write", "pull_requests": "write", "contents": "read"}).token
    repository = Github(auth=Auth.Token(token), base_url=here.url + prefix, retry=None, seconds_between_writes=0, seconds_between_requests=0).get_repo("octo/stats")
    found = repository.get_pull(pull.number)
    run = repository.create_check_run("dualgate", found.head.sha, status="in_progress", external_id="run-1")
    run.edit(conclusion="success", output={"title": "Verified", "summary": "Both gates passed.", "annotations": []})
    comment = found.create_issue_comment("Verified.")
    comment.edit("Verified, again.")
    found.add_to_labels("dualgate")
    assert [one.body for one in found.get_issue_comments()] == ["Verified, again."]
    assert [one.conclusion for one in repository.get_commit(found.head.sha).get_check_runs(check_name="dualgate")] == ["success"]
    assert repository.get_collaborator_permission("mel") == "write"
    assert repository.get_contents("stats.py", ref=found.head.sha).decoded_content.startswith(b"def mean")  # type: ignore[union-attr]
    assert [file.filename for file in found.get_files()] == ["change.py"]
    with pytest.raises(GithubException, match="not accessible"):
        repository.create_git_ref("refs/heads/x", found.head.sha)
