"""Reading a checkout's object database: no work tree, no hook, no filter, no network, no configuration but the repository's own."""

from __future__ import annotations

import datetime
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bot.errors import BadInput
from sandbox.ownership import temporary_folder
from sandbox.workspace import File, Tree

SAFE = ("-c", "safe.directory=*", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "core.attributesFile=/dev/null",
        "-c", "core.autocrlf=false", "-c", "apply.whitespace=nowarn", "-c", "core.quotePath=false", "-c", "diff.algorithm=myers",
        "-c", "diff.noprefix=false", "-c", "diff.mnemonicPrefix=false", "-c", "user.name=dualgate", "-c", "user.email=dualgate@localhost",
        "-c", "gc.auto=0", "-c", "core.pager=cat", "-c", "commit.gpgSign=false", "-c", "tag.gpgSign=false", "-c", "protocol.allow=never")
DIFF = ("--no-ext-diff", "--no-textconv", "--binary", "--full-index", "--no-renames", "--no-color", "--src-prefix=a/", "--dst-prefix=b/",
        "-U3", "--no-indent-heuristic", "--submodule=short", "--ignore-submodules=none")
GITLINK = "160000"
LONGEST_LISTING, LARGEST_TREE = 64 << 20, 2 << 30


def _environment(**more: str) -> dict[str, str]:
    return {"PATH": os.environ.get("PATH", os.defpath), "HOME": "/nonexistent", "LC_ALL": "C", "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_ATTR_NOSYSTEM": "1", "GIT_NO_REPLACE_OBJECTS": "1", "GIT_GRAFT_FILE": "/dev/null", "GIT_TERMINAL_PROMPT": "0",
            "GIT_ALLOW_PROTOCOL": "none", "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1", **more}


@dataclass(frozen=True)
class Entry:
    """One line of a raw diff; modes are Git's octal words, `000000` for absent."""

    path: str
    old_mode: str
    new_mode: str
    old_id: str
    new_id: str


@dataclass(frozen=True)
class Listing:
    """A tree that was read. `submodules`, `absent`: paths of what is not in the object database (a partial clone lacks blobs)."""

    tree: Tree
    submodules: tuple[str, ...]
    absent: tuple[str, ...]


class GitFailed(Exception):
    """A Git command ended badly; the message is its last line."""


class GitRepository:
    """A local checkout or bare repository. Raises BadInput where there is none."""

    def __init__(self, path: Path) -> None:
        if not path.is_dir():
            raise BadInput(f"not a Git repository: {path}")
        self.path = path.resolve()
        try:
            found = self._start("rev-parse", "--absolute-git-dir", where=["-C", str(self.path)], GIT_CEILING_DIRECTORIES=str(self.path.parent))
        except GitFailed as error:
            raise BadInput(f"not a Git repository: {path}") from error
        self.git_dir = Path(found.decode().strip())

    def _start(self, *args: str, where: list[str] | None = None, stdin: bytes = b"", **environment: str) -> bytes:
        place = where if where is not None else [f"--git-dir={self.git_dir}"]
        words = ["git", *SAFE, *place, *args]
        if args[0] == "ls-tree":
            return _capped(words, _environment(**environment))
        done = subprocess.run(words, input=stdin, capture_output=True, env=_environment(**environment), check=False)
        if done.returncode != 0:
            text = done.stderr.decode("utf-8", "replace").strip()
            raise GitFailed(text.splitlines()[-1] if text else f"git {args[0]} ended with {done.returncode}")
        return done.stdout

    def commit(self, revision: str) -> str:
        """The full id of a revision's commit. Raises BadInput."""
        if revision.startswith("-"):
            raise BadInput(f"unknown revision: {revision}")
        try:
            return self._start("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}").decode().strip()
        except GitFailed as error:
            raise BadInput(f"unknown revision: {revision}") from error

    def merge_base(self, one: str, other: str) -> str | None:
        """The best common ancestor, or None."""
        try:
            return self._start("merge-base", one, other).decode().split()[0]
        except GitFailed:
            return None

    def count_between(self, old: str, new: str) -> int:
        """How many commits are in `new` and not in `old`."""
        return int(self._start("rev-list", "--count", f"{old}..{new}"))

    def messages(self, old: str, new: str, limit: int = 100) -> list[str]:
        """The messages of the commits that are in `new` and not in `old`, newest first."""
        text = self._start("log", f"--max-count={limit}", "--format=%B%x00", f"{old}..{new}").decode("utf-8", "replace")
        return [message.strip() for message in text.split("\0") if message.strip()]

    def commit_date(self, commit: str) -> datetime.datetime:
        """When a commit was made (committer's date, UTC)."""
        return datetime.datetime.fromtimestamp(int(self._start("log", "-1", "--format=%ct", commit)), datetime.UTC)

    def last_tag(self, commit: str) -> str | None:
        """The nearest tag that a commit can reach, or None."""
        try:
            return self._start("describe", "--tags", "--abbrev=0", commit).decode().strip() or None
        except GitFailed:
            return None

    def name(self) -> str:
        """`owner/name` of origin, or the folder's name."""
        try:
            url = self._start("config", "--get", "remote.origin.url").decode().strip()
        except GitFailed:
            url = ""
        parts = [p for p in url.removesuffix("/").removesuffix(".git").replace(":", "/").split("/") if p]
        if ("://" in url or "@" in url) and len(parts) >= 2:
            return "/".join(parts[-2:])
        return self.path.name.removesuffix(".git") or "repository"

    def tree(self, treeish: str) -> Listing:
        """The raw blobs, no attribute applied."""
        return _read_tree(self._start, treeish)

    @contextmanager
    def scratch(self) -> Iterator[Scratch]:
        """A throwaway object database over this one, to apply patches in."""
        with temporary_folder("git") as folder:
            yield Scratch(self, folder)

    def diff(self, old: str, new: str) -> bytes:
        """The normalised binary diff of two trees of this repository."""
        return self._start("diff-tree", "-r", "-p", *DIFF, old, new)

    def entries(self, old: str, new: str) -> tuple[Entry, ...]:
        """The raw diff of two trees, renames told as a deletion and an addition."""
        return _entries(self._start("diff-tree", "-r", "-z", "--raw", "--no-renames", "--full-index", old, new))


