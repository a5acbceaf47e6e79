"""A verdict as GitHub's check run: conclusion, title, summary, details and marks beside lines. Pure."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

from bot.reporting import facts
from bot.reporting.annotations import Annotation, annotations_of, batches
from bot.reporting.markdown import one_line
from bot.reporting.texts import render, report

__all__ = ["Annotation", "CheckOutput", "Links", "batches", "check_output", "conclusion", "title_of", "withheld_output"]

LIMIT = 65_000  # of summary and of text, each; GitHub takes 65,535, and `withheld_output` adds to the summary
TITLE = 120  # characters; GitHub takes 255, its pages show less
SHOWN = 3  # broken tests with their messages in the summary
TOLD = 12  # findings in the summary


@dataclass(frozen=True)
class Links:
    """Where a reader goes on. `run_url`: the run's page, empty where there is none; `repository_url`: on GitHub, from the payload; `head_sha`: of the
    pull request, which the check belongs to; `fork`: the head is in another repository, so that a command has to name the commit.
    """

    run_url: str
    repository_url: str
    head_sha: str
    pull_number: int | None = None
    fork: bool = False

    def blob(self, sha: str, path: str, line: int | None) -> str:
        """A file's line on GitHub, quoted for a link's target."""
        return render("blob.md", repository=self.repository_url, sha=sha, path=path, line=line)


@dataclass(frozen=True)
class CheckOutput:
    """What a check run shows. Summary and text are Markdown, each within GitHub's limit."""

    title: str
    summary: str
    text: str = ""
    annotations: tuple[Annotation, ...] = ()


def conclusion(verdict: dict[str, Any], inconclusive: str = "action_required") -> str:
    """GitHub's conclusion: success, failure, action_required or neutral.

    `inconclusive`: what the configuration says of a verdict without an answer (action_required, neutral, failure). What needs a person's review is
    never neutral, since neutral satisfies a required check; a change of prose alone always is.
    """
    if verdict["verdict"] == "verified":
        return "success"
    if verdict["verdict"] == "rejected":
        return "failure"
    if facts.only_prose(verdict):
        return "neutral"
    if inconclusive == "failure":
        return "failure"
    return "neutral" if inconclusive == "neutral" and verdict["reason"] != "needs_review" else "action_required"


def title_of(verdict: dict[str, Any]) -> str:
    """The answer in at most 120 characters of plain text, none of which others wrote."""
    return one_line(render("title.md", **values(verdict)), TITLE)


def check_output(verdict: dict[str, Any], links: Links, tree: Collection[str] | None = None) -> CheckOutput:
    """What the completed check shows. `tree`: the head's paths, where known; only those are marked. Summary: the answer, both gates, what broke,
    what to do, findings, time and cost, evidence. Text: every broken test with its message, the runs, how the tests were set up.
    """
    told = values(verdict, links)
    return CheckOutput(title_of(verdict), report("summary.md", LIMIT, links.run_url, **told), report("details.md", LIMIT, links.run_url, **told),
                       annotations_of(verdict, tree))


def withheld_output(output: CheckOutput, sibling: int) -> CheckOutput:
    """The same, withheld (`action_required`): the commit is also the head of another pull request, which is not verified."""
    title, summary = render("withheld.md", sibling=sibling).split("\n", 1)
    return replace(output, title=title, summary=summary.strip() + "\n\n" + output.summary)


def values(verdict: dict[str, Any], links: Links | None = None) -> dict[str, Any]:
    """What the templates of a verdict are filled with."""
    gates, broken = verdict["gates"], facts.failures(verdict)
    return {
        "v": verdict, "f2p": gates["fail_to_pass"], "p2p": gates["pass_to_pass"], "t": verdict["timing"], "links": links, "broken": broken,
        "lost": facts.broken_names(verdict), "flaky": facts.flaky_rows(verdict), "findings": facts.told_findings(verdict),
        "decisions": facts.deciding(verdict), "told_by_tests": bool(broken) and verdict["reason"] in facts.BY_TESTS,
        "only_prose": facts.only_prose(verdict), "base_cached": facts.base_cached(verdict), "shown": SHOWN, "told": TOLD,
    }
