"""Conversations about commits that several pull requests, or several bases, share: the check is of the commit, so of all of them."""

from __future__ import annotations

import re

from tests.journeys.app.conftest import Build
from tests.journeys.app.town import AGENT, BAD_CHANGE, GOOD_CHANGE

COPILOT = AGENT[0]
CONFIG = ".github/dualgate.yml"


def test_retargeting_there_and_back_is_verified_each_time(town: Build) -> None:
    here = town()
    here.push("weak", here.base)
    here.push("main", here.commit(here.base, {CONFIG: "paths:\n  protected: ['invoice.py']\n"}))
    pull = here.opens(COPILOT, GOOD_CHANGE)
    assert here.check(pull).conclusion == "action_required"
    here.until_told(pull)
    here.stage.hub.retarget(pull, "weak")
    assert here.last_check(pull, 2).conclusion == "success"
    here.until_told(pull)
    here.stage.hub.retarget(pull, "main")
    assert here.last_check(pull, 3).conclusion == "action_required"


def test_a_green_for_another_base_does_not_stay_when_nothing_is_run_for_the_new_one(town: Build) -> None:
    here = town()
    here.push("weak", here.base)
    pull = here.opens("tom", GOOD_CHANGE, base="main")
    here.stage.hub.retarget(pull, "weak")
    here.stage.hub.comment("maria", pull, "/dualgate verify")
    assert here.check(pull).conclusion == "success"
    here.until_told(pull)
    here.stage.hub.retarget(pull, "main")
    here.until(lambda: here.checks(pull)[-1].conclusion == "action_required", "the green of the other base is withheld")


def test_nobody_neutralises_a_rejected_commit_by_a_pull_request_of_their_own(town: Build) -> None:
    here = town({CONFIG: "required: true\n"})
    pull = here.opens(COPILOT, BAD_CHANGE)
    assert here.check(pull).conclusion == "failure"
    here.until_told(pull)
    here.push("copy", pull.head_sha)
    here.stage.hub.open_pull(here.repository, "tom", "The same", "", "copy", "main")
    here.until_read()
    assert [one.conclusion for one in here.checks(pull)] == ["failure"]


def test_a_second_pull_request_of_a_green_commit_is_not_green_unseen(town: Build) -> None:
    here = town()
    here.push("weak", here.base)
    pull = here.opens(COPILOT, GOOD_CHANGE)
    assert here.check(pull).conclusion == "success"
    here.until_told(pull)
    other = here.stage.hub.open_pull(here.repository, "tom", "The same for weak", "", "change", "weak")
    here.until(lambda: here.checks(pull)[-1].conclusion == "action_required", "withheld")
    assert f"#{other.number}" in (here.checks(pull)[-1].output["summary"] or "")


def test_what_github_refuses_in_a_check_is_told_in_few_words(town: Build) -> None:
    here = town()
    path = rf"/repos/{re.escape(here.repository.full_name)}/check-runs/\d+"
    pull = here.opens(COPILOT, BAD_CHANGE)
    here.until_running(pull)
    here.stage.hub.faults.add("PATCH", path, 422)
    assert here.check(pull).conclusion == "failure"


def test_what_github_forbids_for_a_while_is_told_later(town: Build) -> None:
    here = town()
    path = rf"/repos/{re.escape(here.repository.full_name)}/check-runs/\d+"
    pull = here.opens(COPILOT, GOOD_CHANGE)
    here.until_running(pull)
    here.stage.hub.faults.add("GET", path, 403, body={"message": "Resource not accessible by integration"})
    assert here.check(pull).conclusion == "success"
