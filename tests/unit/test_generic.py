"""Test commands of any language: how they are found, what they print, what a change does to them."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pytest

from sandbox.box import RawRun, RunRequest
from sandbox.inside import command_driver
from sandbox.results.events import build_report
from sandbox.results.report import TestReport
from sandbox.toolchains.generic.configured import configure
from sandbox.toolchains.generic.detect import plans
from sandbox.toolchains.generic.manifests import CommandManifests
from sandbox.toolchains.generic.plan import CommandPlan, Form
from sandbox.toolchains.generic.rules import CommandRules
from sandbox.toolchains.generic.tests import CommandTests
from sandbox.toolchains.protocol import Given, Sight
from sandbox.toolchains.registry import detect_plans, toolchains_in
from sandbox.toolchains.system_packages import wanted_packages
from sandbox.workspace import REGULAR, File, Tree

SIGHT = Sight(datetime.date(2026, 11, 1), datetime.date(2026, 12, 1))
MAKE = "CFLAGS = -O\ntest := 1\nall: x\n\ntest: all\n\tsh tests/run.sh\n"
WORKFLOW = ("jobs:\n  test:\n    steps:\n      - run: |\n          sudo apt-get update\n          sudo apt-get install -y --no-install-recommends libfoo-dev \\\n            zlib1g-dev texlive-full\n"
            "      - run: ./bin/spec --all\n")


def tree(**files: str) -> Tree:
    return Tree({name.replace("__", "/"): File(REGULAR, text.encode()) for name, text in files.items()})


def of(files: dict[str, str]) -> Tree:
    return Tree({name: File(REGULAR, text.encode()) for name, text in files.items()})


@pytest.mark.parametrize(("files", "framework", "test", "form"), [
    ({"Makefile": MAKE}, "make test", "make test", Form.OUTPUT),
    ({"Makefile": "all:\n\ncheck:\n\t./x\n"}, "make check", "make check", Form.OUTPUT),
    ({"test/a.bats": "@test x", "Makefile": MAKE}, "bats", "bats --tap", Form.TAP_FILES),
    ({"t/a.t": "", "Makefile.PL": ""}, "prove", "perl -Iblib/lib -Iblib/arch -Ilib -It/lib", Form.TAP_FILES),
    ({"CMakeLists.txt": "enable_testing()\n", "Makefile": MAKE}, "ctest", None, Form.JUNIT),
    ({"meson.build": "project('x')\ntest('a', e)\n"}, "meson", None, Form.JUNIT),
    ({"configure.ac": "", "tests/Makefile.am": "TESTS = a b\n"}, "automake", "make -k check", Form.AUTOMAKE),
    ({"script/test": "#!/usr/bin/env bash\n"}, "script", "bash script/test", Form.OUTPUT),
    ({".github/workflows/ci.yml": WORKFLOW}, "command", "./bin/spec --all", Form.OUTPUT),
])
def test_a_test_command_is_found(files: dict[str, str], framework: str, test: str | None, form: Form) -> None:
    plan = plans(of(files), SIGHT)[0]
    assert (plan.framework, plan.form) == (framework, form)
    assert test is None or plan.test == test
    assert all(choice.file in files for choice in plan.why)


@pytest.mark.parametrize("files", [
    {"Makefile": "test := 1\nall:\n"}, {"CMakeLists.txt": "project(x)\n"}, {"meson.build": "project('x')\n"}, {"README.md": "make test"}, {"Makefile.am": "bin_PROGRAMS = x\n"}, {},
])
def test_nothing_says_how_this_is_tested(files: dict[str, str]) -> None:
    assert plans(of(files), SIGHT) == []


def test_a_language_that_has_tests_goes_first() -> None:
    files = {"Makefile": MAKE, "a.py": "x = 1\n", "main.c": ""}
    assert [plan.toolchain for plan in detect_plans(of(files), SIGHT)] == ["generic"]
    assert "generic" in [one.name for one in toolchains_in(of(files))]
    tested = {**files, "test_a.py": "def test_a():\n    assert True\n", "pyproject.toml": "[project]\nname = 'a'\nversion = '1'\n"}
    assert [plan.toolchain for plan in detect_plans(of(tested), SIGHT)] == ["python"]
    assert "generic" not in [one.name for one in toolchains_in(of(tested))]


def test_packages_of_ci_by_file_and_line() -> None:
    wanted = wanted_packages(of({".github/workflows/ci.yml": WORKFLOW}))
    assert [(one.name, one.line) for one in wanted] == [("libfoo-dev", 6), ("zlib1g-dev", 7)]
    assert plans(of({"Makefile": MAKE, ".github/workflows/ci.yml": WORKFLOW}), SIGHT)[0].packages == ("libfoo-dev", "zlib1g-dev")
    assert wanted_packages(of({".github/workflows/docs.yml": "jobs: {a: {steps: [{run: apt-get install graphviz}]}}"})) == ()


@pytest.mark.parametrize(("path", "is_test", "is_harness"), [
    ("tests/check.sh", True, False), ("t/a.t", True, False), ("src/test_add.c", True, False), ("src/add.c", False, False), ("Makefile", False, False),
    ("tests/CMakeLists.txt", False, False), ("tests/data.bin", True, False), ("test.sh", False, True), (".github/workflows/ci.yml", False, True), ("src/latest.c", False, False),
])
def test_what_a_path_is(path: str, is_test: bool, is_harness: bool) -> None:
    rules = CommandRules(Tree({}), Tree({}))
    assert (rules.is_test(path), rules.is_harness(path)) == (is_test, is_harness)


def test_an_edit_of_what_names_the_tests_goes_to_a_person() -> None:
    plan = plans(of({"Makefile": MAKE}), SIGHT)[0]
    base, after = of({"Makefile": MAKE, "a.c": ""}), of({"Makefile": MAKE.replace("sh tests", "true tests"), "a.c": ""})
    assert [fault.paths for fault in CommandManifests().faults(plan, base, after, after)] == [("Makefile",)]
    assert CommandManifests().faults(plan, base, base, base) == []


def test_tests_of_bats_are_compared_one_by_one() -> None:
    before = 'load helper\n@test "a" {\n  [ 1 = 1 ]\n}\n@test "b" {\n  [ 2 = 2 ]\n}\n'
    base = of({"test/x.bats": before, "test/helper.bash": "x=1\n"})
    plan, tests, rules = plans(base, SIGHT)[0], CommandTests(), CommandRules(base, base)
    after = {"test/x.bats": File(REGULAR, before.replace("[ 2 = 2 ]", "[ 2 = 3 ]").encode() + b'@test "c" {\n  false\n}\n')}
    touched = tests.touched(plan, base, after, rules)["test/x.bats"]
    assert (touched.edited, touched.new, touched.everything) == ({"b"}, {"c"}, False)
    assert tests.touched(plan, base, {"test/helper.bash": File(REGULAR, b"x=2\n")}, rules)["test/x.bats"].everything


def test_a_repositorys_own_words() -> None:
    plan = plans(of({"Makefile": MAKE}), SIGHT)[0]
    mine = configure(plan, Given(install=("libpq-dev",), test="./check --fast"), ".github/dualgate.yml")
    assert isinstance(mine, CommandPlan)
    assert (mine.test, mine.packages, mine.group) == ("./check --fast", ("libpq-dev",), "./check")
    with pytest.raises(ValueError, match="version"):
        configure(plan, Given(version="3"), ".github/dualgate.yml")


@pytest.mark.parametrize(("text", "rows", "fault"), [
    ("1..2\nok 1 - a\nok 2 b\n", [("a", "passed"), ("b", "passed")], ""),
    ("ok 1 - a\nnot ok 2 - b\n# why\n1..2\n", [("a", "passed"), ("b", "failed")], ""),
    ("1..2\nok 1 - a\n", [("a", "passed")], "2 tests were planned, 1 came"),
    ("ok 1 - a\n", [("a", "passed")], "the plan of the tests (1..N) is missing"),
    ("1..1\nok 1 - a # SKIP no net\n", [("a", "skipped")], ""),
    ("1..2\nnot ok 1 - a # TODO later\nok\n", [("a", "skipped"), ("number 2", "passed")], ""),
    ("1..0 # SKIP nothing here\n", [("(all)", "skipped")], ""),
    ("1..2\nok 1 - a\nBail out! the disk\n", [("a", "passed")], "Bail out! the disk"),
    ("    ok 1 - inner\n    1..1\nok 1 - outer\n1..1\n", [("outer", "passed")], ""),
    ("", [], ""),
])
def test_what_tap_says(text: str, rows: list[tuple[str, str]], fault: str) -> None:
    found, said = command_driver.tap(text)
    assert ([(row[0], row[1]) for row in found], said) == (rows, fault)


class Channel:
    def __init__(self) -> None:
        self.records: list[dict[str, Any]] = []

    def send(self, record: dict[str, Any]) -> None:
        self.records.append(record)


def ran(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str], test: str, form: Form = Form.OUTPUT, reports: tuple[str, ...] = (), args: tuple[str, ...] = (),
        build: tuple[str, ...] = (), test_seconds: float = 20.0, script: tuple[str, str] | None = None) -> TestReport:
    root = tmp_path / f"repo-{len(list(tmp_path.iterdir()))}"
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    monkeypatch.setattr(command_driver, "OWN", f"{root}-own")
    channel = Channel()
    settings = {"build": list(build), "test": test, "form": form.value, "reports": list(reports), "group": "it", "whole": "exit status", "place": "Makefile", "directory": "",
                "script": list(script) if script else None}
    payload = {"root": str(root), "settings": settings, "args": list(args), "wanted": None, "order": None, "collect": False, "test_seconds": test_seconds, "suite_seconds": 60.0}
    status = command_driver.run(payload, channel)
    channel.send({"k": "exit", "status": status})
    return build_report(RawRun(records=channel.records, status=status, request=RunRequest(mode="command")), str(root))


def outcomes(report: TestReport) -> dict[str, str]:
    return {name: result.outcome.value for name, result in report.results.items()}


def test_a_commands_exit_status_is_a_test(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"check.sh": "echo main.c:3: wrong; exit 3\n", "main.c": ""}
    report = ran(tmp_path, monkeypatch, files, "sh check.sh")
    assert (outcomes(report), report.status) == ({"it::exit status": "failed"}, 1)
    assert report.results["it::exit status"].frames == (("main.c", 3, ""),)
    assert outcomes(ran(tmp_path, monkeypatch, {"check.sh": "exit 0\n"}, "true")) == {"it::exit status": "passed"}


def test_no_list_of_passes_outweighs_the_exit_status(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = ran(tmp_path, monkeypatch, {"check.sh": "echo 1..1; echo ok 1 - a; exit 1\n"}, "sh check.sh")
    assert outcomes(report) == {"it::a": "passed", "it::exit status": "failed"}
    report = ran(tmp_path, monkeypatch, {"check.sh": "echo 1..2; echo ok 1 - a\n"}, "sh check.sh")
    assert outcomes(report) == {"it::a": "passed", "it::exit status": "failed"}


def test_reports_that_the_tree_brings_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = '<testsuites><testsuite><testcase classname="s" name="a" time="0.5"/><testcase name="b"><failure message="no">x.c:2</failure></testcase></testsuite></testsuites>'
    old = {"r.xml": case}
    assert outcomes(ran(tmp_path, monkeypatch, old, "true", Form.JUNIT, ("r.xml",))) == {"it::exit status": "failed"}
    made = {"r.xml": case, "kept": case}
    assert outcomes(ran(tmp_path, monkeypatch, made, "cp kept r.xml", Form.JUNIT, ("r.xml",))) == {"it::s.a": "passed", "it::b": "failed", "it::exit status": "passed"}
    broken = {"kept": "<testsuite><testcase"}
    assert outcomes(ran(tmp_path, monkeypatch, broken, "cp kept r.xml", Form.JUNIT, ("r.xml",))) == {"it::exit status": "failed"}


def test_results_of_automake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"kept.trs": ":test-result: PASS\n", "kept.log": "words"}
    report = ran(tmp_path, monkeypatch, files, "printf ':test-result: FAIL\\n' > b.trs; printf ':test-result: SKIP\\n' > c.trs; printf ':test-result: PASS\\n' > d.trs", Form.AUTOMAKE, ("**/*.trs",))
    assert outcomes(report) == {"it::b": "failed", "it::c": "skipped", "it::d": "passed", "it::exit status": "passed"}


def test_files_of_tap_are_programs_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"t/a.t": "echo 1..2; echo ok 1 - x; echo ok 2 - x\n", "t/b.t": "echo 1..1; echo ok 1 - y; exit 2\n", "t/c.t": "echo hello\n", "t/d.t": "echo '1..0 # SKIP no'\n"}
    report = ran(tmp_path, monkeypatch, files, "sh", Form.TAP_FILES, args=("t/a.t", "t/b.t", "t/c.t", "t/d.t", "t/gone.t"))
    assert outcomes(report) == {
        "t/a.t::x": "passed", "t/a.t::x #2": "passed", "t/a.t::exit status": "passed", "t/b.t::y": "passed", "t/b.t::exit status": "failed",
        "t/c.t::exit status": "failed", "t/d.t::exit status": "skipped"}
    assert set(report.uncollected) == {"t/gone.t"}


def test_what_has_no_end_is_ended_and_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = ran(tmp_path, monkeypatch, {"x": ""}, "sleep 60", test_seconds=0.3)
    assert (report.results["it::exit status"].kind, report.results["it::exit status"].failed) == ("timeout", True)


def test_what_is_not_built_runs_no_test(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = ran(tmp_path, monkeypatch, {"x": ""}, "true", build=("echo 'a.c:1:2: error: no' && false",))
    assert (report.results, report.status) == ({}, 2)
    assert "a.c:1:2: error: no" in report.uncollected["it"]


def test_a_script_passes_by_its_exit_status(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for text, outcome in (("#!/bin/sh\nexit 0\n", "passed"), ("#!/bin/sh\nexit 4\n", "failed")):
        report = ran(tmp_path, monkeypatch, {"r.sh": text}, "true", script=("r.sh", "given::r"))
        assert outcomes(report) == {"given::r": outcome}
