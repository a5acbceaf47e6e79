"""Pass-to-pass: what worked before against what works now, id by id. Pure."""

from __future__ import annotations

from collections.abc import Collection

from bot.findings import Finding, Severity, blocker, counted, warning
from bot.verification.diagnosis import DIAGNOSED, diagnose
from bot.verification.evidence import Evidence, PassToPass
from sandbox.results.report import Outcome, TestReport, TestResult, group_of


def judge_pass_to_pass(evidence: Evidence, changed: Collection[str]) -> tuple[PassToPass, list[Finding]]:
    """Every base pass against the patched run, id by id."""
    base, patched = evidence.base, evidence.patched
    if base is None or patched is None:
        return PassToPass(), []
    if "deadline" in (base.limit, patched.limit):
        return PassToPass(passed=len(base.passing() & patched.passing())), []
    passing = base.passing()
    failing = tuple(name for name, r in base.results.items() if r.failed)
    if not passing:
        return _nothing_passes(evidence, base, failing)
    state = _Sorted()
    for name in base.results:
        if name in passing:
            _sort(state, name, evidence, patched)
    state.regressions += _multiplied(base, patched, evidence)
    regressed = tuple(dict.fromkeys([*state.regressions, *state.skipped, *state.timeouts]))
    failed = tuple(name for name in regressed if name not in state.review)
    status = "failed" if failed or state.missing else "passed"
    gate = PassToPass(status, len(state.passed), failed, tuple(state.missing), tuple(state.flaky), failing, tuple(state.skipped))
    return gate, _p2p_findings(state, evidence, patched, changed)


class _Sorted:
    """Base passes by what became of them."""

    def __init__(self) -> None:
        self.passed: list[str] = []
        self.regressions: list[str] = []
        self.skipped: list[str] = []
        self.missing: list[str] = []
        self.removed: list[str] = []
        self.flaky: list[str] = []
        self.timeouts: list[str] = []
        self.review: list[str] = []
        self.unstable: list[str] = []


def _sort(state: _Sorted, name: str, evidence: Evidence, patched: TestReport) -> None:
    now = patched.results.get(name)
    if now is not None and now.passed:
        state.passed.append(name)
        return
    base_again = evidence.base_again.get(name, ())
    if any(r is None or not r.passed for r in base_again):
        state.unstable.append(name)
        state.flaky.append(name)
        return
    again = evidence.patched_again.get(name, ())
    if again and any(r is not None and r.passed for r in again) and now is not None:
        state.flaky.append(name)
        return
    if name in evidence.touched or (now is None and group_of(name) in patched.uncollected and name in evidence.own_copies):
        state.review.append(name)
    elif now is None or now.outcome is Outcome.MISSING:
        state.missing.append(name)
        group = group_of(name)
        collected = group in patched.collected or any(group_of(other) == group for other in patched.results)
        hidden = group in patched.died or _below_a_failure(name, patched)
        if now is None and collected and patched.complete and not patched.cut and not hidden:
            state.removed.append(name)
        else:
            state.regressions.append(name)
    elif now.outcome in (Outcome.SKIPPED, Outcome.XFAILED, Outcome.XPASSED):
        state.skipped.append(name)
    elif now.kind == "timeout":
        state.timeouts.append(name)
    else:
        state.regressions.append(name)


def _below_a_failure(name: str, patched: TestReport) -> bool:
    """Whether a subtest is gone because the test that starts it failed before."""
    parts = name.split("/")
    return any((above := patched.results.get("/".join(parts[:count]))) is not None and above.failed for count in range(1, len(parts)))


def _multiplied(base: TestReport, patched: TestReport, evidence: Evidence) -> list[str]:
    """Ids that occur more often than on base: another count of equals."""
    extra = [name for name in patched.results if " #" in name and name not in base.results and name.rsplit(" #", 1)[0] in base.results]
    return [name for name in extra if name not in evidence.touched]


def _nothing_passes(evidence: Evidence, base: TestReport, failing: tuple[str, ...]) -> tuple[PassToPass, list[Finding]]:
    proof = set(evidence.reproducer.candidates) if evidence.reproducer else set()
    others = [name for name in base.results if name not in proof]
    files = {group_of(name) for name in proof}
    if not others and set(base.uncollected) <= files and not evidence.has_tests and (base.status in (0, 5) or base.uncollected):
        return PassToPass("empty", already_failing=failing), [warning("no_other_tests", "the repository has no other test: nothing guards what worked before")]
    reason = next(iter(base.uncollected.values()), "") or base.internal or (base.results[failing[0]].message if failing else "") or base.log
    tail = "\n".join(reason.strip().splitlines()[-12:])
    return PassToPass("not_run" if not base.results else "failed", already_failing=failing), [blocker("base_broken", f"no test passes on base\n{tail}")]


