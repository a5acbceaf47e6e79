"""A source tree as data, and its way into a box."""

from __future__ import annotations

import hashlib
import io
import posixpath
import tarfile
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from sandbox.errors import UnsafeTree

REGULAR, EXECUTABLE, LINK = "100644", "100755", "120000"
INSTANT = 1_600_000_000  # the time that every file of a box has


@dataclass(frozen=True)
class File:
    """One entry: a Git mode (100644, 100755, or 120000 for a link whose data is its target) and its bytes."""

    mode: str
    data: bytes


class Tree(Mapping[str, File]):
    """A frozen tree: path from the root, with `/` between names -> File."""

    def __init__(self, files: Mapping[str, File] | Iterable[tuple[str, File]] = ()) -> None:
        self._files = dict(files)
        self._digest: str | None = None

    def __getitem__(self, path: str) -> File:
        return self._files[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)

    def with_changes(self, changes: Mapping[str, File | None]) -> Tree:
        """A new tree; None removes a path. A file put where a folder was takes that folder's place, and the reverse."""
        files = dict(self._files)
        for path, file in changes.items():
            if file is None:
                files.pop(path, None)
        for path, file in changes.items():
            if file is not None:
                files[path] = file
        return Tree(files)

    def text(self, path: str) -> str | None:
        """The decoded text of a regular file, or None where there is none."""
        file = self._files.get(path)
        if file is None or file.mode == LINK:
            return None
        return file.data.decode("utf-8", errors="replace")

    @property
    def digest(self) -> str:
        """sha256 over every path, mode and content."""
        if self._digest is None:
            total = hashlib.sha256()
            for path in sorted(self._files):
                file = self._files[path]
                content = hashlib.sha256(file.data).hexdigest()
                total.update(f"{path}\0{file.mode}\0{content}\n".encode("utf-8", "surrogateescape"))
            self._digest = total.hexdigest()
        return self._digest

    @property
    def size(self) -> int:
        """Bytes of all contents."""
        return sum(len(file.data) for file in self._files.values())


def link_escapes(path: str, target: str) -> bool:
    """Whether a link at `path` points out of the tree (or to nothing that a path can name)."""
    if not target or target.startswith("/") or "\0" in target:
        return True
    landed = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
    return landed == ".." or landed.startswith("../")


def unsafe_path(path: str) -> str | None:
    """What is wrong with a path for a tree, or None. `.git` is compared as HFS+ and NTFS would see it."""
    if not path or path.startswith("/") or "\0" in path or "\\" in path:
        return "not a relative path"
    for name in path.split("/"):
        if name in ("", ".", ".."):
            return "leaves the tree"
        plain = unicodedata.normalize("NFC", "".join(c for c in name if unicodedata.category(c) != "Cf"))
        folded = plain.casefold().rstrip(". ").split(":")[0]
        if folded in (".git", "git~1"):
            return "inside .git"
    return None


def is_bytecode(path: str) -> bool:
    """Whether an interpreter would run this file in the place of a source (PEP 552: without a look at that, if it says so)."""
    return "__pycache__" in path.split("/")[:-1]


def check_tree(tree: Tree) -> None:
    """Refuse what must not be unpacked: unsafe paths, other modes, escaping links, and writes below a link.

    Raises UnsafeTree, which names the path.
    """
    links = {path for path, file in tree.items() if file.mode == LINK}
    for path, file in tree.items():
        wrong = unsafe_path(path)
        if wrong:
            raise UnsafeTree(f"{path!r}: {wrong}")
        if file.mode not in (REGULAR, EXECUTABLE, LINK):
            raise UnsafeTree(f"{path!r}: mode {file.mode}")
        if file.mode == LINK and link_escapes(path, file.data.decode("utf-8", "surrogateescape")):
            raise UnsafeTree(f"{path!r}: link out of the tree")
        parts = path.split("/")
        if links and any("/".join(parts[:n]) in links for n in range(1, len(parts))):
            raise UnsafeTree(f"{path!r}: below a link")


def to_tar(tree: Tree, extra: Mapping[str, bytes] | None = None) -> bytes:
    """An uncompressed tar archive of a checked tree; `extra` adds plain files of ours (the one-commit repository).

    Times are all one instant, so that nothing depends on when the box was made.
    """
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path in sorted(tree):
            file = tree[path]
            entry = tarfile.TarInfo(path)
            entry.mtime = INSTANT
            if file.mode == LINK:
                entry.type, entry.linkname, entry.mode = tarfile.SYMTYPE, file.data.decode("utf-8", "surrogateescape"), 0o777
                archive.addfile(entry)
                continue
            entry.size, entry.mode = len(file.data), 0o755 if file.mode == EXECUTABLE else 0o644
            archive.addfile(entry, io.BytesIO(file.data))
        for path, data in sorted((extra or {}).items()):
            entry = tarfile.TarInfo(path)
            entry.size, entry.mode, entry.mtime = len(data), 0o644, INSTANT
            archive.addfile(entry, io.BytesIO(data))
    return buffer.getvalue()
