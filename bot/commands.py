"""`/dualgate ...` in comments: lines that a person wrote, not quotes, code or hidden text."""

from __future__ import annotations

import re
from dataclasses import dataclass

VERBS = ("verify", "retry", "cancel", "explain")
_LINE = re.compile(r"/dualgate(?:[ \t]+(\S+)(?:[ \t]+(\S+)(?:[ \t]+(.*))?)?)?", re.IGNORECASE)
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_SHA = re.compile(r"[0-9a-f]{7,64}", re.IGNORECASE)
_HIDDEN = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
LONGEST = 65_536


@dataclass(frozen=True)
class Command:
    """`verb`: one of VERBS, or what was written instead; `sha` as written, or empty; `odd`: the first word that makes no sense."""

    verb: str
    sha: str = ""
    odd: str = ""

    @property
    def known(self) -> bool:
        """Whether it can be obeyed."""
        return self.verb in VERBS and not self.odd


def read_command(body: str) -> Command | None:
    """The first command of a comment, or None."""
    fence = ""
    text = _HIDDEN.sub("", body[:LONGEST])
    for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"):  # no other character ends a line of Markdown
        opened = _FENCE.match(line)
        if fence:
            if opened and opened[1].startswith(fence) and not line.strip(" `~"):
                fence = ""
            continue
        if opened:
            fence = opened[1]
            continue
        if line.startswith(("    ", "\t")):
            continue
        found = _LINE.fullmatch(line.strip())
        if found and len(line) - len(line.lstrip(" ")) <= 3:
            return _command(found[1] or "", found[2] or "", found[3] or "")
    return None


def _command(verb: str, sha: str, rest: str) -> Command:
    if sha and not _SHA.fullmatch(sha):
        return Command(verb.lower(), "", sha)
    return Command(verb.lower(), sha.lower(), rest)
