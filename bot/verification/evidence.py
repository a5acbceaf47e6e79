"""What the runs showed, as the gate gets it. Frozen; nothing here decides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from bot.findings import Finding
from bot.verification.canaries import Canary
from sandbox.results.report import TestReport, TestResult
from sandbox.toolchains.faults import Faults


class Origin(StrEnum):
    """Where a reproducer comes from."""

    PATCH_TESTS = "patch-tests"
    GIVEN = "given"
    ISSUE = "issue"
    MODEL = "model"


@dataclass(frozen=True)
class Reproducer:
    """The fail-to-pass side: which ids count, which must pass, and every repeat on both sides.

    `candidates`: ids that may be fail-to-pass. `required`: those that must pass on the patched side. `given`: those a caller handed in.
    `added_names`: identifiers that the source patch adds. `asserting`: ids whose source goes on to check something.
    `covered`: changed executable lines that ran, of `coverable` (None: not measured). `broken`: tests that the change leaves as they
    are, that pass with base's helpers and data, and fail with the change's. `beside_others`: ids that pass only after others of their files.
    `faults`: how failures of the language read.
    """

    origin: Origin
    candidates: tuple[str, ...]
    required: frozenset[str]
    given: frozenset[str] = frozenset()
    times: int = 1  # runs a side that were asked for
    each: tuple[str, ...] = ()  # given files (groups of ids), each of which must prove something
    base: tuple[TestReport, ...] = ()
    patched: tuple[TestReport, ...] = ()
    added_names: frozenset[str] = frozenset()
    asserting: frozenset[str] = frozenset()
    test_files: frozenset[str] = frozenset()
    coverable: int | None = None
    covered: int | None = None
    with_harness: TestReport | None = None
    harness_files: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()
    beside_others: tuple[str, ...] = ()
    faults: Faults = field(default_factory=Faults)
    fresh: frozenset[str] | None = None  # candidates that base's own suite does not have; None: all of them


@dataclass(frozen=True)
class Evidence:
    """Two sides of everything. A suite that did not run is None."""

    base: TestReport | None = None
    patched: TestReport | None = None
    base_again: Mapping[str, tuple[TestResult | None, ...]] = field(default_factory=dict)
    patched_again: Mapping[str, tuple[TestResult | None, ...]] = field(default_factory=dict)
    reproducer: Reproducer | None = None
    touched: Mapping[str, str] = field(default_factory=dict)  # base id -> old and new source, for the reader
    near: frozenset[str] = frozenset()  # base ids that did not fail on every run, and that may run changed lines
    own_copies: frozenset[str] = frozenset()  # base ids that pass in the change's version of their file
    rewritten: Mapping[str, str] = field(default_factory=dict)  # base ids whose source is part of the source patch, and edited by it
    has_tests: bool = True
    patched_limit: str | None = None  # confirmed by a second box
    base_limit: str | None = None
    deadline: bool = False
    environment_failed: str | None = None
    infrastructure: str | None = None
    only_prose: bool = False
    faults: Faults = field(default_factory=Faults)
    canaries: tuple[Canary, ...] = ()
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class FailToPass:
    """The reproducer gate: passed, failed, missing or not_run."""

    status: str = "not_run"
    origin: Origin | None = None
    passed: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The contract's shape."""
        return {"status": self.status, "origin": self.origin.value if self.origin and self.status != "missing" else None,
                "passed": list(self.passed), "failed": list(self.failed)}


@dataclass(frozen=True)
class PassToPass:
    """The suite gate: passed, failed, empty or not_run. `passed` is a count."""

    status: str = "not_run"
    passed: int = 0
    failed: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    flaky: tuple[str, ...] = ()
    already_failing: tuple[str, ...] = ()
    skipped_now: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The contract's shape."""
        return {"status": self.status, "passed": self.passed, "failed": list(self.failed), "missing": list(self.missing),
                "flaky": list(self.flaky), "already_failing": list(self.already_failing), "skipped_now": list(self.skipped_now)}
