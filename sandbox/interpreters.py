"""Which Pythons can be had: those of Debian's releases, and those found on the host (pyenv, uv)."""

from __future__ import annotations

import io
import os
import re
import tarfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

DEBIAN_PYTHONS = {"3.9": "bullseye", "3.11": "bookworm", "3.13": "trixie"}  # of the releases that Debian's mirror has
SKIPPED = re.compile(r"/(site-packages/.+|__pycache__(/.*)?|share(/.*)?|.*\.a|config-[^/]*/.*)$")


@dataclass(frozen=True)
class Interpreter:
    """A Python of the host: `version` like 3.9, and its prefix."""

    version: str
    full_version: str
    prefix: Path

    @property
    def executable(self) -> str:
        return f"{self.prefix}/bin/python{self.version}"


def _prefixes() -> Iterable[Path]:
    home = Path.home()
    for folder in (Path(os.environ.get("PYENV_ROOT") or home / ".pyenv") / "versions", home / ".local/share/uv/python"):
        if folder.is_dir():
            yield from sorted(folder.iterdir())


def on_host() -> dict[str, Interpreter]:
    """Version (3.9) -> the newest such interpreter of the host, by the names of pyenv's and uv's folders."""
    found: dict[str, Interpreter] = {}
    for prefix in _prefixes():
        match = re.fullmatch(r"(?:cpython-)?(3\.(\d+)\.(\d+))(?:-linux.*)?", prefix.name)
        if not match or not (prefix / "bin" / f"python3.{match[2]}").exists():
            continue
        version = f"3.{match[2]}"
        known = found.get(version)
        if known is None or int(known.full_version.rsplit(".", 1)[1]) < int(match[3]):
            found[version] = Interpreter(version, match[1], prefix)
    return found


def available() -> tuple[str, ...]:
    """Versions that an environment can have, oldest first."""
    versions = set(on_host()) | set(DEBIAN_PYTHONS)
    return tuple(sorted(versions, key=lambda v: int(v.split(".")[1])))


def archive(interpreter: Interpreter) -> bytes:
    """A tar of the interpreter at its own absolute path, without installed packages, readable by all."""
    buffer = io.BytesIO()

    def clean(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
        if SKIPPED.search("/" + entry.name):
            return None
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = "root"
        entry.mode = (entry.mode | 0o444 | (0o111 if entry.isdir() or entry.mode & 0o100 else 0)) & ~0o022
        return entry

    with tarfile.open(fileobj=buffer, mode="w", dereference=False) as tar:
        for folder in reversed(interpreter.prefix.parents):
            if folder != Path("/"):
                entry = tarfile.TarInfo(str(folder).lstrip("/"))
                entry.type, entry.mode = tarfile.DIRTYPE, 0o755
                tar.addfile(entry)
        tar.add(interpreter.prefix, arcname=str(interpreter.prefix).lstrip("/"), filter=clean)
    return buffer.getvalue()
