"""What a change does to the dependency tables of Cargo.toml, and the installation in a person's words."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sandbox.plan import Plan
from sandbox.toolchains.protocol import ManifestFault
from sandbox.toolchains.rust.packages import manifest_of, parse
from sandbox.toolchains.rust.plan import of_rust
from sandbox.workspace import Tree

TABLES = ("dependencies", "dev-dependencies", "build-dependencies")
LINE = re.compile(r"(?P<name>[\w-]+) = (?P<value>.+) in \[(?P<table>.+)\] of (?P<path>\S+)", re.DOTALL)


@dataclass(frozen=True)
class Requirement:
    """One row of a dependency table: its manifest, the words of the table's name, its name and its value in TOML."""

    path: str
    table: tuple[str, ...]
    name: str
    value: str

    def line(self) -> str:
        """For people, and to be read again."""
        return f"{self.name} = {self.value} in [{'.'.join(map(_key, self.table))}] of {self.path}"


def read_line(line: str) -> Requirement:
    """What `Requirement.line` wrote. Raises ValueError for anything else."""
    match = LINE.fullmatch(line)
    if match is None:
        raise ValueError(f"not a requirement: {line}")
    table: Any = parse(f"[{match['table']}]\n")
    words: list[str] = []
    while table:
        word, table = next(iter(table.items()))
        words.append(word)
    return Requirement(match["path"], tuple(words), match["name"], match["value"])


def requirements(path: str, text: str) -> Iterator[Requirement]:
    """The rows of all dependency tables of a manifest."""
    data = parse(text)
    scopes: list[tuple[tuple[str, ...], Any]] = [((), data), (("workspace",), data.get("workspace"))]
    scopes += [(("target", name), table) for name, table in (data.get("target") or {}).items()]
    for scope, table in scopes:
        for key in TABLES:
            rows = table.get(key) if isinstance(table, dict) else None
            for name, value in rows.items() if isinstance(rows, dict) else ():
                yield Requirement(path, (*scope, key), name, toml(value))


def toml(value: Any) -> str:
    """A value of a manifest as TOML on one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(key)} = {toml(inner)}" for key, inner in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(str(value))


def _key(word: str) -> str:
    return word if re.fullmatch(r"[\w-]+", word) else "'" + word + "'"


def with_requirement(text: str, wanted: Requirement) -> str:
    """A manifest with a row put in, or put in the place of the one of that name."""
    header = ".".join(map(_key, wanted.table))
    known = [row for row in requirements("", text) if row.table == wanted.table and row.name == wanted.name]
    lines = text.rstrip("\n").split("\n")
    places = [n for n, line in enumerate(lines) if line.strip().startswith("[") and _header(line) == wanted.table]
    if known:
        own = [n for n, line in enumerate(lines) if line.strip().startswith("[") and _header(line) == (*wanted.table, wanted.name)]
        start, end = (own[0], _section_end(lines, own[0])) if own else _row(lines, places[0] if places else 0, wanted.name)
        del lines[start:end]
        places = [n for n, line in enumerate(lines) if line.strip().startswith("[") and _header(line) == wanted.table]
    row = f"{_key(wanted.name)} = {wanted.value}"
    if places:
        lines.insert(places[0] + 1, row)
    else:
        lines += ["", f"[{header}]", row]
    return "\n".join(lines) + "\n"


def _header(line: str) -> tuple[str, ...]:
    table: Any = parse(line.split("#")[0].strip() + "\n")
    words: list[str] = []
    while isinstance(table, dict) and table:
        word, table = next(iter(table.items()))
        words.append(word)
    return tuple(words)


def _section_end(lines: list[str], start: int) -> int:
    return next((n for n in range(start + 1, len(lines)) if lines[n].strip().startswith("[")), len(lines))


def _row(lines: list[str], section: int, name: str) -> tuple[int, int]:
    """The lines of a row: until it is a whole value, for those of more than one line."""
    begin = next((n for n in range(section, len(lines)) if re.match(rf"\s*[\"']?{re.escape(name)}[\"']?\s*[=.]", lines[n])), len(lines))
    end = begin + 1
    while end < len(lines) and not parse("\n".join(lines[begin:end])):
        end += 1
    return begin, end


class RustManifests:
    """By the dependency tables alone: features, profiles, targets are base's."""

    def added(self, plan: Plan, base: Tree, changed: Tree) -> tuple[str, ...]:
        """Rows that are new or have another value, of base's manifests."""
        found = []
        for path in _manifests(plan):
            before = {(row.table, row.name): row.value for row in requirements(path, base.text(path) or "")}
            found += [row.line() for row in requirements(path, changed.text(path) or "") if path in base and before.get((row.table, row.name)) != row.value]
        return tuple(found)

    def faults(self, plan: Plan, base: Tree, changed: Tree, patched: Tree) -> list[ManifestFault]:
        """A manifest that can't be read, a crate that is no longer declared and still used."""
        found = []
        for path in _manifests(plan):
            if path in changed and (changed.text(path) or "").strip() and not parse(changed.text(path) or ""):
                found.append(ManifestFault(f"{path} can't be read with the change", (path,)))
                continue
            before, after = ({row.name for row in requirements(path, tree.text(path) or "") if row.table == ("dependencies",)} for tree in (base, changed))
            folder = path[: -len("Cargo.toml")]
            for name in sorted(before - after) if path in changed else []:
                word = re.compile(rf"\b{re.escape(name.replace('-', '_'))}::")
                users = [other for other in patched if other.startswith(folder + "src/") and other.endswith(".rs") and word.search(patched.text(other) or "")]
                if users:
                    found.append(ManifestFault(f"the change no longer requires {name}, which {users[0]} uses", tuple(users[:10])))
        return found

    def words(self, plan: Plan) -> list[str]:
        """Of the tool."""
        mine = of_rust(plan)
        first = "cargo fetch --locked" if mine.locked else "cargo generate-lockfile" + (f" --publish-time {mine.exclude_newer}" if mine.exclude_newer else "")
        return [first, "cargo build --workspace --tests --examples --keep-going"]


def _manifests(plan: Plan) -> list[str]:
    mine = of_rust(plan)
    return list(dict.fromkeys([manifest_of(mine.directory), *(manifest_of(package.folder) for package in mine.packages)]))
