"""Verdicts for the texts: the contract's JSON, from a few words."""

from __future__ import annotations

from typing import Any

from bot.reporting.check_run import Links

BASE, HEAD = "4aa9da5608dbc37d245cb0559c80fa2554d3d747", "797db88c8c1b9af5e1a8e1c3f4ebb6d071b1a25d"
LINKS = Links("https://dualgate.example/runs/20261130-101500-0a1b2c3d4e5f", "https://github.com/acme/calc", HEAD, 17)
PLAN = {
    "toolchain": "python", "framework": "pytest", "image": "sha256:8f2a3270bfb3e4777e1ed7d144e981e4f6a08fcabfb101826e5b37749ac60222",
    "environment_key": "f96007f41e0cb56ec093e729", "environment_cached": True, "runtime": "runc", "python": "3.13.0", "install": ["uv pip install -e ."],
    "build": [], "test": ["pytest"], "tried": ["virtual environment: ok (0.2 s)", "editable: ok (1.4 s)"], "dropped": [],
}
COST = {"usd": 0.0, "input_tokens": 0, "output_tokens": 0, "cached_tokens": 0, "requests": 0, "by_model": [], "seconds": 4.3}
TOKEN = "ghs_" + "A1b2" * 12
HOSTILE = (
    "AssertionError: \x1b[31mexpected\x1b[0m 5, got 4\n```\n</details> ![x](https://evil.example/a.png) <img src=x onerror=alert(1)>\n"
    f"@octocat fixes #1 and acme/calc#2 \u202ereversed\u202c <!-- hidden -->\n/merge now\n# Heading\nAuthorization: Bearer {TOKEN}\n````text\n| a | b |"
)


def row(name: str, base: str | None, patched: str | None, category: str, source: str = "base", message: str | None = None, line: int | None = 4) -> dict[str, Any]:
    return {"id": name, "base": base, "patched": patched, "category": category, "plan": 0, "from": source, "file": name.split("::")[0], "line": line,
            "message": message, "seconds": 0.01}


def finding(code: str, severity: str, detail: str, paths: tuple[str, ...] = (), tests: tuple[str, ...] = ()) -> dict[str, Any]:
    return {"code": code, "severity": severity, "detail": detail, "paths": list(paths), "tests": list(tests)}


def run(side: str, command: str, status: int | None, seconds: float) -> dict[str, Any]:
    return {"side": side, "command": command, "exit_status": status, "seconds": seconds, "image": PLAN["image"], "log": "/data/runs/x/logs/01.log"}


def verdict(answer: str, reason: str, **more: Any) -> dict[str, Any]:
    """A verdict with nothing in it; `f2p`, `p2p` and other keywords replace parts."""
    f2p = {"status": "not_run", "origin": None, "passed": [], "failed": [], **more.pop("f2p", {})}
    p2p = {"status": "not_run", "passed": 0, "failed": [], "missing": [], "flaky": [], "already_failing": [], "skipped_now": [], **more.pop("p2p", {})}
    return {
        "schema": "dualgate/verdict/v1", "run": "20261130-101500-0a1b2c3d4e5f", "verdict": answer, "reason": reason, "summary": f"{answer}: {reason}",
        "findings": [], "base": BASE, "head": HEAD, "patch_sha256": "ba9929851f2aafd7ae56096c0e638a2b8fbb9a282c3b38003cccee81f02155f5",
        "repository": "acme/calc", "plans": [PLAN], "gates": {"fail_to_pass": f2p, "pass_to_pass": p2p}, "tests": [],
        "timing": {"environment_s": 0.005, "base_s": 0.7, "patched_s": 0.9, "reproducer_s": 3.4, "total_s": 4.3}, "cost": COST,
        "evidence": {"runs": [], "replay": "dualgate verify /srv/calc --base 4aa9da5608db --head 797db88c8c1b"}, **more,
    }


