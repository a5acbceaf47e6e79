"""Classes 44-52: what a commit, a patch file or the repository's own Git configuration can carry. Most of it is refused before any run."""

import pytest
from calc_repository import BASE_TESTS, BREAKING, CORE, FIX, FIXED, NEW_TESTS, Repository
from judging import Command

from bot.findings import Finding, Severity

docker = pytest.mark.docker
FORBIDDEN = {"forbidden_path"}
NEEDS_REVIEW = {"needs_review"}
DOES_NOT_APPLY = {"patch_does_not_apply"}
VERIFIED = ("verified", "verified")


def blockers(findings: tuple[Finding, ...]) -> set[str]:
    """Codes of what decides."""
    return {finding.code for finding in findings if finding.severity is Severity.BLOCKER}


def new_file(path: str, text: str = "x = 1\n", mode: str = "100644") -> str:
    """A patch that makes one file, whatever its path and mode."""
    lines = text.splitlines()
    return (f"diff --git a/{path} b/{path}\nnew file mode {mode}\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,{len(lines)} @@\n"
            + "".join(f"+{line}\n" for line in lines))


def edit(path: str, old: str, new: str, line: int = 1) -> str:
    """A patch of one hunk without context."""
    return (f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -{line},{old.count(chr(10))} +{line},{new.count(chr(10))} @@\n"
            + "".join(f"-{part}\n" for part in old.split("\n")[:-1]) + "".join(f"+{part}\n" for part in new.split("\n")[:-1]))


# 44: the future


@docker
def test_the_box_holds_no_commit_but_base(repo: Repository, verify: Command) -> None:
    probe = NEW_TESTS + '''

def git(*words):
    import os, subprocess
    from calc.core import mean
    assert mean([1]) == 1
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return subprocess.run(["git", "-C", root, *words], stdout=subprocess.PIPE, check=True).stdout.decode().split("\\n")[:-1]


def test_one_commit():
    assert len(git("log", "--all", "--format=%H")) == 1


def test_no_other_object():
    kinds = [line.split()[1] for line in git("cat-file", "--batch-all-objects", "--batch-check")]
    assert kinds.count("commit") == 1 and "tag" not in kinds
    assert git("fsck", "--unreachable", "--no-reflogs") == []


def test_no_fix_in_any_blob():
    blobs = [line.split()[0] for line in git("cat-file", "--batch-all-objects", "--batch-check") if " blob " in line]
    assert not any("/ len(values)" in line for blob in blobs for line in git("cat-file", "blob", blob))


def test_no_other_ref_or_remote():
    assert [line.split("/")[1] for line in git("for-each-ref", "--format=%(refname)")] == ["heads"]
    assert git("remote") == [] and git("reflog", "--all") == []
'''
    head = repo.lay({"tests/test_mean.py": probe})
    repo.git("tag", "-a", "-m", "the fix", "v9.9", head)
    repo.git("branch", "future", head)
    repo.git("remote", "add", "origin", "https://example.invalid/owner/calc.git")
    repo.git("checkout", "--quiet", "--detach", repo.base)

    judged = verify(repo, head=head)

    assert judged.answer == VERIFIED
    assert len(judged.proven) == 5


# 45, 46: paths and links


@pytest.mark.parametrize("path", [
    "../outside/canary", "calc/../../outside/canary", "/tmp/dualgate-canary", ".git/hooks/post-checkout", "calc/.git/config", ".GIT/config", ".git./config",
    ".git::$INDEX_ALLOCATION/config", "git~1/config", ".g\u200cit/config", "calc\\..\\..\\canary",
])
def test_a_path_that_leaves_the_tree_is_forbidden(repo: Repository, canary: object, path: str) -> None:
    change = repo.read(patch=new_file(path))

    assert change.stopped
    assert blockers(change.findings) == FORBIDDEN


def test_a_quoted_path_is_read_before_it_is_judged(repo: Repository, canary: object) -> None:
    patch = 'diff --git "a/\\056\\056/outside/canary" "b/\\056\\056/outside/canary"\nnew file mode 100644\n--- /dev/null\n+++ "b/\\056\\056/outside/canary"\n@@ -0,0 +1 @@\n+x\n'

    change = repo.read(patch=patch)

    assert blockers(change.findings) == FORBIDDEN


def test_a_rename_out_of_the_tree_is_forbidden(repo: Repository, canary: object) -> None:
    patch = "diff --git a/README.md b/../outside/README.md\nsimilarity index 100%\nrename from README.md\nrename to ../outside/README.md\n"

    change = repo.read(patch=patch)

    assert blockers(change.findings) == FORBIDDEN


