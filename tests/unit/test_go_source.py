"""Go trees and sources, read as text."""

from __future__ import annotations

import datetime

import pytest

from sandbox.toolchains.go.detect import plans
from sandbox.toolchains.go.modules import requirements
from sandbox.toolchains.go.placing import GoPlacing
from sandbox.toolchains.go.plan import GoPlan
from sandbox.toolchains.go.rules import GoRules
from sandbox.toolchains.go.source import declarations, function_lines, read_package
from sandbox.toolchains.go.tests import GoTests
from sandbox.toolchains.protocol import Sight
from sandbox.workspace import REGULAR, File, Tree

OLD_COMMIT, TODAY = datetime.date(2024, 1, 1), datetime.date(2026, 11, 1)
SOURCE = '''package calc

import "fmt"

const limit = 3

var (
	one = 1
	table = map[string]int{
		"}": 1, // func TestNot(
	}
)

type adder struct {
	n int
}

func (a adder) add(b int) int { return a.n + b }

func helper(t *testing.T, text string) {
	t.Helper()
	fmt.Println(text, limit)
}

func TestOne(t *testing.T) {
	helper(t, `
func TestInside(t *testing.T) {}
}`)
}

func TestTwo(t *testing.T) {
	if table["}"] != one {
		t.Fatal("no")
	}
}

func Testify() {}

func ExampleAdd() {
	fmt.Println(1)
	// Output: 1
}
'''


def of(files: dict[str, str]) -> Tree:
    return Tree({name: File(REGULAR, text.encode()) for name, text in files.items()})


def detect(files: dict[str, str], date: datetime.date = OLD_COMMIT) -> list[GoPlan]:
    return plans(of(files), Sight(date, TODAY))


def test_declarations_end_where_their_braces_do() -> None:
    assert [(d.keyword, d.names) for d in declarations(SOURCE)] == [
        ("import", ()), ("const", ("limit",)), ("var", ("one", "table")), ("type", ("adder",)), ("func", ("add",)), ("func", ("helper",)),
        ("func", ("TestOne",)), ("func", ("TestTwo",)), ("func", ("Testify",)), ("func", ("ExampleAdd",))]


def test_tests_are_functions_that_the_tool_runs() -> None:
    assert set(read_package([SOURCE]).tests) == {"TestOne", "TestTwo", "ExampleAdd"}


@pytest.mark.parametrize(("before", "after", "kind", "names"), [
    ('t.Fatal("no")', 't.Fatal("never")', "edited", {"TestTwo"}), ("const limit = 3", "const limit = 4", "affected", {"TestOne"}),
    ("one = 1", "one = 2", "affected", {"TestTwo"}), ("// Output: 1", "// Output: 2", "edited", {"ExampleAdd"}), ("t.Helper()\n", "t.Helper() // why\n", "edited", set()),
    ("func TestTwo(", "func TestThree(", "new", set()), ("func Testify() {}", "func TestNew(t *testing.T) {}", "new", {"TestNew"}),
    ("func Testify() {}", "func TestMain(m *testing.M) {}", "affected", {"TestOne", "TestTwo", "ExampleAdd"}),
])
def test_a_change_touches_tests_function_by_function(before: str, after: str, kind: str, names: set[str]) -> None:
    base = of({"go.mod": "module m.org/calc\n", "calc.go": "package calc\n", "calc_test.go": SOURCE})
    plan = plans(base, Sight(OLD_COMMIT, TODAY))[0]
    changes = {"calc_test.go": File(REGULAR, SOURCE.replace(before, after).encode())}
    touched = GoTests().touched(plan, base, changes, GoRules(base, base))
    assert getattr(touched["m.org/calc"], kind) == names


def test_data_reaches_the_package_around_it_and_those_that_name_it() -> None:
    test = "package x\nfunc TestX(t *testing.T) {}\n"
    base = of({"go.mod": "module m.org/r\n", "a/a_test.go": test, "b/b_test.go": test + '// reads "cases.txt"\n', "c/c_test.go": test})
    plan = plans(base, Sight(OLD_COMMIT, TODAY))[0]
    touched = GoTests().touched(plan, base, {"a/testdata/deep/cases.txt": File(REGULAR, b"x")}, GoRules(base, base))
    assert set(touched) == {"m.org/r/a", "m.org/r/b"}


def test_lines_of_bodies_can_run() -> None:
    assert function_lines("package p\n\nvar x = 1\n\nfunc f() {\n\t// why\n\tg()\n}\n") == {7}


