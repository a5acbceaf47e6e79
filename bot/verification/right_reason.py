"""Whether a test fails on base for the change's reason, and not for a fault of its own. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from sandbox.results.report import TestResult
from sandbox.toolchains.faults import Faults


@dataclass(frozen=True)
class Reason:
    """`wrong`: why the failure proves nothing; `missing`: a name of the change that base does not have yet (accepted, with a note)."""

    wrong: str | None = None
    missing: str | None = None


def failure_reason(
    result: TestResult | None, uncollected: str | None, faults: Faults, *, added_names: frozenset[str], test_files: frozenset[str], asserts: bool,
) -> Reason:
    """Judge one base failure: of a test that ran, or of a group that did not even collect (its error text)."""
    if result is None:
        return _of_text(uncollected or "", faults, added_names, asserts)
    if result.kind in ("crash", "timeout"):
        return Reason()
    text = f"{result.exception or ''}: {result.short or result.message}"
    own = not result.frames or result.frames[-1][0] in test_files
    exception = (result.exception or "").rsplit(".", 1)[-1]
    if faults.fixture.search(result.message):
        return Reason(wrong="a fixture of its own is missing")
    if not own:
        return Reason()
    if exception in faults.own:
        name = faults.missing_name(text)
        return Reason(missing=name) if name and name in added_names and asserts else Reason(wrong=f"a fault of its own: {text[:200]}")
    if exception in faults.names or faults.keyword.search(f"{exception}: {result.short or result.message}"):
        name = faults.missing_name(text)
        if name and _added(name, added_names):
            return Reason(missing=name) if asserts else Reason(wrong=f"it only meets the missing name {name} and checks nothing")
        if exception in faults.imports or faults.foreign.search(text):
            return Reason(wrong=f"a name that the change does not add: {text[:200]}")
    return Reason()


def _of_text(text: str, faults: Faults, added_names: frozenset[str], asserts: bool) -> Reason:
    name = faults.missing_name(text)
    if name and _added(name, added_names):
        return Reason(missing=name) if asserts else Reason(wrong=f"it only meets the missing name {name} and checks nothing")
    made = faults.made.search(text)
    if made and any(word == made[1] or (made[1].endswith("/") and word.startswith(made[1])) for word in added_names):
        return Reason() if asserts else Reason(wrong="it only meets code that the changed macro makes, and checks nothing")
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return Reason(wrong=f"it does not collect on base: {lines[-1].strip()[:200] if lines else 'no reason given'}")


def _added(name: str, added_names: frozenset[str]) -> bool:
    return all(part in added_names for part in name.split(".")[-1:]) or name in added_names
