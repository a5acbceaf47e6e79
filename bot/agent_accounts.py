"""Which pull requests are agents': certain by the author's numeric id, hinted at by names. A hint starts nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bot.payloads import User

AGENTS = {
    198982749: "Copilot", 158243242: "Devin", 209825114: "claude[bot]", 208546643: "claude-code-action[bot]", 206951365: "cursor[bot]",
    161369871: "Jules", 199175422: "Codex connector", 215916821: "open-swe", 208079219: "amazon-q-developer[bot]",
}
BRANCHES = ("copilot/", "codex/", "cursor/", "claude/", "devin/", "openhands/", "sweep/", "open-swe/", "swe-agent-fix-")
ADDRESSES = ("noreply@anthropic.com", "noreply@openai.com", "cursoragent@cursor.com", "noreply@aider.chat", "amp@ampcode.com", "openhands@all-hands.dev")


def is_agent(author: User, added: Iterable[int] = (), removed: Iterable[int] = ()) -> bool:
    """Whether an account is an agent's. The ids known here count for bots only; those that a repository adds count as they are."""
    if author.id in set(removed):
        return False
    return author.id in set(added) or (author.type == "Bot" and author.id in AGENTS)


def hint(branch: str, messages: Iterable[str] = ()) -> str:
    """What suggests that an agent had a hand in it, or nothing."""
    prefix = next((name for name in BRANCHES if branch.startswith(name)), "")
    if prefix:
        return f"its branch begins with {prefix}"
    for message in messages:
        found = next((address for address in ADDRESSES if re.search(rf"^[A-Za-z-]+:.*<{re.escape(address)}>", message, re.MULTILINE)), "")
        if found:
            return f"a commit names {found}"
    return ""
