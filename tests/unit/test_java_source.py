"""Java source as text: tests, what they share, which of them a change touches."""

from __future__ import annotations

import pytest

from sandbox.toolchains.java.plan import JavaModule, JavaPlan
from sandbox.toolchains.java.rules import JavaRules
from sandbox.toolchains.java.source import members, method_lines, read_class
from sandbox.toolchains.java.tests import JavaTests
from sandbox.workspace import REGULAR, File, Tree

TEXT = '''package a.b;

import static org.junit.jupiter.api.Assertions.assertEquals;
import a.b.other.Thing;

/** Not { a brace. */
@DisplayName("of {@code things}")
class ThingTest extends Common {
    private static final int[] SIZES = {1, 2, 3};
    private final Runnable task = new Runnable() { public void run() { } };

    @BeforeEach
    void prepare() { helper(); }

    static Stream<String> words() { return Stream.of("a;b", "}"); }

    private void helper() { }

    @ParameterizedTest(name = "{0}")
    @MethodSource("words")
    void reads(final String word) {
        assertEquals(word, new Thing(word).text());
    }

    @Test
    void sizes() { assertEquals(3, SIZES.length); }

    @Nested
    class Empty {
        @Test
        void none() { assertEquals("", new Thing("").text()); }
    }
}
'''
PATH = "core/src/test/java/a/b/ThingTest.java"
PLAN = JavaPlan(toolchain="maven", framework="surefire", interpreters=("17",), modules=(JavaModule("core", "core", ("core/src/test/java",)),), test_files=(PATH,))
GROUP = "core/a.b.ThingTest"



def at(path: str, text: str) -> dict[str, File | None]:
    return {path: File(REGULAR, text.encode())}


def touched(old: str, new: str, *, edited: frozenset[str] = frozenset(), affected: frozenset[str] = frozenset()) -> None:
    base = Tree({PATH: File(REGULAR, old.encode())})
    found = JavaTests().touched(PLAN, base, at(PATH, new), JavaRules(base, base))
    assert (found[GROUP].edited, found[GROUP].affected) == (edited, affected)


def test_tests_are_told_from_what_they_share() -> None:
    module = read_class(TEXT, "ThingTest")
    assert sorted(module.tests) == ["Empty::none", "reads", "sizes"]
    assert {"SIZES", "task", "prepare", "words", "helper", "(class)", "Empty::(class)", "Thing", "assertEquals"} <= set(module.shared)


def test_a_test_uses_its_source_of_arguments() -> None:
    assert "words" in read_class(TEXT, "ThingTest").tests["reads"].uses


def test_junit_3_tests_go_by_their_names() -> None:
    text = "public class OldTest extends TestCase {\n  public void testOne() { }\n  public void other() { }\n}\n"
    assert list(read_class(text, "OldTest").tests) == ["testOne"]


@pytest.mark.parametrize(("old", "new", "edited", "affected"), [
    ("assertEquals(3, SIZES", "assertEquals(4, SIZES", {"sizes"}, set()),
    ("{1, 2, 3}", "{1, 2}", set(), {"sizes"}),
    ('"a;b"', '"a;c"', set(), {"reads"}),
    ("void prepare() { helper(); }", "void prepare() { helper(); helper(); }", set(), {"reads", "sizes", "Empty::none"}),
    ("private void helper() { }", "private void helper() { return; }", set(), {"reads", "sizes", "Empty::none"}),
    ("a.b.other.Thing", "a.b.another.Thing", set(), {"reads", "Empty::none"}),
    ("/** Not { a brace. */", "/** Nothing. */", set(), set()),
    ("extends Common", "extends Other", set(), {"reads", "sizes", "Empty::none"}),
    ("    @Test\n    void sizes", "    @Test @Disabled\n    void sizes", {"sizes"}, set()),
])
def test_a_change_touches_what_it_edits_and_what_uses_that(old: str, new: str, edited: set[str], affected: set[str]) -> None:
    touched(TEXT, TEXT.replace(old, new), edited=frozenset(edited), affected=frozenset(affected))


