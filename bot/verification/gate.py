"""The gate: evidence -> decision. Pure; `verified` is only ever its answer to two complete sets of evidence."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

from bot.findings import Finding, Severity, blocker, note, warning
from bot.verification.diagnosis import diagnose
from bot.verification.evidence import Evidence, FailToPass, PassToPass, Reproducer
from bot.verification.right_reason import failure_reason
from bot.verification.signature import signature
from sandbox.results.report import Outcome, TestReport, TestResult

DIAGNOSED = 20  # failing tests that get a diagnosis of their own


class Verdict(StrEnum):
    """The three answers."""

    VERIFIED = "verified"
    REJECTED = "rejected"
    INCONCLUSIVE = "inconclusive"


# Reasons in their order of precedence; the first that a blocker bears decides.
REASONS: dict[str, Verdict] = {
    "forbidden_path": Verdict.REJECTED, "patch_does_not_apply": Verdict.REJECTED, "hallucinated_dependency": Verdict.REJECTED,
    "environment_failed": Verdict.INCONCLUSIVE, "base_broken": Verdict.INCONCLUSIVE, "build_failed": Verdict.REJECTED,
    "tampered": Verdict.REJECTED, "timeout": Verdict.REJECTED, "resource_exhausted": Verdict.REJECTED, "regression": Verdict.REJECTED,
    "tests_removed": Verdict.REJECTED, "reproducer_still_fails": Verdict.REJECTED, "needs_review": Verdict.INCONCLUSIVE,
    "infrastructure": Verdict.INCONCLUSIVE, "budget_exhausted": Verdict.INCONCLUSIVE, "flaky": Verdict.INCONCLUSIVE,
    "reproducer_wrong_reason": Verdict.INCONCLUSIVE, "reproducer_passes_on_base": Verdict.INCONCLUSIVE,
    "no_tests": Verdict.INCONCLUSIVE, "no_reproducer": Verdict.INCONCLUSIVE,
}


@dataclass(frozen=True)
class Decision:
    """The gate's answer: both gates, every finding, and the first reason that holds."""

    verdict: Verdict
    reason: str
    fail_to_pass: FailToPass
    pass_to_pass: PassToPass
    findings: tuple[Finding, ...]


def decide(evidence: Evidence, changed: Collection[str] = ()) -> Decision:
    """Judge the evidence. `changed`: source paths of the change, for the diagnosis."""
    findings = list(evidence.findings)
    findings += _ends(evidence)
    f2p, found = judge_fail_to_pass(evidence.reproducer, changed)
    findings += found
    p2p, found = judge_pass_to_pass(evidence, changed)
    findings += found
    if evidence.only_prose:
        findings.append(note("nothing_to_run", "the change touches only files that no plan reads"))
    findings += _completeness(evidence, f2p, p2p, findings)
    reasons = {finding.code for finding in findings if finding.severity is Severity.BLOCKER}
    for reason, verdict in REASONS.items():
        if reason in reasons:
            return Decision(verdict, reason, f2p, p2p, tuple(findings))
    if f2p.status != "passed" or p2p.status not in ("passed", "empty"):
        findings.append(blocker("infrastructure", f"the evidence is not complete: fail-to-pass {f2p.status}, pass-to-pass {p2p.status}"))
        return Decision(Verdict.INCONCLUSIVE, "infrastructure", f2p, p2p, tuple(findings))
    return Decision(Verdict.VERIFIED, "verified", f2p, p2p, tuple(findings))


def _ends(evidence: Evidence) -> list[Finding]:
    """How the machinery and the limits ended it."""
    found: list[Finding] = []
    if evidence.environment_failed:
        found.append(blocker("environment_failed", evidence.environment_failed))
    if evidence.infrastructure:
        found.append(blocker("infrastructure", evidence.infrastructure))
    if evidence.base_limit:
        found.append(blocker("base_broken", f"the base suite runs into its limit ({evidence.base_limit})"))
    elif evidence.patched_limit:
        code = "timeout" if evidence.patched_limit == "time" else "resource_exhausted"
        found.append(blocker(code, f"with the change the tests run into a limit, twice: {evidence.patched_limit}"))
    if evidence.deadline:
        found.append(_deadline(evidence))
    if evidence.base and evidence.base.broken:
        return [*found, blocker("base_broken", f"on base something else writes to the report channel: {evidence.base.broken}")]
    patched = [evidence.patched, *(evidence.reproducer.patched if evidence.reproducer else ())]
    broken = next((report.broken for report in patched if report and report.broken), None)
    if broken:
        found.append(blocker("tampered", f"with the change something else writes to the report channel: {broken}"))
    return found