@pytest.mark.parametrize(("files", "wanted"), [
    ({"go.mod": "module m.org/x/v2\n", "x.go": "package x\n", "sub/s.go": "package s\n"}, [("", [("", "m.org/x"), ("sub", "m.org/x/v2/sub")])]),
    ({"go.mod": "module m.org/x\n", "x.go": "package x\n", "v2/x.go": "package x\n"}, [("", [("", "m.org/x"), ("v2", "m.org/x/v2")])]),
    ({"go.mod": "module m.org/x\n", "api/v1/x.go": "package x\n"}, [("", [("api/v1", "m.org/x/api")])]),
    ({"go.mod": "module m.org/x\n", "x.go": "package x\n", "tool/go.mod": "module m.org/x/tool\n", "tool/t.go": "package t\n", "testdata/go.mod": "module y\n",
      "testdata/y.go": "package y\n", "vendor/z/z.go": "package z\n", "_old/o.go": "package o\n"}, [("", [("", "m.org/x")]), ("tool", [("tool", "m.org/x/tool")])]),
    ({"x.go": "package x\n"}, []),
])
def test_every_module_is_a_plan_and_its_packages_have_names(files: dict[str, str], wanted: list[tuple[str, list[tuple[str, str]]]]) -> None:
    assert [(plan.directory, [(folder, group) for folder, _, group in plan.packages]) for plan in detect(files)] == wanted


@pytest.mark.parametrize(("manifest", "date", "first"), [
    ("go 1.13", OLD_COMMIT, ("1.24", "1.21.13")), ("go 1.26", TODAY, ("1.26.0",)), ("go 1.25.3", TODAY, ("1.25.3", "1.26.0")),
    ("go 1.22\n\ntoolchain go1.25.1", TODAY, ("1.25.1", "1.24")), ("", OLD_COMMIT, ("1.24", "1.21.13")),
])
def test_the_compiler_is_debians_unless_the_module_demands_a_newer_one(manifest: str, date: datetime.date, first: tuple[str, ...]) -> None:
    plan = detect({"go.mod": f"module m.org/x\n\n{manifest}\n", "x.go": "package x\n"}, date)[0]
    assert plan.interpreters[:len(first)] == first


@pytest.mark.parametrize(("path", "is_test", "is_harness", "is_prose"), [
    ("a/x_test.go", True, False, False), ("a/x.go", False, False, False), ("a/testdata/x.go", True, False, False), ("testdata/go.mod", True, False, False),
    ("go.sum", False, True, False), ("vendor/m/x_test.go", False, True, False), ("README.md", False, False, True), ("test/run.sh", True, False, False),
    ("testing/x.go", False, False, False), ("Makefile", False, True, False), ("internal/tests/valid/a.json", True, False, False),
])
def test_what_a_path_is(path: str, is_test: bool, is_harness: bool, is_prose: bool) -> None:
    rules = GoRules(Tree(), Tree())
    assert (rules.is_test(path), rules.is_harness(path), rules.is_prose(path)) == (is_test, is_harness, is_prose)


def test_required_modules_are_read_and_replaced_ones_are_not() -> None:
    text = "module m\n\nrequire a.org/a v1.0.0 // why\n\nrequire (\n\tb.org/b/v2 v2.1.0-pre\n\t// c.org/c v1.0.0\n)\n\nreplace d.org/d => e.org/e v1.0.0\n\nexclude (\n\tf.org/f v1.0.0\n)\n"
    assert requirements(text) == {"a.org/a": "v1.0.0", "b.org/b/v2": "v2.1.0-pre"}


@pytest.mark.parametrize(("text", "path", "group"), [
    ("package calc\nfunc TestX(t *testing.T) {}\n", "calc/dualgate_t_test.go", "m.org/r/calc"), ("package calc_test\nfunc TestX(t *testing.T) {}\n", "calc/dualgate_t_test.go", "m.org/r/calc"),
    ("// why\npackage main\n\nfunc main() {}\n", "dualgate_t/main.go", "dualgate_t/main.go"),
])
def test_a_given_file_stands_where_its_package_clause_says(text: str, path: str, group: str) -> None:
    base = of({"go.mod": "module m.org/r\n", "calc/calc.go": "package calc\n", "other/o.go": "package other\n"})
    placing, plan = GoPlacing(), plans(base, Sight(OLD_COMMIT, TODAY))[0]
    placed = placing.place(plan, base, (), "r.go", text, "t", placing.is_script("r.go", text))
    assert (placed.path, placed.group) == (path, group)


@pytest.mark.parametrize("text", ["hello", "package calc\n\nfunc Add() {}\n"])
def test_what_is_neither_a_test_nor_a_program_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"neither|not a Go file"):
        GoPlacing().is_script("r.go", text)
