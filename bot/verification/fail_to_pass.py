"""Fail-to-pass: the reproducer fails on base for the right reason and passes with the change, every time. Pure."""

from __future__ import annotations

from collections.abc import Collection

from bot.findings import Finding, Severity, blocker, counted, note, warning
from bot.verification.diagnosis import DIAGNOSED, diagnose
from bot.verification.evidence import FailToPass, Reproducer
from bot.verification.right_reason import failure_reason
from bot.verification.signature import signature
from sandbox.results.report import Outcome, TestReport, TestResult, group_of


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
        if before[0] is None and reproducer.faults.compiled and reproducer.fresh is not None and name not in reproducer.fresh:
            continue  # its package does not compile beside the new tests: base's own suite has judged it
        fault = _base_fault(name, before, reproducer, found)
        if fault == "flaky":
            mixed.append(name)
        elif fault:
            wrong.append((name, fault))
        else:
            passed.append(name)
    found += _f2p_findings(reproducer, passed, wrong, on_base, still, mixed, absent, changed)
    if reproducer.beside_others:
        found.append(note("order_dependent", f"judged beside the other tests of the same files, since alone they fail with the change: "
                          f"{counted(reproducer.beside_others)}", tests=reproducer.beside_others))
    if reproducer.broken:
        found.append(blocker("needs_review", f"{counted(reproducer.broken)} that the change leaves as they are pass with base's helpers and data, "
                             "not with the change's", tests=reproducer.broken))
    if reproducer.given:
        proven = [name for name in passed if name in reproducer.given]
        if passed and not proven:
            found.append(blocker("reproducer_passes_on_base", "none of the given tests fails on base"))
        for file in reproducer.each:
            if passed and not any(group_of(name) == file for name in proven) and not any(group_of(n) == file for n, _ in wrong):
                found.append(blocker("reproducer_passes_on_base", f"{file} does not fail on base", (file,)))
    if passed and min(len(reproducer.base), len(reproducer.patched)) < reproducer.times:
        limit = next((r.limit for r in (*reproducer.patched, *reproducer.base) if r.limit), "the run ended early")
        found.append(blocker("infrastructure", f"the reproducer could not be repeated {reproducer.times} times: {limit}"))
    failed = (*still, *(name for name in mixed if name in reproducer.required))
    if failed or (wrong and not passed):
        status = "failed"
    elif passed and not any(f.severity is Severity.BLOCKER for f in found):
        status = "passed"
    else:
        status = "failed" if on_base or mixed or passed else "missing"
    return FailToPass(status, reproducer.origin, tuple(passed), failed), found


def _times_out(reports: tuple[TestReport, ...], name: str) -> int:
    return sum((r := report.results.get(name)) is not None and r.kind == "timeout" for report in reports)


def _skipped_on_both(before: list[TestResult | None], after: list[TestResult | None]) -> bool:
    quiet = (Outcome.SKIPPED, Outcome.XFAILED)
    return all(r is not None and r.outcome in quiet for r in after) and all(r is None or r.outcome in quiet for r in before)


def _base_fault(name: str, before: list[TestResult | None], reproducer: Reproducer, found: list[Finding]) -> str | None:
    """None where the base failures are one and the same and for the right reason; `flaky`, or why not."""
    group = group_of(name)
    texts = [report.uncollected.get(group) or report.uncollected.get("(session)") for report in reproducer.base]
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
    reason = failure_reason(before[0], texts[0], reproducer.faults, added_names=reproducer.added_names, test_files=reproducer.test_files,
                            asserts=name in reproducer.asserting)
    if reason.missing:
        found.append(note("fails_for_a_missing_name", f"on base it fails because {reason.missing} does not exist yet", tests=(name,)))
    return reason.wrong


def _f2p_findings(
    reproducer: Reproducer, passed: list[str], wrong: list[tuple[str, str]], on_base: list[str], still: list[str], mixed: list[str],
    absent: list[str], changed: Collection[str],
) -> list[Finding]:
    found: list[Finding] = []
    endless = [name for name in still if _times_out(reproducer.patched, name) >= 2 and not _times_out(reproducer.base, name)]
    if endless:
        found.append(blocker("timeout", f"no end in time with the change: {counted(endless)} that it is to be judged by", tests=tuple(endless)))
    if still:
        rescued = [name for name in still if reproducer.with_harness and (r := reproducer.with_harness.results.get(name)) is not None and r.passed]
        if rescued and len(rescued) == len(still):
            found.append(blocker("needs_review", f"{counted(still)} of the change start only with its version of {', '.join(reproducer.harness_files)}",
                                 reproducer.harness_files, tuple(still)))
        else:
            found.append(blocker("reproducer_still_fails", f"not passing with the change: {counted(still)} that it is to be judged by",
                                 tests=tuple(still)))
        last = reproducer.patched[-1]
        for name in still[:DIAGNOSED]:
            result = last.results.get(name)
            if result is not None and result.failed:
                found.append(diagnose(result, changed, Severity.WARNING))
            elif result is None and (text := last.uncollected.get(group_of(name))):
                found.append(warning("collection", "\n".join(text.strip().splitlines()[-6:]), (group_of(name),), (name,)))
    risky = [name for name in mixed if name in reproducer.required or name in reproducer.given or not passed]
    if risky:
        found.append(blocker("flaky", f"{counted(risky)} of the reproducer {'is' if len(risky) == 1 else 'are'} not the same on every run", tests=tuple(risky)))
    for name, fault in wrong[:DIAGNOSED]:
        weight = blocker if not passed or name in reproducer.given else warning
        found.append(weight("reproducer_wrong_reason", fault, tests=(name,)))
    if absent:
        found.append(note("skipped", f"{counted(absent)} of the change {'is' if len(absent) == 1 else 'are'} skipped here, on both sides", tests=tuple(absent)))
    if on_base and not passed and not still and not wrong and not risky:
        verb = "passes" if len(on_base) == 1 else "pass"
        found.append(blocker("reproducer_passes_on_base", f"{counted(on_base)} of the reproducer {verb} on base already", tests=tuple(on_base)))
    if passed and reproducer.coverable and reproducer.covered == 0:
        found.append(blocker("reproducer_wrong_reason", "the reproducer runs none of the changed lines", tests=tuple(passed)))
    elif passed and reproducer.covered is None:
        found.append(note("coverage_not_measured", "which changed lines the reproducer runs could not be measured"))
    elif passed and reproducer.coverable:
        found.append(note("changed_lines", f"the reproducer runs {reproducer.covered} of {reproducer.coverable} changed lines"))
    return found