MEAN, ADD, NOTHING = "tests/test_mean.py::test_mean", "tests/test_core.py::test_add", "tests/test_core.py::test_add[int | None]"
PROVEN = {"status": "passed", "origin": "patch-tests", "passed": [MEAN], "failed": []}
PROOF_ROW = row(MEAN, "failed", "passed", "F2P", "change", "AttributeError: module 'calc' has no attribute 'mean'")
RUNS = [run("patched", "pytest tests/test_mean.py", 0, 0.35), run("base", "pytest tests/test_mean.py", 1, 0.34), run("patched", "pytest", 1, 0.63)]


def verified() -> dict[str, Any]:
    return verdict("verified", "verified", f2p=PROVEN, p2p={"status": "passed", "passed": 2314}, tests=[PROOF_ROW],
                   findings=[finding("changed_lines", "note", "the reproducer runs 6 of 7 changed lines")],
                   timing={"environment_s": 0.005, "base_s": 0.0, "patched_s": 42.4, "reproducer_s": 3.4, "total_s": 46.3},
                   evidence={"runs": RUNS, "replay": "dualgate verify /srv/calc --base 4aa9da5608db --head 797db88c8c1b"})


def regression() -> dict[str, Any]:
    return verdict("rejected", "regression", f2p=PROVEN, p2p={"status": "failed", "passed": 41, "failed": [ADD, NOTHING], "already_failing": ["tests/test_old.py::test_x"]},
                   tests=[row(ADD, "passed", "failed", "P2F", message=HOSTILE), row(NOTHING, "passed", "failed", "P2F", message="ValueError: no numbers", line=9), PROOF_ROW],
                   findings=[finding("regression", "blocker", "2 tests passed before and not now", tests=(ADD, NOTHING)),
                             finding("assertion", "warning", HOSTILE + "\ninside the change: calc/core.py:5 in add", ("calc/core.py:5",), (ADD,)),
                             finding("exception", "warning", "ValueError: no numbers\ninside the change: calc/core.py:7 in add", ("calc/core.py:7",), (NOTHING,)),
                             finding("base_behind", "note", "main has 12 commits that the change is not based on")],
                   evidence={"runs": RUNS, "replay": "dualgate verify /srv/calc --base main --head 'x; @octocat `id`'"})


def still_fails() -> dict[str, Any]:
    return verdict("rejected", "reproducer_still_fails", f2p={"status": "failed", "origin": "patch-tests", "passed": ["tests/test_mean.py::test_empty"], "failed": [MEAN]},
                   p2p={"status": "passed", "passed": 43},
                   tests=[row(MEAN, "failed", "failed", "F2F", "change", "assert 1.5 == 2\n+  where 1.5 = mean([1, 2, 3])", 12)],
                   findings=[finding("reproducer_still_fails", "blocker", "not passing with the change: 1 test that it is to be judged by", tests=(MEAN,)),
                             finding("assertion", "warning", "assert 1.5 == 2\n+  where 1.5 = mean([1, 2, 3])\ninside the change: calc/mean.py:4 in mean",
                                     ("tests/test_mean.py:13",), (MEAN,))], evidence={"runs": RUNS, "replay": "dualgate verify /srv/calc --base main --head fix"})


def no_tests() -> dict[str, Any]:
    return verdict("inconclusive", "no_tests", plans=[], f2p={"status": "missing"}, timing=dict.fromkeys(
        ("environment_s", "base_s", "patched_s", "reproducer_s", "total_s"), 0.0), evidence={"runs": [], "replay": ""},
        findings=[finding("no_tests", "blocker", "no plan: nothing here is known to be tested (no Python file, no manifest)")])


def needs_review() -> dict[str, Any]:
    name = "tests/test_flags.py::test_set_for_relative_key"
    detail = ("the change edits or deletes this test, and base's version does not pass with it: passed before, failed now\nbefore:\ndef test_set_for_relative_key():\n"
              "    assert not flags.is_((\"a\",), flags.EXPLICIT_NEST)\nafter:\n(deleted)")
    return verdict("inconclusive", "needs_review", f2p=PROVEN, p2p={"status": "passed", "passed": 464}, tests=[row(name, "passed", "failed", "P2F", message="AttributeError"), PROOF_ROW],
                   findings=[finding("changed_lines", "note", "the reproducer runs 22 of 24 changed lines"), finding("needs_review", "blocker", detail, tests=(name,)),
                             finding("needs_review", "blocker", "a protected file is edited: .github/workflows/ci.yml", (".github/workflows/ci.yml",))])


