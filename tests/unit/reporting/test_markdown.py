"""Untrusted text in Markdown: nothing it says is markup, and people can still read it."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bot.reporting.markdown import clipped, code, cut, fence, inline, one_line, size
from tests.unit.reporting.rendered import ACTED_ON, CODE, rendered

HOSTILE = st.lists(st.one_of(st.text(max_size=8), st.sampled_from([
    "@octocat", "@acme/team", "#1", "GH-1", "acme/calc#2", "fixes #1", "/merge", "<img src=x>", "<!--", "-->", "![x](http://e)", "[x](http://e)", "[x]: http://e", "http://e.example/a",
    "www.e.example", "a@b.example", "**", "__", "_", "*a*", "`", "``", "```", "~~~", "~~", "|", "\\", "\\|", "# h", "\n", "\r\n", "\n\n", "===", "---", "- a", "1. a", "> q", "    ", "\t",
    "&lt;", "&#64;me", "797db88c8c1b9af5", ":100:", "$x$", "<code>", "</code>", "</details>", "<script>", "\u202e", "\u200b", "\x1b[31m", "\x00", "\ud800", "!", "[^1]", ":--", "+ a",
])), max_size=12).map("".join)
FRAMES = ("{}", "- {}", "**{}** said", "word {} word", "# {}", "| a | b |\n|---|---|\n| {} | x |", "[{}](https://ours.example)", "> {}", "text\n{}", "1. {}")
MARKUP = {"html_inline", "html_block", "link_open", "image", "heading_open", "fence", "code_block", "em_open", "strong_open", "s_open", "bullet_list_open", "ordered_list_open",
          "blockquote_open", "hr", "table_open", "td_open", "th_open", "softbreak", "hardbreak"}


@pytest.mark.parametrize("frame", FRAMES)
@settings(max_examples=120, deadline=None)
@given(text=HOSTILE)
@example(text="\\| @me `|` <b>")
@example(text="a\\")
@example(text="|http://e.example/a|b@c.example")
def test_inline_text_adds_no_markup(frame: str, text: str) -> None:
    plain, shown = rendered(frame.format("word")), rendered(frame.format(inline(text)))
    assert (shown.kinds & MARKUP) - {"html_inline"} <= plain.kinds & MARKUP
    assert set(shown.html) <= set(CODE)
    assert shown.links == plain.links
    assert not ACTED_ON.search(shown.text)


@pytest.mark.parametrize("frame", FRAMES)
@settings(max_examples=120, deadline=None)
@given(text=HOSTILE)
@example(text="`a``b`|")
@example(text="|``` @a@b.example")
@example(text="]:")
def test_a_code_span_adds_nothing_but_itself(frame: str, text: str) -> None:
    plain, shown = rendered(frame.format("word")), rendered(frame.format(code(text)))
    assert (shown.kinds & MARKUP) - {"html_inline"} <= plain.kinds & MARKUP
    assert shown.html in ([], list(CODE))
    assert shown.links == plain.links
    assert shown.text.replace("\x00", "").replace("word", "").split() == plain.text.replace("word", "").split()


@settings(max_examples=300, deadline=None)
@given(text=HOSTILE)
@example(text="```\n</details>\n````")
def test_nothing_ends_a_fence(text: str) -> None:
    block = fence(text, "text")
    shown = rendered(f"before\n\n{block}\n\nafter @me")
    assert shown.code == ["\n".join(block.split("\n")[1:-1]) + "\n"]
    assert shown.kinds == {"paragraph_open", "inline", "text", "paragraph_close", "fence"}
    assert shown.text.split() == ["before", "after", "@me"]


@settings(max_examples=300, deadline=None)
@given(text=HOSTILE)
def test_nothing_ends_a_fence_within_a_list(text: str) -> None:
    block = fence(text, "text")
    shown = rendered("- before\n\n  " + block.replace("\n", "\n  ") + "\n- after")
    assert [one.split() for one in shown.code] == ["\n".join(block.split("\n")[1:-1]).split()]
    assert not shown.html
    assert shown.text.split() == ["before", "after"]


@settings(max_examples=300, deadline=None)
@given(text=HOSTILE)
def test_what_is_posted_is_visible(text: str) -> None:
    for shown in (inline(text), code(text), fence(text)):
        assert all(c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp") for c in shown)
    assert "\n" not in inline(text) + code(text)


@pytest.mark.parametrize(("text", "wanted"), [
    ("assert mean([1, 2]) == 1.5", r"assert mean(\[1, 2\]) == 1.5"), ("ask @octocat", "ask `@octocat`"), ("fixes #12", "fixes `#12`"), ("GH-7", "`GH-7`"),
    ("acme/calc#3", "`acme/calc#3`"), ("see https://e.example/x?y=1", "see `https://e.example/x?y=1`"), ("at 797db88c8c1b", "at `797db88c8c1b`"),
    ("/merge now", "`/merge` now"), ("core.py:100: wrong", "`core.py:100:` wrong"), ("<b>", "&lt;b&gt;"), ("a_b _c_", r"a_b \_c\_"), ("# title", r"\# title"),
    ("1. one", r"1\. one"), ("3.13.0", "3.13.0"), ("- x", r"\- x"), ("x | y", "x &#124; y"), ("a\u200bb\u202e", "ab"), ("two\nlines", "two lines"), ("a`b", "a&#96;b"), ("", ""),
])
def test_readable(text: str, wanted: str) -> None:
    assert inline(text) == wanted


@pytest.mark.parametrize(("text", "wanted"), [
    ("t.py::test", "`t.py::test`"), ("a`b", "``a`b``"), ("`a`", "`` `a` ``"), ("", "` `"), ("int | None", "<code>int &#124; None</code>"), ("x" * 400, "`" + "x" * 296 + " ...`"),
])
def test_code_spans(text: str, wanted: str) -> None:
    assert code(text) == wanted


def test_commands_and_calls_for_other_bots_stand_at_no_line_start() -> None:
    assert fence("/merge\n@bors r+\n/repo/x.py:3: wrong\n@pytest.fixture") == "```\n> /merge\n> @bors r+\n/repo/x.py:3: wrong\n@pytest.fixture\n```"


def test_a_long_text_is_cut_at_a_line_and_says_so() -> None:
    assert clipped("one\ntwo\nthree", 8) == "one\ntwo\n... 1 more line"
    assert clipped("one\ntwo\nthree", 100, 1) == "one\n... 2 more lines"
    assert clipped("x" * 20, 5) == "xxxxx ..."


def test_a_report_is_cut_at_a_section() -> None:
    assert cut(["one", "", "two"], 100, "END") == "one\n\ntwo"
    assert cut(["one", "two" * 20, "three"], 20, "END") == "one\n\nEND"
    assert cut(["one" * 20], 20, "END") == "END"


@given(st.lists(st.text(max_size=40)), st.integers(min_value=10, max_value=200))
def test_a_report_never_passes_its_limit(parts: list[str], limit: int) -> None:
    assert size(cut(parts, limit, "END")) <= limit


def test_a_line_for_a_title_is_one_line_within_its_limit() -> None:
    assert one_line("a\n b\t\x1b[1mc\x1b[0m") == "a b c"
    assert len(one_line("x" * 500, 120)) == 120