def _deadline(evidence: Evidence) -> Finding:
    base, patched = evidence.base, evidence.patched
    if base and patched and base.complete and patched.seconds >= max(3 * base.seconds, 10):
        return blocker("timeout", f"with the change the suite had run {patched.seconds:.0f} s (base: {base.seconds:.0f} s) when the time was spent")
    return blocker("budget_exhausted", "the time for the whole verification was spent")


def _completeness(evidence: Evidence, f2p: FailToPass, p2p: PassToPass, findings: list[Finding]) -> list[Finding]:
    """What is missing from the evidence, where nothing else explains it."""
    decided = any(f.severity is Severity.BLOCKER and f.code in ("forbidden_path", "patch_does_not_apply", "environment_failed", "hallucinated_dependency",
                                                                 "infrastructure", "budget_exhausted") for f in findings)
    if decided:
        return []
    if not evidence.has_tests and f2p.status in ("missing", "not_run") and not evidence.only_prose:
        return [blocker("no_tests", "the repository has no tests and the change adds none")]
    if f2p.status in ("missing", "not_run"):
        return [blocker("no_reproducer", "nothing shows the defect: the change brings no test, and no reproducer was given")]
    return []


# pass-to-pass


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
    if name in evidence.touched:
        state.review.append(name)
    elif now is None or now.outcome is Outcome.MISSING:
        state.missing.append(name)
        file = name.split("::")[0]
        collected = file in patched.collected or any(other.split("::")[0] == file for other in patched.results)
        if now is None and collected and patched.complete and not patched.cut:
            state.removed.append(name)
        else:
            state.regressions.append(name)
    elif now.outcome in (Outcome.SKIPPED, Outcome.XFAILED, Outcome.XPASSED):
        state.skipped.append(name)
    elif now.kind == "timeout":
        state.timeouts.append(name)
    else:
        state.regressions.append(name)


def _multiplied(base: TestReport, patched: TestReport, evidence: Evidence) -> list[str]:
    """Ids that occur more often than on base: another count of equals."""
    extra = [name for name in patched.results if " #" in name and name not in base.results and name.rsplit(" #", 1)[0] in base.results]
    return [name for name in extra if name not in evidence.touched]


def _nothing_passes(evidence: Evidence, base: TestReport, failing: tuple[str, ...]) -> tuple[PassToPass, list[Finding]]:
    proof = set(evidence.reproducer.candidates) if evidence.reproducer else set()
    others = [name for name in base.results if name not in proof]
    files = {name.split("::")[0] for name in proof}
    if not others and set(base.uncollected) <= files and not evidence.has_tests and (base.complete or base.uncollected):
        return PassToPass("empty", already_failing=failing), [warning("no_other_tests", "the repository has no other test: nothing guards what worked before")]
    reason = next(iter(base.uncollected.values()), "") or base.internal or (base.results[failing[0]].message if failing else "") or base.log
    tail = "\n".join(reason.strip().splitlines()[-12:])
    return PassToPass("not_run" if not base.results else "failed", already_failing=failing), [blocker("base_broken", f"no test passes on base\n{tail}")]


