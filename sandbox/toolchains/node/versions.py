"""Which release of Node a repository is tested with."""

from __future__ import annotations

import datetime
import posixpath
import re

from sandbox.plan import Choice
from sandbox.toolchains.node.package import Package
from sandbox.workspace import Tree

# Majors with long-term support, and the day it began (github.com/nodejs/Release).
LONG_TERM = (
    (4, datetime.date(2015, 10, 12)), (6, datetime.date(2016, 10, 18)), (8, datetime.date(2017, 10, 31)), (10, datetime.date(2018, 10, 30)),
    (12, datetime.date(2019, 10, 21)), (14, datetime.date(2020, 10, 27)), (16, datetime.date(2021, 10, 26)), (18, datetime.date(2022, 10, 25)),
    (20, datetime.date(2023, 10, 24)), (22, datetime.date(2024, 10, 29)), (24, datetime.date(2025, 10, 28)), (26, datetime.date(2026, 10, 27)),
)
OLDEST = 10  # our reporters are written for it
ALIASES = re.compile(r"lts/(\w+)")
NAMES = {"argon": 4, "boron": 6, "carbon": 8, "dubnium": 10, "erbium": 12, "fermium": 14, "gallium": 16, "hydrogen": 18, "iron": 20, "jod": 22,
         "krypton": 24}
COMPARATOR = re.compile(r"(>=|<=|>|<|\^|~|=)?\s*v?(\d+)(?:\.(\d+|x|\*))?(?:\.(\d+|x|\*))?")


def releases(tree: Tree, package: Package, date: datetime.date, why: list[Choice]) -> tuple[str, ...]:
    """The pinned release, else the newest with long-term support on the commit's day that `engines` admits; then its neighbours."""
    pinned = _pinned(tree, package)
    engines = package.data.get("engines")
    wanted = str(engines.get("node") or "") if isinstance(engines, dict) else ""
    day = [major for major, begins in LONG_TERM if begins <= date and major >= OLDEST] or [OLDEST]
    admitted = [major for major in day if admits(wanted, major)] or [major for major,
                                                                     _ in LONG_TERM if major >= OLDEST and admits(wanted, major)][:1] or day
    rest = [str(major) for major in (*reversed(admitted), *reversed(day))]
    if pinned:
        release, file = pinned
        why.append(Choice("interpreter", f"Node {release}", file, 1))
        rest = [release, *rest]
    else:
        why.append(Choice("interpreter", f"Node {rest[0]}", package.path, package.line("engines")))
    return tuple(dict.fromkeys(rest))[:3]


def _pinned(tree: Tree, package: Package) -> tuple[str, str] | None:
    for name in (".nvmrc", ".node-version"):
        for folder in dict.fromkeys((package.folder, "")):
            path = posixpath.join(folder, name)
            if (release := _release((tree.text(path) or "").strip())) is not None:
                return release, path
    volta = package.data.get("volta")
    if isinstance(volta, dict) and (release := _release(str(volta.get("node") or ""))) is not None:
        return release, package.path
    return None


def _release(word: str) -> str | None:
    alias = ALIASES.fullmatch(word)
    if alias:
        return str(NAMES[alias[1]]) if alias[1] in NAMES else None
    match = re.fullmatch(r"v?(\d+)(\.\d+)?(\.\d+)?", word.split("\n")[0].strip())
    return match[0].removeprefix("v") if match and int(match[1]) >= OLDEST else None


def admits(wanted: str, major: int) -> bool:
    """Whether the newest release of a major may satisfy a range of npm's."""
    parts = [part for part in wanted.split("||") if part.strip()]
    return not parts or any(_admits(part, major) for part in parts)


def _admits(part: str, major: int) -> bool:
    span = re.fullmatch(r"\s*v?(\d+)[\d.x*]*\s+-\s+v?(\d+)[\d.x*]*\s*", part)
    if span:
        return int(span[1]) <= major <= int(span[2])
    return all(_holds(sign, int(number), minor, major) for sign, number, minor, _ in COMPARATOR.findall(part))


def _holds(sign: str, number: int, minor: str, major: int) -> bool:
    if sign == ">=":
        return major >= number
    if sign == ">":
        return major >= number if minor.isdigit() else major > number
    if sign == "<=":
        return major <= number
    if sign == "<":
        return major < number if minor in ("", "0", "x", "*") else major <= number
    return major == number