@docker
def test_a_forbidden_patch_is_rejected_before_any_run(repo: Repository, verify: Command, canary: object) -> None:
    judged = verify(repo, patch=new_file("../outside/made") + new_file("../outside/canary"))

    assert judged.answer == ("rejected", "forbidden_path")
    assert judged.status == 1
    assert judged.verdict["evidence"]["runs"] == []


@pytest.mark.parametrize("target", ["../../outside/canary", "/etc/passwd", "../../calc", "../.."])
def test_a_link_out_of_the_tree_is_forbidden(repo: Repository, canary: object, target: str) -> None:
    link = new_file("calc/data", target, "120000") + "\\ No newline at end of file\n"

    change = repo.read(patch=link)

    assert blockers(change.findings) == FORBIDDEN


def test_a_write_below_a_link_is_forbidden(repo: Repository, canary: object) -> None:
    link = new_file("calc/data", "../tests", "120000") + "\\ No newline at end of file\n"

    change = repo.read(patch=link + new_file("calc/data/test_core.py"))

    assert blockers(change.findings) <= FORBIDDEN | DOES_NOT_APPLY
    assert change.stopped


def test_a_write_below_a_link_of_base_is_forbidden(repo: Repository, canary: object) -> None:
    (repo.path / "linked").symlink_to("../outside")
    repo.rebase({})

    change = repo.read(patch=new_file("linked/made"))

    assert change.stopped


def test_nothing_forbidden_is_in_the_trees_of_the_boxes(repo: Repository) -> None:
    (repo.path / "linked").symlink_to("../outside")
    repo.rebase({})

    change = repo.read(head=repo.lay({}))

    assert "linked" not in change.base_tree
    assert "linked" not in change.with_tests(patched=True)


@docker
def test_a_link_inside_the_tree_is_verified(repo: Repository, verify: Command) -> None:
    (repo.path / "README").symlink_to("README.md")
    linked = repo.commit({**FIX, "README.md": "# calc\n"})

    judged = verify(repo, patch=repo.diff(linked))

    assert judged.answer == VERIFIED


# 47: modes and submodules


@pytest.mark.parametrize("mode", ["104755", "102755", "100777", "160000", "040000", "060644"])
def test_an_unexpected_mode_is_forbidden(repo: Repository, mode: str) -> None:
    change = repo.read(patch=new_file("calc/tool.py", mode=mode))

    assert change.stopped
    assert blockers(change.findings) <= FORBIDDEN | DOES_NOT_APPLY


def test_a_mode_change_to_setuid_is_forbidden(repo: Repository) -> None:
    change = repo.read(patch="diff --git a/calc/core.py b/calc/core.py\nold mode 100644\nnew mode 104755\n" + edit("calc/core.py", '"""Sums and means."""\n', '"""Sums."""\n').split("\n", 1)[1])

    assert change.stopped


def gitlink(repo: Repository, commit: str) -> str:
    """A commit that pins `vendor` to another one."""
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{commit},vendor")
    repo.git("commit", "--quiet", "-m", "pin")
    return repo.git("rev-parse", "HEAD")


def test_a_new_submodule_is_forbidden(repo: Repository) -> None:
    change = repo.read(head=gitlink(repo, repo.base))

    assert blockers(change.findings) == FORBIDDEN


def test_a_submodules_other_address_is_forbidden(repo: Repository) -> None:
    repo.rebase({".gitmodules": '[submodule "vendor"]\n\tpath = vendor\n\turl = https://example.invalid/vendor.git\n'})

    change = repo.read(head=repo.lay({".gitmodules": '[submodule "vendor"]\n\tpath = vendor\n\turl = file:///etc\n'}))

    assert blockers(change.findings) == FORBIDDEN


def test_another_pin_of_a_submodule_needs_review(repo: Repository) -> None:
    first = repo.base
    repo.base = gitlink(repo, first)

    change = repo.read(head=gitlink(repo, repo.base))

    assert not change.stopped
    assert blockers(change.findings) == NEEDS_REVIEW


def test_an_executable_script_is_a_note(repo: Repository) -> None:
    repo.git("update-index", "--chmod=+x", "calc/core.py")
    repo.git("commit", "--quiet", "-m", "mode")

    change = repo.read(head=repo.git("rev-parse", "HEAD"))

    assert blockers(change.findings) == set()
    assert "mode_changed" in {finding.code for finding in change.findings}


# 48, 49: attributes, filters, hooks and configuration


