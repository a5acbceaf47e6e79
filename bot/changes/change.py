"""The change under judgement: base tree, source patch, test patch, and what is wrong with it before anything runs."""

from __future__ import annotations

import datetime
import hashlib
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bot.changes.diff import ChangedLines, changed_lines, looks_like_diff, misplaced_hunks, named_modes, named_paths
from bot.changes.git import Entry, GitFailed, GitRepository, Scratch
from bot.changes.guard import forbidden_modes, forbidden_names, guard
from bot.changes.static_look import look
from bot.changes.touched import affected_by_data
from bot.errors import BadInput
from bot.findings import Finding, Severity, blocker, note, warning
from sandbox.toolchains.python.metadata import read_metadata
from sandbox.toolchains.python.paths import (
    folders_of_tests,
    is_bytecode,
    is_harness,
    is_manifest,
    is_prose,
    is_test_file,
    is_test_path,
    own_patterns,
)
from sandbox.workspace import EXECUTABLE, LINK, REGULAR, File, Tree, link_escapes, unsafe_path

Changes = Mapping[str, File | None]
# Read at the root, or above a test file, and nowhere else.
ROOT_ONLY = {"setup.py", "manage.py", "runtests.py", "noxfile.py", "pyproject.toml", "setup.cfg", "tox.ini", "pytest.ini", "Makefile", ".env"}


@dataclass(frozen=True)
class Change:
    """Everything that the runs and the gate need to know of a change. Trees hold no unsafe entry."""

    repository: str
    base: str
    head: str | None
    commit_date: datetime.datetime
    version: str | None
    base_tree: Tree
    source: Changes = field(default_factory=dict)
    tests: Changes = field(default_factory=dict)
    frozen: Changes = field(default_factory=dict)  # harness files and manifests, in the change's version
    given: Changes | None = None
    merged: Changes = field(default_factory=dict)  # files that both the change and the given tests edit, patched side
    lines: Mapping[str, ChangedLines] = field(default_factory=dict)
    diff: bytes = b""
    patch_sha256: str = ""
    findings: tuple[Finding, ...] = ()
    git_files: Mapping[str, bytes] = field(default_factory=dict)
    patterns: tuple[str, ...] = ()  # base's own names of test files

    @property
    def stopped(self) -> bool:
        """Whether a finding forbids any run."""
        return any(f.severity is Severity.BLOCKER and f.code in ("forbidden_path", "patch_does_not_apply", "tampered") for f in self.findings)

    @property
    def patched_tree(self) -> Tree:
        """Base's tests and harness files with the source patch, without anything given."""
        return self.base_tree.with_changes(self.source)

    def with_tests(self, patched: bool, harness: bool = False) -> Tree:
        """One side with the change's own tests and, over them, the given ones; `harness`: its harness files too."""
        tree = (self.patched_tree if patched else self.base_tree).with_changes(self.tests)
        if harness:
            tree = tree.with_changes({path: file for path, file in self.frozen.items() if not is_manifest(path) and not is_bytecode(path)})
        return tree.with_changes({**(self.given or {}), **(self.merged if patched else {})})

    @property
    def only_prose(self) -> bool:
        """Whether no plan reads anything of it."""
        return not self.tests and not self.given and not self.frozen and all(is_prose(path) for path in self.source)

    @property
    def build_inputs(self) -> tuple[str, ...]:
        """Changed files that an installation may generate others from: extension sources, data, templates; Python and prose are not."""
        return tuple(path for path in self.source if not path.endswith(".py") and not is_prose(path))


@dataclass(frozen=True)
class Request:
    """The caller's words: exactly one of head and patch."""

    base: str
    head: str | None = None
    patch: Path | None = None
    test_patch: Path | None = None


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
             "version": version_of(tag), "base_tree": base_tree, "git_files": scratch.one_commit(base, tag),
             "patterns": own_patterns(read_metadata(base_tree).pytest_settings)}
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
    patterns: tuple[str, ...] = known["patterns"]
    folders = folders_of_tests([*base_tree, *after], patterns)
    is_test = [path for path in (entry.path for entry in entries) if is_test_path(path, folders, patterns)
               and not _product_module(path, folders, base_tree if path in base_tree else after)]
    is_test += _test_data([entry.path for entry in entries if entry.path not in is_test], folders, patterns, base_tree)
    found = guard(entries, base_tree, after, is_test, len(diff))
    findings = [*findings, *found]
    source: dict[str, File | None] = {}
    tests: dict[str, File | None] = {}
    frozen: dict[str, File | None] = {}
    for entry in entries:
        file = after.get(entry.path)
        if is_harness(entry.path) and not _only_named_so(entry.path, base_tree, after):
            frozen[entry.path] = file
        elif entry.path in is_test:
            tests[entry.path] = file
        else:
            source[entry.path] = file
    findings += _shadowing(source, tests, base_tree)
    lines = changed_lines(diff.decode("utf-8", "surrogateescape"))
    source_lines = {path: change for path, change in lines.items() if path in source}
    findings += look(source_lines, base_tree)
    if frozen:
        findings.append(note("harness_frozen", "base's version is used of: " + ", ".join(sorted(frozen)[:12]), tuple(sorted(frozen))))
    merged, conflicts = _merged(scratch, source, given, base_tree)
    findings += [blocker("patch_does_not_apply", f"{path}: the change and the given test patch edit the same lines", (path,)) for path in conflicts]
    return Change(**known, source=source, tests=tests, frozen=frozen, given=given, merged=merged, lines=source_lines, diff=diff,
                  patch_sha256=hashlib.sha256(diff).hexdigest(), findings=tuple(findings))


