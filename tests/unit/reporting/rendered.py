"""Markdown as GitHub reads it: which markup a text makes, and the text that GitHub would look at for mentions, references and links."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from markdown_it import MarkdownIt
from markdown_it.token import Token

READER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
CODE = ("<code>", "</code>")
ACTED_ON = re.compile(
    r"(?:^|\W)@[A-Za-z0-9]|(?:^|[^&\w])\#\d|\w\#\d|\bgh-\d|\bghsa-\w|https?://|ftp://|\bwww\.\w|\b(?:mailto|xmpp):\w|[\w.+-]@[\w-]+\.\w|:[\w+-]+:|\$\w|^/[a-z]"
    r"|(?<!\w)[0-9a-f]{7,40}(?!\w)", re.IGNORECASE | re.MULTILINE)


@dataclass
class Rendered:
    """`text`: everything outside code and links. `kinds`: the token types. `html`: raw tags. `links`: targets of links and images."""

    text: str = ""
    kinds: set[str] = field(default_factory=set)
    html: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    code: list[str] = field(default_factory=list)


def rendered(markdown: str) -> Rendered:
    found = Rendered()
    for token in READER.parse(markdown):
        _read(token, found)
    return found


def _read(token: Token, found: Rendered) -> None:
    found.kinds.add(token.type)
    if token.type == "html_block":
        found.html.append(token.content)
    elif token.type in ("fence", "code_block"):
        found.code.append(token.content)
    inside = False
    for child in token.children or ():
        found.kinds.add(child.type)
        if child.type == "html_inline":
            found.html.append(child.content)
            inside = child.content == "<code>" or (inside and child.content != "</code>")
        elif child.type in ("link_open", "image"):
            found.links.append(str(child.attrGet("href") or child.attrGet("src")))
        elif child.type == "code_inline":
            found.code.append(child.content)
            found.text += "\x00"
        elif child.type in ("text", "text_special"):
            found.text += "\x00" if inside else child.content
    found.text += "\n"
