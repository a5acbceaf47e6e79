"""Events of `go test -json` -> records -> report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sandbox.box import RawRun, RunRequest
from sandbox.inside.go_driver import GoRun
from sandbox.results.events import build_report
from sandbox.results.report import TestReport

PACKAGE = "m.org/calc/v2"
TEST_FILE = "package calc\n\nfunc TestA(t *testing.T) {}\n\nfunc TestB(t *testing.T) {}\n\nfunc TestC(t *testing.T) {}\n"
PANIC = "--- FAIL: TestA (0.00s)\npanic: oh no [recovered]\n\tpanic: oh no\n\ngoroutine 7 [running]:\ntesting.tRunner.func1()\n\t/usr/lib/go/testing.go:9 +0x1\n" \
        "m.org/calc.Div(...)\n\t{root}/calc.go:12 +0x2\nm.org/calc.TestA(0x1)\n\t{root}/calc_test.go:3 +0x3\n\ngoroutine 1 [chan receive]:\n\t{root}/other.go:1 +0x1\n"


class Channel:
    def __init__(self) -> None:
        self.records: list[dict[str, Any]] = []

    def send(self, record: dict[str, Any]) -> None:
        self.records.append(record)


def event(action: str, test: str | None = None, output: str | None = None, **more: Any) -> dict[str, Any]:
    return {"Action": action, "Package": PACKAGE, **({"Test": test} if test else {}), **({"Output": output} if output else {}), **more}


def follow(root: Path, *events: dict[str, Any], wanted: list[str] | None = None, collect: bool = False) -> TestReport:
    (root / "calc_test.go").write_text(TEST_FILE, encoding="utf-8")
    channel = Channel()
    run = GoRun(channel, {"root": str(root), "wanted": wanted, "test_seconds": 10, "collect": collect,
                          "settings": {"directory": "", "packages": [[".", PACKAGE, "m.org/calc"]]}})
    for one in events:
        run.event(one)
    channel.send({"k": "exit", "status": 1})
    return build_report(RawRun(records=channel.records, status=1, request=RunRequest(mode="go")), str(root))


def passing(name: str) -> list[dict[str, Any]]:
    return [event("run", name), event("output", name, f"=== RUN   {name}\n"), event("pass", name, Elapsed=0.5)]


def outcomes(report: TestReport) -> dict[str, str]:
    return {name.removeprefix("m.org/calc::"): r.kind or r.outcome.value for name, r in report.results.items()}


NORMAL = [event("output", output="FAIL\n"), event("output", output="FAIL\tm.org/calc/v2\t0.1s\n"), event("fail")]
DEAD = [event("output", output="FAIL\tm.org/calc/v2\t0.1s\n"), event("fail")]


def test_every_test_and_subtest_has_its_outcome_and_place(tmp_path: Path) -> None:
    failing = [event("run", "TestB"), event("output", "TestB", "    calc_test.go:5: want 1, got 2\n"), event("output", "TestB", "--- FAIL: TestB (0.00s)\n"), event("fail", "TestB")]
    skipped = [event("run", "TestC"), event("output", "TestC", "    calc_test.go:7: not here\n"), event("skip", "TestC")]
    report = follow(tmp_path, event("start"), *passing("TestA/a/b:c"), *passing("TestA"), *failing, *skipped, *NORMAL)
    assert outcomes(report) == {"TestA/a/b:c": "passed", "TestA": "passed", "TestB": "failed", "TestC": "skipped"}
    bad = report.results["m.org/calc::TestB"]
    assert (bad.file, bad.line, bad.short, bad.frames) == ("calc_test.go", 5, "want 1, got 2", (("calc_test.go", 5, "TestB"),))
    assert report.results["m.org/calc::TestC"].message == "calc_test.go:7: not here"
    assert (report.collected, report.cut, report.complete) == (("m.org/calc",), False, True)


def test_a_panic_fails_its_test_and_the_ones_behind_it_are_missing(tmp_path: Path) -> None:
    text = PANIC.replace("{root}", str(tmp_path))
    report = follow(tmp_path, event("run", "TestA"), event("output", "TestA", text), event("fail", "TestA"), *DEAD)
    assert outcomes(report) == {"TestA": "failed", "TestB": "missing", "TestC": "missing"}
    assert report.results["m.org/calc::TestA"].short == "panic: oh no"
    assert report.results["m.org/calc::TestA"].frames == (("calc_test.go", 3, "calc.TestA"), ("calc.go", 12, "calc.Div"))


def test_an_exit_inside_a_test_is_its_crash(tmp_path: Path) -> None:
    report = follow(tmp_path, *passing("TestA"), event("run", "TestB"), *DEAD)
    assert outcomes(report) == {"TestA": "passed", "TestB": "crash", "TestC": "missing"}


def test_a_test_main_that_ends_the_program_hides_no_test(tmp_path: Path) -> None:
    report = follow(tmp_path, event("start"), event("output", output="ok  \tm.org/calc/v2\t0.1s\n"), event("pass"))
    assert outcomes(report) == {"TestA": "missing", "TestB": "missing", "TestC": "missing"}
    assert "m.org/calc" in report.uncollected


def test_a_parallel_test_that_a_panic_of_another_ended_is_missing(tmp_path: Path) -> None:
    text = PANIC.replace("{root}", str(tmp_path))
    report = follow(tmp_path, event("run", "TestB"), event("pause", "TestB"), event("cont", "TestB"), event("run", "TestA"), event("output", "TestA", text), event("fail", "TestA"), *DEAD)
    assert outcomes(report) == {"TestA": "failed", "TestB": "missing", "TestC": "missing"}


@pytest.mark.parametrize("events", [
    [{"ImportPath": "m.org/calc/v2 [m.org/calc/v2.test]", "Action": "build-output", "Output": "./a_test.go:3:5: undefined: Fresh\n"},
     {"ImportPath": "m.org/calc/v2 [m.org/calc/v2.test]", "Action": "build-fail"}, event("start"),
     event("output", output="FAIL\tm.org/calc/v2 [build failed]\n"), event("fail", FailedBuild="m.org/calc/v2 [m.org/calc/v2.test]")],
    [{"ImportPath": "m.org/calc/v2/dep", "Action": "build-output", "Output": "dep/d.go:3:5: undefined: Fresh\n"},
     event("output", output="FAIL\tm.org/calc/v2 [build failed]\n"), event("fail", FailedBuild="m.org/calc/v2/dep")],
])
def test_a_package_that_does_not_compile_is_uncollected_with_the_compilers_words(tmp_path: Path, events: list[dict[str, Any]]) -> None:
    report = follow(tmp_path, *events)
    assert report.results == {}
    assert "undefined: Fresh" in report.uncollected["m.org/calc"]


def test_only_wanted_ids_are_told(tmp_path: Path) -> None:
    report = follow(tmp_path, *passing("TestA"), *passing("TestB/x"), *passing("TestB"), *NORMAL, wanted=["m.org/calc::TestB/x"])
    assert outcomes(report) == {"TestB/x": "passed"}


def test_the_message_of_an_assertion_library_is_read(tmp_path: Path) -> None:
    text = "    calc_test.go:9: \n        \tError Trace:\tcalc_test.go:9\n        \tError:      \tNot equal: \n        \t            \texpected: 1\n        \t            \tactual  : 2\n        \tTest:       \tTestA\n"
    report = follow(tmp_path, event("run", "TestA"), *[event("output", "TestA", line + "\n") for line in text.splitlines()], event("fail", "TestA"), *NORMAL)
    assert report.results["m.org/calc::TestA"].short.startswith("Not equal:")
    assert "actual  : 2" in report.results["m.org/calc::TestA"].short
