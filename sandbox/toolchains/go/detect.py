"""A tree -> a plan for each of its Go modules."""

from __future__ import annotations

import datetime
import posixpath
import re

from sandbox.plan import Choice
from sandbox.toolchains.go.modules import Module, go_files, groups_of_module, read_modules
from sandbox.toolchains.go.plan import GoPlan
from sandbox.toolchains.protocol import Sight
from sandbox.workspace import Tree

DEBIANS = "1.24"  # what Debian's trixie brings; any other since 1.21 comes through the module proxy
MOST_MODULES = 8
# Day of the first release, and a late patch release of each (go.dev/doc/devel/release).
RELEASES = (
    ("1.21", datetime.date(2023, 8, 8), "1.21.13"), ("1.22", datetime.date(2024, 2, 6), "1.22.12"), ("1.23", datetime.date(2024, 8, 13), "1.23.12"),
    ("1.24", datetime.date(2025, 2, 11), DEBIANS), ("1.25", datetime.date(2025, 8, 12), "1.25.0"), ("1.26", datetime.date(2026, 2, 10), "1.26.0"),
)
GO_LINE = re.compile(r"^go\s+(\d+(?:\.\d+)*(?:rc\d+)?)", re.MULTILINE)
TOOLCHAIN_LINE = re.compile(r"^toolchain\s+go(\d+(?:\.\d+)*(?:rc\d+)?)", re.MULTILINE)


def plans(tree: Tree, sight: Sight) -> list[GoPlan]:
    """A plan a module; where there are many, those that the change touches, the root and those with most tests."""
    modules = read_modules(tree)
    found = [_plan(tree, module, sight) for module in modules]
    found = [plan for plan in found if plan.packages]
    if len(found) > MOST_MODULES:
        found.sort(key=lambda plan: (not _is_touched(plan, sight), plan.directory != "", -len(plan.test_files)))
        found = sorted(found[:MOST_MODULES], key=lambda plan: plan.directory)
    return found


def _is_touched(plan: GoPlan, sight: Sight) -> bool:
    folders = {folder for folder, _, _ in plan.packages}
    return any(posixpath.dirname(path) in folders for path in sight.changed)


def _plan(tree: Tree, module: Module, sight: Sight) -> GoPlan:
    manifest = posixpath.join(module.directory, "go.mod")
    text = tree.text(manifest) or ""
    why = [Choice("module", module.path, manifest, _line(text, "module"))]
    workspace = _workspace(tree, module, why)
    releases = _releases(text, (workspace and tree.text("go.work")) or "", manifest, sight, why)
    groups = groups_of_module(module)
    folders = set(module.folders)
    tests = tuple(sorted(path for path in go_files(tree) if path.endswith("_test.go") and posixpath.dirname(path) in folders))
    if sight.before is not None:
        own = {path for path in go_files(sight.before) if path.endswith("_test.go") and posixpath.dirname(path) in folders}
        tests = tuple(sorted({*tests, *own}))
    vendored = posixpath.join(module.directory, "vendor/modules.txt") in tree
    if vendored:
        why.append(Choice("dependencies", "vendored", posixpath.join(module.directory, "vendor/modules.txt"), 1))
    names = [posixpath.join(module.directory, name) for name in ("go.mod", "go.sum", "vendor/modules.txt")] + (["go.work", "go.work.sum"] if workspace else [])
    here = sight.before if sight.before is not None else tree
    return GoPlan(
        toolchain="go", framework="go test", interpreters=releases, directory=module.directory, test_files=tests, version=sight.version,
        manifests=tuple(name for name in names if name in tree and name in here), why=tuple(why), module=module.path,
        packages=tuple((folder, module.import_path(folder), groups[folder]) for folder in module.folders), workspace=workspace, vendored=vendored)


def _workspace(tree: Tree, module: Module, why: list[Choice]) -> bool:
    text = tree.text("go.work")
    if text is None:
        return False
    used = {posixpath.normpath(word).strip("/").removeprefix(".") for word in re.findall(r"(?:^|\s)(\.[\w./-]*)", re.sub(r"//[^\n]*", "", text))}
    inside = module.directory in used
    if inside:
        why.append(Choice("workspace", "part of go.work", "go.work", 1))
    return inside


def _releases(text: str, work: str, manifest: str, sight: Sight, why: list[Choice]) -> tuple[str, ...]:
    """What go.mod demands, else Debian's own; then the release of the commit's day."""
    lines = [match[1] for source in (text, work) for pattern in (GO_LINE, TOOLCHAIN_LINE) if (match := pattern.search(source))]
    demanded = max([match[1] for source in (text, work) if (match := GO_LINE.search(source))], key=_number, default="1.16")
    newest = max(lines, key=_number, default="1.16")
    of_the_day = [release for _, day, release in RELEASES if day <= sight.commit_date]
    # A toolchain line is a wish: what is newer than the newest known may not be there to be had.
    debians_will_do = [_number(release) <= (*_number(DEBIANS), 99) for release in (newest, demanded)]
    wanted = [DEBIANS] if debians_will_do[0] else [_whole(newest), *([_whole(demanded)] if demanded != newest else [])]
    if debians_will_do[1] and DEBIANS not in wanted:
        wanted = [wanted[0], DEBIANS]
    rest = [release for release in reversed(of_the_day or [RELEASES[0][2]]) if release not in wanted and _number(release) >= _number(demanded)]
    why.append(Choice("compiler", f"Go {wanted[0]}", manifest, _line(text, "toolchain" if "\ntoolchain" in text else "go ")))
    return (*wanted, *rest[:2])


def _number(release: str) -> tuple[int, ...]:
    return tuple(int(word) for word in re.findall(r"\d+", release.split("rc")[0]))


def _whole(release: str) -> str:
    """A name that a toolchain can be fetched by: since 1.21 the first release has a .0."""
    return release if "rc" in release or release.count(".") >= 2 else f"{release}.0"


def _line(text: str, word: str) -> int:
    return next((number for number, line in enumerate(text.split("\n"), 1) if line.startswith(word)), 1)