def environment_failed() -> dict[str, Any]:
    detail = ("no interpreter runs the tests of this project\ntried: Python 3.13: editable failed; Python 3.12: editable failed\nerror: subprocess-exited-with-error\n"
              "  pg_config executable not found.\n  Please add the directory containing pg_config to the PATH")
    return verdict("inconclusive", "environment_failed", findings=[finding("environment_failed", "blocker", detail)],
                   timing={"environment_s": 63.2, "base_s": 0.0, "patched_s": 0.0, "reproducer_s": 0.0, "total_s": 63.4}, plans=[{**PLAN, "environment_cached": None, "image": None}])


def flaky() -> dict[str, Any]:
    name = "tests/test_clock.py::test_deadline"
    return verdict("inconclusive", "flaky", f2p=PROVEN, p2p={"status": "passed", "passed": 42, "flaky": [name]}, tests=[row(name, "passed", "failed", "FLAKY", message="assert 0.051 < 0.05")],
                   findings=[finding("flaky", "warning", "not the same on every run: passed, passed, failed, passed", tests=(name,)),
                             finding("flaky", "blocker", "1 test that may run the changed code failed at least once with it", tests=(name,))])


def timeout() -> dict[str, Any]:
    name = "tests/test_core.py::test_retry"
    return verdict("rejected", "timeout", f2p=PROVEN, p2p={"status": "failed", "passed": 42, "failed": [name]},
                   tests=[row(name, "passed", "failed", "P2F", message="no end after 60 s, in calc/core.py:31 (wait)")],
                   findings=[finding("timeout", "blocker", "1 test passed before, no end in time now", tests=(name,)),
                             finding("timeout", "warning", "no end after 60 s\ninside the change: calc/core.py:31 in wait", ("calc/core.py:31",), (name,))],
                   timing={"environment_s": 0.005, "base_s": 2.1, "patched_s": 62.9, "reproducer_s": 3.4, "total_s": 131.0})


def verified_with_warnings() -> dict[str, Any]:
    name = "tests/test_clock.py::test_deadline"
    return verdict("verified", "verified", f2p={**PROVEN, "origin": "model"}, p2p={"status": "passed", "passed": 1, "flaky": [name], "already_failing": ["tests/test_old.py::test_x"]},
                   tests=[row(name, "passed", "failed", "FLAKY", message="assert 0.051 < 0.05"), PROOF_ROW],
                   findings=[finding("flaky", "warning", "unstable on base itself", tests=(name,)), finding("requirements_dropped", "warning", "could not be installed: psycopg2==2.8"),
                             finding("coverage_not_measured", "note", "which changed lines the reproducer runs could not be measured")],
                   cost={**COST, "usd": 0.004, "input_tokens": 12345, "output_tokens": 678, "cached_tokens": 9000, "requests": 3})


def huge() -> dict[str, Any]:
    names = [f"tests/test_{number:03}.py::test_it" for number in range(300)]
    return verdict("rejected", "regression", f2p={"status": "missing"}, p2p={"status": "failed", "passed": 9000, "failed": names},
                   tests=[row(name, "passed", "failed", "P2F", message=f"AssertionError: {name}\n" + "é `x` @me #1 line\n" * 600) for name in names],
                   findings=[finding("regression", "blocker", "300 tests passed before and not now", tests=tuple(names))])


ALL = {
    "verified": verified, "regression": regression, "reproducer_still_fails": still_fails, "no_tests": no_tests, "needs_review": needs_review,
    "environment_failed": environment_failed, "flaky": flaky, "timeout": timeout, "verified_with_warnings": verified_with_warnings, "huge": huge,
}
