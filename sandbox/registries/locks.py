"""What a lock file pins: for each package and version, where it comes from and by which hash it is known. Pure; what can't be read pins nothing."""

from __future__ import annotations

import json
import posixpath
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

URL = re.compile(r"(?:[a-z]+\+)?(https?|ssh|git)://[^\s\"'#,}\]]+")
NPM_KEY = re.compile(r"(?:^|/)node_modules/((?:@[^/]+/)?[^/]+)$")
YARN_NAME = re.compile(r"^\"?((?:@[^@/\s\"]+/)?[^@/\s\",]+)@")
PNPM_KEY = re.compile(r"^ {2}'?/?((?:@[^@/\s']+/)?[^@/\s']+)[@/]([^\s:'()]+)[^\s:]*:\s*$")
INTEGRITY = re.compile(r"\b(sha\d+)-([A-Za-z0-9+/=]{20,})")


@dataclass(frozen=True)
class Pin:
    """One package at one version: its hosts, and its hashes as `algorithm:digest`."""

    name: str
    version: str
    hosts: frozenset[str]
    hashes: frozenset[str]


@dataclass(frozen=True)
class LockFault:
    """What a reader of a changed lock file should see, in words."""

    path: str
    detail: str


def _host(url: str) -> str:
    match = URL.search(url)
    return (urlsplit(match[0].split("+", 1)[-1]).hostname or "").lower() if match else ""


def _pin(name: str, version: str, urls: Iterator[str] | list[str], hashes: Iterator[str] | list[str]) -> Pin:
    return Pin(name, version, frozenset(host for url in urls if (host := _host(url))), frozenset(one for one in hashes if ":" in one))


def _integrity(text: str) -> list[str]:
    return [f"{algorithm}:{digest}" for algorithm, digest in INTEGRITY.findall(text)]


def _package_lock(text: str) -> Iterator[Pin]:
    data = json.loads(text)
    for key, row in (data.get("packages") or {}).items():
        if (match := NPM_KEY.search(key)) and not row.get("link"):
            yield _pin(row.get("name") or match[1], str(row.get("version")), [str(row.get("resolved") or "")], _integrity(str(row.get("integrity") or "")))
    yield from _nested(data.get("dependencies") or {})


def _nested(table: Mapping[str, Any]) -> Iterator[Pin]:
    for name, row in table.items():
        yield _pin(name, str(row.get("version")), [str(row.get("resolved") or "")], _integrity(str(row.get("integrity") or "")))
        yield from _nested(row.get("dependencies") or {})


def _yarn(text: str) -> Iterator[Pin]:
    for block in re.split(r"\n(?=\S)", text):
        name, version = YARN_NAME.match(block), re.search(r"^  version:? \"?([^\s\"]+)", block, re.MULTILINE)
        if name and version:
            resolved = re.findall(r"^  (?:resolved|resolution):? (.+)$", block, re.MULTILINE)
            checksum = re.search(r"^  checksum: \"?(?:(\w+)/)?([0-9a-f]{32,})", block, re.MULTILINE)
            hashes = _integrity(block) + ([f"{checksum[1] or 'berry'}:{checksum[2]}"] if checksum else [])
            yield _pin(name[1], version[1], resolved, hashes)


def _pnpm(text: str) -> Iterator[Pin]:
    name = version = ""
    for line in text.splitlines():
        if match := PNPM_KEY.match(line):
            name, version = match[1], match[2]
        elif name and line.strip().startswith("resolution:"):
            yield _pin(name, version, [line], _integrity(line))


def _cargo(text: str) -> Iterator[Pin]:
    for row in tomllib.loads(text).get("package", []):
        source = str(row.get("source") or "")
        yield _pin(row["name"], row["version"], [source], [f"sha256:{row['checksum']}"] if row.get("checksum") else [])


def _python(text: str) -> Iterator[Pin]:
    """poetry.lock (both generations), uv.lock, pdm.lock, pylock.toml."""
    data = tomllib.loads(text)
    older = (data.get("metadata") or {}).get("files") or {}
    for row in data.get("package") or data.get("packages") or []:
        files = [*(row.get("files") or []), *(row.get("wheels") or []), *older.get(row["name"], [])]
        files += [row["sdist"]] if isinstance(row.get("sdist"), dict) else []
        hashes = [str(file.get("hash") or "") for file in files] + [f"{key}:{value}" for file in files for key, value in (file.get("hashes") or {}).items()]
        urls = [str(file.get("url") or "") for file in files] + [str(value) for value in (row.get("source") or {}).values()]
        yield _pin(row["name"], str(row.get("version", "")), urls, hashes)


def _pipfile(text: str) -> Iterator[Pin]:
    data = json.loads(text)
    for table in ("default", "develop"):
        for name, row in (data.get(table) or {}).items():
            yield _pin(name, str(row.get("version", "")), [str(row.get("git") or row.get("file") or "")], list(row.get("hashes") or []))


def _go_sum(text: str) -> Iterator[Pin]:
    for line in text.splitlines():
        words = line.split()
        if len(words) == 3:
            yield _pin(words[0], words[1], [], [words[2]])


READERS: Mapping[str, Callable[[str], Iterator[Pin]]] = {
    "package-lock.json": _package_lock, "npm-shrinkwrap.json": _package_lock, "yarn.lock": _yarn, "pnpm-lock.yaml": _pnpm, "Cargo.lock": _cargo,
    "poetry.lock": _python, "uv.lock": _python, "pdm.lock": _python, "pylock.toml": _python, "Pipfile.lock": _pipfile, "go.sum": _go_sum,
}


def is_lock(path: str) -> bool:
    """Whether this is a lock file that we can read."""
    return posixpath.basename(path) in READERS


def pins(path: str, text: str) -> tuple[Pin, ...] | None:
    """Every pin of a lock file; None where it can't be read."""
    try:
        return tuple(READERS[posixpath.basename(path)](text))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def compare(path: str, before: str, after: str, known_hosts: frozenset[str]) -> list[LockFault]:
    """What a change does to a lock file that a new release of a package does not: another hash for the same release, no hash where there was one, a
    host that base does not use. `known_hosts`: registries that are fine anywhere; `.name` covers all below it."""
    read, new = pins(path, before) if before else (), pins(path, after)
    if new is None:
        return [] if read is None else [LockFault(path, f"{path} can't be read with the change")]
    old = read or ()
    hosts = known_hosts | {host for pin in old for host in pin.hosts}
    was: dict[tuple[str, str], set[str]] = {}
    for pin in old:
        was.setdefault((pin.name, pin.version), set()).update(pin.hashes)
    faults = [fault for pin in new for fault in _faults(path, pin, was.get((pin.name, pin.version)), hosts)]
    return list(dict.fromkeys(faults))


def _faults(path: str, pin: Pin, before: set[str] | None, hosts: frozenset[str]) -> Iterator[LockFault]:
    what = f"{pin.name} {pin.version}"
    for host in sorted(pin.hosts):
        if host not in hosts and not any(known.startswith(".") and f".{host}".endswith(known) for known in hosts):
            yield LockFault(path, f"{path} takes {what} from {host}, which is none of the registries in use on base")
    if not before:
        return
    if not pin.hashes:
        yield LockFault(path, f"{path} no longer knows {what} by its hash")
    same_kind = {one for one in pin.hashes if one.split(":")[0] in {other.split(":")[0] for other in before}}
    if same_kind and not same_kind & before:
        yield LockFault(path, f"{path} gives {what} another hash than base, which no release of a registry ever gets")
