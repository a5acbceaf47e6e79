"""Signed records of a run -> TestReport. Every runner's driver (sandbox/inside) speaks in the same records.

hello; items [[id, file, line], ...], any number of times; ready; for a test, by its place among the items: start, phase (when, outcome, seconds,
message, ...), end, slow; of a group: collected, uncollected, skipped_file, died; lost (places that a death of the program hides); cut; lines; internal; exit.
"""

from __future__ import annotations

from typing import Any

from sandbox.box import RawRun
from sandbox.channel import Record
from sandbox.results.report import Outcome, TestReport, TestResult


def relative(path: str, root: str) -> str:
    """A path as the repository names it; paths from elsewhere stay whole."""
    return path[len(root) + 1:] if path.startswith(root + "/") else path


def build_report(run: RawRun, root: str) -> TestReport:
    """The report of one run. A test that had begun when the program died failed with kind `crash` or `timeout`;
    those that had not begun are `missing`, unless the suite stopped by itself because its time was spent."""
    items: list[tuple[str, str, int]] = []
    phases: dict[int, list[Record]] = {}
    started: set[int] = set()
    ended: set[int] = set()
    slow: dict[int, Record] = {}
    uncollected: dict[str, str] = {}
    skipped_files: dict[str, str] = {}
    collected: list[str] = []
    lost: set[int] = set()
    died: list[str] = []
    executed, internal, cut_short = None, "", False
    for record in run.records:
        match record["k"]:
            case "items":
                items += [(row[0], row[1], row[2]) for row in record["items"]]
            case "start":
                started.add(record["i"])
            case "end":
                ended.add(record["i"])
            case "phase":
                phases.setdefault(record["i"], []).append(record)
            case "slow":
                slow[record["i"]] = record
            case "uncollected":
                uncollected[record["file"] or "(session)"] = record["message"]
            case "skipped_file":
                skipped_files[record["file"]] = record["message"]
            case "collected":
                collected.append(record["file"])
            case "lost":
                lost.update(record["i"])
            case "died":
                died.append(record["file"])
            case "cut":
                cut_short = True
            case "lines":
                executed = record["executed"]
            case "internal":
                internal = record["message"]
    exited = any(record["k"] == "exit" for record in run.records)
    complete = exited and not internal and run.broken is None
    cut = cut_short or (complete and len(started | lost) < len(items) and not run.request.collect)
    results: dict[str, TestResult] = {}
    for place, (name, file, line) in enumerate(items):
        if place not in started and place not in lost and cut:
            continue
        results[name] = _result(
            name, relative(file, root), line, phases.get(place, []), root,
            begun=place in started and place not in lost, ended=place in ended or (exited and run.request.mode == "script"),
            slow=slow.get(place), limit=run.limit)
    return TestReport(
        results=results, uncollected=uncollected, collected=tuple(dict.fromkeys(collected)), skipped_files=skipped_files, died=tuple(died),
        status=run.status, seconds=run.seconds, limit=run.limit, broken=run.broken, complete=complete, cut=cut,
        executed=executed, log=run.log, command=run.request.command, args=run.request.args, internal=internal)


def _result(
    name: str, file: str, line: int, phases: list[Record], root: str, *,
    begun: bool, ended: bool, slow: Record | None, limit: str | None,
) -> TestResult:
    seconds = sum(phase["seconds"] for phase in phases)
    where: dict[str, Any] = {"id": name, "file": file, "line": line, "seconds": round(seconds, 4)}
    if not begun:
        return TestResult(**where, outcome=Outcome.MISSING, message="the program ended before this test began")
    bad = next((phase for phase in phases if phase["outcome"] == "failed"), None)
    if slow is not None:
        frame = slow["frame"]
        text = f"no end within the test's time limit; it was at {relative(frame[0], root)}:{frame[1]} in {frame[2]}"
        return TestResult(**where, outcome=Outcome.FAILED, kind="timeout", message=text, short=text,
                          frames=((relative(frame[0], root), frame[1], frame[2]),))
    if not ended:
        kind = "timeout" if limit in ("time", "deadline") else "crash"
        text = "the run was ended while this test was running" if kind == "timeout" else "the program died while this test was running"
        return TestResult(**where, outcome=Outcome.FAILED, kind=kind, message=text, short=text)
    if bad is not None:
        outcome = Outcome.FAILED if bad["when"] == "call" else Outcome.ERROR
        frames = tuple((relative(f[0], root), int(f[1]), str(f[2])) for f in bad.get("frames") or [])
        return TestResult(
            **where, outcome=outcome, message=bad.get("message", ""), short=bad.get("short") or _last_line(bad.get("message", "")),
            exception=bad.get("exception"), output=bad.get("output", ""), frames=frames,
            nearest=tuple(bad["nearest"]) if bad.get("nearest") else None)
    if any("wasxfail" in phase for phase in phases):
        skipped = any(phase["outcome"] == "skipped" for phase in phases)
        return TestResult(**where, outcome=Outcome.XFAILED if skipped else Outcome.XPASSED)
    gone = next((phase for phase in phases if phase["outcome"] == "skipped"), None)
    if gone is not None:
        return TestResult(**where, outcome=Outcome.SKIPPED, message=gone.get("message", ""))
    if not any(phase["when"] == "call" for phase in phases):
        return TestResult(**where, outcome=Outcome.ERROR, message="the test did not run", kind="crash")
    return TestResult(**where, outcome=Outcome.PASSED)


def _last_line(text: str) -> str:
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return lines[-1].strip() if lines else ""
