"""Rust trees and sources, read as text."""

from __future__ import annotations

import datetime

import pytest

from sandbox.toolchains.protocol import Sight
from sandbox.toolchains.registry import divide
from sandbox.toolchains.rust.crate import read_crate
from sandbox.toolchains.rust.detect import plans
from sandbox.toolchains.rust.dividing import block_lines, weave
from sandbox.toolchains.rust.documentation import examples, gone_examples
from sandbox.toolchains.rust.manifests import RustManifests, read_line, requirements, with_requirement
from sandbox.toolchains.rust.packages import read_workspaces
from sandbox.toolchains.rust.placing import RustPlacing
from sandbox.toolchains.rust.plan import RustPlan
from sandbox.toolchains.rust.rules import RustRules
from sandbox.toolchains.rust.source import is_test_only, items
from sandbox.toolchains.rust.tests import RustTests
from sandbox.toolchains.rust.words import FAULTS, SIGNS
from sandbox.workspace import EXECUTABLE, REGULAR, File, Tree

OLD_COMMIT, TODAY = datetime.date(2024, 1, 1), datetime.date(2026, 11, 1)
SOURCE = '''//! A crate.
#![allow(dead_code)]
use std::fmt;

const BRACES: &str = "}} fn not() {";
static TABLE: [u8; 2] = [b'{', b'\\''];

/// Adds. // } {
pub(crate) const fn add<'a>(a: &'a u8, b: u8) -> u8 where u8: Copy { *a + b }

macro_rules! case {
    ($name:ident, $want:expr) => {
        #[test]
        fn $name() { assert_eq!(add(&1, 1), $want); }
    };
}

impl fmt::Debug for Thing { fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { write!(f, r#"a "quoted" }"#) } }
struct Thing;
type Short = [u8; { 1 + 1 }];

#[cfg(test)]
mod tests {
    use super::*;

    fn helper() -> u8 { 3 }

    case!(made, 2);

    #[test]
    fn plain() { assert_eq!(add(&1, 2), helper()); }

    #[tokio::test(flavor = "current_thread")]
    #[should_panic]
    async fn waiting() { panic!() }

    mod deep {
        proptest! {
            #[test]
            fn any(x in 0..3) { assert!(x < 3); }
        }
    }
}
'''
MANIFEST = '[package]\nname = "calc"\nversion = "1.0.0"\nedition = "2021"\n'


def of(files: dict[str, str]) -> Tree:
    return Tree({name: File(REGULAR, text.encode()) for name, text in files.items()})


def detect(files: dict[str, str], date: datetime.date = OLD_COMMIT) -> list[RustPlan]:
    return plans(of(files), Sight(date, TODAY))


def test_items_end_where_their_brackets_do() -> None:
    found = [(item.word, item.name) for item in items(SOURCE)]
    assert found == [("use", "std"), ("const", "BRACES"), ("static", "TABLE"), ("fn", "add"), ("macro_rules!", "case"), ("impl", "fmt"), ("struct", "Thing"),
                     ("type", "Short"), ("mod", "tests")]


@pytest.mark.parametrize(("attribute", "only"), [
    ("#[cfg(test)]", True), ("#[cfg( all( test , unix ) )]", True), ('#[cfg(all(feature = "std", test))]', True), ("#[cfg(not(test))]", False),
    ('#[cfg(any(test, feature = "x"))]', False), ("#[cfg(all(unix, not(test)))]", False), ('#[cfg(feature = "test")]', False), ("#[cfg_attr(test, allow(x))]", False),
])
def test_what_is_compiled_for_tests_alone(attribute: str, only: bool) -> None:
    assert is_test_only(attribute) is only


def test_tests_are_known_by_their_paths_whoever_made_them() -> None:
    crate = read_crate(of({"src/lib.rs": SOURCE}), "src/lib.rs")
    assert set(crate.module.tests) == {"tests::plain", "tests::waiting", "tests::deep::any", "tests::made"}


