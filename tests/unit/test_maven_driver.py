"""Maven's own words and surefire's reports -> records -> report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sandbox.box import RawRun, RunRequest
from sandbox.inside.maven_driver import MavenRun, by_default, counted_lines, group_of, plain_method, read_report
from sandbox.results.events import build_report
from sandbox.results.report import TestReport
from sandbox.results.report import group_of as group_of_id

SOURCE = "package a;\n\nclass BTest {\n    @Test\n    void good() {\n    }\n\n    @Test\n    void bad() {\n    }\n}\n"
GOOD, BAD = '<testcase name="good" classname="a.BTest" time="0.5"/>', (
    '<testcase name="bad" classname="a.BTest" time="1,000.25"><failure message="expected: 1 but was: 2" type="org.opentest4j.AssertionFailedError">'
    "org.opentest4j.AssertionFailedError: expected: 1 but was: 2\n\tat org.junit.Assert.equals(Assert.java:9)\n\tat a.B.run(B.java:3)\n"
    "\tat java.base/java.lang.Thread.run(Thread.java:1)\n\tat a.BTest.bad(BTest.java:9)\n</failure></testcase>")
SKIPPED = '<testcase name="off" classname="a.BTest" time="0"><skipped message="not here"/></testcase>'
TESTS = "[INFO] --- surefire:3.2.5:test (default-test) @ core ---"


class Channel:
    def __init__(self) -> None:
        self.records: list[dict[str, Any]] = []

    def send(self, record: dict[str, Any]) -> None:
        self.records.append(record)


class Build:
    """A module `core` with one class of tests, and a driver that follows what is said of it."""

    def __init__(self, root: Path, wanted: list[str] | None = None, collect: bool = False) -> None:
        self.root, self.channel = root, Channel()
        for path, text in (("core/src/test/java/a/BTest.java", SOURCE), ("core/src/main/java/a/B.java", "package a;\n")):
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
        self.run = MavenRun(self.channel, {
            "root": str(root), "wanted": wanted, "args": [], "test_seconds": 10, "collect": collect, "settings": {
                "repository": ["", str(root / "m2")],
                "directory": "", "modules": [["", "all", ["src/test/java"]], ["core", "core", ["core/src/test/java"]]], "chosen": [],
                "tests": [["core/a.BTest", "core/src/test/java/a/BTest.java"]]}})

    def report(self, *cases: str, name: str = "a.BTest") -> None:
        folder = self.root / "core/target/surefire-reports"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"TEST-{name}.xml").write_text(f'<?xml version="1.0"?><testsuite name="{name}">{"".join(cases)}</testsuite>', encoding="utf-8")

    def say(self, *lines: str) -> Build:
        for line in lines:
            self.run.line(line + "\n")
        return self

    def end(self) -> TestReport:
        self.run.lose_running()
        self.run.close()
        self.channel.send({"k": "exit", "status": 0})
        return build_report(RawRun(records=self.channel.records, status=0, request=RunRequest(mode="maven", collect=self.run.payload["collect"])), str(self.root))


def ended(run: int, failures: int = 0, name: str = "a.BTest") -> str:
    mark = " <<< FAILURE!" if failures else ""
    return f"[INFO] Tests run: {run}, Failures: {failures}, Errors: 0, Skipped: 0, Time elapsed: 0.01 s{mark} -- in {name}"


def outcomes(report: TestReport) -> dict[str, str]:
    return {name.removeprefix("core/a.BTest#"): r.outcome.value for name, r in report.results.items()}


def test_every_case_has_its_outcome_and_place(tmp_path: Path) -> None:
    build = Build(tmp_path)
    build.report(GOOD, BAD, SKIPPED)
    report = build.say(TESTS, "[INFO] Running a.BTest", ended(3, 1)).end()
    assert outcomes(report) == {"good": "passed", "bad": "failed", "off": "skipped"}
    bad = report.results["core/a.BTest#bad"]
    assert (bad.file, bad.line, bad.seconds) == ("core/src/test/java/a/BTest.java", 9, 1000.25)
    assert bad.frames == (("core/src/test/java/a/BTest.java", 9, "bad"), ("core/src/main/java/a/B.java", 3, "run"))
    assert bad.short == "AssertionFailedError: expected: 1 but was: 2"


@pytest.mark.parametrize("line", [
    "Tests run: 1, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.05 sec", "Tests run: 1, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.05 sec - in a.BTest",
    "[INFO] Tests run: 1, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.05 s - in a.BTest",
    "[WARNING] Tests run: 1, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 1.2 s -- in a.BTest",
])
def test_old_and_new_words_of_surefire_are_known(tmp_path: Path, line: str) -> None:
    build = Build(tmp_path)
    build.report(GOOD)
    assert outcomes(build.say("[INFO] --- maven-surefire-plugin:2.12.4:test (default-test) @ core ---", "Running a.BTest", line).end()) == {"good": "passed"}


def test_a_report_that_maven_does_not_speak_of_is_nobodys_word(tmp_path: Path) -> None:
    build = Build(tmp_path)
    build.report(GOOD)
    report = build.say(TESTS, "[INFO] Running a.BTest", "[INFO] Results:", "[INFO] Tests run: 1, Failures: 0, Errors: 0, Skipped: 0").end()
    assert (report.results, report.died) == ({}, ("core/a.BTest",))


def test_a_report_that_hides_a_failure_is_none(tmp_path: Path) -> None:
    build = Build(tmp_path)
    build.report(GOOD)
    report = build.say(TESTS, "[INFO] Running a.BTest", ended(1, 1)).end()
    assert (report.results, report.died) == ({}, ("core/a.BTest",))


def test_classes_side_by_side_each_come_to_their_end(tmp_path: Path) -> None:
    build = Build(tmp_path)
    build.report(GOOD)
    build.report(GOOD.replace("a.BTest", "a.CTest"), name="a.CTest")
    report = build.say(TESTS, "[INFO] Running a.BTest", "[INFO] Running a.CTest", ended(1), ended(1, name="a.CTest")).end()
    assert list(report.results) == ["core/a.BTest#good", "core/a.CTest#good"]
    assert report.died == ()


def test_a_class_run_twice_has_ordinals(tmp_path: Path) -> None:
    build = Build(tmp_path)
    build.report(GOOD)
    build.say(TESTS, "[INFO] Running a.BTest", ended(1))
    (tmp_path / "core/target/surefire-reports/TEST-a.BTest.xml").unlink()
    build.report(GOOD)
    assert outcomes(build.say(TESTS, "[INFO] Running a.BTest", ended(1)).end()) == {"good": "passed", "good #2": "passed"}


def test_only_what_is_wanted_is_reported(tmp_path: Path) -> None:
    build = Build(tmp_path, wanted=["core/a.BTest#bad"])
    build.report(GOOD, BAD)
    assert outcomes(build.say(TESTS, "[INFO] Running a.BTest", ended(2, 1)).end()) == {"bad": "failed"}


def test_tests_that_do_not_compile_are_not_collected(tmp_path: Path) -> None:
    own = f"[ERROR] {tmp_path}/core/src/test/java/a/BTest.java:[5,9] cannot find symbol"
    report = Build(tmp_path).say(
        "[INFO] --- compiler:3.11.0:testCompile (default-testCompile) @ core ---", "[ERROR] COMPILATION ERROR : ",
        f"[ERROR] {tmp_path}/core/src/test/java/a/CTest.java:[1,1] incompatible types", own, "  symbol:   method gone()", "  location: class a.B",
        "[ERROR] Failed to execute goal org.apache.maven.plugins:maven-compiler-plugin:3.11.0:testCompile (default-testCompile) on project core: Compilation failure",
    ).end()
    lines = report.uncollected["core/a.BTest"].splitlines()
    assert "testCompile" in lines[0]
    assert lines[1].endswith("BTest.java:[5,9] cannot find symbol")
    assert lines[2].strip() == "symbol:   method gone()"


def test_a_module_that_does_not_compile_says_so(tmp_path: Path) -> None:
    report = Build(tmp_path).say(
        "[INFO] --- compiler:3.11.0:compile (default-compile) @ core ---", f"[ERROR] {tmp_path}/core/src/main/java/a/B.java:[1,1] ';' expected",
        "[ERROR] Failed to execute goal org.apache.maven.plugins:maven-compiler-plugin:3.11.0:compile (default-compile) on project core: Compilation failure",
    ).end()
    assert report.uncollected["core/a.BTest"].startswith("the module itself does not compile")


def test_what_was_compiled_is_collected(tmp_path: Path) -> None:
    report = Build(tmp_path, collect=True).say("[INFO] --- compiler:3.11.0:testCompile (default-testCompile) @ core ---").end()
    assert (report.collected, list(report.results)) == (("core/a.BTest",), ["core/a.BTest#(class)"])


def test_few_tests_are_chosen_by_their_methods(tmp_path: Path) -> None:
    build = Build(tmp_path, wanted=["core/a.BTest#good", "core/a.BTest#each(String)[1]"])
    assert build.run.patterns(build.run.groups()) == "a.BTest#each*+good*"
    assert build.run.patterns(["core/a.BTest", "core/a.CTest"]) == "a.BTest#each*+good*,a.CTest"
    old = tmp_path / "m2/org/apache/maven/plugins/maven-surefire-plugin/2.12.4"
    old.mkdir(parents=True)
    (old / "maven-surefire-plugin-2.12.4.jar").touch()
    assert build.run.patterns(["core/a.BTest", "core/a.CTest"]) == "a.BTest,a.CTest"
    nested = Build(tmp_path, wanted=["core/a.BTest$Inner#good", "core/a.BTest#bad"])
    assert nested.run.patterns(nested.run.groups()) == "a.BTest"


@pytest.mark.parametrize(("last", "method"), [("good", "good"), ("each(String)[1]", "each"), ("test[0: x y]", "test"), ("a name with blanks", None), ("[1] x", None)])
def test_methods_that_a_pattern_can_name(last: str, method: str | None) -> None:
    assert plain_method("core/a.BTest", last) == method


def test_characters_that_xml_does_not_allow_are_no_end(tmp_path: Path) -> None:
    (tmp_path / "x.xml").write_text('<?xml version="1.0"?><testsuite><testcase name="a&#0;b"/></testsuite>', encoding="utf-8")
    suite = read_report(str(tmp_path / "x.xml"))
    assert suite is not None
    assert [case.get("name") for case in suite] == ["a?b"]


@pytest.mark.parametrize(("test_id", "group"), [
    ("core/a.BTest$Inner#x", "core/a.BTest"), ("a.BTest#each(String)[1: a::b]", "a.BTest"), ("tests/a.py::C::x[a#b]", "tests/a.py"),
    ("path/to/a.js :: group > title #2", "path/to/a.js"), ("m.org/calc::TestA #2", "m.org/calc"), ("a.BTest", "a.BTest"), ("a#b.py::test", "a#b.py"),
])
def test_the_group_of_an_id(test_id: str, group: str) -> None:
    assert group_of_id(test_id) == group


def test_lines_that_ran_are_read_by_source_file(tmp_path: Path) -> None:
    lines = '<line nr="3" mi="0" ci="2" mb="0" cb="0"/><line nr="4" mi="1" ci="0" mb="0" cb="0"/>'
    text = '<?xml version="1.0"?><!DOCTYPE report PUBLIC "-//JACOCO//DTD Report 1.1//EN" "report.dtd"><report name="x"><package name="a">'
    (tmp_path / "x.xml").write_text(f'{text}<sourcefile name="B.java">{lines}</sourcefile><sourcefile name="C.java"/></package></report>', encoding="utf-8")
    assert counted_lines(str(tmp_path / "x.xml"), {"a/B.java"}) == {"a/B.java": {3: True, 4: False}}


def test_classes_that_surefire_runs_by_default() -> None:
    assert [by_default(name) for name in ("a.BTest", "core/a.TestB", "a.BTests", "a.BIT", "a.Common")] == [True, True, True, False, False]
    assert group_of("core/a.B$C#d") == "core/a.B"
