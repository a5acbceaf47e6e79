"""A tree -> a plan for each of its workspaces, and for each package that is in none."""

from __future__ import annotations

import datetime
import posixpath
import re
from typing import Any

from sandbox.plan import Choice
from sandbox.toolchains.protocol import Sight
from sandbox.toolchains.rust.packages import Package, Workspace, manifest_of, parse, read_workspaces
from sandbox.toolchains.rust.plan import RustPlan
from sandbox.toolchains.rust.source import holds_tests
from sandbox.toolchains.shared_paths import in_data_folder
from sandbox.workspace import Tree

NEWEST, DEBIANS = "1.96", "1.85"  # of bookworm's security updates, and of trixie; others where the host has them
NIGHTLY = "nightly"
MOST_WORKSPACES = 6
YOUNG = datetime.timedelta(days=30)
ALL = "--all-features"


def plans(tree: Tree, sight: Sight) -> list[RustPlan]:
    """A plan a workspace that has tests; where there are many, those that the change touches, the root and those with most tests."""
    found = [_plan(tree, workspace, sight) for workspace in read_workspaces(tree) if not in_data_folder(workspace.folder + "/")]
    found = [plan for plan in found if plan.test_files]
    if len(found) > MOST_WORKSPACES:
        found.sort(key=lambda plan: (not _is_touched(plan, sight), plan.directory != "", -len(plan.test_files)))
        found = sorted(found[:MOST_WORKSPACES], key=lambda plan: plan.directory)
    return found


def _is_touched(plan: RustPlan, sight: Sight) -> bool:
    return any(not plan.directory or path.startswith(plan.directory + "/") for path in sight.changed)


def _plan(tree: Tree, workspace: Workspace, sight: Sight) -> RustPlan:
    manifest = manifest_of(workspace.folder)
    names = [package.name for package in workspace.packages]
    why = [Choice("workspace" if len(names) > 1 else "package", ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else ""), manifest, 1)]
    releases = _releases(tree, workspace, sight, why)
    lock = posixpath.join(workspace.folder, "Cargo.lock")
    locked, cut = lock in tree, None
    if locked:
        why.append(Choice("dependencies", "as locked", lock, 1))
    elif sight.today - sight.commit_date > YOUNG:
        cut = sight.commit_date + datetime.timedelta(days=1)
        why.append(Choice("dependencies", f"as of {sight.commit_date}", manifest, 1))
    features = _features(tree, workspace, why)
    manifests = [lock, manifest, *(manifest_of(package.folder) for package in workspace.packages), *_configuration(workspace.folder)]
    here = sight.before if sight.before is not None else tree
    return RustPlan(
        toolchain="rust", framework="cargo test", interpreters=releases, directory=workspace.folder, test_files=_test_files(tree, workspace, sight),
        version=None, exclude_newer=cut, manifests=tuple(name for name in dict.fromkeys(manifests) if name in tree and name in here), why=tuple(why),
        packages=workspace.packages, locked=locked and lock in here, features=features)


def _configuration(folder: str) -> list[str]:
    return [posixpath.join(folder, name) for name in (".cargo/config", ".cargo/config.toml", "rust-toolchain", "rust-toolchain.toml")]


def _test_files(tree: Tree, workspace: Workspace, sight: Sight) -> tuple[str, ...]:
    """Files of the members that hold tests; a file in a member inside another one's folder is that one's."""
    found: set[str] = set()
    nested = [other.folder for other_workspace in read_workspaces(tree) if other_workspace.folder != workspace.folder for other in other_workspace.packages]
    for source in (tree, *([sight.before] if sight.before is not None else [])):
        for package in workspace.packages:
            apart = [folder for folder in nested if folder.startswith(package.folder + "/" if package.folder else "") and folder != package.folder]
            start = package.folder + "/" if package.folder else ""
            mine = [path for path in source if path.endswith(".rs") and path.startswith(start) and not re.search(r"(^|/)(target|benches)/", path)]
            found.update(path for path in mine if not any(path.startswith(folder + "/") for folder in apart) and holds_tests(source.text(path) or ""))
    return tuple(sorted(found))