def test_modules_are_followed_into_their_files() -> None:
    files = {"src/lib.rs": "mod a;\n#[path = \"odd/b.rs\"]\nmod bee;\n#[cfg(test)]\nmod tests;\nmod c { mod d; }\n", "src/a/mod.rs": "mod x;\n", "src/a/x.rs": "#[test] fn t() {}\n",
             "src/odd/b.rs": "#[test] fn t() {}\n", "src/tests.rs": "mod more;\n#[test] fn t() {}\n", "src/tests/more.rs": "#[test] fn t() {}\n", "src/c/d.rs": "#[test] fn t() {}\n",
             "src/none.rs": "#[test] fn t() {}\n"}
    crate = read_crate(of(files), "src/lib.rs")
    assert set(crate.module.tests) == {"a::x::t", "bee::t", "tests::t", "tests::more::t", "c::d::t"}
    assert crate.tested == {"src/tests.rs", "src/tests/more.rs"}


EDIT_BOTH = SOURCE.replace("*a + b", "*a + b + 1").replace("add(&1, 2), helper()", "add(&1, 2), 4").replace("    mod deep", "    #[test]\n    fn fresh() {}\n\n    mod deep")


def test_a_file_is_divided_into_source_and_tests() -> None:
    divided = divide("src/lib.rs", File(EXECUTABLE, SOURCE.encode()), File(REGULAR, EDIT_BOTH.encode()))
    assert divided is not None
    assert divided.source == File(REGULAR, SOURCE.replace("*a + b", "*a + b + 1").encode())
    assert divided.tests == File(EXECUTABLE, EDIT_BOTH.replace("*a + b + 1", "*a + b").encode())
    assert {"fn fresh() {}" in EDIT_BOTH.split("\n")[line - 1] for line in divided.lines} == {True, False}
    assert not any("*a + b" in EDIT_BOTH.split("\n")[line - 1] for line in divided.lines)


@pytest.mark.parametrize(("path", "text"), [("src/lib.rs", "fn f() {}\n"), ("src/lib.py", SOURCE)])
def test_a_file_without_tests_or_of_another_language_is_not_divided(path: str, text: str) -> None:
    assert divide(path, File(REGULAR, text.encode()), File(REGULAR, text.encode() + b"\n")) is None


@pytest.mark.parametrize(("skeleton", "other", "wanted"), [
    ("fn a() {}\n", "fn b() {}\n\n#[test]\nfn t() {}\n", "fn a() {}\n\n#[test]\nfn t() {}\n"),
    ("fn a() {}\n\n#[test]\nfn t() { 1 }\n\nfn c() {}\n", "#[test]\nfn t() { 2 }\n", "fn a() {}\n\n#[test]\nfn t() { 2 }\n\nfn c() {}\n"),
    ("fn a() {}\n\n// why\n#[test]\nfn t() {}\n", "fn a() {}\n", "fn a() {}\n\n"),
    ("mod m {\n    fn a() {}\n    #[test]\n    fn t() { 1 }\n}\n", "mod m {\n    #[test]\n    fn t() { 2 }\n}\n", "mod m {\n    fn a() {}\n    #[test]\n    fn t() { 2 }\n}\n"),
    ("#[cfg(test)]\nuse a::b;\nfn f() {}\n", "#[cfg(test)]\nuse a::b;\n#[cfg(test)]\nuse a::c;\n", "#[cfg(test)]\nuse a::b;\n#[cfg(test)]\nuse a::c;\nfn f() {}\n"),
])
def test_one_texts_source_gets_anothers_tests(skeleton: str, other: str, wanted: str) -> None:
    assert weave(skeleton, other).replace("\n\n\n", "\n\n") == wanted.replace("\n\n\n", "\n\n")


def test_a_text_with_its_own_tests_is_itself() -> None:
    assert weave(SOURCE, SOURCE) == SOURCE
    assert weave(EDIT_BOTH, EDIT_BOTH) == EDIT_BOTH


