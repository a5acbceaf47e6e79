"""Short replies, and the states of a check before a verdict."""

from __future__ import annotations

import pytest

from bot.reporting import replies
from bot.reporting.check_progress import ConfigurationFault, Step, cancelled_output, configuration_output, progress_output, read_fault
from bot.reporting.replies import COMMANDS, Reply, reply_kind
from tests.unit.reporting.rendered import ACTED_ON, rendered
from tests.unit.reporting.verdicts import HEAD

EVIL = "@octocat <img src=x> #1\n/merge --> <!-- dualgate:verdict -->"
BODIES = {
    Reply.REFUSED: replies.refused(EVIL, 4711, EVIL), Reply.SHA_NEEDED: replies.sha_needed(HEAD, 4711), Reply.HEAD_MOVED: replies.head_moved(EVIL, HEAD, 4711),
    Reply.LABEL_IGNORED: replies.label_ignored(EVIL, EVIL, 4711), Reply.UNKNOWN_COMMAND: replies.unknown_command(EVIL, 4711),
    Reply.NOTHING_TO_CANCEL: replies.nothing_to_cancel(4711), Reply.MINUTES_SPENT: replies.minutes_spent(241, 240, "00:00 UTC", 4711),
}


@pytest.mark.parametrize("kind", Reply)
def test_a_reply_is_known_again_and_harmless(kind: Reply) -> None:
    assert reply_kind(BODIES[kind]) == (kind, 4711)
    seen = rendered(BODIES[kind])
    assert {tag for tag in seen.html if not tag.startswith("<!-- dualgate:reply kind=")} <= {"<sub>", "</sub>"}
    assert not ACTED_ON.search(seen.text)
    assert not seen.links


@pytest.mark.parametrize("body", ["", "x <!-- dualgate:reply kind=refused -->", "<!-- dualgate:reply kind=other -->", "<!-- dualgate:verdict -->"])
def test_other_bodies_are_no_replies(body: str) -> None:
    assert reply_kind(body) is None


def test_a_moved_head_names_both_commits() -> None:
    body = replies.head_moved("4aa9da5608db", HEAD)
    assert "`4aa9da5608db`" in body
    assert f"`/dualgate verify {HEAD}`" in body


def test_an_unknown_command_is_told_every_command() -> None:
    assert all(f"`/dualgate {command}" in BODIES[Reply.UNKNOWN_COMMAND] for command in COMMANDS)


@pytest.mark.parametrize(("text", "wanted"), [
    (".github/dualgate.yml:7:3: limits: no", ConfigurationFault(".github/dualgate.yml", "limits: no", 7, 3)),
    (".github/dualgate.yml: plans[0].test must be a pytest command", ConfigurationFault(".github/dualgate.yml", "plans[0].test must be a pytest command")),
    ("something else", ConfigurationFault(".github/dualgate.yml", "something else")),
    ("/etc/x:1:1: no", ConfigurationFault(".github/dualgate.yml", "/etc/x:1:1: no")),
])
def test_a_fault_is_read_from_the_policys_words(text: str, wanted: ConfigurationFault) -> None:
    assert read_fault(text) == wanted


def test_a_broken_configuration_is_marked_at_its_line() -> None:
    output = configuration_output(ConfigurationFault(".github/dualgate.yml", "no such key: limts", 7, 3))
    assert output.title == ".github/dualgate.yml:7 can't be read"
    assert [(one.path, one.start_line) for one in output.annotations] == [(".github/dualgate.yml", 7)]


def test_progress_is_a_table_of_harmless_text() -> None:
    output = progress_output((Step("base suite", "done", 3.0, EVIL), Step("patched suite", "running", 1.0)))
    assert output.title == "Running: patched suite (2 of 2)"
    assert not rendered(output.summary).html
    assert not ACTED_ON.search(rendered(output.summary).text)


def test_a_reason_is_one_line_in_a_title() -> None:
    assert "\n" not in cancelled_output(EVIL).title
    assert len(cancelled_output("x" * 500).title) <= 120