def _p2p_findings(state: _Sorted, evidence: Evidence, patched: TestReport, changed: Collection[str]) -> list[Finding]:
    found: list[Finding] = []
    if state.regressions:
        found.append(blocker("regression", f"{_tests(state.regressions)} passed before and {'does' if len(state.regressions) == 1 else 'do'} not now",
                             tests=tuple(state.regressions)))
    if state.skipped:
        found.append(blocker("regression", f"{_tests(state.skipped)} passed before and {'is' if len(state.skipped) == 1 else 'are'} skipped or expected to fail now",
                             tests=tuple(state.skipped)))
    if state.timeouts:
        found.append(blocker("timeout", f"{_tests(state.timeouts)} no longer {'ends' if len(state.timeouts) == 1 else 'end'} in time", tests=tuple(state.timeouts)))
    if state.removed:
        found.append(blocker("tests_removed", f"{_tests(state.removed)} passed before and {'is' if len(state.removed) == 1 else 'are'} gone, though the file was collected",
                             tests=tuple(state.removed)))
    for name in state.review:
        now = patched.results.get(name)
        found.append(blocker("needs_review", f"the change edits or deletes this test, and base's version {'fails' if now else 'is gone'} with it: passed before, "
                             f"{now.outcome.value if now else 'missing'} now\n{evidence.touched[name]}", tests=(name,)))
    for name in state.flaky[:DIAGNOSED]:
        again = [r.outcome.value if r else "missing" for r in (*evidence.base_again.get(name, ()), *evidence.patched_again.get(name, ()))]
        found.append(warning("flaky", f"not the same on every run: {', '.join(again)}" if name not in state.unstable else "unstable on base itself", tests=(name,)))
    risky = [name for name in state.flaky if name not in state.unstable and _runs_change(patched.results.get(name), changed)]
    if risky:
        found.append(blocker("flaky", f"{_tests(risky)} failed at least once inside the changed code", tests=tuple(risky)))
    for file, text in patched.uncollected.items():
        if evidence.base is not None and file not in evidence.base.uncollected:
            found.append(blocker("regression", f"{file} no longer collects", tests=(file,)))
            lines = [line for line in text.strip().splitlines() if line.strip()]
            found.append(warning("collection", "\n".join(lines[-6:]), (file,)))
    if patched.internal or (not patched.complete and not patched.limit and not patched.broken):
        tail = "\n".join((patched.internal or patched.log).strip().splitlines()[-8:])
        found.append(blocker("regression", f"with the change the test runner does not come to its end\n{tail}"))
        found.append(warning("crash", tail or "the program died"))
    elif not any(f.severity is Severity.BLOCKER for f in found) and patched.status not in (0, None) and evidence.base is not None and evidence.base.status == 0 \
            and not state.flaky and not any(r.failed for r in patched.results.values()):
        found.append(blocker("regression", f"no test fails, but the runner ended with {patched.status} (base: 0)"))
    for name in [*state.regressions, *state.timeouts][:DIAGNOSED]:
        result = patched.results.get(name)
        if result is not None and result.failed:
            found.append(diagnose(result, changed, Severity.WARNING))
    if evidence.base is not None and not evidence.base.complete:
        found.append(warning("base_incomplete", "the suite does not come to its end on base: the tests behind that are not judged"))
    if patched.cut:
        found.append(warning("suite_cut", "the suite is too long for its time limit: the tests nearest to the change were run, "
                             f"{len(patched.results)} of them"))
    return found


def _runs_change(result: TestResult | None, changed: Collection[str]) -> bool:
    return result is not None and any(frame[0] in changed for frame in result.frames)


def _tests(names: Collection[str]) -> str:
    return f"{len(names)} test{'' if len(names) == 1 else 's'}"


# fail-to-pass


def judge_fail_to_pass(reproducer: Reproducer | None, changed: Collection[str]) -> tuple[FailToPass, list[Finding]]:
    """Fails on base in every repeat, with one signature and for the right reason; passes on the patched side in every repeat."""
    if reproducer is None:
        return FailToPass("missing"), []
    if not reproducer.base or not reproducer.patched or any(r.limit == "deadline" for r in (*reproducer.base, *reproducer.patched)):
        return FailToPass("not_run", reproducer.origin), []
    found: list[Finding] = []
    passed: list[str] = []
    wrong: list[tuple[str, str]] = []
    on_base: list[str] = []
    still: list[str] = []
    mixed: list[str] = []
    absent: list[str] = []
    for name in reproducer.candidates:
        before = [report.results.get(name) for report in reproducer.base]
        after = [report.results.get(name) for report in reproducer.patched]
        good = [r is not None and r.passed for r in after]
        if not all(good):
            if any(good):
                mixed.append(name)
            elif name in reproducer.required and not _skipped_on_both(before, after):
                still.append(name)
            elif name in reproducer.required:
                absent.append(name)
            continue
        if any(r is not None and r.passed for r in before):
            (on_base if all(r is not None and r.passed for r in before) else mixed).append(name)
            continue
        if any(r is not None and r.outcome in (Outcome.SKIPPED, Outcome.XFAILED, Outcome.XPASSED) for r in before):
            found.append(note("skipped_on_base", "skipped or expected to fail on base: no proof", tests=(name,)))
            continue
        fault = _base_fault(name, before, reproducer, found)
        if fault == "flaky":
            mixed.append(name)
        elif fault:
            wrong.append((name, fault))
        else:
            passed.append(name)
    found += _f2p_findings(reproducer, passed, wrong, on_base, still, mixed, absent, changed)
    if reproducer.given:
        proven = [name for name in passed if name in reproducer.given]
        if passed and not proven:
            found.append(blocker("reproducer_passes_on_base", "none of the given tests fails on base"))
        for file in reproducer.each:
            if passed and not any(name.split("::")[0] == file for name in proven) and not any(n.split("::")[0] == file for n, _ in wrong):
                found.append(blocker("reproducer_passes_on_base", f"{file} does not fail on base", (file,)))
    failed = (*still, *(name for name in mixed if name in reproducer.required))
    if failed or (wrong and not passed):
        status = "failed"
    elif passed and not any(f.severity is Severity.BLOCKER for f in found):
        status = "passed"
    else:
        status = "failed" if on_base or mixed or passed else "missing"
    return FailToPass(status, reproducer.origin, tuple(passed), failed), found


