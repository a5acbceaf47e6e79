"""What a check shows before, and instead of, a verdict: queued, running, cancelled, lost, out of scope, a broken configuration. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from bot.reporting.annotations import mark
from bot.reporting.check_run import TITLE, CheckOutput
from bot.reporting.facts import repository_path
from bot.reporting.markdown import one_line
from bot.reporting.redact import redact
from bot.reporting.texts import render

FAULT = re.compile(r"^(?P<file>[^\n:]+?)(?::(?P<line>\d{1,9})(?::(?P<column>\d{1,9}))?)?: (?P<message>.*)$", re.DOTALL)


@dataclass(frozen=True)
class Step:
    """One phase of a verification. `state`: waiting, running, done, failed, cached (known from before) or left out; `counts`: what it showed."""

    name: str
    state: str = "waiting"
    seconds: float | None = None
    counts: str = ""


@dataclass(frozen=True)
class ConfigurationFault:
    """What is wrong with the repository's configuration and where. Line and column count from 1; None where unknown."""

    file: str
    message: str
    line: int | None = None
    column: int | None = None


def read_fault(text: str, file: str = ".github/dualgate.yml") -> ConfigurationFault:
    """`file:line:column: message`, as the policy's errors read, in its parts; with another text the file is the given one."""
    match = FAULT.match(text)
    if match is None or repository_path(match["file"]) is None:
        return ConfigurationFault(file, text)
    line, column = (int(match[name]) if match[name] else None for name in ("line", "column"))
    return ConfigurationFault(match["file"], match["message"], line, column)


def queued_output(ahead: int = 0) -> CheckOutput:
    """Waiting for its turn behind `ahead` others."""
    return _output("queued.md", ahead=ahead)


def progress_output(steps: Sequence[Step], run_url: str = "", seconds: float | None = None) -> CheckOutput:
    """Running: a table of phases, posted again as they end. `seconds`: since the start."""
    running = next((step for step in steps if step.state == "running"), None)
    return _output("progress.md", steps=steps, running=running, link=run_url, seconds=seconds,
                   ended=sum(step.state not in ("waiting", "running") for step in steps))


def cancelled_output(why: str, run_url: str = "") -> CheckOutput:
    """Ended before a verdict (`cancelled`). `why` completes: "Cancelled: ..."."""
    return _output("cancelled.md", why=why, link=run_url)


def lost_output(why: str = "", run_url: str = "") -> CheckOutput:
    """Lost on our side, for good (`timed_out`)."""
    return _output("lost.md", why=why, link=run_url)


def out_of_scope_output(why: str) -> CheckOutput:
    """Not looked at, because of the configuration (`neutral`). `why` is a sentence."""
    return _output("out_of_scope.md", why=why)


def nothing_changed_output() -> CheckOutput:
    """Base and head are the same tree (`neutral`)."""
    return _output("nothing_changed.md")


def configuration_output(fault: ConfigurationFault) -> CheckOutput:
    """A broken configuration (`action_required`), with a mark on its line."""
    output = _output("configuration.md", fault=fault)
    path = repository_path(fault.file)
    marks = (mark(path, fault.line, "failure", fault.message, "This configuration can't be read"),) if path else ()
    return CheckOutput(output.title, output.summary, annotations=marks)


def _output(template: str, **values: object) -> CheckOutput:
    """A template's first line is the title."""
    title, _, summary = render(template, **values).partition("\n")
    return CheckOutput(one_line(redact(title), TITLE), redact(summary.strip()))
