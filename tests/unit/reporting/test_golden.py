"""What a maintainer reads, as files. DUALGATE_REWRITE_GOLDEN=1 writes them anew; then read them as a maintainer would."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bot.reporting import check_progress, replies
from bot.reporting.check_progress import Step
from bot.reporting.check_run import CheckOutput, check_output, conclusion, withheld_output
from bot.reporting.comment import comment_body
from tests.unit.reporting.verdicts import ALL, HEAD, LINKS

GOLDEN = Path(__file__).parent / "golden"
KEPT = 9000  # characters of a golden file before its middle is left out


def compare(name: str, text: str) -> None:
    shown = text if len(text) <= KEPT else f"{text[:KEPT - 1000]}\n[... the golden file leaves out the middle ...]\n{text[-1000:]}"
    path = GOLDEN / name
    if os.environ.get("DUALGATE_REWRITE_GOLDEN") == "1":
        path.parent.mkdir(exist_ok=True)
        path.write_text(shown + "\n", encoding="utf-8")
    assert path.read_text(encoding="utf-8") == shown + "\n"


def whole(output: CheckOutput, concluded: str) -> str:
    marks = "\n".join(f"{one.level} {one.path}:{one.start_line} | {one.title} | {one.message[:200]}" for one in output.annotations[:4])
    return (f"[{concluded}] {output.title}\n\n{output.summary}\n\n=================== details ===================\n\n{output.text}\n\n"
            f"=================== {len(output.annotations)} annotations ===================\n\n{marks}")


@pytest.mark.parametrize("name", ALL)
def test_the_check_reads_as_the_golden_file(name: str) -> None:
    verdict = ALL[name]()
    compare(f"{name}.check.md", whole(check_output(verdict, LINKS), conclusion(verdict)))


@pytest.mark.parametrize("name", ALL)
def test_the_comment_reads_as_the_golden_file(name: str) -> None:
    compare(f"{name}.comment.md", comment_body(ALL[name](), LINKS))


def test_the_states_before_a_verdict_read_as_the_golden_file() -> None:
    steps = (Step("environment", "cached", 0.1, "Python 3.13, pytest"), Step("base suite", "done", 42.0, "2,314 passed, 1 failed"),
             Step("patched suite", "running", 12.2, "812 passed so far"), Step("reproducer"))
    fault = check_progress.read_fault(".github/dualgate.yml:7:3: limits.suite_s: Input should be greater than 0")
    outputs = {
        "queued": check_progress.queued_output(), "queued behind two": check_progress.queued_output(2),
        "running": check_progress.progress_output(steps, LINKS.run_url, 61.0), "cancelled": check_progress.cancelled_output("a newer commit was pushed", LINKS.run_url),
        "lost": check_progress.lost_output("the machine was restarted"), "nothing changed": check_progress.nothing_changed_output(),
        "out of scope": check_progress.out_of_scope_output("This repository has only agents' pull requests verified, and this one is a person's."),
        "configuration": check_progress.configuration_output(fault), "withheld": withheld_output(check_output(ALL["verified"](), LINKS), 12),
    }
    compare("states.md", "\n\n".join(whole(output, name) for name, output in outputs.items()))


def test_the_replies_read_as_the_golden_file() -> None:
    texts = (
        replies.refused("mallory", 4711, "/dualgate verify"), replies.sha_needed(HEAD), replies.head_moved("4aa9da5608db", HEAD, 4711),
        replies.label_ignored("dualgate", "It asks for a patch on issues and for a verification on pull requests; this is a discussion."),
        replies.unknown_command("verfiy @octocat"), replies.nothing_to_cancel(), replies.minutes_spent(241, 240, "00:00 UTC"),
    )
    compare("replies.md", "\n\n---\n\n".join(texts))
