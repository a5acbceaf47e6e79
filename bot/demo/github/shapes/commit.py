"""Commits, changed files and contents as GitHub writes them."""

from __future__ import annotations

import base64
import re
from pathlib import PurePosixPath
from urllib.parse import quote

from bot.demo.github.bare import Commit, Entry, Signature
from bot.demo.github.records import Json, Repository, node_id
from bot.demo.github.shapes.site import Site

STATUSES = {"A": "added", "D": "removed", "M": "modified", "R": "renamed", "C": "copied", "T": "changed"}
KINDS = {"tree": "dir", "commit": "submodule", "blob": "file"}
HUNKS = re.compile(r"^@@ ", re.M)


def commit(site: Site, repository: Repository, told: Commit) -> Json:
    """`commit`, without statistics and files."""
    api, page = site.repository(repository), site.page(repository)
    parents = [{"sha": sha, "url": f"{api}/commits/{sha}", "html_url": f"{page}/commit/{sha}"} for sha in told.parents]
    inner = {"author": _signature(told.author), "committer": _signature(told.committer), "message": told.message,
             "tree": {"sha": told.tree, "url": f"{api}/git/trees/{told.tree}"}, "url": f"{api}/git/commits/{told.sha}", "comment_count": 0,
             "verification": {"verified": False, "reason": "unsigned", "signature": None, "payload": None, "verified_at": None}}
    url = f"{api}/commits/{told.sha}"
    return {"sha": told.sha, "node_id": node_id("Commit", int(told.sha[:12], 16)), "commit": inner, "url": url, "html_url": f"{page}/commit/{told.sha}",
            "comments_url": f"{url}/comments", "author": None, "committer": None, "parents": parents}


def detailed_commit(site: Site, repository: Repository, told: Commit) -> Json:
    """`commit` with its statistics and files."""
    empty_tree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
    files = changed_files(site, repository, told.parents[0] if told.parents else empty_tree, told.sha)
    added, removed = sum(file["additions"] for file in files), sum(file["deletions"] for file in files)
    return {**commit(site, repository, told), "stats": {"total": added + removed, "additions": added, "deletions": removed}, "files": files}


def in_payload(told: Commit) -> Json:
    """`simple-commit`: the head commit of a suite or merge group."""
    return {"id": told.sha, "tree_id": told.tree, "message": told.message, "timestamp": told.committer.date,
            "author": {"name": told.author.name, "email": told.author.email}, "committer": {"name": told.committer.name, "email": told.committer.email}}


def in_push(site: Site, repository: Repository, told: Commit) -> Json:
    """One of the `commits` of a push."""
    paths: dict[str, list[str]] = {"A": [], "D": [], "M": []}
    listing = repository.git.run("diff-tree", "-r", "-z", "--root", "--no-commit-id", "--no-renames", "--name-status", told.sha)
    words = listing.decode("utf-8", "replace").split("\0")
    for letter, path in zip(words[0::2], words[1::2]):
        paths["M" if letter == "T" else letter].append(path)
    return {**in_payload(told), "distinct": True, "url": f"{site.page(repository)}/commit/{told.sha}", "added": paths["A"], "removed": paths["D"],
            "modified": paths["M"]}


def changed_files(site: Site, repository: Repository, old: str, new: str) -> list[Json]:
    """`diff-entry` for each file between two commits."""
    git = repository.git
    counts = _counts(git.run("diff", "-M", "--numstat", "-z", old, new).decode("utf-8", "surrogateescape"))
    words = iter(git.run("diff", "-M", "--raw", "-z", "--no-abbrev", old, new).decode("utf-8", "surrogateescape").split("\0"))
    patches = _patches(git.diff(old, new))
    files = []
    for index, head in enumerate(word for word in words if word):
        letter, old_id, new_id = head.split(" ")[4], head.split(" ")[2], head.split(" ")[3]
        previous, path = next(words), ""
        path = next(words) if letter[0] in "RC" else previous
        files.append(_changed_file(site, repository, new, path, previous, letter[0], old_id if letter == "D" else new_id, counts[index], patches[index]))
    return files


def _changed_file(site: Site, repository: Repository, new: str, path: str, previous: str, letter: str, blob: str, counted: tuple[int, int] | None,
                  patch: str | None) -> Json:
    page, named = site.page(repository), quote(path)
    added, removed = counted or (0, 0)
    file = {"sha": blob, "filename": path, "status": STATUSES[letter], "additions": added, "deletions": removed, "changes": added + removed,
            "blob_url": f"{page}/blob/{new}/{named}", "raw_url": f"{page}/raw/{new}/{named}",
            "contents_url": f"{site.repository(repository)}/contents/{named}?ref={new}"}
    if patch is not None:
        file["patch"] = patch
    return file if path == previous else {**file, "previous_filename": previous}


def contents(site: Site, repository: Repository, entry: Entry, ref: str, data: bytes | None = None) -> Json:
    """`content-file` with its bytes, or one item of a `content-directory`."""
    named = quote(entry.path)
    kind = "symlink" if entry.mode == "120000" else KINDS[entry.kind]
    url, html = f"{site.repository(repository)}/contents/{named}?ref={quote(ref)}", f"{site.page(repository)}/blob/{quote(ref)}/{named}"
    git = f"{site.repository(repository)}/git/{'trees' if kind == 'dir' else 'blobs'}/{entry.sha}"
    told = {"name": PurePosixPath(entry.path).name, "path": entry.path, "sha": entry.sha, "size": entry.size, "url": url, "html_url": html, "git_url": git,
            "download_url": f"{site.page(repository)}/raw/{quote(ref)}/{named}" if kind == "file" else None, "type": kind,
            "_links": {"self": url, "git": git, "html": html}}
    return told if data is None else {**told, "content": base64.encodebytes(data).decode(), "encoding": "base64"}


def _signature(who: Signature) -> Json:
    return {"name": who.name, "email": who.email, "date": who.date}


def _counts(text: str) -> list[tuple[int, int] | None]:
    counts: list[tuple[int, int] | None] = []
    words = iter(text.split("\0"))
    for head in words:
        if head:
            added, removed, path = head.split("\t")
            counts.append(None if added == "-" else (int(added), int(removed)))
            if not path:
                next(words), next(words)
    return counts


def _patches(diff: str) -> list[str | None]:
    """The hunks of each file of a diff; None for binary files and pure renames."""
    patches: list[str | None] = []
    for part in re.split(r"^diff --git .*\n", diff, flags=re.M)[1:]:
        start = HUNKS.search(part)
        patches.append(part[start.start():].rstrip("\n") if start else None)
    return patches