def test_weakened_inline_tests_do_not_reach_the_source_side() -> None:
    weak = SOURCE.replace("*a + b", "0").replace("assert_eq!(add(&1, 2), helper());", "").replace("fn helper() -> u8 { 3 }", "fn helper() -> u8 { 0 }")
    divided = divide("src/lib.rs", File(REGULAR, SOURCE.encode()), File(REGULAR, weak.encode()))
    assert divided is not None
    assert divided.source.data.decode() == SOURCE.replace("*a + b", "0")
    assert block_lines(weak) == divided.lines


@pytest.mark.parametrize(("before", "after", "kind", "names"), [
    ("add(&1, 2), helper()", "add(&1, 2), 4", "edited", {"tests::plain"}), ("-> u8 { 3 }", "-> u8 { 4 }", "affected", {"tests::plain"}), ("case!(made, 2)", "case!(made, 3)", "edited", {"tests::made"}),
    ("x < 3", "x < 4", "edited", {"tests::deep::any"}), ("fn plain()", "fn renamed()", "new", set()), ("    case!(made, 2);", "    case!(made, 2);\n    case!(more, 2);", "new", {"tests::more"}),
    ("    case!(made, 2);\n", "", "deleted", {"tests::made"}), ("fn helper() -> u8 { 3 }", "fn helper() -> u8 { /* why */ 3 }", "edited", set()),
])
def test_a_change_touches_tests_one_by_one(before: str, after: str, kind: str, names: set[str]) -> None:
    base = of({"Cargo.toml": MANIFEST, "src/lib.rs": SOURCE})
    plan = plans(base, Sight(OLD_COMMIT, TODAY))[0]
    touched = RustTests().touched(plan, base, {"src/lib.rs": File(REGULAR, SOURCE.replace(before, after).encode())}, RustRules(base, base))
    assert getattr(touched["src/lib.rs"], kind) == names if touched else not names


def test_helpers_and_data_beside_integration_tests_reach_those_that_use_them() -> None:
    base = of({"Cargo.toml": MANIFEST, "src/lib.rs": "", "tests/a.rs": "mod common;\n#[test]\nfn t() { common::go() }\n", "tests/b.rs": "#[test]\nfn t() { read(\"tests/data/x.txt\") }\n",
               "tests/c.rs": "#[test]\nfn t() {}\n", "tests/common/mod.rs": "pub fn go() {}\n"})
    plan = plans(base, Sight(OLD_COMMIT, TODAY))[0]
    changes = {"tests/common/mod.rs": File(REGULAR, b"pub fn go() { 1 }\n")}
    assert set(RustTests().touched(plan, base, changes, RustRules(base, base))) == {"tests/a.rs"}
    assert "tests/b.rs" in RustTests().touched(plan, base, {"tests/data/x.txt": File(REGULAR, b"1")}, RustRules(base, base))


@pytest.mark.parametrize(("files", "wanted"), [
    ({"Cargo.toml": MANIFEST, "src/lib.rs": SOURCE}, [("", ["calc"])]),
    ({"Cargo.toml": '[workspace]\nmembers = ["crates/*"]\nexclude = ["crates/out"]\n', "crates/a/Cargo.toml": MANIFEST, "crates/a/src/lib.rs": SOURCE,
      "crates/out/Cargo.toml": MANIFEST.replace("calc", "out"), "crates/out/src/lib.rs": SOURCE}, [("", ["calc"]), ("crates/out", ["out"])]),
    ({"Cargo.toml": MANIFEST + '[workspace]\n[dependencies]\nmacros = { path = "macros" }\n', "src/lib.rs": SOURCE, "macros/Cargo.toml": MANIFEST.replace("calc", "macros"),
      "macros/src/lib.rs": ""}, [("", ["calc", "macros"])]),
    ({"Cargo.toml": MANIFEST, "src/lib.rs": SOURCE, "fuzz/Cargo.toml": MANIFEST.replace("calc", "fuzz"), "fuzz/src/main.rs": "fn main() {}"}, [("", ["calc"])]),
    ({"Cargo.toml": MANIFEST, "src/lib.rs": "pub fn f() {}\n"}, []),
    ({"src/lib.rs": SOURCE}, []),
])
def test_every_workspace_with_tests_is_a_plan(files: dict[str, str], wanted: list[tuple[str, list[str]]]) -> None:
    assert [(plan.directory, [package.name for package in plan.packages]) for plan in detect(files)] == wanted


