"""Diffs as text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.changes.diff import changed_lines, looks_like_diff, misplaced_hunks, named_paths, unquote
from bot.changes.guard import forbidden_names
from sandbox.workspace import REGULAR, File, Tree, link_escapes, unsafe_path

HUNK = "@@ -1 +1 @@\n-a\n+b\n"


@pytest.mark.parametrize(("text", "wanted"), [
    ("", False), ("def mean(values):\n    return 1\n", False), (f"--- a/x\n+++ b/x\n{HUNK}", True), (f"diff --git a/x b/x\n{HUNK}", True),
    ("diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n", True), ("--- a/x\n+++ b/x\n", False), ("diff --git a/x b/x\n", False),
])
def test_a_diff_is_told_from_other_text(text: str, wanted: bool) -> None:
    assert looks_like_diff(text) is wanted


@pytest.mark.parametrize(("text", "paths"), [
    (f"diff --git a/x b/x\n--- a/x\n+++ b/x\n{HUNK}", ["x"]),
    ("diff --git a/x b/../y\nrename from x\nrename to ../y\n", ["x", "../y"]),
    (f'--- "a/caf\\303\\251"\n+++ "b/caf\\303\\251"\n{HUNK}', ["café"]),
    ("diff --git a/a b b/a b\nold mode 100644\nnew mode 100755\n", ["a b"]),
    ("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n---- a/not-a-header\n+++++ b/not-a-header\n context\n", ["x"]),
    ("--- a/x\t2020-01-01\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", ["x"]),
])
def test_headers_name_the_paths(text: str, paths: list[str]) -> None:
    assert named_paths(text) == paths


@pytest.mark.parametrize("path", ["../x", "a/../../x", "/etc/passwd", ".git/hooks/pre-commit", "a/.GIT/config", "a/.git\u200c/config", "git~1/x", "a//b", "x\\y", ".git. /x"])
def test_paths_that_leave_the_tree_are_forbidden(path: str) -> None:
    assert forbidden_names([path])


@pytest.mark.parametrize("path", ["a/b.py", ".github/x", ".gitignore", "a/..b", "git/x", "é.py", "a b/c"])
def test_ordinary_paths_are_fine(path: str) -> None:
    assert unsafe_path(path) is None


@pytest.mark.parametrize(("path", "target", "out"), [
    ("a/l", "../b", False), ("l", "../b", True), ("a/l", "../../b", True), ("l", "/etc/passwd", True), ("a/b/l", "../../c", False), ("l", "", True),
])
def test_links_are_judged_by_where_they_land(path: str, target: str, out: bool) -> None:
    assert link_escapes(path, target) is out


def tree(**files: str) -> Tree:
    return Tree({name.replace("__", "."): File(REGULAR, text.encode()) for name, text in files.items()})


TWICE = "x = 1\ny = 2\n\nx = 1\ny = 2\n"


@pytest.mark.parametrize(("start", "places"), [(1, []), (4, []), (2, [2])])
def test_a_hunk_that_fits_several_places_must_stand_at_its_line(start: int, places: list[int]) -> None:
    text = f"--- a/m.py\n+++ b/m.py\n@@ -{start},2 +{start},2 @@\n x = 1\n-y = 2\n+y = 3\n"
    assert [h.places for h in misplaced_hunks(text, tree(m__py=TWICE))] == places


def test_a_hunk_of_other_lines_has_no_place() -> None:
    text = "--- a/m.py\n+++ b/m.py\n@@ -1,2 +1,2 @@\n x = 1\n-z = 2\n+z = 3\n"
    assert [h.places for h in misplaced_hunks(text, tree(m__py=TWICE))] == [0]


def test_added_lines_and_cuts_have_numbers_of_the_new_file() -> None:
    text = "--- a/m.py\n+++ b/m.py\n@@ -1,5 +1,5 @@\n a\n-b\n c\n d\n+e\n f\n"
    change = changed_lines(text)["m.py"]
    assert (list(change.added), change.cuts) == ([4], (2,))


@pytest.mark.parametrize(("header", "path"), [
    ("b/new b/x.txt\t", "new b/x.txt"), ('"b/we ird\\tna\\"me.txt"', 'we ird\tna"me.txt'), ("b/x", "x"),
])
def test_added_lines_are_found_whatever_the_name_and_the_text(header: str, path: str) -> None:
    text = f"diff --git a/x b/x\n--- /dev/null\n+++ {header}\n@@ -0,0 +1,3 @@\n+++ b/other\n+a\x0c\u2028\r\n+-- a\n\\ No newline at end of file\n"
    assert changed_lines(text)[path].added == {1: "++ b/other\n", 2: "a\x0c\u2028\r\n", 3: "-- a\n"}


@given(st.text(st.characters(codec="utf-8", exclude_characters="\n\r\t\""), min_size=1))
def test_quoted_paths_come_back(path: str) -> None:
    octal = "".join(chr(b) if 32 <= b < 127 and chr(b) not in '\\"' else f"\\{b:03o}" for b in path.encode())
    assert unquote(f'"{octal}"') == path
