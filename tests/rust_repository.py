"""A small Rust workspace with a defect, made on the spot: a library with inline tests, a program, an example, a member that reads what another one makes."""

from __future__ import annotations

MANIFEST = """[package]
name = "stats"
version = "0.1.0"
edition = "2021"

[workspace]
members = ["words"]
"""
DEFECT = '''//! Statistics.

/// Mean is the average of the values.
///
/// ```
/// assert_eq!(stats::span(&[1, 4]), 3);
/// ```
pub fn mean(values: &[i64]) -> i64 {
    values.iter().sum::<i64>() / (values.len() as i64 + 1)
}

/// Span is the distance between the extremes.
pub fn span(values: &[i64]) -> i64 {
    values.iter().max().unwrap() - values.iter().min().unwrap()
}

/// Greeting of the table.
pub fn greeting() -> &'static str {
    include_str!(concat!(env!("OUT_DIR"), "/greeting.txt"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn span_of_two() {
        assert_eq!(span(&[2, 9]), 7);
    }

    #[test]
    fn span_of_one() {
        assert_eq!(span(&[4]), 0);
    }
}
'''
FIX = DEFECT.replace("(values.len() as i64 + 1)", "values.len() as i64")
MEAN_TEST = "\n    #[test]\n    fn mean_of_three() {\n        assert_eq!(mean(&[1, 2, 3]), 2);\n    }\n}\n"


def with_mean_test(text: str) -> str:
    """The library with one more inline test."""
    return text.rstrip().removesuffix("}") + MEAN_TEST


# It says that it must run again for itself alone: cargo does not know of the table.
BUILD = '''fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let text = std::fs::read_to_string("table/greeting.txt").unwrap();
    std::fs::write(std::path::Path::new(&std::env::var("OUT_DIR").unwrap()).join("greeting.txt"), text.trim()).unwrap();
}
'''
PROGRAMS_TEST = '''use std::process::Command;

fn said(path: &std::path::Path) -> String {
    String::from_utf8(Command::new(path).output().unwrap().stdout).unwrap()
}

#[test]
fn program_says_the_span() {
    assert_eq!(said(env!("CARGO_BIN_EXE_stats").as_ref()), "7\\n");
}

#[test]
fn example_says_the_span() {
    let own = std::env::current_exe().unwrap();
    assert_eq!(said(&own.parent().unwrap().parent().unwrap().join("examples/show")), "7\\n");
}

#[test]
fn greeting_is_that_of_the_table() {
    assert_eq!(stats::greeting(), "hello");
}
'''
MAIN = 'fn main() {\n    println!("{}", stats::span(&[2, 9]));\n}\n'
WORDS_MANIFEST = '[package]\nname = "words"\nversion = "0.1.0"\nedition = "2021"\n\n[dependencies]\nstats = { path = ".." }\n'
WORDS = "pub fn loud(text: &str) -> String {\n    format!(\"{}{}\", text.to_uppercase(), \"!\".repeat(stats::span(&[1, 2]) as usize))\n}\n"
WORDS_TEST = "#[test]\nfn one_mark() {\n    assert_eq!(words::loud(\"a\"), \"A!\");\n}\n"
BASE: dict[str, str | None] = {
    "Cargo.toml": MANIFEST, "build.rs": BUILD, "table/greeting.txt": "hello\n", "src/lib.rs": DEFECT, "src/main.rs": MAIN, "examples/show.rs": MAIN, "tests/programs.rs": PROGRAMS_TEST,
    "words/Cargo.toml": WORDS_MANIFEST, "words/src/lib.rs": WORDS, "words/tests/loud.rs": WORDS_TEST, "README.md": "Statistics.\n",
}