def test_crate_roots_stand_at_the_usual_places_or_where_the_manifest_says() -> None:
    files = {"Cargo.toml": MANIFEST + '[lib]\npath = "lib/calc.rs"\n[[test]]\nname = "odd"\npath = "odd/t.rs"\n', "lib/calc.rs": "", "src/main.rs": "", "src/bin/two.rs": "", "tests/a.rs": "",
             "tests/deep/main.rs": "", "tests/common/mod.rs": "", "odd/t.rs": "", "examples/e.rs": ""}
    package = read_workspaces(of(files))[0].packages[0]
    assert package.roots == (("lib", "lib/calc.rs"), ("bin", "src/main.rs"), ("bin", "src/bin/two.rs"), ("test", "odd/t.rs"), ("test", "tests/a.rs"), ("test", "tests/deep/main.rs"),
                             ("example", "examples/e.rs"))


@pytest.mark.parametrize(("more", "extra", "releases"), [
    ("", {}, ("1.96", "1.85")), ('rust-version = "1.88"\n', {}, ("1.96",)), ('rust-version = "1.60"\n', {}, ("1.96", "1.85")), ("", {"rust-toolchain": "nightly-2024-01-01\n"}, ("nightly", "1.96")),
    ("", {"rust-toolchain.toml": '[toolchain]\nchannel = "1.70.0"\n'}, ("1.85", "1.96")), ("", {"rust-toolchain.toml": '[toolchain]\nchannel = "1.95.0"\n'}, ("1.96", "1.85")),
    ('rust-version = "1.99"\n', {}, ("nightly", "1.96")),
])
def test_the_compiler_is_the_newest_unless_the_repository_says_otherwise(more: str, extra: dict[str, str], releases: tuple[str, ...]) -> None:
    assert detect({"Cargo.toml": MANIFEST + more, "src/lib.rs": SOURCE, **extra})[0].interpreters == releases


@pytest.mark.parametrize(("files", "date", "cut"), [({}, OLD_COMMIT, datetime.date(2024, 1, 2)), ({}, TODAY, None), ({"Cargo.lock": ""}, OLD_COMMIT, None)])
def test_old_commits_without_a_lock_file_get_the_crates_of_their_day(files: dict[str, str], date: datetime.date, cut: datetime.date | None) -> None:
    assert detect({"Cargo.toml": MANIFEST, "src/lib.rs": SOURCE, **files}, date)[0].exclude_newer == cut


@pytest.mark.parametrize(("more", "extra", "first"), [
    ("", {}, ""), ('[[test]]\nname = "x"\nrequired-features = ["y"]\n', {}, "--all-features"), ('[features]\ndefault = ["y"]\ny = []\n[[test]]\nname = "x"\nrequired-features = ["y"]\n', {}, ""),
    ("", {"tests/x.rs": '#![cfg(feature = "y")]\n#[test]\nfn t() {}\n'}, "--all-features"), ("", {".github/workflows/ci.yml": "      - run: cargo test --workspace --all-features\n"}, "--all-features"),
])
def test_all_features_come_first_where_tests_are_left_out_without(more: str, extra: dict[str, str], first: str) -> None:
    assert detect({"Cargo.toml": MANIFEST + more, "src/lib.rs": SOURCE, **extra})[0].features[0] == first


RULES = RustRules(of({"Cargo.toml": MANIFEST, "src/lib.rs": "#[cfg(test)]\nmod checks;\nmod test_utils;\nmod inline { #[test] fn t() {} }\n", "src/checks.rs": "", "src/test_utils.rs": "",
                      "build.rs": "", "macros/Cargo.toml": MANIFEST, "tests/case/Cargo.toml": '[workspace]\n'}), Tree())


