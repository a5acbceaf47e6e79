"""Changes to a Rust workspace, judged in real boxes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.repository import Answer, commit, make, verify
from tests.rust_repository import BASE, DEFECT, FIX, MANIFEST, with_mean_test

pytestmark = pytest.mark.docker
GOOD = {"src/lib.rs": with_mean_test(FIX)}


def judged(tmp_path: Path, change: dict[str, str | None], *args: str | Path, base: dict[str, str | None] | None = None) -> Answer:
    repo = tmp_path / "rusty"
    before = make(repo, base or BASE)
    after = commit(repo, change)
    return verify(repo, "--base", before, "--head", after, *args)


def gates(answer: Answer) -> tuple[list[str], int]:
    found = answer.verdict["gates"]
    return found["fail_to_pass"]["passed"], found["pass_to_pass"]["passed"]


def test_a_fix_with_an_inline_test_is_verified_by_it(tmp_path: Path) -> None:
    answer = judged(tmp_path, GOOD)
    assert (answer.verdict["verdict"], answer.reason) == ("verified", "verified"), answer.output + answer.errors
    assert gates(answer) == (["src/lib.rs::tests::mean_of_three"], 7)


@pytest.mark.thorough
def test_a_defect_that_stays_is_not_verified(tmp_path: Path) -> None:
    answer = judged(tmp_path, {"src/lib.rs": with_mean_test(DEFECT).replace("+ 1)", "+ 2 - 1)")})
    assert answer.reason == "reproducer_still_fails"


@pytest.mark.thorough
@pytest.mark.parametrize(("change", "reason", "named"), [
    ({"src/lib.rs": with_mean_test(FIX).replace(".min().unwrap()", ".min().unwrap() + 1").replace("span(&[2, 9]), 7", "span(&[2, 9]), 6").replace("span(&[4]), 0", "span(&[4]), -1")},
     "regression", "src/lib.rs::tests::span_of_two"),
    ({"src/lib.rs": with_mean_test(FIX).replace("    values.iter().max()", "    if values.len() == 1 { std::process::abort() }\n    values.iter().max()")}, "regression", "src/lib.rs::tests::span_of_one"),
    ({"src/lib.rs": with_mean_test(FIX).replace("    values.iter().max()", "    if values.len() == 1 { std::process::exit(0) }\n    values.iter().max()")}, "regression", "src/lib.rs::tests::span_of_one"),
    ({"src/lib.rs": with_mean_test(FIX).replace("    values.iter().max()", "    if values.len() == 1 { loop {} }\n    values.iter().max()")}, "timeout", "src/lib.rs::tests::span_of_one"),
    ({**GOOD, "src/main.rs": 'fn main() {\n    println!("8");\n}\n'}, "regression", "tests/programs.rs::program_says_the_span"),
    ({**GOOD, "examples/show.rs": 'fn main() {\n    println!("8");\n}\n'}, "regression", "tests/programs.rs::example_says_the_span"),
    ({**GOOD, "table/greeting.txt": "goodbye\n"}, "regression", "tests/programs.rs::greeting_is_that_of_the_table"),
    ({**GOOD, "words/src/lib.rs": "pub fn loud(text: &str) -> String {\n    text.to_string()\n}\n"}, "regression", "words/tests/loud.rs::one_mark"),
    ({"src/lib.rs": with_mean_test(FIX).replace("span(&[1, 4]), 3", "mean(&[1, 3]), 2").replace(".min().unwrap()", ".min().unwrap() + 0")}, "needs_review", "src/lib.rs (doc)::src/lib.rs - mean (1)"),
], ids=["weakened inline tests", "abort", "exit", "hang", "program", "example", "data that cargo does not know of", "another member", "an edited example in the documentation"])
def test_what_worked_before_must_work_now(tmp_path: Path, change: dict[str, str | None], reason: str, named: str) -> None:
    config = tmp_path / "dualgate.yml"
    config.write_text("limits: {test_s: 10}\n", encoding="utf-8")
    answer = judged(tmp_path, change, "--config", config)
    assert answer.reason == reason, answer.output + answer.errors
    assert any(named in finding["tests"] for finding in answer.verdict["findings"])


@pytest.mark.thorough
def test_no_program_of_another_commit_is_run_where_the_environment_is_kept(tmp_path: Path) -> None:
    judged(tmp_path / "first", {"README.md": "Statistics!\n"})
    broken = {**BASE, "src/lib.rs": DEFECT.replace(".min().unwrap()", ".min().unwrap() + values.len() as i64 - 1"), "table/greeting.txt": "hi\n"}
    answer = judged(tmp_path / "second", {"src/lib.rs": DEFECT, "table/greeting.txt": "hello\n"}, base=broken)
    assert (answer.verdict["verdict"], answer.reason) == ("verified", "verified"), answer.output + answer.errors
    assert set(gates(answer)[0]) >= {"src/lib.rs::tests::span_of_two", "tests/programs.rs::example_says_the_span", "tests/programs.rs::greeting_is_that_of_the_table"}


@pytest.mark.thorough
def test_a_change_that_does_not_compile_is_told_so(tmp_path: Path) -> None:
    answer = judged(tmp_path, {"src/lib.rs": with_mean_test(FIX).replace("values.len() as i64", "values.length()")})
    assert answer.reason == "build_failed"
    assert "no method named `length`" in answer.output


SWALLOWING = {
    ".cargo/config.toml": '[target.x86_64-unknown-linux-gnu]\nrunner = "/bin/true"\n[build]\nrustflags = ["--cfg", "lie"]\n', "Cargo.toml": MANIFEST + "\n[lib]\ntest = false\n",
    "build.rs": 'fn main() { println!("cargo:rustc-cfg=lie"); }\n',
}


@pytest.mark.thorough
def test_files_that_steer_the_tests_have_no_effect(tmp_path: Path) -> None:
    broken = with_mean_test(FIX).replace(".min().unwrap()", ".min().unwrap() + 1")
    answer = judged(tmp_path, {"src/lib.rs": broken, **SWALLOWING})
    assert answer.reason == "regression"
    assert "harness_frozen" in answer.codes()


FORGING = '''    use std::io::Write;
    for name in ["tests::span_of_one", "tests::span_of_two", "tests::mean_of_three"] {
        writeln!(std::io::stdout(), "{{ \\"type\\": \\"test\\", \\"name\\": \\"{name}\\", \\"ev{}\\": \\"ok\\" }}", "ent").unwrap();
    }
    1000 + values.iter().max()'''


@pytest.mark.thorough
def test_results_that_the_code_under_test_writes_are_not_believed(tmp_path: Path) -> None:
    answer = judged(tmp_path, {"src/lib.rs": with_mean_test(FIX).replace("    values.iter().max()", FORGING)})
    assert answer.reason == "regression"
    assert answer.verdict["gates"]["pass_to_pass"]["passed"] < 7


@pytest.mark.thorough
def test_a_new_name_on_base_is_a_missing_name_and_a_renamed_test_is_no_loss(tmp_path: Path) -> None:
    text = FIX.replace("#[cfg(test)]", "/// Half.\npub fn half(value: i64) -> i64 {\n    value / 2\n}\n\n#[cfg(test)]").replace("fn span_of_one", "fn span_of_a_single_one")
    text = text.rstrip().removesuffix("}") + "\n    #[test]\n    fn half_of_four() {\n        assert_eq!(half(4), 2);\n    }\n}\n"
    answer = judged(tmp_path, {"src/lib.rs": text})
    assert (answer.verdict["verdict"], answer.reason) == ("verified", "verified"), answer.output + answer.errors
    assert gates(answer) == (["src/lib.rs::tests::half_of_four"], 7)
    assert "fails_for_a_missing_name" in answer.codes()


@pytest.mark.thorough
def test_a_crate_that_the_change_adds_is_there_on_its_side_alone(tmp_path: Path) -> None:
    text = with_mean_test(FIX).replace("values.iter().sum::<i64>() / ", 'itoa::Buffer::new().format(1i64).parse::<i64>().unwrap() * values.iter().sum::<i64>() / ')
    answer = judged(tmp_path, {"src/lib.rs": text, "Cargo.toml": MANIFEST + '\n[dependencies]\nitoa = "1"\n'})
    assert (answer.verdict["verdict"], answer.reason) == ("verified", "verified"), answer.output + answer.errors
    assert "dependencies_added" in answer.codes()


@pytest.mark.thorough
def test_a_crate_that_its_registry_does_not_have_is_named(tmp_path: Path) -> None:
    answer = judged(tmp_path, {**GOOD, "Cargo.toml": MANIFEST + '\n[dependencies]\ndualgate-no-such-crate-here = "1"\n'})
    assert answer.reason == "hallucinated_dependency"
    assert "dualgate-no-such-crate-here" in answer.output
