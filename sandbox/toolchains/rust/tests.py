"""The tests of crates, read as text."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable, Mapping

from sandbox.plan import Plan
from sandbox.toolchains.protocol import Changes, Rules
from sandbox.toolchains.rust.crate import Crate, read_crate
from sandbox.toolchains.rust.documentation import examples, gone_examples
from sandbox.toolchains.rust.packages import DOC, group_path
from sandbox.toolchains.rust.plan import of_rust
from sandbox.toolchains.touched import Touched, affected_by_data, compare_modules
from sandbox.workspace import Tree

ASSERTING = re.compile(
    r"assert|\bpanic!|\bunreachable!|\.unwrap\w*\(|\.expect\w*\(|should_panic|\b(check|verify|expect)\w*\b|\?;|quickcheck|insta::|\btest\w*[!(]", re.IGNORECASE)
CHILDREN = re.compile(r"process::Command|\bCommand::new|assert_cmd|cargo_bin|trycmd|trybuild")
CASE = re.compile(r"::case_\d+\w*$")
ORDINAL = re.compile(r" #\d+$")


class RustTests:
    """A group is a crate root, or one with ` (doc)` behind it for the examples in its documentation; a unit a test's path in the crate."""

    def unit_of(self, test_id: str) -> tuple[str, str]:
        """(group, path in the crate), a case's of a table of cases without it."""
        group, _, name = test_id.partition("::")
        return group, name if group.endswith(DOC) else CASE.sub("", ORDINAL.sub("", name))

    def id_of(self, group: str, unit: str) -> str:
        """As the driver writes it."""
        return f"{group}::{unit}"

    def touched(self, plan: Plan, base: Tree, changes: Changes, rules: Rules) -> dict[str, Touched]:
        """Test by test over all modules of a crate; data files reach the crates of the package around them that name them, or all of them."""
        after = base.with_changes(changes)
        data = frozenset(path for path in changes if not path.endswith(".rs"))
        found: dict[str, Touched] = {}
        for root in sorted({root for tree in (base, after) for root in _roots(plan, tree, changes)}):
            old, new = read_crate(base, root), read_crate(after, root)
            files = set(old.files) | set(new.files)
            changed = any(path in changes for path in files)
            touched = compare_modules(old.module, new.module) if changed else Touched()
            if data and self._reads(after, new, root, data):
                touched = touched.reaching({*new.module.tests, *old.module.tests})
            if touched != Touched():
                found[root] = touched
        return found

    def _reads(self, tree: Tree, crate: Crate, root: str, data: frozenset[str]) -> bool:
        folder = posixpath.dirname(root)
        beside = any(path.startswith(folder + "/") for path in data) if posixpath.basename(folder) == "tests" else False
        return beside or any(affected_by_data(tree.text(path) or "", data, stems=False) for path in crate.files)

    def exists(self, plan: Plan, tree: Tree, group: str) -> bool:
        """Whether there is such a crate root."""
        return group_path(group) in tree

    def files_of(self, plan: Plan, tree: Tree, group: str) -> tuple[str, ...]:
        """Those of its modules that hold tests, and its root."""
        crate = read_crate(tree, group_path(group))
        holding = {path for name, (path, _) in crate.texts.items() if name in crate.module.tests}
        return tuple(path for path in crate.files if path in holding or path == group_path(group))

    def groups_of(self, plan: Plan, tree: Tree, paths: Iterable[str]) -> tuple[str, ...]:
        """The crates that files are modules of."""
        owners: dict[str, list[str]] = {}
        for root in _roots(plan, tree):
            for path in read_crate(tree, root).files:
                owners.setdefault(path, []).append(root)
        return tuple(dict.fromkeys(root for path in paths for root in owners.get(path, ())))

    def units(self, plan: Plan, tree: Tree, group: str) -> tuple[str, ...] | None:
        """Tests by their paths; None for documentation."""
        return None if group.endswith(DOC) else tuple(read_crate(tree, group_path(group)).module.tests)

    def text(self, plan: Plan, tree: Tree, group: str, unit: str) -> str | None:
        """The source of a test, or of a macro's invocation that makes it."""
        tests = read_crate(tree, group_path(group)).module.tests
        while unit not in tests and "::" in unit:
            unit = unit.rpartition("::")[0]
        return tests[unit].text if unit in tests else None

    def asserts(self, plan: Plan, tree: Tree, test_id: str) -> bool:
        """By the words of the standard library and of the usual crates."""
        group, unit = self.unit_of(test_id)
        text = self.text(plan, tree, group, unit)
        return text is None or self.checks(text)

    def checks(self, text: str) -> bool:
        """By the same words."""
        return bool(ASSERTING.search(text))

    def rewritten(self, base: Tree, source: Changes, passing: Iterable[str]) -> dict[str, str]:
        """Examples in documentation that the change edits or cuts; inline tests are divided from the source."""
        gone = {path: rows for path, file in source.items() if path.endswith(".rs")
                and (rows := gone_examples(base.text(path) or "", file.data.decode("utf-8", "replace") if file else ""))}
        found = {}
        for name in passing:
            group, unit = self.unit_of(name)
            path, _, item = unit.partition(" - ")
            if group.endswith(DOC) and (rows := _gone(gone, path)):
                last = re.sub(r"\s*\(\d+\).*$", "", item).rpartition("::")[2].split("<")[0]
                owners = {owner for owner, _ in examples(base.text(path) or "")}
                texts = [text for owner, text in rows if owner == last or (last not in owners and owner not in owners)]
                if texts:
                    found[name] = "\n".join(texts[:3])
        return found

    def coverable(self, lines: Mapping[str, tuple[Collection[int], Collection[int]]], tree: Tree) -> dict[str, list[int]] | None:
        """Not measured: the tools that read the compiler's counts are no part of a toolchain."""
        return None

    def leaves_the_process(self, text: str) -> bool:
        """By the words of those that start others."""
        return bool(CHILDREN.search(text))


def _gone(gone: Mapping[str, list[tuple[str, str]]], path: str) -> list[tuple[str, str]]:
    return gone.get(path, [])


def _roots(plan: Plan, tree: Tree, near: Iterable[str] | None = None) -> list[str]:
    """Crate roots of the plan's packages, those at the usual places that came later too. `near`: of packages around some paths, all where one is in none."""
    packages = of_rust(plan).packages
    if near is not None:
        around = [[package for package in packages if not package.folder or path.startswith(package.folder + "/")] for path in near]
        packages = tuple(dict.fromkeys(package for row in around for package in row)) if all(around) else packages
    known = [path for package in packages for _, path in package.roots if path in tree]
    folders = {posixpath.join(package.folder, "tests") for package in packages}
    late = [path for path in tree if path.endswith(".rs") and posixpath.dirname(path) in folders and path not in known]
    return [*known, *late]