@pytest.mark.parametrize(("path", "is_test", "is_harness", "is_prose"), [
    ("tests/a.rs", True, False, False), ("tests/common/mod.rs", True, False, False), ("tests/data/x.txt", True, False, False), ("src/checks.rs", True, False, False),
    ("src/test_utils.rs", False, False, False), ("src/lib.rs", False, False, False), ("src/new_tests.rs", True, False, False), ("Cargo.toml", False, True, False), ("Cargo.lock", False, True, False),
    ("build.rs", False, True, False), ("src/build.rs", False, False, False), (".cargo/config.toml", False, True, False), ("rust-toolchain.toml", False, True, False),
    ("README.md", False, False, True), ("tests/case/Cargo.toml", True, False, False), ("macros/Cargo.toml", False, True, False), ("benches/b.rs", False, False, False),
])
def test_what_a_path_is(path: str, is_test: bool, is_harness: bool, is_prose: bool) -> None:
    assert (RULES.is_test(path), RULES.is_harness(path), RULES.is_prose(path)) == (is_test, is_harness, is_prose)


DEPENDENCIES = MANIFEST + '''
[dependencies]
serde = { version = "1", features = ["derive"] } # why
log = "0.4"

[dependencies.rand]
version = "0.8"
default-features = false

[target.'cfg(unix)'.dev-dependencies]
nix = "0.27"
'''


@pytest.mark.parametrize(("before", "after", "added"), [
    ('log = "0.4"', 'log = "0.4"\nregex = "1"', {'regex = "1" in [dependencies] of Cargo.toml'}), ('log = "0.4"', 'log = "0.5"', {'log = "0.5" in [dependencies] of Cargo.toml'}),
    ('version = "0.8"', 'version = "0.9"', {'rand = { version = "0.9", default-features = false } in [dependencies] of Cargo.toml'}),
    ('nix = "0.27"', 'nix = "0.28"', {"nix = \"0.28\" in [target.'cfg(unix)'.dev-dependencies] of Cargo.toml"}), ("# why", "# because", set()),
    ('edition = "2021"', 'edition = "2024"', set()),
])
def test_added_requirements_are_rows_that_base_has_not(before: str, after: str, added: set[str]) -> None:
    base, changed = of({"Cargo.toml": DEPENDENCIES, "src/lib.rs": SOURCE}), of({"Cargo.toml": DEPENDENCIES.replace(before, after), "src/lib.rs": SOURCE})
    lines = RustManifests().added(plans(base, Sight(OLD_COMMIT, TODAY))[0], base, changed)
    assert set(lines) == added
    made = DEPENDENCIES
    for line in lines:
        made = with_requirement(made, read_line(line))
    wanted = {(row.table, row.name): row.value for row in requirements("", DEPENDENCIES.replace(before, after))}
    assert {(row.table, row.name): row.value for row in requirements("", made)} == wanted


def test_a_crate_that_is_no_longer_required_and_still_used_is_a_fault() -> None:
    base = of({"Cargo.toml": DEPENDENCIES, "src/lib.rs": "use log::info;\n#[test] fn t() {}\n"})
    changed = of({"Cargo.toml": DEPENDENCIES.replace('log = "0.4"\n', ""), "src/lib.rs": "use log::info;\n"})
    faults = RustManifests().faults(plans(base, Sight(OLD_COMMIT, TODAY))[0], base, changed, changed)
    assert [(fault.detail, fault.paths) for fault in faults] == [("the change no longer requires log, which src/lib.rs uses", ("src/lib.rs",))]


DOCUMENTED = "//! ```\n//! 1\n//! ```\n\n/// Adds.\n/// ```\n/// 2\n/// ```\n///\n/// ```should_panic\n/// 3\n/// ```\n#[inline]\npub fn add() {}\n"


def test_examples_belong_to_the_item_behind_them() -> None:
    assert examples(DOCUMENTED) == [("", "```\n1\n```"), ("add", "```\n2\n```"), ("add", "```should_panic\n3\n```")]
    assert gone_examples(DOCUMENTED, DOCUMENTED.replace("/// 3", "/// 4").replace("/// Adds.", "/// Sums.")) == [("add", "```should_panic\n3\n```")]


