"""`dualgate demo`: an agent opens a good and a bad pull request at a stand-in for GitHub, and the App proves them before your eyes."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from rich.console import Console
from rich.markdown import Markdown
from rich.panel import Panel

from bot.demo.github.records import CheckRun, Pull, Repository
from bot.demo.sample import Sample, make_sample
from bot.demo.stage import Stage, set_up
from bot.errors import BotError
from sandbox.ownership import temporary_folder

AGENT, AGENT_ID = "Copilot", 198982749
BROKEN = "test_invoice.py::test_shares_add_up"
LONGEST_S = 900.0
Say = Callable[[str], None]


@dataclass(frozen=True)
class Act:
    """One pull request and how it has to end."""

    branch: str
    title: str
    words: str
    conclusion: str
    names: str


ACTS = (
    Act("good", "Take a discount in per cent", "mends a defect and brings a test", "success", "test_discount_is_a_percentage"),
    Act("bad", "Take a discount in per cent, and tidy up", "mends it too, brings the same test, and quietly breaks share()", "failure", BROKEN),
)


def play(console: Console, say: Say, stay: bool) -> int:
    """0 only if the good pull request's check is `success` and the bad one's is `failure` and names the broken test.

    `stay`: keep everything up afterwards until Ctrl-C.
    """
    began = time.monotonic()
    with temporary_folder("demo") as folder:
        sample = make_sample(folder)
        with set_up(folder / "data") as stage:
            say("starting the stand-in for GitHub, `dualgate serve` and `dualgate worker`")
            stage.start("serve")
            stage.start("worker")
            repository = _found_a_town(stage, sample)
            console.print(f"[bold]A repository with a defect[/]  {stage.url}/{repository.full_name}\n"
                          f"[bold]Dualgate's own pages[/]        {stage.app_url}/\n")
            right = [_perform(stage, repository, act, number, console, say, began) for number, act in enumerate(ACTS, 1)]
            console.print("[green]Both came out as they should.[/]" if all(right) else "[red]Something is wrong: see above.[/]")
            if stay:
                console.print(f"\nEverything is still up; look around at {stage.url}/{repository.full_name}/pulls - Ctrl-C ends it.")
                threading.Event().wait()
    return 0 if all(right) else 1


def _found_a_town(stage: Stage, sample: Sample) -> Repository:
    hub = stage.hub
    hub.add_user("maria")
    hub.add_user(AGENT, kind="Bot", id=AGENT_ID)
    repository = hub.add_repository("maria", "invoice", sample.path)
    hub.push(repository, "main", sample.path, sample.base)
    hub.push(repository, "good", sample.path, sample.good)
    hub.push(repository, "bad", sample.path, sample.bad)
    hub.install(stage.app, [repository])
    return repository


def _perform(stage: Stage, repository: Repository, act: Act, number: int, console: Console, say: Say, began: float) -> bool:
    console.rule(f"Act {number}: {AGENT} opens a pull request that {act.words}", align="left")
    opened = time.monotonic()
    pull = stage.hub.open_pull(repository, AGENT, act.title, "A discount took a tenth where it should take a hundredth.", act.branch)
    check = _until_ended(stage, repository, pull, say, opened)
    comment = next((one for one in stage.hub.comments(repository, pull.number, f"{stage.app.slug}[bot]")), None)
    console.print(Panel(Markdown(_readable(check.output["summary"])), title=f"check `{check.name}`: {check.conclusion} - {check.output['title']}",
                        title_align="left"))
    for mark in check.annotations:
        console.print(f"  {mark['path']}:{mark['start_line']}  {mark['title']}")
    if comment is not None:
        console.print(Panel(Markdown(_readable(comment.body)), title=f"comment by {comment.author.login}", title_align="left"))
    console.print(f"The pull request: {stage.url}/{repository.full_name}/pull/{pull.number}\nIts evidence:     {check.details_url}\n"
                  f"{time.monotonic() - opened:.1f} s after it was opened, {time.monotonic() - began:.1f} s after the demo began\n")
    told = f"{check.output['summary']}{check.output['text']}"
    return check.conclusion == act.conclusion and act.names in told and comment is not None


def _until_ended(stage: Stage, repository: Repository, pull: Pull, say: Say, opened: float) -> CheckRun:
    """Tell each change of the check until it has ended and the comment is there. Raises StageFault."""
    shown, deadline = "", time.monotonic() + LONGEST_S
    while time.monotonic() < deadline:
        for name, process in stage.processes.items():
            if process.popen.poll() is not None:
                raise BotError(f"`dualgate {name}` ended with {process.popen.returncode}:\n{process.last_lines()}")
        check = next(iter(stage.hub.checks(repository, pull.head_sha)), None)
        if check is not None:
            words = f"{time.monotonic() - opened:5.1f} s  {check.status.replace('_', ' ')}: {check.output['title']}"
            if words[8:] != shown:
                shown = words[8:]
                say(words)
            if check.status == "completed" and stage.hub.comments(repository, pull.number):
                return check
        time.sleep(0.1)
    raise BotError(f"no verdict within {LONGEST_S:.0f} s:\n{stage.processes['worker'].last_lines()}")


def _readable(markdown: str | None) -> str:
    """Without the tags that a terminal can't fold."""
    lines = (markdown or "").splitlines()
    kept = [line for line in lines if not line.startswith(("<!--", "<details", "</details", "<sub>"))]
    return "\n".join(line.replace("<summary>", "**").replace("</summary>", "**") for line in kept)


def on_a_terminal() -> bool:
    """Whether somebody sits before it."""
    return sys.stdout.isatty()