@docker
def test_nothing_that_the_repository_configures_is_run(repo: Repository, verify: Command, canary: object, tmp_path: object) -> None:
    command = f"touch {tmp_path}/outside/made; cat"
    attributes = "*.py filter=evil diff=evil merge=evil working-tree-encoding=UTF-8 eol=crlf ident\ntests/** export-ignore\n"
    repo.rebase({".gitattributes": attributes})
    head = repo.lay({".gitattributes": attributes + "calc/** export-ignore\n"})
    (repo.path.parent / "more.config").write_text(f'[core]\n\tpager = "{command}"\n[diff "evil"]\n\ttextconv = "{command}"\n', encoding="utf-8")
    for name in ("filter.evil.smudge", "filter.evil.clean", "filter.evil.process", "diff.evil.command", "diff.external", "merge.evil.driver", "core.fsmonitor",
                 "core.sshCommand", "core.editor", "core.alternateRefsCommand", "uploadpack.packObjectsHook", "gpg.program", "credential.helper"):
        repo.git("config", name, command)
    repo.git("config", "core.hooksPath", str(repo.path / ".hooks"))
    repo.git("config", f"includeIf.gitdir:{repo.path}/.path", "../more.config")
    repo.git("config", "include.path", str(repo.path.parent / "more.config"))
    for folder in (repo.path / ".hooks", repo.path / ".git" / "hooks"):
        folder.mkdir(exist_ok=True)
        for hook in ("post-checkout", "post-index-change", "reference-transaction", "pre-auto-gc", "fsmonitor-watchman"):
            (folder / hook).write_text(f"#!/bin/sh\n{command}\n", encoding="utf-8")
            (folder / hook).chmod(0o755)

    judged = verify(repo, head=head, environment={"GIT_EXTERNAL_DIFF": command, "GIT_SSH_COMMAND": command, "GIT_PAGER": command, "GIT_DIR": "/nonexistent"})

    assert judged.answer == VERIFIED


def test_attributes_do_not_change_what_is_read(repo: Repository) -> None:
    repo.rebase({".gitattributes": "*.py eol=crlf ident export-ignore working-tree-encoding=UTF-8\n", "calc/ident.py": "ID = '$Id$'\n"})
    repo.git("config", "core.autocrlf", "true")

    change = repo.read(patch=edit("calc/ident.py", "ID = '$Id$'\n", "ID = '$Id$ '\n"))

    assert blockers(change.findings) == set()
    assert change.base_tree.text("calc/ident.py") == "ID = '$Id$'\n"
    assert change.patched_tree.text("calc/ident.py") == "ID = '$Id$ '\n"


def test_replaced_objects_and_grafts_are_not_believed(repo: Repository) -> None:
    other = repo.lay({"calc/core.py": "raise SystemExit\n"})
    repo.git("replace", repo.base, other)

    change = repo.read(patch=edit("README.md", "# calc\n", "# Calc\n"))

    assert change.base_tree.text("calc/core.py") == CORE


# 50: binary, large


def test_a_binary_outside_the_tests_needs_review(repo: Repository) -> None:
    change = repo.read(head=repo.lay({"calc/table.bin": b"\0\1\2" * 40}))

    assert blockers(change.findings) == NEEDS_REVIEW


def test_a_binary_among_the_tests_is_fine(repo: Repository) -> None:
    head = repo.lay({"tests/table.bin": b"\0\1\2" * 40})

    change = repo.read(patch=repo.diff(head))

    assert blockers(change.findings) == set()
    assert change.with_tests(patched=True)["tests/table.bin"].data == b"\0\1\2" * 40


@pytest.mark.parametrize("header", ["new file mode 100644\nindex 0000000..1234567\n", "index 1234567..89abcde 100644\n"], ids=["new", "edited"])
def test_a_binary_without_its_data_does_not_apply(repo: Repository, header: str) -> None:
    repo.rebase({"calc/table.bin": b"\0\1\2" * 40})
    path = {"n": "calc/other.bin", "i": "calc/table.bin"}[header[0]]

    change = repo.read(patch=f"diff --git a/{path} b/{path}\n{header}Binary files a/{path} and b/{path} differ\n")

    assert blockers(change.findings) == DOES_NOT_APPLY


@pytest.mark.parametrize("lines", [80_000, 400_000], ids=["a file over 1 MB", "a diff over 5 MB"])
def test_a_large_file_needs_review(repo: Repository, lines: int) -> None:
    change = repo.read(head=repo.lay({"calc/table.py": "1234567890, \\\n" * lines}))

    assert blockers(change.findings) == NEEDS_REVIEW


