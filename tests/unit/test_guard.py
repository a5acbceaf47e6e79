"""What a change may not touch."""

from __future__ import annotations

import pytest

from bot.changes.git import GITLINK, Entry
from bot.changes.guard import ABSENT, guard
from sandbox.errors import UnsafeTree
from sandbox.workspace import EXECUTABLE, LINK, REGULAR, File, Tree, check_tree, to_tar

BASE = Tree({"m.py": File(REGULAR, b"x = 1\n"), "tests/test_m.py": File(REGULAR, b"")})


def codes(path: str, new: File | None, old_mode: str = ABSENT, new_mode: str | None = None, tests: tuple[str, ...] = (), base: Tree = BASE) -> list[str]:
    mode = new_mode or (new.mode if new else ABSENT)
    entry = Entry(path, old_mode, mode, "0" * 40, "1" * 40)
    return [f.code for f in guard((entry,), base, base.with_changes({path: new}), tests, 10)]


@pytest.mark.parametrize(("path", "file", "wanted"), [
    ("a.py", File(REGULAR, b"y = 2\n"), []), ("../a", File(REGULAR, b""), ["forbidden_path"]), (".git/config", File(REGULAR, b""), ["forbidden_path"]),
    ("l", File(LINK, b"m.py"), []), ("l", File(LINK, b"../m.py"), ["forbidden_path"]), ("l", File(LINK, b"/etc/passwd"), ["forbidden_path"]),
    (".github/workflows/ci.yml", File(REGULAR, b"x"), ["needs_review"]), (".GitHub/Workflows/ci.yml", File(REGULAR, b"x"), ["needs_review"]),
    ("docs/CODEOWNERS", File(REGULAR, b"x"), ["needs_review"]), (".gitmodules", File(REGULAR, b"x"), ["forbidden_path"]),
    ("logo.png", File(REGULAR, b"\x89PNG\0"), ["needs_review"]), ("big.txt", File(REGULAR, b"x" * 1_100_000), ["needs_review"]), ("M.py", File(REGULAR, b""), ["needs_review"]),
])
def test_a_new_path_is_judged_by_where_and_what_it_is(path: str, file: File, wanted: list[str]) -> None:
    assert codes(path, file) == wanted


def test_a_binary_of_the_tests_is_fine() -> None:
    assert codes("tests/data.bin", File(REGULAR, b"\0"), tests=("tests/data.bin",)) == []


@pytest.mark.parametrize(("old", "wanted"), [(ABSENT, ["forbidden_path"]), (GITLINK, ["needs_review"])])
def test_a_submodule_may_be_pinned_anew_under_review_and_not_added(old: str, wanted: list[str]) -> None:
    assert codes("lib", None, old_mode=old, new_mode=GITLINK) == wanted


def test_nothing_is_written_below_a_link() -> None:
    base = BASE.with_changes({"l": File(LINK, b"tests")})
    assert "forbidden_path" in codes("l/x.py", File(REGULAR, b""), base=base)


def test_a_deleted_protected_file_needs_review() -> None:
    assert codes(".github/workflows/ci.yml", None, old_mode=REGULAR) == ["needs_review"]


def test_a_file_that_becomes_executable_is_a_note() -> None:
    assert codes("m.py", File(EXECUTABLE, b"x = 1\n"), old_mode=REGULAR) == ["mode_changed"]


@pytest.mark.parametrize("tree", [
    Tree({"../x": File(REGULAR, b"")}), Tree({"l": File(LINK, b"/etc")}), Tree({"x": File("104755", b"")}),
    Tree({"l": File(LINK, b"d"), "l/x": File(REGULAR, b"")}),
])
def test_an_unsafe_tree_never_becomes_an_archive_unnoticed(tree: Tree) -> None:
    with pytest.raises(UnsafeTree):
        check_tree(tree)


def test_an_archive_of_the_same_tree_is_the_same_bytes() -> None:
    assert to_tar(BASE) == to_tar(Tree(dict(reversed(list(BASE.items())))))