def test_an_edited_example_is_a_rewritten_test() -> None:
    base = of({"src/lib.rs": DOCUMENTED})
    passing = ["src/lib.rs (doc)::src/lib.rs (1)", "src/lib.rs (doc)::src/lib.rs - add (1)", "src/lib.rs::tests::t"]
    rewritten = RustTests().rewritten(base, {"src/lib.rs": File(REGULAR, DOCUMENTED.replace("/// 2", "/// 4").encode())}, passing)
    assert rewritten == {"src/lib.rs (doc)::src/lib.rs - add (1)": "```\n2\n```"}


@pytest.mark.parametrize(("text", "path"), [
    ("use calc::add;\n#[test]\nfn t() {}\n", "tests/dualgate_t.rs"), ("use inner::x;\n#[test]\nfn t() {}\n", "inner/tests/dualgate_t.rs"),
    ("fn main() { calc::add(); }\n", "examples/dualgate_t.rs"),
])
def test_a_given_file_stands_in_the_package_that_it_uses(text: str, path: str) -> None:
    base = of({"Cargo.toml": MANIFEST + '[workspace]\nmembers = ["inner"]\n', "src/lib.rs": SOURCE, "inner/Cargo.toml": MANIFEST.replace("calc", "inner"), "inner/src/lib.rs": ""})
    placing, plan = RustPlacing(), plans(base, Sight(OLD_COMMIT, TODAY))[0]
    placed = placing.place(plan, base, (), "r.rs", text, "t", placing.is_script("r.rs", text))
    assert (placed.path, placed.group) == (path, path)


@pytest.mark.parametrize("text", ["hello", "fn add() {}\n"])
def test_what_is_neither_a_test_nor_a_program_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="neither"):
        RustPlacing().is_script("r.rs", text)


@pytest.mark.parametrize(("text", "name"), [
    ("error[E0425]: cannot find function `mean` in this scope", "mean"), ("error[E0599]: no method named `span` found for struct `Vec<u8>` in the current scope", "span"),
    ("error[E0432]: unresolved import `calc::stats::Mean`", "Mean"), ("error[E0433]: failed to resolve: use of undeclared type `Mean`", "Mean"),
    ("error[E0609]: no field `limit` on type `Options`", "limit"), ("error[E0560]: struct `Options` has no field named `limit`", "limit"),
    ("error[E0599]: no variant or associated item named `Big` found for enum `Size` in the current scope", "Big"), ("error: cannot find macro `case` in this scope", "case"),
    ("error[E0061]: this function takes 1 argument but 2 arguments were supplied\n --> t.rs:1:1\n  |\n9 |     add(1, 2);\n  |\nnote: function defined here\n --> s.rs:3:8\n  |\n3 | pub fn add(a: u8) {\n", "add"),
])
def test_the_compilers_words_for_what_is_missing_are_read(text: str, name: str) -> None:
    assert FAULTS.missing_name(text) == name


@pytest.mark.parametrize(("line", "strong"), [
    ("if cfg!(test) {", True), ("#[cfg(not(test))]", True), ('#[cfg(feature = "test-util")]', False), ("#[cfg_attr(test, derive(Debug))]", True),
    ('println!("{{ \\"event\\": \\"ok\\" }}");', True), ("unsafe { libc::_exit(0) }", True), ("std::panic::set_hook(Box::new(|_| ()));", True), ("let tested = test(1);", False),
])
def test_lines_that_ask_whether_they_are_tested_are_named(line: str, strong: bool) -> None:
    assert any(pattern.search(line) for pattern in SIGNS.strong.values()) is strong


def test_a_new_file_makes_no_new_environment_and_a_new_member_does() -> None:
    files = {"Cargo.toml": MANIFEST + '[workspace]\nmembers = ["a*"]\n', "src/lib.rs": SOURCE}
    plan, more, member = (detect(files | new)[0].of_environment() for new in (
        {}, {"tests/new.rs": "#[test]\nfn t() {}\n"}, {"a/Cargo.toml": MANIFEST.replace("calc", "a"), "a/src/lib.rs": ""}))
    assert plan == more
    assert plan != member