class Scratch:
    """A bare repository in a temporary folder whose alternate is the checkout's object database."""

    def __init__(self, repository: GitRepository, folder: Path) -> None:
        self._repository, self._folder = repository, folder
        self._run("init", "-q", "--bare", where=["-C", str(folder)])
        objects = Path(repository._start("rev-parse", "--git-path", "objects").decode().strip())
        objects = objects if objects.is_absolute() else Path.cwd() / objects
        (folder / "objects" / "info").mkdir(parents=True, exist_ok=True)
        (folder / "objects" / "info" / "alternates").write_text(f"{objects.resolve()}\n", encoding="utf-8")

    def _run(self, *args: str, where: list[str] | None = None, stdin: bytes = b"", **environment: str) -> bytes:
        place = where if where is not None else [f"--git-dir={self._folder}"]
        return self._repository._start(*args, where=place, stdin=stdin, **environment)

    def apply(self, treeish: str, patch: bytes) -> str:
        """The id of the tree that a patch makes of another. Raises GitFailed with Git's reason."""
        index = str(self._folder / f"index-{len(list(self._folder.iterdir()))}")
        self._run("read-tree", treeish, GIT_INDEX_FILE=index)
        self._run("apply", "--cached", "--whitespace=nowarn", "-", stdin=patch, GIT_INDEX_FILE=index)
        return self._run("write-tree", GIT_INDEX_FILE=index).decode().strip()

    def merge(self, base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
        """Three versions of a text merged, or None where they conflict."""
        names = []
        for label, data in (("ours", ours), ("base", base), ("theirs", theirs)):
            (self._folder / f"merge-{label}").write_bytes(data)
            names.append(str(self._folder / f"merge-{label}"))
        try:
            return self._run("merge-file", "-p", *names)
        except GitFailed:
            return None

    def tree(self, treeish: str) -> Listing:
        """Like GitRepository.tree, for trees made here."""
        return _read_tree(self._run, treeish)

    def diff(self, old: str, new: str) -> bytes:
        """Like GitRepository.diff, for trees made here."""
        return self._run("diff-tree", "-r", "-p", *DIFF, old, new)

    def entries(self, old: str, new: str) -> tuple[Entry, ...]:
        """Like GitRepository.entries, for trees made here."""
        return _entries(self._run("diff-tree", "-r", "-z", "--raw", "--no-renames", "--full-index", old, new))

    def one_commit(self, treeish: str, tag: str | None) -> dict[str, bytes]:
        """Files of a `.git` folder with a single commit of the tree, the tag if any, no remote, no reflog."""
        when = "1600000000 +0000"
        commit = self._run("commit-tree", f"{treeish}^{{tree}}", "-m", "base", GIT_AUTHOR_DATE=when, GIT_COMMITTER_DATE=when).decode().strip()
        index = str(self._folder / "index-one")
        self._run("read-tree", treeish, GIT_INDEX_FILE=index)
        pack = self._folder / "pack"
        name = self._run("pack-objects", "-q", "--revs", "--missing=allow-any", str(pack), stdin=commit.encode() + b"\n").decode().strip()
        files = {
            ".git/HEAD": b"ref: refs/heads/main\n", ".git/refs/heads/main": commit.encode() + b"\n",
            ".git/config": b"[core]\n\trepositoryformatversion = 0\n\tbare = false\n", ".git/index": Path(index).read_bytes(),
            f".git/objects/pack/pack-{name}.pack": Path(f"{pack}-{name}.pack").read_bytes(),
            f".git/objects/pack/pack-{name}.idx": Path(f"{pack}-{name}.idx").read_bytes(),
        }
        if tag and "/" not in tag and ".." not in tag:
            files[f".git/refs/tags/{tag}"] = commit.encode() + b"\n"
        return files


def _entries(raw: bytes) -> tuple[Entry, ...]:
    words = raw.decode("utf-8", "surrogateescape").split("\0")
    rows = []
    for head, path in zip(words[0::2], words[1::2], strict=False):
        old_mode, new_mode, old_id, new_id, _ = head.lstrip(":").split(" ")
        rows.append(Entry(path, old_mode, new_mode, old_id, new_id))
    return tuple(rows)


def _read_tree(run: Callable[..., bytes], treeish: str) -> Listing:
    listing = run("ls-tree", "-r", "-z", "--full-tree", treeish).decode("utf-8", "surrogateescape")
    rows: list[tuple[str, str, str]] = []
    submodules: list[str] = []
    for line in listing.split("\0"):
        if not line:
            continue
        head, path = line.split("\t", 1)
        mode, kind, oid = head.split(" ")
        if kind == "commit":
            submodules.append(path)
        else:
            rows.append((path, mode, oid))
    wanted = list(dict.fromkeys(oid for _, _, oid in rows))
    _check_size(run, wanted, [oid for _, _, oid in rows])
    output = run("cat-file", "--batch", stdin="\n".join(wanted).encode() + b"\n" if wanted else b"")
    blobs = _blobs(output)
    tree = Tree((path, File(mode, blobs[oid])) for path, mode, oid in rows if oid in blobs)
    return Listing(tree, tuple(submodules), tuple(path for path, _, oid in rows if oid not in blobs))


def _capped(words: list[str], environment: dict[str, str]) -> bytes:
    """The output of a listing. Raises BadInput for one that is longer than a repository's can be: a few blobs can stand for millions of paths."""
    with tempfile.TemporaryFile() as errors, subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, env=environment) as git:
        assert git.stdout is not None
        output = git.stdout.read(LONGEST_LISTING + 1)
        if len(output) > LONGEST_LISTING:
            git.kill()
            raise BadInput(f"the tree has too many files: their list is longer than {LONGEST_LISTING >> 20} MB")
        if git.wait() != 0:
            errors.seek(0)
            raise GitFailed((errors.read().decode("utf-8", "replace").strip().splitlines() or ["git ls-tree failed"])[-1])
        return output


def _check_size(run: Callable[..., bytes], wanted: list[str], oids: list[str]) -> None:
    """Raises BadInput for a tree whose files, laid out, would fill this machine's memory; one blob may stand for many."""
    if not wanted:
        return
    sizes = run("cat-file", "--batch-check=%(objectsize)", stdin="\n".join(wanted).encode() + b"\n").decode().split("\n")
    known = {oid: int(size) for oid, size in zip(wanted, sizes, strict=False) if size.isdigit()}
    total = sum(known.get(oid, 0) for oid in oids)
    if total > LARGEST_TREE:
        raise BadInput(f"the tree's files are {total >> 20} MB, more than {LARGEST_TREE >> 20}")


def _blobs(output: bytes) -> dict[str, bytes]:
    blobs, place = {}, 0
    while place < len(output):
        end = output.index(b"\n", place)
        words = output[place:end].decode().split(" ")
        if words[1:] == ["missing"]:
            place = end + 1
            continue
        if len(words) != 3 or words[1] != "blob":
            raise BadInput(f"an object of the tree can't be read: {' '.join(words)}")
        size = int(words[2])
        blobs[words[0]] = output[end + 1:end + 1 + size]
        place = end + 1 + size + 1
    return blobs
