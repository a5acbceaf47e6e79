"""A bare repository of the stand-in: refs, comparisons, trees and merges, by the real Git."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ZERO = "0" * 40
SETTINGS = {
    "uploadpack.allowFilter": "true", "uploadpack.allowAnySHA1InWant": "true", "uploadpack.allowReachableSHA1InWant": "true",
    "receive.hideRefs": "refs/pull", "http.receivepack": "true", "gc.auto": "0", "receive.autogc": "false", "core.logAllRefUpdates": "false",
}
# GitHub refuses an App's push that edits workflows unless it holds `workflows`; the door sets the variable for those that do.
GUARD = """#!/bin/sh
[ "$STAND_IN_MAY_EDIT_WORKFLOWS" = no ] || exit 0
while read -r old new ref; do
    case $new in 0000000000000000000000000000000000000000) continue;; esac
    for commit in $(git rev-list "$new" --not --all); do
        path=$(git diff-tree -r -m --root --no-commit-id --name-only "$commit" -- .github/workflows | head -n 1)
        [ -z "$path" ] || {
            echo "refusing to allow a GitHub App to create or update workflow \\`$path\\` without \\`workflows\\` permission" >&2; exit 1; }
    done
done
"""
IDENTITY = {"GIT_AUTHOR_NAME": "GitHub", "GIT_AUTHOR_EMAIL": "noreply@github.com", "GIT_COMMITTER_NAME": "GitHub", "GIT_COMMITTER_EMAIL": "noreply@github.com"}


class GitRefused(Exception):
    """A Git command ended badly; the message is what it said."""


@dataclass(frozen=True)
class Signature:
    """Who and when, as a commit tells it (ISO 8601)."""

    name: str
    email: str
    date: str


@dataclass(frozen=True)
class Commit:
    """A commit's own words."""

    sha: str
    tree: str
    parents: tuple[str, ...]
    author: Signature
    committer: Signature
    message: str


@dataclass(frozen=True)
class Entry:
    """One line of a tree: mode, `blob`, `tree` or `commit`, id, size of a blob, path."""

    mode: str
    kind: str
    sha: str
    size: int
    path: str


