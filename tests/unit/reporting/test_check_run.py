"""The check of a verdict: its conclusion, its words for every reason, its limits and marks."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.reporting.annotations import Annotation, annotations_of, batches, mark
from bot.reporting.check_run import CheckOutput, check_output, conclusion, title_of, withheld_output
from bot.reporting.comment import comment_body
from bot.reporting.facts import failures, repository_path
from bot.verification.gate import REASONS
from tests.unit.reporting.rendered import ACTED_ON, rendered
from tests.unit.reporting.test_markdown import HOSTILE
from tests.unit.reporting.verdicts import ADD, ALL, LINKS, NOTHING, TOKEN, finding, needs_review, regression, row, verdict, verified

PROSE = verdict("inconclusive", "no_reproducer", f2p={"status": "missing"}, plans=[], findings=[
    finding("no_reproducer", "blocker", "nothing shows the defect"), finding("nothing_to_run", "note", "the change touches only files that no plan reads")])
OURS = ("https://dualgate.example/runs/", "https://github.com/acme/calc/blob/")
TAGS = {"<sub>", "</sub>", "<code>", "</code>"}


@pytest.mark.parametrize(("shown", "configured", "wanted"), [
    (verified(), "failure", "success"), (regression(), "neutral", "failure"), (verdict("rejected", "timeout"), "action_required", "failure"),
    (verdict("inconclusive", "no_tests"), "action_required", "action_required"), (verdict("inconclusive", "no_tests"), "neutral", "neutral"),
    (verdict("inconclusive", "no_tests"), "failure", "failure"), (needs_review(), "neutral", "action_required"), (needs_review(), "failure", "failure"),
    (needs_review(), "action_required", "action_required"), (PROSE, "action_required", "neutral"), (PROSE, "failure", "neutral"),
    (verdict("inconclusive", "infrastructure"), "success", "action_required"),
])
def test_conclusions(shown: dict[str, Any], configured: str, wanted: str) -> None:
    assert conclusion(shown, configured) == wanted


@pytest.mark.parametrize("reason", ["verified", *REASONS])
def test_every_reason_has_words_of_its_own(reason: str) -> None:
    answer = REASONS[reason].value if reason in REASONS else "verified"
    shown = verdict(answer, reason, findings=[finding(reason, "blocker", "the detail")] if reason in REASONS else [])
    output = check_output(shown, LINKS)
    first, step = output.summary.split("\n")[0], output.summary.split("**What to do:** ")[1].split("\n")[0]
    assert output.title.startswith({"verified": "Verified: ", "rejected": "Rejected: ", "inconclusive": "Not verified: "}[answer])
    assert len(output.title) <= 120
    assert first.endswith(".")
    assert len(first) > 30
    assert len(step) > 30
    assert step != "Read the findings and decide."


def test_no_two_reasons_share_their_words() -> None:
    outputs = [check_output(verdict(answer.value, reason), LINKS) for reason, answer in REASONS.items()]
    assert len({output.title for output in outputs}) == len({output.summary.split("\n| Gate")[0] for output in outputs}) == len(REASONS)


def test_a_reason_and_a_plan_from_later_on_still_make_a_report() -> None:
    shown = verdict("rejected", "new_reason", plans=[{"toolchain": "go", "framework": "go test", "test": ["go", "test", "./..."]}])
    output = check_output(shown, LINKS)
    assert output.title == "Rejected: new reason"
    assert "go, go test" in output.summary
    assert "go test ./..." in output.text


def test_a_title_holds_nothing_that_others_wrote() -> None:
    assert "evil" not in title_of(regression())


@pytest.mark.parametrize("name", ALL)
def test_nothing_passes_githubs_limits(name: str) -> None:
    output = check_output(ALL[name](), LINKS)
    assert max(len(output.summary.encode()), len(output.text.encode())) <= 65_535
    assert len(withheld_output(output, 12).summary.encode()) <= 65_535
    assert all(len(one.title) <= 255 and len(one.message.encode()) <= 64_000 for one in output.annotations)


def test_a_cut_report_ends_whole_says_so_and_links_on() -> None:
    text = check_output(ALL["huge"](), LINKS).text
    assert text.endswith(f"[The run's page has all of it.]({LINKS.run_url})")
    assert rendered(text).text.rstrip().endswith("GitHub takes, so it ends here.\x20The run's page has all of it.")


@pytest.mark.parametrize("name", ALL)
def test_no_secret_is_posted(name: str) -> None:
    shown = ALL[name]()
    output = check_output(shown, LINKS)
    assert TOKEN[:20] not in json.dumps([output.title, output.summary, output.text, [one.to_json() for one in output.annotations], comment_body(shown, LINKS)])


@settings(max_examples=80, deadline=None)
@given(words=st.lists(HOSTILE, min_size=6, max_size=6), reason=st.sampled_from(["regression", "needs_review", "environment_failed", "reproducer_still_fails"]))
def test_others_words_make_no_markup_anywhere(words: list[str], reason: str) -> None:
    name, file, message, detail, path, command = words
    shown = verdict(REASONS[reason].value, reason, f2p={"status": "failed", "origin": "given", "passed": [name + "a"], "failed": [name + "b"]},
                    p2p={"status": "failed", "passed": 2, "failed": [name], "flaky": [name + "c"], "already_failing": [name + "d"]},
                    tests=[{**row(name, "passed", "failed", "P2F", message=message), "file": file}, row(name + "c", "passed", "failed", "FLAKY")],
                    findings=[finding(reason, "blocker", detail, (path,), (name,)), finding("static_sign", "note", detail, (path,)), finding("collection", "warning", message, (path,))],
                    evidence={"runs": [{"side": command, "command": command, "exit_status": None, "seconds": 1.0, "image": "", "log": ""}], "replay": command})
    shown["plans"][0] = {**shown["plans"][0], "python": command, "install": [message], "tried": [detail], "dropped": [path],
                         "why": [{"choice": name, "value": detail, "file": file, "line": 3}]}
    output = check_output(shown, LINKS)
    for text in (output.summary, output.text, comment_body(shown, LINKS)):
        seen = rendered(text)
        tags = [tag for tag in seen.html if tag not in TAGS and not tag.startswith("<!-- dualgate:verdict --><!-- run=")]
        assert all(tag.startswith(("<details>\n<summary>", "</details>")) for tag in tags)
        assert all(link.startswith(OURS) for link in seen.links)
        assert "image" not in seen.kinds
        assert not ACTED_ON.search(seen.text.replace("ost: $0.00", "").replace("ost $0.00", ""))


def test_broken_tests_are_marked_at_their_lines() -> None:
    marks = annotations_of(regression())
    assert [(one.path, one.start_line, one.end_line, one.level) for one in marks] == [("tests/test_core.py", 4, 4, "failure"), ("tests/test_core.py", 9, 9, "failure")]
    assert marks[1].title == "test_add[int | None]: passed before, fails now"
    assert marks[1].to_json()["annotation_level"] == "failure"


def test_a_mark_without_a_line_is_at_the_first() -> None:
    shown = verdict("rejected", "regression", p2p={"status": "failed", "failed": [ADD]}, tests=[row(ADD, "passed", None, "P2F", line=None)])
    assert [(one.start_line, one.message) for one in annotations_of(shown)] == [(1, "passed before, did not run now")]


def test_only_paths_of_the_tree_are_marked() -> None:
    assert annotations_of(regression(), {"other.py"}) == ()
    assert len(annotations_of(regression(), {"tests/test_core.py"})) == 2


def test_an_edited_test_is_a_warning_and_a_named_line_too() -> None:
    shown = needs_review()
    shown["findings"].append(finding("needs_review", "blocker", "the added line names the test runner: import _pytest", ("calc/core.py:3",)))
    assert [(one.level, one.path, one.start_line) for one in annotations_of(shown)] == [("warning", "tests/test_flags.py", 4), ("warning", "calc/core.py", 3)]


@pytest.mark.parametrize("path", ["/etc/passwd", "../x.py", "a/../../x.py", "lib/site-packages/x.py", "C:\\x.py", "", None, ".git/config", "a\nb", "~/x", "<string>"])
def test_paths_outside_the_repository_are_none(path: str | None) -> None:
    assert repository_path(path) is None


@pytest.mark.parametrize("path", ["a.py", "tests/test_x.py", "a/..b/c.py", ".github/dualgate.yml", "pages/[id].ts"])
def test_paths_of_the_repository(path: str) -> None:
    assert repository_path(path) == path


def test_marks_go_in_requests_of_fifty() -> None:
    marks = [mark("a.py", line, "failure", "m", "t") for line in range(1, 121)]
    assert [len(batch) for batch in batches(marks)] == [50, 50, 20]
    assert batches([]) == []


def test_a_mark_has_a_message_and_no_secret() -> None:
    assert mark("a.py", 0, "notice", "\x00", f"see {TOKEN}") == Annotation("a.py", 1, 1, "notice", "No message.", "see [redacted]")


def test_a_test_that_did_not_run_is_told_apart_from_one_that_fails() -> None:
    shown = verdict("rejected", "regression", f2p={"status": "failed", "failed": ["t.py::new"]}, p2p={"status": "failed", "failed": [ADD, NOTHING], "missing": ["t.py::old"]},
                    tests=[row(ADD, "passed", "skipped", "P2F"), row(NOTHING, "passed", None, "P2F"), row("t.py::old", "passed", None, "GONE")])
    assert [failure.happened for failure in failures(shown)] == [
        "passed before, is skipped now", "passed before, did not run now", "passed before, is gone now", "should pass with the change, but did not run"]


def test_a_file_that_does_not_load_comes_before_its_tests() -> None:
    shown = verdict("rejected", "regression", p2p={"status": "failed", "failed": [ADD]}, tests=[row(ADD, "passed", None, "P2F")], findings=[
        finding("regression", "blocker", "tests/test_core.py no longer collects", tests=("tests/test_core.py",)),
        finding("collection", "warning", "SyntaxError: invalid syntax", ("tests/test_core.py",))])
    assert "**`tests/test_core.py`** can no longer be loaded" in check_output(shown, LINKS).summary


def test_without_a_page_the_command_is_named() -> None:
    links = type(LINKS)("", LINKS.repository_url, LINKS.head_sha)
    assert "`dualgate runs show` prints it" in check_output(verified(), links).summary


def test_a_withheld_success_names_the_sibling() -> None:
    output = withheld_output(CheckOutput("Verified", "the summary"), 12)
    assert "#12" in output.title
    assert output.summary.endswith("the summary")
