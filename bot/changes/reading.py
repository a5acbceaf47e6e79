"""A change read from Git: guarded, applied, split into source, tests and harness files."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bot.changes.change import Change, Request
from bot.changes.diff import changed_lines, looks_like_diff, misplaced_hunks, named_modes, named_paths
from bot.changes.git import Entry, GitFailed, GitRepository, Scratch
from bot.changes.guard import forbidden_modes, forbidden_names, guard
from bot.changes.static_look import look
from bot.errors import BadInput
from bot.findings import Finding, blocker, note, warning
from sandbox.toolchains.protocol import Changes
from sandbox.toolchains.registry import BY_NAME, JointRules, divide, toolchains_in
from sandbox.workspace import EXECUTABLE, LINK, REGULAR, File, Tree, is_bytecode, link_escapes, unsafe_path


def read_patch(path: Path) -> bytes:
    """The bytes of a patch file. Raises BadInput when it can't be read or is none."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BadInput(f"can't read {path}: {error.strerror}") from error
    if not data.strip():
        raise BadInput(f"{path} is empty")
    if not looks_like_diff(data.decode("utf-8", "surrogateescape")):
        raise BadInput(f"{path} is not a diff")
    return data


@contextmanager
def open_change(repository: GitRepository, request: Request) -> Iterator[Change]:
    """The change, read and guarded. Raises BadInput for what is the caller's fault."""
    if (request.head is None) == (request.patch is None):
        raise BadInput("give either --head or --patch" if request.head is None else "--head and --patch exclude each other")
    patch = read_patch(request.patch) if request.patch else None
    test_patch = read_patch(request.test_patch) if request.test_patch else None
    base = repository.commit(request.base)
    head = repository.commit(request.head) if request.head else None
    findings: list[Finding] = []
    if head:
        base, behind = _merge_base(repository, base, head, request)
        if behind:
            findings.append(note("base_behind", f"{request.base} has {behind} commits that the change is not based on"))
    with repository.scratch() as scratch:
        yield _read(repository, scratch, base, head, patch, test_patch, findings)


def _merge_base(repository: GitRepository, base: str, head: str, request: Request) -> tuple[str, int]:
    common = repository.merge_base(base, head)
    if common is None:
        raise BadInput(f"{request.base} and {request.head} have no common ancestor")
    if common == head:
        raise BadInput(f"nothing changed: {request.head} is {'equal to' if base == head else 'an ancestor of'} {request.base}")
    return common, repository.count_between(common, base) if common != base else 0


def _read(
    repository: GitRepository, scratch: Scratch, base: str, head: str | None, patch: bytes | None, test_patch: bytes | None,
    findings: list[Finding],
) -> Change:
    listing = repository.tree(base)
    base_tree, dropped = boxable(listing.tree)
    if listing.absent:
        findings.append(warning("objects_missing", f"this clone lacks {len(listing.absent)} files of base, which are left out of the boxes: "
                                f"{', '.join(listing.absent[:5])}", listing.absent[:20]))
    for path in listing.submodules:
        findings.append(note("submodule", f"the submodule {path} is not fetched", (path,)))
    for path in dropped:
        findings.append(note("unsafe_entry", f"left out of the boxes: {path}", (path,)))
    pointers = [path for path, file in base_tree.items() if file.data.startswith(b"version https://git-lfs.github.com/spec/")]
    if pointers:
        findings.append(note("lfs", f"{len(pointers)} files are Git LFS pointers; their content is not fetched", tuple(pointers[:10])))
    tag = repository.last_tag(base)
    known: dict[str, Any] = {"repository": repository.name(), "base": base, "head": head, "commit_date": repository.commit_date(base),
             "version": version_of(tag), "base_tree": base_tree, "git_files": scratch.one_commit(base, tag)}
    given = _given(scratch, base, base_tree, test_patch)
    if head is not None:
        after_id = head
    else:
        assert patch is not None
        after_id, stopped = _applied(scratch, base, base_tree, patch)
        if stopped:
            return Change(**known, given=given, patch_sha256=hashlib.sha256(patch).hexdigest(), findings=(*findings, *stopped))
    after = scratch.tree(after_id)
    entries = scratch.entries(base, after_id)
    lacking = sorted({*listing.absent, *after.absent} & {entry.path for entry in entries})
    if lacking:
        raise BadInput(f"this clone lacks files that the change touches (fetch them first): {', '.join(lacking[:5])}")
    diff = scratch.diff(base, after_id)
    if not diff.strip():
        raise BadInput("nothing changed: the diff is empty")
    return _split(scratch, known, entries, after.tree, diff, given, findings)


def version_of(tag: str | None) -> str | None:
    """The version in a tag (`v1.2.3`, `release-1.2`), or None."""
    match = re.search(r"\d+(?:[._]\d+)*(?:(?:a|b|rc|\.post|\.dev)\d+)?$", tag or "")
    return match[0].replace("_", ".") if match else None


def boxable(tree: Tree) -> tuple[Tree, list[str]]:
    """Base as it may enter a box: entries that could leave it, or hide a source, are dropped by name."""
    dropped = [path for path, file in tree.items()
               if unsafe_path(path) or is_bytecode(path) or (file.mode == LINK and link_escapes(path, file.data.decode("utf-8", "surrogateescape")))]
    tree = tree.with_changes(dict.fromkeys(dropped))
    modes = {path: file.mode if file.mode in (EXECUTABLE, LINK) else REGULAR for path, file in tree.items()}
    return Tree((path, File(modes[path], file.data)) for path, file in tree.items()), dropped


