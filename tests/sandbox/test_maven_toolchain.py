"""Changes to a Maven build, judged in real boxes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.maven_repository import BASE, CORE_POM, DEFECT, FIX, NEW_TEST, ROOT_POM, SOURCE, TEST, TESTS
from tests.repository import Answer, commit, make, verify

pytestmark = pytest.mark.docker
GOOD = {SOURCE: FIX, TEST: NEW_TEST}
# Ends the machine that the tests are in, with a report of its own in the place of the one that is never written.
FORGED = DEFECT.replace("int sum = 0;", """int sum = 0;
        try {
            String cases = "<testcase name='%s' classname='org.example.StatsTest' time='0'/>";
            String all = String.format(cases, "spanOfTwo") + String.format(cases, "spanOfOne") + String.format(cases, "meanOfThree");
            java.nio.file.Files.writeString(java.nio.file.Path.of("target/surefire-reports/TEST-org.example.StatsTest.xml"),
                "<testsuite name='org.example.StatsTest' tests='3'>" + all + "</testsuite>");
            System.out.println("[INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.01 s -- in org.example.StatsTest");
            System.out.flush();
        } catch (java.io.IOException error) {
            throw new IllegalStateException(error);
        }
        Runtime.getRuntime().halt(0);""")


def judged(tmp_path: Path, change: dict[str, str | None], *args: str | Path, base: dict[str, str | None] | None = None) -> Answer:
    repo = tmp_path / "stats"
    before = make(repo, base or BASE)
    after = commit(repo, change)
    return verify(repo, "--base", before, "--head", after, "--repeat", "2", *args)


def test_a_fix_is_verified_by_its_own_test(tmp_path: Path) -> None:
    answer = judged(tmp_path, GOOD)
    assert (answer.verdict["verdict"], answer.reason) == ("verified", "verified"), answer.output + answer.errors
    found = answer.verdict["gates"]
    assert found["fail_to_pass"]["passed"] == ["core/org.example.StatsTest#meanOfThree"]
    assert found["pass_to_pass"]["passed"] == 3
    assert "changed_lines" in answer.codes()


def test_a_report_that_the_code_under_test_writes_proves_nothing(tmp_path: Path) -> None:
    answer = judged(tmp_path, {SOURCE: FORGED, TEST: NEW_TEST})
    assert answer.verdict["verdict"] != "verified", answer.output + answer.errors
    assert answer.verdict["gates"]["fail_to_pass"]["passed"] == []


@pytest.mark.thorough
def test_a_build_that_can_not_be_set_up_says_why(tmp_path: Path) -> None:
    config = tmp_path / "dualgate.yml"
    config.write_text('plans:\n  - toolchain: maven\n    version: "17"\n', encoding="utf-8")
    pom = ROOT_POM.replace("<version>4.13.2</version>", "<version>4.13.99</version>")
    answer = judged(tmp_path, GOOD, "--config", config, base={**BASE, "pom.xml": pom})
    assert answer.reason == "environment_failed"
    assert "junit:junit:jar:4.13.99" in answer.output


@pytest.mark.thorough
@pytest.mark.parametrize(("change", "reason"), [
    ({SOURCE: DEFECT + "// nothing\n", TEST: NEW_TEST}, "reproducer_still_fails"),
    ({SOURCE: FIX.replace("high - low", "high - low + 1"), TEST: NEW_TEST}, "regression"),
    ({SOURCE: FIX.replace("return sum /", "return total /"), TEST: NEW_TEST}, "build_failed"),
    ({SOURCE: FIX.replace("public static int span(int low, int high)", "public static int range(int low, int high)"), TEST: NEW_TEST}, "build_failed"),
    ({SOURCE: FIX}, "no_reproducer"),
    ({SOURCE: FIX, TEST: TESTS}, "no_reproducer"),
])
def test_what_is_not_proven_is_not_verified(tmp_path: Path, change: dict[str, str | None], reason: str) -> None:
    answer = judged(tmp_path, change)
    assert answer.reason == reason, answer.output + answer.errors


@pytest.mark.thorough
def test_an_endless_test_costs_one_test(tmp_path: Path) -> None:
    endless = FIX.replace("return high - low;", "while (high == low) { Thread.onSpinWait(); }\n        return high - low;")
    config = tmp_path / "dualgate.yml"
    config.write_text("limits:\n  test_s: 15\n", encoding="utf-8")
    answer = judged(tmp_path, {SOURCE: endless, TEST: NEW_TEST}, "--config", config)
    assert answer.reason == "timeout", answer.output + answer.errors
    assert answer.verdict["gates"]["pass_to_pass"]["passed"] == 2


@pytest.mark.thorough
def test_an_artifact_that_the_change_adds_is_there_on_its_side_alone(tmp_path: Path) -> None:
    row = "<dependencies><dependency><groupId>org.apiguardian</groupId><artifactId>apiguardian-api</artifactId><version>1.1.2</version></dependency></dependencies>"
    text = FIX.replace("public final class", "@org.apiguardian.api.API(status = org.apiguardian.api.API.Status.STABLE)\npublic final class")
    answer = judged(tmp_path, {SOURCE: text, TEST: NEW_TEST, "core/pom.xml": CORE_POM.replace("</project>", row + "</project>")})
    assert (answer.verdict["verdict"], answer.reason) == ("verified", "verified"), answer.output + answer.errors
    assert "dependencies_added" in answer.codes()