def _skipped_on_both(before: list[TestResult | None], after: list[TestResult | None]) -> bool:
    quiet = (Outcome.SKIPPED, Outcome.XFAILED)
    return all(r is not None and r.outcome in quiet for r in after) and all(r is None or r.outcome in quiet for r in before)


def _base_fault(name: str, before: list[TestResult | None], reproducer: Reproducer, found: list[Finding]) -> str | None:
    """None where the base failures are one and the same and for the right reason; `flaky`, or why not."""
    file = name.split("::")[0]
    texts = [report.uncollected.get(file) or report.uncollected.get("(session)") for report in reproducer.base]
    shapes = {signature(r) for r in before if r is not None} | {("uncollected", "", ("", "")) for r in before if r is None}
    if len(shapes) > 1:
        return "flaky"
    if before[0] is None and not texts[0]:
        report = reproducer.base[0]
        if not report.complete:
            return "the run on base ended before this test"
        return "it does not exist on base"
    if before[0] is not None and before[0].outcome is Outcome.MISSING:
        return "the program died on base before this test"
    reason = failure_reason(before[0], texts[0], added_names=reproducer.added_names, test_files=reproducer.test_files, asserts=name in reproducer.asserting)
    if reason.missing:
        found.append(note("fails_for_a_missing_name", f"on base it fails because {reason.missing} does not exist yet", tests=(name,)))
    return reason.wrong


def _f2p_findings(
    reproducer: Reproducer, passed: list[str], wrong: list[tuple[str, str]], on_base: list[str], still: list[str], mixed: list[str],
    absent: list[str], changed: Collection[str],
) -> list[Finding]:
    found: list[Finding] = []
    if still:
        rescued = [name for name in still if reproducer.with_harness and (r := reproducer.with_harness.results.get(name)) is not None and r.passed]
        if rescued and len(rescued) == len(still):
            found.append(blocker("needs_review", f"{_tests(still)} of the change start only with its version of {', '.join(reproducer.harness_files)}",
                                 reproducer.harness_files, tuple(still)))
        else:
            found.append(blocker("reproducer_still_fails", f"{_tests(still)} that the change is to be judged by {'does' if len(still) == 1 else 'do'} not pass with it",
                                 tests=tuple(still)))
        last = reproducer.patched[-1]
        for name in still[:DIAGNOSED]:
            result = last.results.get(name)
            if result is not None and result.failed:
                found.append(diagnose(result, changed, Severity.WARNING))
            elif result is None and (text := last.uncollected.get(name.split("::")[0])):
                found.append(warning("collection", "\n".join(text.strip().splitlines()[-6:]), (name.split("::")[0],), (name,)))
    risky = [name for name in mixed if name in reproducer.required or name in reproducer.given or not passed]
    if risky:
        found.append(blocker("flaky", f"{_tests(risky)} of the reproducer {'is' if len(risky) == 1 else 'are'} not the same on every run", tests=tuple(risky)))
    for name, fault in wrong[:DIAGNOSED]:
        weight = blocker if not passed or name in reproducer.given else warning
        found.append(weight("reproducer_wrong_reason", fault, tests=(name,)))
    if absent:
        found.append(note("skipped", f"{_tests(absent)} of the change are skipped here, on both sides", tests=tuple(absent)))
    if on_base and not passed and not still and not wrong and not risky:
        found.append(blocker("reproducer_passes_on_base", f"{_tests(on_base)} of the reproducer pass on base already", tests=tuple(on_base)))
    if passed and reproducer.coverable and reproducer.covered == 0:
        found.append(blocker("reproducer_wrong_reason", "the reproducer runs none of the changed lines", tests=tuple(passed)))
    elif passed and reproducer.covered is None:
        found.append(note("coverage_not_measured", "which changed lines the reproducer runs could not be measured"))
    elif passed and reproducer.coverable:
        found.append(note("changed_lines", f"the reproducer runs {reproducer.covered} of {reproducer.coverable} changed lines"))
    return found