def _applied(scratch: Scratch, base: str, base_tree: Tree, patch: bytes) -> tuple[str, list[Finding]]:
    """(tree id, findings that stop) of a patch laid on base with no fuzz."""
    text = patch.decode("utf-8", "surrogateescape")
    forbidden = forbidden_names(named_paths(text)) + forbidden_modes(named_modes(text))
    if forbidden:
        return "", forbidden
    wrong = [hunk for hunk in misplaced_hunks(text, base_tree) if hunk.places != 1]
    if wrong:
        where = tuple(f"{hunk.path}:{hunk.line}" for hunk in wrong)
        why = "its old lines are not in the file" if not wrong[0].places else f"its old lines occur {wrong[0].places} times, none at that line"
        return "", [blocker("patch_does_not_apply", f"the hunk at {where[0]} does not fit: {why}", where)]
    try:
        return scratch.apply(base, patch), []
    except GitFailed as error:
        if "invalid path" in str(error):
            return "", [blocker("forbidden_path", str(error))]
        return "", [blocker("patch_does_not_apply", str(error))]


def _given(scratch: Scratch, base: str, base_tree: Tree, test_patch: bytes | None) -> Changes | None:
    """The given test patch as changes of base. Raises BadInput when it does not apply: it is the caller's."""
    if test_patch is None:
        return None
    tree_id, stopped = _applied(scratch, base, base_tree, test_patch)
    if stopped:
        raise BadInput(f"the test patch: {stopped[0].detail}")
    after = scratch.tree(tree_id).tree
    entries = scratch.entries(base, tree_id)
    wrong = [f for f in guard(entries, base_tree, after, [e.path for e in entries], 0) if f.code == "forbidden_path"]
    if wrong:
        raise BadInput(f"the test patch: {wrong[0].detail}")
    return {entry.path: after.get(entry.path) for entry in entries}


def _split(
    scratch: Scratch, known: dict[str, Any], entries: tuple[Entry, ...], after: Tree, diff: bytes, given: Changes | None, findings: list[Finding],
) -> Change:
    base_tree: Tree = known["base_tree"]
    toolchains = toolchains_in(base_tree, after)
    rules = JointRules(base_tree, after, toolchains)
    is_test = [entry.path for entry in entries if rules.is_test(entry.path)]
    is_test += rules.test_data([entry.path for entry in entries if entry.path not in is_test])
    found = guard(entries, base_tree, after, is_test, len(diff))
    findings = [*findings, *found]
    source: dict[str, File | None] = {}
    tests: dict[str, File | None] = {}
    frozen: dict[str, File | None] = {}
    whole: dict[str, File | None] = {}
    test_lines: dict[str, frozenset[int]] = {}
    for entry in entries:
        file = after.get(entry.path)
        if rules.is_harness(entry.path):
            frozen[entry.path] = file
        elif entry.path in is_test:
            tests[entry.path] = file
        elif (divided := divide(entry.path, base_tree.get(entry.path), file)) is not None:
            source |= {entry.path: divided.source} if divided.source != base_tree[entry.path] else {}
            tests |= {entry.path: divided.tests} if divided.tests != base_tree[entry.path] else {}
            whole[entry.path], test_lines[entry.path] = file, divided.lines
        else:
            source[entry.path] = file
    findings += [blocker("tampered", detail, (path,)) for detail, path in rules.shadowing(source, tests)]
    lines = changed_lines(diff.decode("utf-8", "surrogateescape"))
    source_lines = {path: change.without(test_lines.get(path, frozenset())) for path, change in lines.items() if path in source}
    findings += look(source_lines, base_tree, BY_NAME.values(), rules.is_test)
    if frozen:
        findings.append(note("harness_frozen", "base's version is used of: " + ", ".join(sorted(frozen)[:12]), tuple(sorted(frozen))))
    merged, conflicts = _merged(scratch, source, given, base_tree)
    findings += [blocker("patch_does_not_apply", f"{path}: the change and the given test patch edit the same lines", (path,)) for path in conflicts]
    return Change(**known, rules=rules, source=source, tests=tests, frozen=frozen, whole=whole, given=given, merged=merged, lines=source_lines, diff=diff,
                  patch_sha256=hashlib.sha256(diff).hexdigest(), findings=tuple(findings))


def _merged(scratch: Scratch, source: Changes, given: Changes | None, base: Tree) -> tuple[dict[str, File | None], list[str]]:
    """({path: file of the patched side}, conflicting paths) where a source file is edited by the change and by the given test patch."""
    merged: dict[str, File | None] = {}
    conflicts: list[str] = []
    for path, theirs in (given or {}).items():
        ours = source.get(path)
        if path not in source or ours == theirs:
            continue
        old = base.get(path)
        data = scratch.merge(old.data, ours.data, theirs.data) if old and ours and theirs else None
        if data is None or ours is None:
            conflicts.append(path)
        else:
            merged[path] = File(ours.mode, data)
    return merged, conflicts