def test_a_helper_reaches_the_classes_that_name_it() -> None:
    helper = "core/src/test/java/a/b/Common.java"
    base = Tree({PATH: File(REGULAR, TEXT.encode()), helper: File(REGULAR, b"class Common { int a() { return 1; } }")})
    found = JavaTests().touched(PLAN, base, at(helper, "class Common { int a() { return 2; } }"), JavaRules(base, base))
    assert found[GROUP].everything
    assert JavaTests().touched(PLAN, base, at(helper, "class Common { int a() { return 1; } } // one"), JavaRules(base, base)) == {}


@pytest.mark.parametrize(("test_id", "group", "unit"), [
    ("core/a.b.ThingTest#reads(String)[1]", GROUP, "reads"), ("core/a.b.ThingTest$Empty#none", GROUP, "Empty::none"),
    ("core/a.b.ThingTest#test[0: a]", GROUP, "test"), ("a.b.C#x", "a.b.C", "x"),
])
def test_an_id_is_a_class_and_a_method(test_id: str, group: str, unit: str) -> None:
    assert JavaTests().unit_of(test_id) == (group, unit)


def test_an_id_can_be_made_of_a_unit() -> None:
    assert JavaTests().id_of(GROUP, "Empty::none") == "core/a.b.ThingTest$Empty#none"


def test_members_end_at_their_own_braces() -> None:
    code = "int[] a = {1}; void b() { if (x) { } } @A({1}) int c; enum D { E, F }"
    assert [code[m.start:m.end].strip() for m in members(code, 0, len(code))] == ["int[] a = {1};", "void b() { if (x) { } }", "@A({1}) int c;", "enum D { E, F }"]


SUM = "class A {\n    int a = 1;\n\n    // words\n    int sum(int b) {\n        // more\n        return a\n            + b;\n    }\n}\n"


@pytest.mark.parametrize(("added", "cuts", "lines"), [
    ([2], [], [2]), ([4], [], []), ([6, 7, 8, 9], [], [7, 8]), ([1], [], []), ([], [7], [5, 7, 8]), ([], [10], [5, 7, 8]),
])
def test_lines_of_bodies_can_run(added: list[int], cuts: list[int], lines: list[int]) -> None:
    found = JavaTests().coverable({"A.java": (added, cuts)}, Tree({"A.java": File(REGULAR, SUM.encode())}))
    assert found == ({"A.java": lines} if lines else {})


def test_lines_of_other_compilers_are_not_measured() -> None:
    assert JavaTests().coverable({"A.kt": ([1], [])}, Tree({"A.kt": File(REGULAR, b"val a = 1")})) is None


def test_methods_are_found_by_line() -> None:
    assert method_lines(TEXT)["sizes"] == 26


@pytest.mark.parametrize(("path", "test", "harness"), [
    ("src/test/java/a/BTest.java", True, False), ("src/main/java/a/B.java", False, False), ("pom.xml", False, True), ("core/pom.xml", False, True),
    ("src/test/resources/x.txt", True, False), ("src/test/resources/junit-platform.properties", False, True), (".mvn/jvm.config", False, True),
    ("src/main/resources/META-INF/services/org.junit.platform.launcher.TestExecutionListener", False, True), ("src/it/simple/pom.xml", True, False),
    ("src/main/resources/META-INF/services/javax.annotation.processing.Processor", False, True), ("build.gradle.kts", False, True), ("mvnw", False, True),
    ("src/integrationTest/java/a/BTest.java", True, False),
])
def test_paths_are_tests_or_harness_by_their_place(path: str, test: bool, harness: bool) -> None:
    rules = JavaRules(Tree({path: File(REGULAR, b"class A { }")}), Tree())
    assert (rules.is_test(path), rules.is_harness(path)) == (test, harness)


def test_a_class_in_a_package_of_the_runner_shadows() -> None:
    rules = JavaRules(Tree({"src/main/java/a/B.java": File(REGULAR, b"")}), Tree())
    found = rules.shadowing(at("src/main/java/org/junit/jupiter/api/Assertions.java", "package org.junit.jupiter.api;"), {})
    assert [path for _, path in found] == ["src/main/java/org/junit/jupiter/api/Assertions.java"]
    assert rules.shadowing(at("src/main/java/a/C.java", ""), {}) == []
