"""Whether a pull request gets a verification, as a table."""

from __future__ import annotations

from typing import Any

import pytest

from bot.agent_accounts import AGENTS, hint, is_agent
from bot.payloads import PullRequest, User
from bot.policy import Policy
from bot.scope import Answer, Asked, decide

SHA = "a" * 40
COPILOT, TOM, COPYCAT = (198982749, "Bot"), (1, "User"), (198982749, "User")


def pull(author: tuple[int, str], fork: bool = False, **more: Any) -> PullRequest:
    head: Any = {"ref": "x", "sha": SHA, "repo": {"id": 8 if fork else 7, "full_name": "x/y"}}
    base: Any = {"ref": "main", "sha": "b" * 40, "repo": {"id": 7, "full_name": "maria/invoice"}}
    return PullRequest.model_validate({"number": 1, "user": {"id": author[0], "login": "x", "type": author[1]}, "head": head, "base": base, **more})


OPENED, PUSHED = Asked("opened"), Asked("pushed")
LABEL = Asked("labelled", "dualgate", SHA, may_write=True)


@pytest.mark.parametrize(("of", "policy", "asked", "answer", "cause"), [
    (pull(COPILOT), {}, OPENED, "verify", "agent"),
    (pull(COPILOT, fork=True), {}, OPENED, "verify", "agent"),
    (pull(COPILOT), {}, PUSHED, "verify", "agent"),
    (pull(COPYCAT), {}, OPENED, "ignore", ""),
    (pull(TOM), {}, OPENED, "ignore", ""),
    (pull(TOM), {"required": True}, OPENED, "neutral", ""),
    (pull(TOM), {"pull_requests": "all"}, OPENED, "verify", "policy"),
    (pull(COPILOT), {"pull_requests": "labelled"}, OPENED, "ignore", ""),
    (pull(COPILOT), {"agents": {"remove": [198982749]}}, OPENED, "ignore", ""),
    (pull(TOM), {"agents": {"add": [1]}}, OPENED, "verify", "agent"),
    (pull(COPILOT, draft=True), {}, OPENED, "ignore", ""),
    (pull(COPILOT, draft=True), {"required": True}, OPENED, "neutral", ""),
    (pull(COPILOT, draft=True), {"drafts": True}, OPENED, "verify", "agent"),
    (pull(COPILOT, state="closed"), {}, OPENED, "ignore", ""),
    (pull(COPILOT), {"enabled": False}, OPENED, "ignore", ""),
    (pull(TOM), {}, LABEL, "verify", "label"),
    (pull(TOM, draft=True), {}, LABEL, "verify", "label"),
    (pull(TOM), {}, Asked("labelled", "DualGate", SHA, may_write=True), "verify", "label"),
    (pull(TOM), {}, Asked("labelled", "dualgate", SHA), "refuse", ""),
    (pull(TOM), {}, Asked("labelled", "bug", SHA, may_write=True), "ignore", ""),
    (pull(TOM), {"trigger_label": "prove"}, LABEL, "ignore", ""),
    (pull(TOM, fork=True), {}, LABEL, "verify", "label"),
    (pull(TOM, fork=True), {}, Asked("labelled", "dualgate", "c" * 40, may_write=True), "refuse", ""),
    (pull(TOM, labels=[{"name": "dualgate"}]), {}, Asked("pushed", was_labelled=True), "verify", "label"),
    (pull(TOM), {}, Asked("pushed", was_labelled=True), "ignore", ""),
    (pull(TOM, labels=[{"name": "dualgate"}]), {}, PUSHED, "ignore", ""),
    (pull(TOM, fork=True, labels=[{"name": "dualgate"}]), {}, Asked("pushed", was_labelled=True), "ignore", ""),
    (pull(TOM), {}, Asked("command", may_write=True), "verify", "command"),
    (pull(TOM), {}, Asked("command"), "refuse", ""),
    (pull(TOM, fork=True), {}, Asked("command", may_write=True), "refuse", ""),
    (pull(TOM, fork=True), {}, Asked("command", sha=SHA[:10], may_write=True), "verify", "command"),
    (pull(TOM), {}, Asked("command", sha="c" * 8, may_write=True), "refuse", ""),
    (pull(TOM), {}, Asked("rerun", may_write=True), "verify", "rerun"),
    (pull(TOM, state="closed"), {}, Asked("rerun", may_write=True), "ignore", ""),
])
def test_who_gets_a_verification(of: PullRequest, policy: dict[str, Any], asked: Asked, answer: str, cause: str) -> None:
    decision = decide(of, Policy.model_validate(policy), asked)
    assert (decision.answer, decision.cause) == (Answer(answer), cause)
    assert decision.why


def test_a_head_without_a_repository_is_a_fork() -> None:
    gone = pull(TOM).model_copy(update={"head": pull(TOM).head.model_copy(update={"repo": None})})
    assert gone.from_fork


def test_every_known_agent_counts_as_a_bot_only() -> None:
    for number in AGENTS:
        assert is_agent(User(id=number, login="x", type="Bot"))
        assert not is_agent(User(id=number, login="x", type="User"))


@pytest.mark.parametrize(("branch", "messages", "found"), [
    ("copilot/fix-1", [], True), ("feature/copilot/", [], False),
    ("x", ["Fix\n\nCo-authored-by: Claude <noreply@anthropic.com>"], True),
    ("x", ["We wrote to noreply@anthropic.com"], False),
])
def test_hints(branch: str, messages: list[str], found: bool) -> None:
    assert bool(hint(branch, messages)) is found
