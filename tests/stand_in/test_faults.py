"""Scripted accidents of the REST API."""

from __future__ import annotations

import pytest
import requests

from tests.stand_in.place import Place


def test_a_fault_is_used_up(here: Place) -> None:
    here.hub.faults.add("GET", r"/repos/octo/stats", 502, times=2)
    assert [here.client().get(here.repo).status_code for _ in range(3)] == [502, 502, 200]
    assert [one.faulted for one in here.hub.requests] == [True, True, False]


def test_a_fault_after_the_deed(here: Place) -> None:
    here.pull()
    here.hub.faults.add("POST", r".*/comments", 502, perform_first=True)
    assert here.client().post(f"{here.repo}/issues/1/comments", {"body": "once"}).status_code == 502
    assert [one.body for one in here.hub.comments(here.repository, 1)] == ["once"]


def test_a_fault_before_the_deed(here: Place) -> None:
    here.pull()
    here.hub.faults.add("POST", r".*/comments", 502)
    assert here.client().post(f"{here.repo}/issues/1/comments", {"body": "never"}).status_code == 502
    assert here.hub.comments(here.repository, 1) == []


def test_rate_limits(here: Place) -> None:
    here.hub.faults.rate_limited("*", ".*", retry_after_s=7)
    here.hub.faults.rate_limited("*", ".*", reset_in_s=60)
    secondary, primary = here.client().get(here.repo), here.client().get(here.repo)
    assert (secondary.status_code, secondary.headers["retry-after"]) == (403, "7")
    assert "secondary rate limit" in secondary.json()["message"]
    assert (primary.status_code, primary.headers["x-ratelimit-remaining"]) == (403, "0")


def test_a_body_and_headers_of_ones_own(here: Place) -> None:
    here.hub.faults.add("GET", ".*", 200, headers={"Content-Type": "text/html"}, body="<h1>Unicorn!</h1>")
    answer = here.client().get(here.repo)
    assert (answer.text, answer.headers["Content-Type"]) == ("<h1>Unicorn!</h1>", "text/html")


def test_a_connection_that_breaks(here: Place) -> None:
    here.hub.faults.add("GET", ".*", 0)
    with pytest.raises(requests.ConnectionError):
        here.client().get(here.repo)
    assert here.client().get(here.repo).status_code == 200


def test_a_script_can_be_forgotten(here: Place) -> None:
    here.hub.faults.add("GET", ".*", 500, times=9)
    here.hub.faults.clear()
    assert here.client().get(here.repo).status_code == 200