def _p2p_findings(state: _Sorted, evidence: Evidence, patched: TestReport, changed: Collection[str]) -> list[Finding]:
    found: list[Finding] = []
    for code, names, words in (
        ("regression", state.regressions, "passed before, but not now"),
        ("regression", state.skipped, "passed before, skipped or expected to fail now"),
        ("timeout", state.timeouts, "passed before, no end in time now"),
        ("tests_removed", state.removed, "passed before, gone now from a file that was collected"),
    ):
        if names:
            found.append(blocker(code, f"{counted(names)} {words}", tests=tuple(names)))
    for name in state.review:
        now = patched.results.get(name)
        found.append(blocker("needs_review", f"the change edits or deletes this test, and base's version does not pass with it: passed before, "
                             f"{now.outcome.value if now else 'missing'} now\n{evidence.touched.get(name, 'its file does not collect')}", tests=(name,)))
    for name, text in evidence.rewritten.items():
        if name in state.passed:
            found.append(blocker("needs_review", f"this test is part of the source, and the change edits it; before:\n{text}", tests=(name,)))
    for name in state.flaky[:DIAGNOSED]:
        again = [r.outcome.value if r else "missing" for r in (*evidence.base_again.get(name, ()), *evidence.patched_again.get(name, ()))]
        words = "unstable on base itself" if name in state.unstable else f"not the same on every run: {', '.join(again)}"
        found.append(warning("flaky", words, tests=(name,)))
    risky = [name for name in state.flaky if name in evidence.near or (name not in state.unstable and _runs_change(patched.results.get(name), changed))]
    if risky:
        found.append(blocker("flaky", f"{counted(risky)} that may run the changed code failed at least once with it", tests=tuple(risky)))
    for file, text in patched.uncollected.items():
        if evidence.base is not None and file not in evidence.base.uncollected:
            if evidence.faults.source_place.search(text):
                found.append(blocker("build_failed", f"the change does not compile\n{_tail(text)}", tests=(file,)))
                continue
            excused = [name for name in evidence.base.passing() if group_of(name) == file]
            code = "needs_review" if excused and set(excused) <= set(state.review) else "regression"
            found.append(blocker(code, f"{file} no longer collects", tests=(file,)))
            found.append(warning("collection", _tail(text), (file,)))
    if patched.internal or (not patched.complete and not patched.limit and not patched.broken):
        tail = "\n".join((patched.internal or patched.log).strip().splitlines()[-8:])
        found.append(blocker("regression", f"with the change the test runner does not come to its end\n{tail}"))
        found.append(warning("crash", tail or "the program died"))
    elif not any(f.severity is Severity.BLOCKER for f in found) and _ended_badly(evidence, patched) and not state.flaky:
        found.append(blocker("regression", f"no test fails, but the runner ended with {patched.status} (base: 0)"))
    for name in [*state.regressions, *state.timeouts][:DIAGNOSED]:
        result = patched.results.get(name)
        if result is not None and result.failed:
            found.append(diagnose(result, changed, Severity.WARNING))
    if evidence.base is not None and not evidence.base.complete:
        found.append(warning("base_incomplete", "the suite does not come to its end on base: the tests behind that are not judged"))
    if patched.cut or (evidence.base is not None and evidence.base.cut):
        found.append(warning("suite_cut", "the suite is too long for its time limit: the tests nearest to the change were run, "
                             f"{len(patched.results)} of them"))
    return found


def _tail(text: str) -> str:
    return "\n".join([line for line in text.strip().splitlines() if line.strip()][-6:])


def _ended_badly(evidence: Evidence, patched: TestReport) -> bool:
    """Whether the runner's exit status is bad though no test is, and base's was good: necessary, never sufficient."""
    clean = not any(r.failed for r in patched.results.values())
    return clean and patched.status not in (0, None) and evidence.base is not None and evidence.base.status == 0


def _runs_change(result: TestResult | None, changed: Collection[str]) -> bool:
    return result is not None and any(frame[0] in changed for frame in result.frames)
