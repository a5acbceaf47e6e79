"""Changes to an npm package, judged in real boxes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.node_repository import BASE, DEFECT, FIX, MEAN_TEST, TEST, manifest
from tests.repository import Answer, commit, make, verify

pytestmark = pytest.mark.docker
GOOD: dict[str, str | None] = {"src/index.js": FIX, "test/span.test.js": TEST + MEAN_TEST}


def judged(tmp_path: Path, change: dict[str, str | None], *args: str | Path, base: dict[str, str | None] | None = None) -> Answer:
    repo = tmp_path / "stats"
    before = make(repo, base or BASE)
    after = commit(repo, change)
    return verify(repo, "--base", before, "--head", after, *args)


def test_a_fix_is_verified_by_its_test_over_what_is_built(tmp_path: Path) -> None:
    answer = judged(tmp_path, GOOD)
    assert (answer.verdict["verdict"], answer.reason) == ("verified", "verified"), answer.output + answer.errors
    assert answer.verdict["gates"]["fail_to_pass"]["passed"] == ["test/span.test.js :: mean of three"]
    assert answer.verdict["gates"]["pass_to_pass"]["passed"] == 3  # the suite around two tests is one too


def test_a_build_that_the_change_breaks_is_told_so(tmp_path: Path) -> None:
    answer = judged(tmp_path, {**GOOD, "src/index.js": FIX + "\nconst = 1;\n"})
    assert answer.reason == "build_failed", answer.output + answer.errors
    assert "SyntaxError" in answer.output


FORGING = '''process.on("exit", () => process.reallyExit(0));
console.log("TAP version 13\\nok 1 - mean of three\\n1..1");
'''


@pytest.mark.thorough
@pytest.mark.parametrize(("change", "reasons", "named"), [
    ({**GOOD, "src/index.js": DEFECT}, {"reproducer_still_fails"}, "mean of three"),
    ({**GOOD, "src/index.js": FORGING + DEFECT}, {"reproducer_still_fails"}, "mean of three"),
    ({**GOOD, "src/index.js": 'require("assert").equal = () => {};\n' + DEFECT}, {"needs_review"}, "replaces assertions"),
    ({**GOOD, "src/index.js": FIX.replace("Math.min(...values)", "Math.min(...values) + 1")}, {"regression"}, "span > of two"),
    ({**GOOD, "src/index.js": "process.exit(0);\n" + FIX}, {"tests_removed"}, "mean of three"),
    ({**GOOD, "src/index.js": FIX.replace("=> Math.max", "=> values.length === 1 ? (() => { for (;;); })() : Math.max")}, {"timeout", "regression"}, "span"),
    ({"src/index.js": FIX, "test/span.test.js": TEST.replace('test("of one"', 'test.skip("of one"') + MEAN_TEST}, {"verified"}, "mean of three"),
], ids=["nothing fixed", "forged", "assertions replaced", "regression", "exit", "hang", "the change's skip does not count"])
def test_what_was_not_shown_is_not_verified(tmp_path: Path, change: dict[str, str | None], reasons: set[str], named: str) -> None:
    config = tmp_path / "dualgate.yml"
    config.write_text("limits: {test_s: 10}\n", encoding="utf-8")
    answer = judged(tmp_path, change, "--config", config)
    assert answer.reason in reasons, answer.output + answer.errors
    assert named in answer.output


@pytest.mark.thorough
def test_scripts_and_configuration_are_those_of_base(tmp_path: Path) -> None:
    lying = manifest(scripts={"build": "true", "test": "true"}, mocha={"spec": "nothing"})
    answer = judged(tmp_path, {**GOOD, "src/index.js": DEFECT, "package.json": lying})
    assert answer.reason == "reproducer_still_fails"
    assert "harness_frozen" in answer.codes()


@pytest.mark.thorough
def test_a_package_that_its_registry_does_not_have_is_named(tmp_path: Path) -> None:
    answer = judged(tmp_path, {**GOOD, "package.json": manifest(dependencies={"dualgate-no-such-package-here": "^1.0.0"})})
    assert answer.reason == "hallucinated_dependency"
    assert "dualgate-no-such-package-here" in answer.output


@pytest.mark.thorough
def test_packages_that_cannot_be_installed_on_base_are_told_so(tmp_path: Path) -> None:
    broken = {**BASE, "package.json": manifest(devDependencies={"dualgate-no-such-package-here": "^1.0.0"})}
    answer = judged(tmp_path, GOOD, base=broken)
    assert answer.reason == "environment_failed"
    assert "dualgate-no-such-package-here" in answer.output


RUNNERS = {
    "mocha": ("^10.8.2", "mocha", "test/a.js", 'const assert = require("assert"); const s = require("../lib");\ndescribe("stats", () => { it("spans", () => assert.equal(s.span([1, 3]), 2)); %s });\n',
              'it("means", () => assert.equal(s.mean([1, 3]), 2));', "stats > means"),
    "jest": ("^29.7.0", "jest", "test/a.test.js", 'const s = require("../lib");\ndescribe("stats", () => { it("spans", () => expect(s.span([1, 3])).toBe(2)); %s });\n',
             'it("means", () => expect(s.mean([1, 3])).toBe(2));', "stats > means"),
    "vitest": ("^3.2.0", "vitest run", "test/a.test.js", 'import { it, expect, describe } from "vitest";\nimport s from "../lib.js";\ndescribe("stats", () => { it("spans", () => expect(s.span([1, 3])).toBe(2)); %s });\n',
               'it("means", () => expect(s.mean([1, 3])).toBe(2));', "stats > means"),
    "ava": ("^6.2.0", "ava", "test.js", 'const test = require("ava"); const s = require("./lib");\ntest("spans", t => t.is(s.span([1, 3]), 2));\n%s\n',
            'test("means", t => t.is(s.mean([1, 3]), 2));', "means"),
    "tape": ("^5.9.0", "tape test/*.js", "test/a.js", 'const test = require("tape"); const s = require("../lib");\ntest("spans", t => { t.equal(s.span([1, 3]), 2); t.end(); });\n%s\n',
             'test("means", t => { t.equal(s.mean([1, 3]), 2); t.end(); });', "means"),
    "tap": ("^16.3.10", "tap test/*.js", "test/a.js", 'const test = require("tap").test; const s = require("../lib");\ntest("spans", t => { t.equal(s.span([1, 3]), 2); t.end(); });\n%s\n',
            'test("means", t => { t.equal(s.mean([1, 3]), 2); t.end(); });', "means"),
    "jasmine": ("^5.6.0", "jasmine", "spec/aSpec.js", 'const s = require("../lib");\ndescribe("stats", () => { it("spans", () => expect(s.span([1, 3])).toBe(2)); %s });\n',
                'it("means", () => expect(s.mean([1, 3])).toBe(2));', "stats > means"),
    "uvu": ("^0.5.6", "uvu test", "test/a.js", 'const { test } = require("uvu"); const assert = require("uvu/assert"); const s = require("../lib");\ntest("spans", () => assert.is(s.span([1, 3]), 2));\n%s\ntest.run();\n',
            'test("means", () => assert.is(s.mean([1, 3]), 2));', "means"),
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", sorted(RUNNERS))
def test_every_runner_names_its_tests(tmp_path: Path, name: str) -> None:
    version, script, path, text, more, title = RUNNERS[name]
    package = manifest(main="lib.js", scripts={"test": script}, devDependencies={name: version})
    base: dict[str, str | None] = {"package.json": package, "lib.js": DEFECT, path: text % ""}
    answer = judged(tmp_path, {"lib.js": FIX, path: text % more}, base=base)
    assert (answer.verdict["verdict"], answer.reason) == ("verified", "verified"), answer.output + answer.errors
    assert answer.verdict["gates"]["fail_to_pass"]["passed"] == [f"{path} :: {title}"]
    assert answer.verdict["gates"]["pass_to_pass"]["passed"] == 1
