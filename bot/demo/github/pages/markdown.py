"""Markdown as GitHub shows it: sanitised, with mentions, references and addresses linked wherever they were not escaped."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape, unescape
from html.parser import HTMLParser

import nh3
from markdown_it import MarkdownIt
from markupsafe import Markup

from bot.demo.github.records import Repository

# https://github.com/gjtorikian/html-pipeline: the tags that GitHub lets through.
TAGS = {
    "h1", "h2", "h3", "h4", "h5", "h6", "br", "b", "i", "strong", "em", "a", "pre", "code", "img", "tt", "div", "ins", "del", "sup", "sub", "p",
    "picture", "ol", "ul", "table", "thead", "tbody", "tfoot", "blockquote", "dl", "dt", "dd", "kbd", "q", "samp", "var", "hr", "ruby", "rt", "rp",
    "li", "tr", "td", "th", "s", "strike", "summary", "details", "caption", "figure", "figcaption", "abbr", "bdo", "cite", "dfn", "mark", "small",
    "source", "span", "time", "wbr",
}
ATTRIBUTES = {"*": {"align", "dir", "title"}, "a": {"href"}, "img": {"src", "alt", "width", "height"}, "details": {"open"},
              "ol": {"start"}, "td": {"colspan", "rowspan"}, "th": {"colspan", "rowspan"}, "code": {"class"}}
VOID = {"br", "hr", "img", "source", "wbr"}
TASK = re.compile(r"(<li>\s*(?:<p>)?)\[([ xX])\] ")
SILENT = {"a", "code", "pre", "tt", "kbd", "samp"}
LINKED = re.compile(r"""(?P<address>https?://[^\s<>"']*[^\s<>"'.,:;!?)\]])
    | (?<![\w/.@`-])@(?P<login>[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})(?:/[A-Za-z0-9-]+)?)(?![\w-])
    | (?<![\w/&])(?:\#|GH-)(?P<number>\d+)(?!\w)""", re.X)


def comment(text: str | None, repository: Repository, web: str) -> Markup:
    """A comment or description: a line break in the source is one on the page."""
    return _render(text, repository, web, breaks=True)


def document(text: str | None, repository: Repository, web: str) -> Markup:
    """A file or the words of a check run."""
    return _render(text, repository, web, breaks=False)


def _render(text: str | None, repository: Repository, web: str, breaks: bool) -> Markup:
    parser = MarkdownIt("commonmark", {"html": True, "breaks": breaks}).enable(["table", "strikethrough"])
    cleaned = nh3.clean(parser.render(text or ""), tags=TAGS, attributes=ATTRIBUTES, url_schemes={"http", "https", "mailto"}, link_rel="nofollow noopener",
                        clean_content_tags={"script", "style", "title", "textarea", "iframe", "noembed", "noframes", "xmp"})
    cleaned = TASK.sub(lambda match: f"{match[1]}{'☐' if match[2] == ' ' else '☑'} ", cleaned)
    linker = _Linker(lambda match: _link(match, repository, web))
    linker.feed(cleaned)
    linker.close()
    return Markup("".join(linker.parts))


def _link(match: re.Match[str], repository: Repository, web: str) -> str:
    words = escape(match[0])
    if match["address"]:
        return f'<a href="{words}" rel="nofollow noopener">{words}</a>'
    if match["login"]:
        return f'<a class="mention" href="{web}/{escape(match["login"])}">{words}</a>'
    found = repository.threads.get(int(match["number"]))
    return words if found is None else f'<a class="reference" href="{web}/{repository.full_name}/issues/{found.number}">{words}</a>'


class _Linker(HTMLParser):
    """Copies clean HTML and turns what looks like a link in its text into one, except in code and in links."""

    def __init__(self, link: Callable[[re.Match[str]], str]) -> None:
        super().__init__(convert_charrefs=False)
        self.parts: list[str] = []
        self._link, self._silent, self._text = link, 0, ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._flush()
        self._silent += tag in SILENT
        written = "".join(f' {name}="{escape(value or "")}"' for name, value in attrs)
        self.parts.append(f"<{tag}{written}>")

    def handle_endtag(self, tag: str) -> None:
        self._flush()
        self._silent -= tag in SILENT
        if tag not in VOID:
            self.parts.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        self._text += data

    def handle_entityref(self, name: str) -> None:
        self._text += unescape(f"&{name};")

    def handle_charref(self, name: str) -> None:
        self._text += unescape(f"&#{name};")

    def close(self) -> None:
        super().close()
        self._flush()

    def _flush(self) -> None:
        text, self._text, place = self._text, "", 0
        if self._silent:
            self.parts.append(escape(text, quote=False))
            return
        for match in LINKED.finditer(text):
            self.parts.append(escape(text[place:match.start()], quote=False) + self._link(match))
            place = match.end()
        self.parts.append(escape(text[place:], quote=False))
