"""Conversations with people: labels, commands, buttons, configuration."""

from __future__ import annotations

import pytest

from tests.journeys.app.conftest import Build
from tests.journeys.app.town import AGENT, BAD_CHANGE, GOOD_CHANGE, SLOW

COPILOT = AGENT[0]
CONFIG = ".github/dualgate.yml"


def test_the_label_of_someone_with_write_asks_for_it_now_and_on_each_push(town: Build) -> None:
    here = town()
    here.stage.hub.set_permission(here.repository, "olga", "write")
    pull = here.opens("tom", BAD_CHANGE)
    here.stage.hub.add_label("olga", pull, "dualgate")
    assert here.check(pull).conclusion == "failure"
    here.until_told(pull)
    here.push("change", here.commit(here.base, GOOD_CHANGE))
    assert here.check(pull).conclusion == "success"


def test_on_a_fork_the_label_counts_for_the_commit_that_was_labelled(town: Build) -> None:
    here = town()
    fork = here.stage.hub.fork(here.repository, "tom")
    pull = here.opens("tom", GOOD_CHANGE, fork=fork)
    here.stage.hub.add_label("maria", pull, "dualgate")
    assert here.check(pull).conclusion == "success"
    here.until_told(pull)
    here.push("change", here.commit(here.base, BAD_CHANGE), fork)
    here.until_read()
    assert not here.checks(pull)


def test_triage_may_label_but_not_ask(town: Build) -> None:
    here = town()
    here.stage.hub.set_permission(here.repository, "olga", "triage")
    pull = here.opens("tom", GOOD_CHANGE)
    for _ in range(2):
        here.stage.hub.add_label("olga", pull, "dualgate")
        here.stage.hub.remove_label("olga", pull, "dualgate")
    here.until_read()
    assert not here.checks(pull)
    assert len(here.ours(pull)) == 1


def test_an_outsider_commands_and_is_refused_once(town: Build) -> None:
    here = town()
    pull = here.opens("tom", GOOD_CHANGE)
    for _ in range(3):
        here.stage.hub.comment("olga", pull, "/dualgate verify")
    here.until_read()
    assert len(here.ours(pull)) == 1
    assert "write" in here.ours(pull)[0].body
    assert not here.checks(pull)


def test_a_maintainer_commands(town: Build) -> None:
    here = town()
    pull = here.opens("tom", GOOD_CHANGE)
    here.stage.hub.comment("maria", pull, "> /dualgate verify\n\n```\n/dualgate verify\n```\nnot yet")
    here.until_read()
    assert not here.checks(pull)
    here.stage.hub.comment("maria", pull, "Let us see.\n\n/dualgate verify\n")
    assert here.check(pull).conclusion == "success"
    here.until_told(pull)
    here.stage.hub.comment("maria", pull, "/dualgate retry")
    assert here.last_check(pull, 2).conclusion == "success"
    assert len(here.verdict_comments(pull)) == 1


def test_on_a_fork_a_command_names_the_commit(town: Build) -> None:
    here = town()
    fork = here.stage.hub.fork(here.repository, "tom")
    pull = here.opens("tom", GOOD_CHANGE, fork=fork)
    here.stage.hub.comment("maria", pull, "/dualgate verify")
    here.until_read()
    assert pull.head_sha in here.ours(pull)[-1].body
    here.stage.hub.comment("maria", pull, f"/dualgate verify {here.base}")
    here.until_read()
    assert here.base[:12] in here.ours(pull)[-1].body
    assert pull.head_sha[:12] in here.ours(pull)[-1].body
    assert not here.checks(pull)
    here.stage.hub.comment("maria", pull, f"/dualgate verify {pull.head_sha}")
    assert here.check(pull).conclusion == "success"


def test_cancel_and_words_that_are_no_command(town: Build) -> None:
    here = town(SLOW)
    pull = here.opens(COPILOT, GOOD_CHANGE)
    here.until_running(pull)
    here.stage.hub.comment("maria", pull, "/dualgate cancel")
    assert here.check(pull).conclusion == "cancelled"
    here.stage.hub.comment("maria", pull, "/dualgate cancel")
    here.stage.hub.comment("maria", pull, "/dualgate veryfi")
    here.until_read()
    assert "nothing" in here.ours(pull)[0].body.lower()
    assert "veryfi" in here.ours(pull)[1].body