# 51: the wrong place


def test_a_hunk_with_another_context_does_not_apply(repo: Repository) -> None:
    fuzzy = repo.diff(repo.lay({})).replace(b" def mean(values):", b" def mean(numbers):")

    change = repo.read(patch=fuzzy)

    assert blockers(change.findings) == DOES_NOT_APPLY
    assert not change.source


def test_a_hunk_with_other_blanks_does_not_apply(repo: Repository) -> None:
    change = repo.read(patch=repo.diff(repo.lay({})).replace(b"-    return sum(values)", b"-\treturn sum(values)"))

    assert blockers(change.findings) == DOES_NOT_APPLY


def test_a_hunk_that_fits_in_two_other_places_does_not_apply(repo: Repository) -> None:
    repo.rebase({"calc/twice.py": "def a():\n    x = 1\n    return x\n\n\ndef b():\n    x = 1\n    return x\n"})

    change = repo.read(patch=edit("calc/twice.py", "    x = 1\n", "    x = 2\n", line=4))

    assert blockers(change.findings) == DOES_NOT_APPLY


def test_half_of_a_patch_is_not_applied(repo: Repository) -> None:
    change = repo.read(patch=repo.diff(repo.lay({})) + edit("README.md", "# other\n", "# Calc\n").encode())

    assert blockers(change.findings) == DOES_NOT_APPLY
    assert not change.source
    assert not change.tests


def test_carriage_returns_and_a_missing_last_newline_survive(repo: Repository) -> None:
    repo.rebase({"calc/dos.py": "a = 1\r\nb = 2\r\nc = 3"})
    head = repo.commit({"calc/dos.py": "a = 1\r\nb = 20\r\nc = 3"})

    change = repo.read(patch=repo.diff(head))

    assert blockers(change.findings) == set()
    assert change.patched_tree["calc/dos.py"].data == b"a = 1\r\nb = 20\r\nc = 3"
    assert change.patch_sha256 == repo.read(head=head).patch_sha256


def test_a_hunk_whose_only_place_has_moved_applies(repo: Repository) -> None:
    patch = repo.diff(repo.lay({}))
    repo.rebase({"calc/core.py": CORE.replace('"""Sums and means."""\n', '"""Sums and means."""\n\nSIGN = 1\n')})

    change = repo.read(patch=patch)

    assert blockers(change.findings) == set()
    assert "/ len(values)" in (change.patched_tree.text("calc/core.py") or "")


# 52: renames and look-alikes


def test_a_protected_file_is_protected_at_both_ends_of_a_rename(repo: Repository) -> None:
    repo.rebase({".github/workflows/ci.yml": "on: push\n"})
    repo.git("mv", ".github/workflows/ci.yml", "calc/ci.yml")

    change = repo.read(head=repo.commit({}))

    assert blockers(change.findings) == NEEDS_REVIEW


@pytest.mark.parametrize("path", [".GitHub/Workflows/ci.yml", "CodeOwners", ".github/CODEOWNERS", "docs/codeowners", ".github/DUALGATE.yml"])
def test_a_protected_file_is_known_whatever_its_case(repo: Repository, path: str) -> None:
    change = repo.read(head=repo.lay({path: "on: push\n"}))

    assert blockers(change.findings) == NEEDS_REVIEW


@pytest.mark.parametrize(("old", "new"), [("calc/core.py", "calc/Core.py"), ("calc/caf\u00e9.py", "calc/cafe\u0301.py")], ids=["case", "Unicode form"])
def test_a_look_alike_of_a_file_needs_review(repo: Repository, old: str, new: str) -> None:
    repo.rebase({old: CORE})

    change = repo.read(head=repo.lay({new: FIXED}))

    assert blockers(change.findings) == NEEDS_REVIEW


@docker
def test_tests_moved_out_of_the_runners_sight_still_run(repo: Repository, verify: Command) -> None:
    moved = {"tests/test_core.py": None, "tests/core_checks.py": BASE_TESTS}

    judged = verify(repo, head=repo.lay(moved, over=BREAKING))

    assert judged.answer == ("inconclusive", "needs_review")
    assert judged.guard["passed"] == 2


@docker
def test_tests_moved_to_another_file_are_verified(repo: Repository, verify: Command) -> None:
    judged = verify(repo, head=repo.lay({"tests/test_core.py": None, "tests/test_sums.py": BASE_TESTS}))

    assert judged.answer == VERIFIED
    assert judged.guard["passed"] == 3
