"""What a verdict says, picked out for the texts: what broke and where, which findings are left to tell, what was cached. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

KINDS = {"missing_package", "hallucinated_api", "syntax_error", "assertion", "exception", "timeout", "crash", "collection"}  # of a diagnosis
BY_TESTS = {"regression", "tests_removed", "reproducer_still_fails", "timeout"}  # reasons that broken tests tell by themselves
BY_PROOF = {"reproducer_still_fails", "reproducer_wrong_reason", "reproducer_passes_on_base"}  # reasons told by the proof before the suite
WEIGHT = {"blocker": 0, "warning": 1, "note": 2}
OUTSIDE = re.compile(r"^(?:[/\\~]|[A-Za-z]:)|(?:^|/)(?:\.\.|\.git|site-packages|dist-packages)(?:/|$)|[\\\x00-\x1f<>\ud800-\udfff]|^\s*$")
LINE = re.compile(r"^(.+?):(\d{1,9})(?::\d+)?$")


@dataclass(frozen=True)
class Failure:
    """One thing that does not work with the change. `test` may be a file or empty; `file` is inside the repository or None, `line` from 1."""

    test: str
    happened: str
    message: str = ""
    kind: str = ""
    file: str | None = None
    line: int | None = None
    of_base: bool = True  # base's version of the file was run


def failures(verdict: dict[str, Any]) -> tuple[Failure, ...]:
    """Everything that broke, and what should prove the change and does not; those with a message first."""
    told = {finding["tests"][0]: finding for finding in diagnoses(verdict) if len(finding["tests"]) == 1}
    rows = {(row["id"], row["from"] == "base"): row for row in verdict["tests"]}
    gone = set(_gate(verdict, "pass_to_pass")["missing"])
    suite = [_failure(name, _broke(rows.get((name, True), {}), name in gone), rows.get((name, True), {}), told.get(name), True)
             for name in broken_names(verdict)]
    proof = [_failure(name, _unproven(rows.get((name, False), {})), rows.get((name, False), {}), told.get(name), False)
             for name in _gate(verdict, "fail_to_pass")["failed"]]
    found = proof + suite if verdict["reason"] in BY_PROOF else suite + proof
    whole = [_file_failure(finding) for finding in diagnoses(verdict) if not finding["tests"]]
    return tuple(whole + sorted(found, key=lambda failure: not failure.message))


def broken_names(verdict: dict[str, Any]) -> list[str]:
    """Ids that passed before and do not now, each once."""
    gate = _gate(verdict, "pass_to_pass")
    return list(dict.fromkeys([*gate["failed"], *gate["missing"]]))


def flaky_rows(verdict: dict[str, Any]) -> list[dict[str, Any]]:
    """Rows of tests that were not the same on every run."""
    names = set(_gate(verdict, "pass_to_pass")["flaky"])
    return [row for row in verdict["tests"] if row["category"] == "FLAKY" or row["id"] in names]


def diagnoses(verdict: dict[str, Any]) -> list[dict[str, Any]]:
    """Findings that say why a test fails; those that decide are none."""
    return [finding for finding in verdict["findings"] if _explains(finding)]


def told_findings(verdict: dict[str, Any]) -> list[dict[str, Any]]:
    """The other findings, the deciding one first, then blockers, warnings, notes."""
    left = [finding for finding in verdict["findings"] if not _explains(finding)]
    return sorted(left, key=lambda finding: (not _decides(finding, verdict), WEIGHT.get(finding["severity"], 2)))


def deciding(verdict: dict[str, Any]) -> list[dict[str, Any]]:
    """The findings that the verdict rests on; none where it is verified."""
    return [finding for finding in verdict["findings"] if _decides(finding, verdict)]


def only_prose(verdict: dict[str, Any]) -> bool:
    """Whether nothing ran because the change touches only files that no plan reads, and nothing else speaks against it."""
    blockers = {finding["code"] for finding in verdict["findings"] if finding["severity"] == "blocker"}
    return verdict["reason"] == "no_reproducer" and blockers <= {"no_reproducer"} and any(f["code"] == "nothing_to_run" for f in verdict["findings"])


def repository_path(path: object) -> str | None:
    """The path where it can be one of the repository's files: relative, no way up, nothing installed."""
    text = str(path) if path else ""
    return None if OUTSIDE.search(text) else text


def place(text: str) -> tuple[str, int | None] | None:
    """`path:line` as (path, line); None where the path is outside the repository."""
    match = LINE.match(text)
    path = repository_path(match[1] if match else text)
    return (path, int(match[2]) if match else None) if path else None


def base_cached(verdict: dict[str, Any]) -> bool:
    """Whether base's results were known before: judged by the suite's gate, without a second spent on base."""
    return bool(verdict["plans"]) and not verdict["timing"]["base_s"] and _gate(verdict, "pass_to_pass")["status"] in ("passed", "failed")


def _explains(finding: dict[str, Any]) -> bool:
    return finding["code"] in KINDS and finding["severity"] != "blocker"


def _decides(finding: dict[str, Any], verdict: dict[str, Any]) -> bool:
    return bool(finding["code"] == verdict["reason"] and finding["severity"] == "blocker")


def _gate(verdict: dict[str, Any], name: str) -> dict[str, Any]:
    gate: dict[str, Any] = verdict["gates"][name]
    return gate


def _broke(row: dict[str, Any], gone: bool) -> str:
    words = {"skipped": "is skipped now", "xfailed": "is expected to fail now", "xpassed": "is expected to fail now", "passed": "occurs more often now"}
    now = row.get("patched")
    return f"passed before, {'is gone now' if gone else words.get(str(now), 'fails now' if now else 'did not run now')}"


def _unproven(row: dict[str, Any]) -> str:
    words = {"skipped": "is skipped", "passed": "passes in some runs only"}
    now = row.get("patched")
    return f"should pass with the change, {words.get(str(now), 'but fails' if now else 'but did not run')}"


def _failure(name: str, happened: str, row: dict[str, Any], finding: dict[str, Any] | None, of_base: bool) -> Failure:
    message = (finding["detail"] if finding else row.get("message")) or ""
    happened = happened.replace("fails", "does not end") if finding and finding["code"] == "timeout" else happened
    file = repository_path(row.get("file") or (name.split("::")[0] if "::" in name else None))
    return Failure(name, happened, message, finding["code"] if finding else "", file, row.get("line"), of_base)


def _file_failure(finding: dict[str, Any]) -> Failure:
    where = place(finding["paths"][0]) if finding["paths"] else None
    happened = "can no longer be loaded" if finding["code"] == "collection" else "the test run ends early"
    return Failure(where[0] if where else "", happened, finding["detail"], finding["code"], where[0] if where else None, where[1] if where else None)