def test_the_rerun_button_makes_a_new_run_under_the_same_name(town: Build) -> None:
    here = town()
    pull = here.opens(COPILOT, BAD_CHANGE)
    check = here.check(pull)
    here.until_told(pull)
    here.stage.hub.rerequest(check.id, "maria")
    again = here.last_check(pull, 2)
    assert (again.name, again.conclusion) == (check.name, "failure")
    assert again.external_id != check.external_id
    here.until_told(pull)
    here.stage.hub.request_action(again.id, "verify", "maria")
    assert here.last_check(pull, 3).conclusion == "failure"
    assert len(here.verdict_comments(pull)) == 1


def test_the_rerun_button_works_on_a_fork_and_for_the_suite(town: Build) -> None:
    here = town()
    fork = here.stage.hub.fork(here.repository, "tom")
    pull = here.opens(COPILOT, GOOD_CHANGE, fork=fork)
    check = here.check(pull)
    here.until_told(pull)
    here.stage.hub.rerequest_suite(check.id, "maria")
    assert here.last_check(pull, 2).conclusion == "success"


def test_a_rerun_of_a_commit_that_is_no_longer_the_head_says_so(town: Build) -> None:
    here = town()
    pull = here.opens(COPILOT, BAD_CHANGE)
    check, old = here.check(pull), pull.head_sha
    here.until_told(pull)
    here.push("change", here.commit(here.base, GOOD_CHANGE))
    here.check(pull)
    here.stage.hub.rerequest(check.id, "maria")
    here.until_read()
    told = here.stage.hub.checks(here.repository, old, "dualgate")[-1]
    assert (told.status, told.conclusion) == ("completed", "cancelled")
    assert pull.head_sha[:12] in (told.output["summary"] or "")


@pytest.mark.parametrize(("config", "author", "files", "conclusion", "comments"), [
    ("enabled: false\n", COPILOT, GOOD_CHANGE, None, 0),
    ("pull_requests: all\n", "tom", GOOD_CHANGE, "success", 1),
    pytest.param("pull_requests: labelled\n", COPILOT, GOOD_CHANGE, None, 0, marks=pytest.mark.thorough),
    ("required: true\n", "tom", GOOD_CHANGE, "neutral", 0),
    pytest.param("comment: never\n", COPILOT, BAD_CHANGE, "failure", 0, marks=pytest.mark.thorough),
    pytest.param("comment: failures\n", COPILOT, GOOD_CHANGE, "success", 0, marks=pytest.mark.thorough),
    ("comment: failures\n", COPILOT, BAD_CHANGE, "failure", 1),
    ("agents:\n  remove: [198982749]\n", COPILOT, GOOD_CHANGE, None, 0),
    pytest.param("inconclusive: neutral\n", COPILOT, {"invoice.py": GOOD_CHANGE["invoice.py"]}, "neutral", 1, marks=pytest.mark.thorough),
    ("paths:\n  protected: ['invoice.py']\n", COPILOT, GOOD_CHANGE, "action_required", 1),
])
def test_a_repository_configures_itself(town: Build, config: str, author: str, files: dict[str, str], conclusion: str | None, comments: int) -> None:
    here = town({CONFIG: config})
    pull = here.opens(author, files)
    here.until_read()
    if conclusion is None:
        assert not here.checks(pull)
    else:
        assert here.check(pull).conclusion == conclusion
        here.until_told(pull)
    assert len(here.ours(pull)) == comments


def test_a_broken_configuration_is_named_with_its_place(town: Build) -> None:
    here = town({CONFIG: "enabled: true\ncomment: sometimes\n"})
    pull = here.opens(COPILOT, GOOD_CHANGE)
    check = here.check(pull)
    assert check.conclusion == "action_required"
    assert CONFIG in (check.output["summary"] or "")
    assert [(one["path"], one["start_line"]) for one in check.annotations] == [(CONFIG, 2)]


def test_the_configuration_of_the_head_does_not_count(town: Build) -> None:
    here = town()
    pull = here.opens(COPILOT, {**BAD_CHANGE, CONFIG: "enabled: false\n"})
    assert here.check(pull).conclusion in ("failure", "action_required")


def test_a_merge_queue_gets_the_same_check(town: Build) -> None:
    here = town()
    pull = here.opens(COPILOT, GOOD_CHANGE)
    here.check(pull)
    sha = here.stage.hub.merge_group(here.repository, "main", pull=pull)
    here.until(lambda: [one for one in here.stage.hub.checks(here.repository, sha, "dualgate") if one.status == "completed"], "no check of the group")
    assert [one.conclusion for one in here.stage.hub.checks(here.repository, sha, "dualgate")] == ["success"]
