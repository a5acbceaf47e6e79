"""Conversations about pull requests: what is written on the left, what GitHub shows afterwards."""

from __future__ import annotations

from tests.journeys.app.conftest import Build
from tests.journeys.app.town import AGENT, BAD_CHANGE, GOOD_CHANGE, SLOW

COPILOT = AGENT[0]
CONFIG = ".github/dualgate.yml"


def test_an_agent_opens_a_good_pull_request_and_its_check_is_green(town: Build) -> None:
    here = town()
    pull = here.opens(COPILOT, GOOD_CHANGE)
    check = here.check(pull)
    assert check.conclusion == "success"
    run = here.until_told(pull)
    assert check.external_id == run.id
    assert check.details_url == f"{here.stage.app_url}/runs/{run.id}"
    assert check.started_at
    assert check.completed_at
    comment = here.comment(pull)
    for words in ("Verified", "fail-to-pass", "pass-to-pass", "3 tests still pass", "$0.00", run.id):
        assert words in comment.body
    assert not check.annotations


def test_an_agent_breaks_a_test_and_the_check_names_it_on_its_line(town: Build) -> None:
    here = town()
    pull = here.opens(COPILOT, BAD_CHANGE)
    check = here.check(pull)
    assert check.conclusion == "failure"
    assert "1 test" in (check.output["title"] or "")
    assert "test_invoice.py::test_shares_add_up" in (check.output["summary"] or "")
    assert [(one["path"], one["start_line"]) for one in check.annotations] == [("test_invoice.py", 13)]
    assert "test_shares_add_up" in here.comment(pull).body


def test_a_change_without_tests_is_not_green(town: Build) -> None:
    here = town()
    pull = here.opens(COPILOT, {"invoice.py": GOOD_CHANGE["invoice.py"]})
    assert here.check(pull).conclusion == "action_required"
    assert here.until_told(pull).reason == "no_reproducer"


def test_a_change_of_prose_alone_holds_nobody_up(town: Build) -> None:
    here = town()
    pull = here.opens(COPILOT, {"README.md": "# Invoices\n"})
    assert here.check(pull).conclusion == "neutral"


def test_a_change_of_workflows_needs_a_person(town: Build) -> None:
    here = town()
    pull = here.opens(COPILOT, {**GOOD_CHANGE, ".github/workflows/ci.yml": "on: push\n"})
    assert here.check(pull).conclusion == "action_required"
    assert here.until_told(pull).reason == "needs_review"


def test_a_push_in_the_middle_makes_the_new_commit_count(town: Build) -> None:
    here = town(SLOW)
    pull = here.opens(COPILOT, BAD_CHANGE)
    here.until_running(pull)
    old = pull.head_sha
    here.push("change", here.commit(here.base, GOOD_CHANGE, "Better"))
    assert here.check(pull).conclusion == "success"
    assert pull.head_sha != old
    before = here.stage.hub.checks(here.repository, old, "dualgate")
    assert [(one.status, one.conclusion) for one in before] == [("completed", "cancelled")]
    assert pull.head_sha[:12] in here.comment(pull).body


def test_a_burst_of_pushes_costs_one_run(town: Build) -> None:
    here = town(SLOW)
    pull = here.opens(COPILOT, BAD_CHANGE)
    for count in range(4):
        here.push("change", here.commit(here.base, {**GOOD_CHANGE, "note.txt": str(count)}, f"Push {count}"))
    assert here.check(pull).conclusion == "success"
    here.until_read()
    checks = here.stage.hub.checks(here.repository, name="dualgate")
    assert [one.conclusion for one in checks if one.conclusion != "cancelled"] == ["success"]
    assert len({one.head_sha for one in checks}) == len(checks)


def test_closing_in_the_middle_ends_the_check_as_cancelled_without_a_comment(town: Build) -> None:
    here = town(SLOW)
    pull = here.opens(COPILOT, GOOD_CHANGE)
    here.until_running(pull)
    here.stage.hub.close_pull(pull)
    assert here.check(pull).conclusion == "cancelled"
    here.until_told(pull)
    assert not here.ours(pull)
    here.stage.hub.reopen_pull(pull)
    assert here.last_check(pull, 2).conclusion == "success"


def test_an_agents_fork_is_verified_like_a_branch(town: Build) -> None:
    here = town()
    fork = here.stage.hub.fork(here.repository, "tom")
    pull = here.opens(COPILOT, GOOD_CHANGE, fork=fork)
    assert here.check(pull).conclusion == "success"
    assert "/dualgate verify " + pull.head_sha[:7] in here.comment(pull).body


def test_a_private_repository_is_read_with_its_token(town: Build) -> None:
    here = town(private=True)
    assert here.check(here.opens(COPILOT, GOOD_CHANGE)).conclusion == "success"


def test_a_deleted_fork_is_no_obstacle(town: Build) -> None:
    here = town()
    fork = here.stage.hub.fork(here.repository, "tom")
    here.stage.hub.hold_deliveries()
    pull = here.opens(COPILOT, GOOD_CHANGE, fork=fork)
    here.stage.hub.delete_head_repository(pull)
    here.stage.hub.release()
    assert here.check(pull).conclusion == "success"


def test_another_base_is_another_verification(town: Build) -> None:
    here = town()
    here.push("release", here.commit(here.base, {"notes.txt": "release"}))
    pull = here.opens(COPILOT, GOOD_CHANGE)
    here.check(pull)
    here.until_told(pull)
    here.stage.hub.retarget(pull, "release")
    assert here.last_check(pull, 2).conclusion == "success"
    run = here.until_told(pull)
    assert run.base_ref == "release"
    assert len(here.verdict_comments(pull)) == 1


def test_a_persons_pull_request_is_left_alone(town: Build) -> None:
    here = town()
    pull = here.opens("olga", GOOD_CHANGE)
    here.until_read()
    assert not here.checks(pull)
    assert not here.ours(pull)


def test_a_draft_waits_until_it_is_ready(town: Build) -> None:
    here = town()
    pull = here.opens(COPILOT, GOOD_CHANGE, draft=True)
    here.until_read()
    assert not here.checks(pull)
    here.stage.hub.ready_for_review(pull)
    assert here.check(pull).conclusion == "success"


def test_one_commit_under_two_pull_requests_is_not_green_while_one_of_them_is_not_verified(town: Build) -> None:
    here = town()
    here.push("release", here.commit(here.base, {CONFIG: "pull_requests: labelled\n"}))
    here.stage.hub.hold_deliveries()
    first = here.opens(COPILOT, GOOD_CHANGE)
    other = here.stage.hub.open_pull(here.repository, COPILOT, "The same for the release", "", "change", "release")
    here.stage.hub.release()
    run = here.until_told(first)
    assert run.verdict == "verified"
    conclusions = {one.external_id: one.conclusion for one in here.checks(first)}
    assert conclusions[run.id] == "action_required", "the other one is not verified, so the commit is not green"
    assert here.run(other) is None
    assert f"#{other.number}" in (next(one for one in here.checks(first) if one.external_id == run.id).output["summary"] or "")
    here.stage.hub.add_label("maria", other, "dualgate")
    assert here.until_told(other).verdict == "verified"
    here.until(lambda: all(one.conclusion == "success" for one in here.checks(first)), "the one that was withheld is green now that both are verified")
