"""Whether a pull request gets a verification: a pure decision of its facts, the repository's policy and who asked."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from bot.agent_accounts import is_agent
from bot.payloads import PullRequest
from bot.policy import Policy


class Answer(StrEnum):
    """`neutral`: nothing is run, and a required check is told so; `refuse`: somebody is told why."""

    VERIFY = "verify"
    IGNORE = "ignore"
    NEUTRAL = "neutral"
    REFUSE = "refuse"


@dataclass(frozen=True)
class Asked:
    """Who asked, and for what. `cause`: opened | pushed | labelled | retarget | command | rerun; `sha`: the commit that was named, if any;
    `may_write`: of the actor; `was_labelled`: someone with write had put the label on before."""

    cause: str
    label: str = ""
    sha: str = ""
    may_write: bool = False
    was_labelled: bool = False


@dataclass(frozen=True)
class Decision:
    """`cause`: what the run is for (agent | policy | label | command | rerun); `refusal`: a kind of reply; `why` for the record."""

    answer: Answer
    why: str
    cause: str = ""
    refusal: str = ""


def decide(pull: PullRequest, policy: Policy, asked: Asked) -> Decision:
    """What becomes of a pull request."""
    if pull.state != "open":
        return Decision(Answer.IGNORE, "the pull request is closed")
    if not policy.enabled:
        return Decision(Answer.IGNORE, "the repository's configuration has enabled: false")
    match asked.cause:
        case "command":
            return _command(pull, asked)
        case "rerun":
            return Decision(Answer.VERIFY, "the re-run button", "rerun")
        case "labelled":
            return _label(pull, policy, asked)
    return _by_itself(pull, policy, asked)


def _command(pull: PullRequest, asked: Asked) -> Decision:
    if not asked.may_write:
        return Decision(Answer.REFUSE, "a command by someone without write", refusal="no_write")
    if pull.from_fork and not asked.sha:
        return Decision(Answer.REFUSE, "a command on a fork without its commit", refusal="fork_needs_sha")
    if asked.sha and not pull.head.sha.lower().startswith(asked.sha):
        return Decision(Answer.REFUSE, "the head is another commit than the one named", refusal="head_moved")
    return Decision(Answer.VERIFY, "commanded", "command")


def _label(pull: PullRequest, policy: Policy, asked: Asked) -> Decision:
    if asked.label.casefold() != policy.trigger_label.casefold():
        return Decision(Answer.IGNORE, "another label")
    if not asked.may_write:
        return Decision(Answer.REFUSE, "labelled by someone without write", refusal="label_no_write")
    if pull.from_fork and asked.sha != pull.head.sha:
        return Decision(Answer.REFUSE, "the head moved after the label was put on", refusal="head_moved")
    return Decision(Answer.VERIFY, "labelled", "label")


def _by_itself(pull: PullRequest, policy: Policy, asked: Asked) -> Decision:
    if asked.was_labelled and pull.has_label(policy.trigger_label) and not pull.from_fork:
        return Decision(Answer.VERIFY, "it bears the label", "label")
    agent = is_agent(pull.author, policy.agents.add, policy.agents.remove)
    wanted = policy.pull_requests == "all" or (policy.pull_requests == "agents" and agent)
    if not wanted:
        why = f"it is by {'an agent' if agent else 'a person'} and the configuration has pull_requests: {policy.pull_requests}"
        return Decision(Answer.NEUTRAL if policy.required else Answer.IGNORE, why)
    if pull.draft and not policy.drafts:
        return Decision(Answer.NEUTRAL if policy.required else Answer.IGNORE, "it is a draft")
    return Decision(Answer.VERIFY, "an agent's pull request" if agent else "pull_requests: all", "agent" if agent else "policy")
