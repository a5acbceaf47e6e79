"""Changes to a Gradle build, judged in real boxes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.gradle_repository import BASE
from tests.maven_repository import DEFECT, FIX, NEW_TEST, SOURCE, TEST
from tests.repository import Answer, commit, make, verify

pytestmark = pytest.mark.docker


def judged(tmp_path: Path, change: dict[str, str | None], *args: str | Path, base: dict[str, str | None] | None = None) -> Answer:
    repo = tmp_path / "stats"
    before = make(repo, base or BASE)
    after = commit(repo, change)
    return verify(repo, "--base", before, "--head", after, "--repeat", "2", *args)


@pytest.mark.thorough
def test_a_fix_is_verified_by_its_own_test(tmp_path: Path) -> None:
    answer = judged(tmp_path, {SOURCE: FIX, TEST: NEW_TEST})
    assert (answer.verdict["verdict"], answer.reason) == ("verified", "verified"), answer.output + answer.errors
    found = answer.verdict["gates"]
    assert found["fail_to_pass"]["passed"] == ["core/org.example.StatsTest#meanOfThree"]
    assert found["pass_to_pass"]["passed"] == 3


@pytest.mark.thorough
@pytest.mark.parametrize(("change", "reason"), [
    ({SOURCE: DEFECT + "// nothing\n", TEST: NEW_TEST}, "reproducer_still_fails"),
    ({SOURCE: FIX.replace("high - low", "high - low + 1"), TEST: NEW_TEST}, "regression"),
    ({SOURCE: FIX.replace("return sum /", "return total /"), TEST: NEW_TEST}, "build_failed"),
    ({SOURCE: FIX.replace("int sum = 0;", "int sum = 0;\n        Runtime.getRuntime().halt(0);"), TEST: NEW_TEST}, "reproducer_still_fails"),
])
def test_what_is_not_proven_is_not_verified(tmp_path: Path, change: dict[str, str | None], reason: str) -> None:
    answer = judged(tmp_path, change)
    assert answer.reason == reason, answer.output + answer.errors


@pytest.mark.thorough
def test_a_build_that_can_not_be_set_up_says_why(tmp_path: Path) -> None:
    config = tmp_path / "dualgate.yml"
    config.write_text('plans:\n  - toolchain: gradle\n    version: "17"\n', encoding="utf-8")
    base = {**BASE, "core/build.gradle": "dependencies { testCompile 'junit:junit:4.13.99' }\n"}
    answer = judged(tmp_path, {SOURCE: FIX, TEST: NEW_TEST}, "--config", config, base=base)
    assert answer.reason == "environment_failed"
    assert "junit:junit:4.13.99" in answer.output
