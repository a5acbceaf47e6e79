"""Diffs as pages show them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.webhooks.seeds import DIFF
from webhooks.dashboard.diff_view import MOST_FILES, MOST_LINES, view


def test_lines_have_their_numbers_and_marks() -> None:
    (file,) = view(DIFF, {"shop/prices.py": {6: "boom"}}).files
    assert (file.path, file.added, file.removed, file.marked, file.unfolded) == ("shop/prices.py", 2, 1, True, True)
    assert [(line.kind, line.old, line.new, line.mark) for line in file.lines] == [
        ("hunk", None, None, ""), ("same", 1, 1, ""), ("same", 2, 2, ""), ("same", 3, 3, ""), ("same", 4, 4, ""), ("del", 5, None, ""), ("add", None, 5, ""),
        ("add", None, 6, "boom")]


def test_content_that_looks_like_a_header_is_content() -> None:
    diff = "diff --git a/x.sql b/x.sql\n--- a/x.sql\n+++ b/x.sql\n@@ -1,2 +1,2 @@\n--- a comment\n+++ another\n diff --git a/y b/y\n"
    (file,) = view(diff, {}).files
    assert [(line.kind, line.text) for line in file.lines[1:]] == [("del", "-- a comment"), ("add", "++ another"), ("same", "diff --git a/y b/y")]


@pytest.mark.parametrize(("diff", "path", "notes"), [
    ("diff --git a/a.png b/a.png\nnew file mode 100644\nBinary files /dev/null and b/a.png differ\n", "a.png",
     ["new file mode 100644", "Binary files /dev/null and b/a.png differ"]),
    ("diff --git a/old b/new\nsimilarity index 100%\nrename from old\nrename to new\n", "new", ["rename from old", "rename to new"]),
    ("diff --git a/x b/x\ndeleted file mode 100644\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n", "x", ["deleted file mode 100644"]),
    ('diff --git "a/\\303\\244" "b/\\303\\244"\n--- "a/\\303\\244"\n+++ "b/\\303\\244"\n@@ -1 +1 @@\n-x\n+y\n\\ No newline at end of file\n', "ä", []),
    ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-x\n+y\n", "x", []),
])
def test_every_kind_of_file_has_its_path(diff: str, path: str, notes: list[str]) -> None:
    (file,) = view(diff, {}).files
    assert (file.path, file.notes) == (path, notes)


def test_it_is_bounded() -> None:
    one = "diff --git a/{0} b/{0}\n--- a/{0}\n+++ b/{0}\n@@ -0,0 +1 @@\n+x\n"
    many = view("".join(one.format(number) for number in range(MOST_FILES + 5)), {})
    assert (len(many.files), many.cut) == (MOST_FILES, True)
    long = view(f"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -0,0 +1,{MOST_LINES + 9} @@\n" + "+x\n" * (MOST_LINES + 9), {})
    assert (sum(len(file.lines) for file in long.files), long.cut) == (MOST_LINES, True)


@given(st.text(alphabet="d-+@ ab/\n\\0,1\"", max_size=300))
def test_no_text_breaks_it(text: str) -> None:
    view(text, {})
    view(DIFF + text, {})
