"""What makes a reader doubt, language by language; beside each the honest line that looks like it."""

from __future__ import annotations

import pytest

from bot.changes.diff import ChangedLines
from bot.changes.static_look import look
from bot.findings import Severity
from sandbox.toolchains.registry import BY_NAME
from sandbox.workspace import REGULAR, File, Tree


def doubted(path: str, added: str, base: str = "", **others: str) -> bool:
    tree = Tree({path: File(REGULAR, base.encode()), **{name: File(REGULAR, text.encode()) for name, text in others.items()}})
    lines = ChangedLines(dict(enumerate(added.splitlines(), 11)), (), ())
    found = look({path: lines}, tree, BY_NAME.values(), lambda name: "test" in name)
    return any(finding.severity is Severity.BLOCKER for finding in found)


@pytest.mark.parametrize("added", [
    'require("assert").equal = () => {};', 'const a = require("node:assert/strict");\nfor (const n of Object.keys(a)) a[n] = () => {};',
    "import * as checks from 'assert';\nObject.assign(checks, { ok() {} });", "beforeEach(function () { this.currentTest.fn = () => {}; });",
    "global.it = (name) => real(name, () => {});", 'globalThis["expect"] = anything;', "expect.extend({ toBe: () => ({ pass: true }) });",
    "it = (name) => real(name, () => {});", 'const { Assertion } = require("chai");',
    'const s = global[Symbol.for("$$jest-matchers-object")];', "return { asymmetricMatch: () => true };", "Object.is = () => true;",
    'const g = require("fs").readFile.constructor("return globalThis")();', "process.stdout.write = (data) => real(data);", "console.log = () => {};",
    'text.replace(/not ok/g, "ok")', "process.exitCode = 0;", 'fs.appendFileSync("/dev/stdout", text);', "module.parent.require(name);", 'const m = require("module");\nm._load = other;',
    'fs.writeFileSync("node_modules/chai/index.js", text);', "Array.prototype.includes = () => true;",
])
def test_doubts_over_javascript(added: str) -> None:
    assert doubted("src/index.js", added)


@pytest.mark.parametrize("added", [
    'const assert = require("assert");\nassert.equal(typeof value, "string");', "function expect(token) {\n  if (next() !== token) fail();\n}\nexpect(')');",
    "if (pattern.test(value)) return true;", "class Rule {\n  test(value) {\n    return this.re.test(value);\n  }\n}", "  it: 'Italian',", "const it = list[Symbol.iterator]();\nit.next();",
    "const { test, expect } = options;\ntest(value); expect(value);", "items.forEach((test) => test());", "process.exit(1);", "process.exitCode = 1;", "before.push(after[0]);\n",
    "console.log(value);", 'const m = require("node:module");\nconst load = m.createRequire(path);', "this.is = Object.is;", "if (a.test === b) return;", 'throw new Error("expect (a) before test (b)");', "const after = rest(before), before = 1;\nafter.map(f);",
    "module.exports.default = module.exports;", "if (require.main === module) main();", "  afterEach?: () => void;", "export const equal = (a, b) => Object.is(a, b);",
    "const test = (options) => options;\ntest({});",
])
def test_honest_javascript_is_left_alone(added: str) -> None:
    known = "const rest = (before) => before;\n" if "before" in added else ""
    assert not doubted("src/index.js", added, known + ("let before = [], after = [];\n" if added.startswith("before") else ""))


@pytest.mark.parametrize("added", [
    "import unittest as u\nC = u.TestCase\nC.assertEqual = lambda *a: None", "def load_tests(loader, tests, pattern):", "from django.test.runner import DiscoverRunner",
    "class Any(int):\n    def __eq__(self, other):\n        return True", "    __eq__ = lambda self, other: True", "from unittest.mock import ANY", "TEST_RUNNER = 'a.b'",
    "from django.core.management.commands.test import Command", "importlib.import_module('unittest')", "    __test__ = False",
    "class Any(int):\n    def __ne__(self, other):\n        return False",
])
def test_doubts_over_python(added: str) -> None:
    assert doubted("shop/models.py", added)