def _features(tree: Tree, workspace: Workspace, why: list[Choice]) -> tuple[str, ...]:
    """The default ones; all of them first where crates or tests are left out without, or where the maintainers' own workflows name them."""
    for package in workspace.packages:
        data = parse(tree.text(manifest_of(package.folder)) or "")
        have = _closure(data, "default")
        rows = [row for kind in ("test", "bin", "example") for row in data.get(kind, []) if isinstance(row, dict)]
        lacking = next((row for row in rows if not set(map(str, row.get("required-features", []))) <= have), None)
        if lacking is not None:
            why.append(Choice("features", f"all, for {lacking.get('name', '?')}", manifest_of(package.folder), 1))
            return (ALL, "")
        if gated := _gated(tree, package, have):
            why.append(Choice("features", "all, for tests that are left out without", gated, 1))
            return (ALL, "")
    for path in tree:
        if path.startswith(".github/workflows/") and (text := tree.text(path)) and (match := re.search(r"cargo (?:\+\S+ )?test[^\n]*--all-features", text)):
            why.append(Choice("features", "all", path, text.count("\n", 0, match.start()) + 1))
            return (ALL, "")
    return ("", ALL)


def _closure(data: dict[str, Any], name: str) -> set[str]:
    table = data.get("features") if isinstance(data.get("features"), dict) else {}
    found: set[str] = set()
    waiting = [name]
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting += [str(word) for word in (table or {}).get(one, [])]
    return found


def _gated(tree: Tree, package: Package, have: set[str]) -> str | None:
    """An integration test that is empty without a feature."""
    for kind, path in package.roots:
        match = re.search(r"^#!\[cfg\((?:all\()?feature\s*=\s*\"([^\"]+)\"", tree.text(path) or "", re.MULTILINE) if kind == "test" else None
        if match and match[1] not in have:
            return path
    return None


def _releases(tree: Tree, workspace: Workspace, sight: Sight, why: list[Choice]) -> tuple[str, ...]:
    """The newest; Debian's stable one behind it where that is new enough; nightly where the repository is pinned to it."""
    demanded = max((package.rust_version for package in workspace.packages if package.rust_version), key=_number, default=None)
    if any(package.edition == "2024" for package in workspace.packages):
        demanded = max(demanded or "1.85", "1.85", key=_number)
    pinned, file = _pinned(tree, workspace.folder)
    if pinned and pinned.startswith("nightly"):
        why.append(Choice("compiler", "Rust nightly", file, 1))
        return (NIGHTLY, NEWEST)
    releases = [NEWEST] + ([DEBIANS] if demanded is None or _number(demanded) <= _number(DEBIANS) else [])
    if demanded is not None and _number(demanded) > _number(NEWEST):
        releases = [NIGHTLY, NEWEST]
    elif pinned and _number(pinned) and _number(pinned) <= _number(DEBIANS):
        releases.reverse()
    place = next((manifest_of(package.folder) for package in workspace.packages if package.rust_version), manifest_of(workspace.folder))
    why.append(Choice("compiler", f"Rust {releases[0]}" + (f", {demanded} or newer demanded" if demanded else ""), file or place, 1))
    return tuple(releases)


def _pinned(tree: Tree, folder: str) -> tuple[str | None, str | None]:
    """(channel, file) of rust-toolchain."""
    for around in dict.fromkeys((folder, "")):
        for name in ("rust-toolchain.toml", "rust-toolchain"):
            path = posixpath.join(around, name)
            text = tree.text(path)
            if text is not None:
                channel = (parse(text).get("toolchain") or {}).get("channel") or text.strip().split("\n")[0]
                return str(channel), path
    return None, None


def _number(release: str) -> tuple[int, ...]:
    return tuple(int(word) for word in re.findall(r"\d+", release))[:2]
