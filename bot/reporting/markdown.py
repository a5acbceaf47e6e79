"""Untrusted text in Markdown that GitHub renders: harmless, and still readable.

GitHub acts on text after Markdown is read (mentions, issues, commits, emoji, bare links), but never inside code. So a word that it would act
on becomes code, and every other character that means something is escaped.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from bot.reporting.escape import ANSI

DROPPED = ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")
# shown as nothing, though Unicode calls them letters or marks
INVISIBLE = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u3164\ufe00-\ufe0e\uffa0\U000e0000-\U000e0fff]")
RISKY = re.compile(
    r"@\w|\#\d|\b(?:GH|GHSA|CVE)-\w"  # people, teams, addresses; issues, also owner/repo#1
    r"|://|\bwww\.|\bmailto:|\bxmpp:|\$|:[\w+-]+:"  # links, mathematics, emoji: core.py:100: would show one
    r"|(?<![A-Za-z0-9])[0-9a-f]{7,64}(?![A-Za-z0-9])"  # commits
    r"|^/[a-z]",  # commands for bots
    re.IGNORECASE)
MEANINGFUL = re.compile(r"[&<>`|\\*\[\]~#]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
AS_ENTITY = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "`": "&#96;", "|": "&#124;"}
PUNCTUATION = re.compile(r"(?![/,()'=+%?-])[!-/:-@\[-`{-~]")  # all that could mean something
COMMAND = re.compile(r"^[ \t]*(?:/[A-Za-z][\w-]*(?:[ \t]|$)|@[\w-]+(?:\[bot\])?[ \t:,]+\w)", re.MULTILINE)  # as other bots read raw comments
NOTHING_SHOWN = "(nothing)"


def cleaned(text: object) -> str:
    """Text of visible characters, blanks, tabs and line ends alone: no escape sequence, no zero-width or direction-changing character."""
    lines = INVISIBLE.sub("", ANSI.sub("", str(text))).replace("\r\n", "\n").replace("\r", "\n")
    dropped = {ord(c): None for c in set(lines) if c not in "\n\t" and unicodedata.category(c) in DROPPED}
    return lines.translate(dropped) if dropped else lines


def one_line(text: object, limit: int = 300) -> str:
    """Cleaned text in one line of at most `limit` characters, for titles and other places without Markdown."""
    line = " ".join(cleaned(text).split())
    return line if len(line) <= limit else line[:limit - 4].rstrip() + " ..."


def inline(text: object, limit: int = 300) -> str:
    """Text within a line of Markdown, in a table too: nothing in it is markup, a link, a mention, a reference or a command.

    Not for the inside of an HTML block, where Markdown is not read.
    """
    words = one_line(text, limit).split(" ")
    shown = " ".join(code(word, limit) if RISKY.search(word) else MEANINGFUL.sub(_escaped, word) for word in words)
    if shown.startswith(("+", "-", "=", ":")):
        return "\\" + shown  # a list, a heading's underline, a table's rule
    return re.sub(r"^(\d{1,9})([.)])(?= |$)", r"\1\\\2", shown)


def _escaped(match: re.Match[str]) -> str:
    return AS_ENTITY.get(match[0], "\\" + match[0])


def code(text: object, limit: int = 300) -> str:
    """Text as a code span in one line. With a pipe, which would end a table's cell, or what would make a link's text a definition, it is an HTML
    element that reads the same."""
    line = one_line(text, limit)
    if not line:
        return "` `"
    if "|" in line or "]:" in line:
        return f"<code>{PUNCTUATION.sub(_as_number, line)}</code>"
    mark = "`" * (_longest_run(line) + 1)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{mark}{pad}{line}{pad}{mark}"


def _as_number(match: re.Match[str]) -> str:
    return f"&#{ord(match[0])};" + ("&#8203;" if match[0] == "@" else "")  # addresses are linked after entities are read


def fence(text: object, language: str = "", limit: int = 3000, lines: int = 60) -> str:
    """Text as a block of code that nothing inside can end. At most `limit` characters in `lines` lines, and how many more lines there are."""
    body = COMMAND.sub(lambda match: "> " + match[0], clipped(cleaned(text).strip("\n"), limit, lines))
    body = body if body.strip() else NOTHING_SHOWN
    mark = "`" * max(3, _longest_run(body) + 1)
    return f"{mark}{language}\n{body}\n{mark}"


def clipped(text: str, limit: int, lines: int = 1000) -> str:
    """The first lines of a text, at most `limit` characters in `lines` lines, with a line that says how much is left out."""
    kept = "\n".join(text.split("\n", lines)[:lines])
    if len(kept) > limit:
        kept = kept[:limit]
        kept = kept[:kept.rindex("\n")] if "\n" in kept else kept
    if kept == text:
        return text
    left = text.count("\n") - kept.count("\n")
    return f"{kept}\n... {left} more line{'' if left == 1 else 's'}" if left else f"{kept} ..."


def cut(sections: Sequence[str], limit: int, ending: str) -> str:
    """The sections as one text; as many from the first on as fit, then `ending`, where not all of them do.

    The limit holds in bytes of UTF-8, which are never fewer than characters, however those are counted.
    """
    parts = [section.strip("\n") for section in sections if section.strip()]
    whole = "\n\n".join(parts)
    if size(whole) <= limit:
        return whole
    room, kept = limit - size(ending), []
    for part in parts:
        room -= size(part) + 2
        if room < 0:
            break
        kept.append(part)
    return "\n\n".join([*kept, ending])


def size(text: str) -> int:
    """Bytes in UTF-8."""
    return len(text.encode("utf-8", "replace"))


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)