class Bare:
    """The repository's folder and what can be asked of it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def attempt(self, *args: str, stdin: bytes = b"", environment: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[bytes]:
        """A command run, however it ends."""
        words = ["git", f"--git-dir={self.path}", "-c", "core.quotePath=false", *args]
        return subprocess.run(words, input=stdin, capture_output=True, check=False, env=git_environment(environment))

    def run(self, *args: str, stdin: bytes = b"", statuses: tuple[int, ...] = (0,), environment: Mapping[str, str] | None = None) -> bytes:
        """A command's output. Raises GitRefused."""
        done = self.attempt(*args, stdin=stdin, environment=environment)
        if done.returncode not in statuses:
            raise GitRefused(done.stderr.decode("utf-8", "replace").strip() or f"git {args[0]} ended with {done.returncode}")
        return done.stdout

    def text(self, *args: str) -> str:
        """A command's output without the last line break."""
        return self.run(*args).decode("utf-8", "replace").rstrip("\n")

    @classmethod
    def imported(cls, path: Path, source: Path) -> Bare:
        """A clone of all branches and tags of a local repository."""
        words = ["git", "clone", "-q", "--bare", "--no-hardlinks", str(source), str(path)]
        done = subprocess.run(words, capture_output=True, check=False, env=git_environment())
        if done.returncode != 0:
            raise GitRefused(done.stderr.decode("utf-8", "replace").strip())
        bare = cls(path)
        bare.run("config", "--remove-section", "remote.origin", statuses=(0, 128))
        for key, value in SETTINGS.items():
            bare.run("config", key, value)
        hook = path / "hooks" / "pre-receive"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(GUARD, encoding="utf-8")
        hook.chmod(0o755)
        return bare

    def fetch(self, source: Path, commit: str) -> str:
        """Bring a commit in from another local repository; its full id."""
        other = Bare(source if (source / "objects").is_dir() else source / ".git")
        sha = other.text("rev-parse", "--verify", "--end-of-options", f"{commit}^{{commit}}")
        reader = "git -c uploadpack.allowAnySHA1InWant=true -c safe.directory=* upload-pack"
        self.run("fetch", "-q", "--no-tags", "--no-write-fetch-head", f"--upload-pack={reader}", str(source.resolve()), sha)
        return sha

    def resolve(self, revision: str) -> str | None:
        """The commit that a branch, tag, full ref or SHA names, or None."""
        for name in (f"refs/heads/{revision}", f"refs/tags/{revision}", revision):
            found = self.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}", statuses=(0, 1, 128)).decode().strip()
            if found:
                return found
        return None

    def refs(self) -> dict[str, str]:
        """Every ref and what it points at."""
        lines = self.text("for-each-ref", "--format=%(refname) %(objectname)").splitlines()
        return dict(line.rsplit(" ", 1) for line in lines)

    def branch(self, name: str) -> str | None:
        """The head of a branch, or None."""
        return self.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"refs/heads/{name}", statuses=(0, 1)).decode().strip() or None

    def move(self, ref: str, sha: str | None) -> None:
        """Point a full ref at a commit, or delete it."""
        self.run("update-ref", *(("-d", ref) if sha is None else (ref, sha)))

    def merge_base(self, one: str, other: str) -> str | None:
        """The best common ancestor, or None."""
        return self.run("merge-base", one, other, statuses=(0, 1)).decode().strip() or None

    def is_ancestor(self, old: str, new: str) -> bool:
        """Whether `new` contains `old`."""
        return self.merge_base(old, new) == old

    def merge(self, base: str, head: str, message: str) -> str | None:
        """A commit that merges head into base, or None where they conflict."""
        tried = self.attempt("merge-tree", "--write-tree", base, head)
        if tried.returncode != 0:
            return None
        return self.run("commit-tree", tried.stdout.decode().strip(), "-p", base, "-p", head, "-m", message, environment=IDENTITY).decode().strip()

    def squash(self, base: str, merged: str, message: str) -> str:
        """A commit on base with the tree of another."""
        return self.run("commit-tree", f"{merged}^{{tree}}", "-p", base, "-m", message, environment=IDENTITY).decode().strip()

    def commit(self, sha: str) -> Commit:
        """What a commit says."""
        layout = "%H%x00%T%x00%P%x00%an%x00%ae%x00%aI%x00%cn%x00%ce%x00%cI%x00%B"
        words = self.text("show", "-s", f"--format={layout}", sha).split("\0")
        return Commit(words[0], words[1], tuple(words[2].split()), Signature(*words[3:6]), Signature(*words[6:9]), words[9].rstrip("\n"))

    def between(self, old: str, new: str, limit: int = 250) -> list[str]:
        """Commits in `new` and not in `old`, oldest first."""
        return self.text("rev-list", "--reverse", f"--max-count={limit}", f"{old}..{new}").split()

    def entry(self, commit: str, path: str) -> Entry | None:
        """A path's place in a commit, or None."""
        if path in ("", "."):
            return Entry("040000", "tree", self.text("rev-parse", f"{commit}^{{tree}}"), 0, "")
        found = [entry for entry in self.listing(commit, path) if entry.path == path]
        return found[0] if found else None

    def listing(self, treeish: str, *paths: str) -> list[Entry]:
        """The entries of a tree, one level deep."""
        entries = []
        for line in self.run("ls-tree", "-lz", treeish, "--", *(f":(literal){path}" for path in paths)).decode("utf-8", "surrogateescape").split("\0"):
            if line:
                head, path = line.split("\t", 1)
                mode, kind, sha, size = head.split()
                entries.append(Entry(mode, kind, sha, 0 if size == "-" else int(size), path))
        return entries

    def blob(self, sha: str) -> bytes:
        """The bytes of a file."""
        return self.run("cat-file", "blob", sha)

    def diff(self, old: str, new: str, *options: str) -> str:
        """A diff of two commits as text, renames found."""
        return self.run("diff", "--no-ext-diff", "--no-color", "-M", "--full-index", *options, old, new).decode("utf-8", "replace")


def git_environment(more: Mapping[str, str] | None = None) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "TMPDIR") if name in os.environ}
    configuration = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory",
                     "GIT_CONFIG_VALUE_0": "*"}
    return {**kept, "HOME": "/nonexistent", "LC_ALL": "C.UTF-8", "GIT_TERMINAL_PROMPT": "0", **configuration, **(more or {})}