def _product_module(path: str, folders: frozenset[str], tree: Tree) -> bool:
    """Whether a file outside the folders of tests is only named like a test: source that is no test imports it. A file of base is judged by base."""
    folder, _, name = path.rpartition("/")
    if path not in tree or is_test_path(f"{folder}/any", folders) or name == "conftest.py":
        return False
    imported = re.compile(rf"^\s*(from|import)\b.*\b{re.escape(name.removesuffix('.py'))}\b", re.MULTILINE)
    return any(imported.search(tree.text(other) or "") for other in tree
               if other != path and other.endswith(".py") and not is_test_path(other, folders) and not is_harness(other))


def _test_data(paths: list[str], folders: frozenset[str], patterns: tuple[str, ...], base: Tree) -> list[str]:
    """Files of base outside every package that its tests name, by name or folder, and its source does not: what tests expect, not what it is."""
    packages = {path.split("/")[0] for path in base if path.endswith("/__init__.py")} | {"src", "lib"}
    wanted = [path for path in paths if path in base and not path.endswith(".py") and not is_manifest(path) and path.split("/")[0] not in packages]
    if not wanted:
        return []
    sides: dict[bool, list[str]] = {True: [], False: []}
    for path in base:
        if path.endswith(".py") and not is_harness(path):
            sides[is_test_path(path, folders, patterns)].append(base.text(path) or "")
    named = {side: [path for path in wanted if any(affected_by_data(text, frozenset({path}), stems=False) for text in texts)] for side, texts in sides.items()}
    return [path for path in named[True] if path not in named[False]]


def _only_named_so(path: str, base: Tree, after: Tree) -> bool:
    """Whether a file only has the name of one that steers tests: a module of a package, or data with no test beside or below it."""
    folder, _, name = path.rpartition("/")
    if not folder or name not in ROOT_ONLY:
        return False
    if name.endswith(".py"):
        return f"{folder}/__init__.py" in base
    return not any(other.startswith(folder + "/") and other.endswith(".py") and is_test_file(other) for tree in (base, after) for other in tree)


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


def _shadowing(source: Changes, tests: Changes, base: Tree) -> list[Finding]:
    """New top-level modules that would be imported instead of the standard library, or of the code under test."""
    roots = {"", "src/", "lib/"}
    tops = {_top(path, roots) for path in base} - {None}
    found = []
    for path, file in source.items():
        name = _top(path, roots)
        if file is not None and name and name not in tops and path not in base and (name in sys.stdlib_module_names or name in ("pytest", "_pytest", "pluggy")):
            found.append(blocker("tampered", f"a new top-level module shadows {name}: {path}", (path,)))
    for path, file in tests.items():
        folder, _, base_name = path.rpartition("/")
        name = base_name.removesuffix(".py")
        inside_package = f"{folder}/__init__.py" in base or f"{folder}/__init__.py" in tests
        if file is None or path in base or not base_name.endswith(".py") or inside_package:
            continue
        if name in sys.stdlib_module_names or name in ("pytest", "_pytest", "pluggy") or (folder and name in tops and name not in ("__init__", "setup")):
            found.append(blocker("tampered", f"a new module of the tests shadows {name}: {path}", (path,)))
    return found


def shadowed_modules(change: Change, installed: tuple[str, ...]) -> list[Finding]:
    """New top-level modules of the source that would be imported instead of an installed distribution's."""
    roots = {"", "src/", "lib/"}
    own = {_top(path, roots) for path in change.base_tree}
    new = {path: name for path, file in change.source.items() if file is not None and (name := _top(path, roots)) and name not in own}
    return [blocker("tampered", f"a new top-level module shadows the installed {name}: {path}", (path,)) for path, name in new.items() if name in installed]


def _top(path: str, roots: set[str]) -> str | None:
    """The name that an import statement would use for a path's package or module."""
    for root in sorted(roots, key=len, reverse=True):
        if path.startswith(root):
            rest = path[len(root):].split("/")
            if len(rest) == 1:
                return rest[0].removesuffix(".py") if rest[0].endswith(".py") else None
            return rest[0] if path.endswith(".py") else None
    return None