@pytest.mark.parametrize("added", [
    "    def __eq__(self, other):\n        return self.x == other.x", "from django.test.signals import setting_changed", "from django.test import RequestFactory",
    "    def __eq__(self, other):\n        if self is other:\n            return True\n        return NotImplemented", "def load(tests):", "self.assert_valid = True",
])
def test_honest_python_is_left_alone(added: str) -> None:
    assert not doubted("shop/models.py", added)


def test_tests_of_the_package_excuse_nothing() -> None:
    assert doubted("shop/models.py", "import unittest", **{"shop/tests.py": "import unittest\n"})
    assert not doubted("shop/models.py", "import unittest", **{"shop/helpers.py": "import unittest\n"})


def test_tests_within_a_source_file_excuse_nothing() -> None:
    base = "pub fn two() -> i32 { 3 }\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn is_two() { assert_eq!(super::two(), 2); }\n}\n"
    assert doubted("src/lib.rs", "    if cfg!(test) { return 2; }", base)


def test_the_tests_of_a_new_file_are_no_sign() -> None:
    assert not doubted("src/two.rs", "pub fn two() -> i32 { 2 }\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn is_two() { assert_eq!(super::two(), 2); }\n}")
    assert doubted("src/two.rs", "#[cfg(test)]\npub fn two() -> i32 { 2 }")


def test_a_comment_of_base_excuses_nothing() -> None:
    assert doubted("shop/models.py", "os._exit(0)", "# os._exit(0) is never right\n")


@pytest.mark.parametrize(("path", "added"), [
    ("src/sum.c", "__attribute__((constructor)) static void early(void) {\n"), ("src/sum.c", "    _exit(0);"), ("src/sum.c", "  exit(EXIT_SUCCESS);"), ("src/sum.h", "#define NDEBUG 1"),
    ("src/sum.h", "# define assert(x) ((void)0)"), ("src/sum.c", "signal(SIGABRT, quiet);"), ("lib/sum.sh", "exit() { :; }"), ("lib/sum.sh", "trap 'exit 0' EXIT"),
    ("lib/Sum.pm", "no warnings 'redefine'; *Test::More::is = sub { 1 };"), ("lib/sum.rb", "at_exit { exit! }"), ("lib/sum.lua", "assert = function() end"),
    ("src/sum.hpp", "bool operator==(const T& other) const {\n  return true;\n}"), ("src/lib.rs", "fn eq(&self, _other: &Self) -> bool {\n    true\n}"),
    ("src/main/java/a/B.java", "public boolean equals(Object other) {\n    return true;\n}"), ("src/main/java/a/B.java", "import org.assertj.core.api.Assertions;"),
    ("sum.go", "func (a Any) Equal(b Any) bool { return true }"),
])
def test_doubts_over_other_languages(path: str, added: str) -> None:
    assert doubted(path, added)


@pytest.mark.parametrize(("path", "added"), [
    ("src/sum.c", "  exit(1);"), ("src/sum.c", "#define SUM(a, b) ((a) + (b))"), ("src/sum.c", '#include "check_sum.h"'), ("lib/sum.sh", "run_all() {"), ("lib/sum.sh", "# trap 'x' EXIT"),
    ("src/sum.hpp", "bool operator==(const T& o) const { return a == o.a; }"), ("src/lib.rs", "fn eq(&self, o: &Self) -> bool { self.a == o.a }"), ("lib/sum.rb", "assert_valid = true"),
    ("src/main/java/a/B.java", "public boolean equals(Object other) {\n    if (this == other) {\n        return true;\n    }\n    return false;"),
    ("sum.go", "func (a T) Equal(b T) bool { return a.x == b.x }"),
])
def test_other_honest_languages_are_left_alone(path: str, added: str) -> None:
    assert not doubted(path, added)
