"""Words, marks and colours for what is shown."""

from __future__ import annotations

import colorsys
import datetime
import hashlib

from bot.demo.github.records import CheckRun, Issue, Moment, Pull, User

MARKS = {"success": ("✓", "good"), "failure": ("✗", "bad"), "timed_out": ("✗", "bad"), "action_required": ("!", "attention"), "cancelled": ("⊘", "quiet"),
         "neutral": ("■", "quiet"), "skipped": ("⊘", "quiet"), "in_progress": ("●", "busy"), "queued": ("○", "busy")}
PASSING = {"success", "neutral", "skipped"}
UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"))


def mark(run: CheckRun) -> tuple[str, str]:
    """(sign, class) of a check run."""
    return MARKS[run.conclusion or run.status]


def state(run: CheckRun) -> str:
    """`success`, `action required`, `in progress`."""
    return (run.conclusion or run.status).replace("_", " ")


def thread_state(thread: Issue) -> str:
    """`open`, `closed`, `merged` or `draft`."""
    if isinstance(thread, Pull):
        if thread.merged_at is not None:
            return "merged"
        if thread.draft and thread.state == "open":
            return "draft"
    return thread.state


def summary(runs: list[CheckRun]) -> tuple[str, str]:
    """(sentence, class) above the checks of a pull request."""
    if not runs:
        return "No check has reported yet", "quiet"
    if any(run.status != "completed" for run in runs):
        return "Some checks haven’t completed yet", "busy"
    if all(run.conclusion in PASSING for run in runs):
        return "All checks have passed", "good"
    bad = any(run.conclusion in ("failure", "timed_out") for run in runs)
    return "Some checks were not successful", "bad" if bad else "attention"


def ago(moment: Moment, now: Moment) -> str:
    """`3 minutes ago`."""
    seconds = int((now - moment).total_seconds())
    for size, unit in UNITS:
        if seconds >= size:
            count = seconds // size
            return f"{count} {unit}{'s' if count > 1 else ''} ago"
    return "just now"


def duration(run: CheckRun, now: Moment) -> str:
    """How long a run took, or has taken so far."""
    if run.started_at is None:
        return ""
    seconds = max(0, int(((run.completed_at or now) - run.started_at).total_seconds()))
    return str(datetime.timedelta(seconds=seconds)) if seconds >= 60 else f"{seconds} s"


def avatar(user: User) -> str:
    """A picture of a user: a mirrored pattern of its login in a colour of its own, as SVG."""
    digest = hashlib.sha256(user.login.encode()).digest()
    red, green, blue = (int(255 * part) for part in colorsys.hls_to_rgb(digest[0] / 255, 0.55, 0.5))
    cells = [(x, y) for y in range(5) for x in range(3) if digest[1 + y * 3 + x] % 2]
    squares = "".join(f'<rect x="{column}" y="{y}" width="1" height="1"/>' for x, y in cells for column in {x, 4 - x})
    shape = "20%" if user.kind == "Bot" else "50%"
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-1 -1 7 7" style="border-radius:{shape}"><rect x="-1" y="-1" width="7" height="7" '
            f'fill="#f0f0f0"/><g fill="rgb({red},{green},{blue})">{squares}</g></svg>')


def label_style(name: str) -> str:
    """A hue for a label's name, as a class from 0 to 11."""
    return f"hue-{hashlib.sha256(name.lower().encode()).digest()[0] % 12}"
