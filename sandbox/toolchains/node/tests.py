"""The tests of JavaScript and TypeScript files, read as text."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable, Mapping

from sandbox.plan import Plan
from sandbox.toolchains.node.detect import built_path, source_of
from sandbox.toolchains.node.patterns import SOURCE, taken
from sandbox.toolchains.node.plan import NodePlan, of_node
from sandbox.toolchains.node.source import ASSERTING, TABLE, flat, read_tests
from sandbox.toolchains.protocol import Changes, Rules
from sandbox.toolchains.touched import Module, Touched, affected_by_data, compare_modules
from sandbox.workspace import Tree

ORDINAL = re.compile(r" #\d+$")
CHILDREN = re.compile(r"child_process|\bexeca\b|\bspawn\w*\(|\bfork\(|worker_threads|new Worker\(")
LOADED = re.compile(r"(?:from\s+|require\(\s*|import\(\s*|import\s+)['\"](\.\.?(?:/[^'\"\n]*)?)['\"]")
LONGEST_CHAIN = 6


class NodeTests:
    """A group is a test file as the runner knows it (of one that is compiled, what is built); a unit a test's titles."""

    def unit_of(self, test_id: str) -> tuple[str, str]:
        """(group, titles with `::` between)."""
        group, _, name = test_id.partition("::")
        return group.strip(), ORDINAL.sub("", name.strip()).replace(" > ", "::")

    def id_of(self, group: str, unit: str) -> str:
        """As the driver writes it."""
        return f"{group} :: {unit.replace('::', ' > ')}"

    def touched(self, plan: Plan, base: Tree, changes: Changes, rules: Rules) -> dict[str, Touched]:
        """Test by test; helpers reach the files that load them, data those that name it."""
        mine, after = of_node(plan), base.with_changes(changes)
        found: dict[str, Touched] = {}
        others = {path for path in changes if not rules.is_test_file(path)}
        helpers, data = {path for path in others if SOURCE.search(path)}, frozenset(path for path in others if not SOURCE.search(path))
        for group in sorted({*_groups(mine, base), *_groups(mine, after)}):
            source = source_of(after, mine.compiled, group) or source_of(base, mine.compiled, group)
            if source is None:
                continue
            old, new = _module(mine, base, group, source), _module(mine, after, group, source)
            touched = _with_tables(compare_modules(old, new)) if source in changes else Touched()
            if (helpers and _loads(after, source, helpers)) or (data and _reads(after, source, data)):
                touched = Touched(touched.new, touched.edited, touched.deleted, touched.affected, True)
            if touched != Touched():
                found[group] = touched
        return found

    def exists(self, plan: Plan, tree: Tree, group: str) -> bool:
        """Whether there is such a file, or the source of one that is built."""
        return source_of(tree, of_node(plan).compiled, group) is not None

    def files_of(self, plan: Plan, tree: Tree, group: str) -> tuple[str, ...]:
        """The file in the tree."""
        source = source_of(tree, of_node(plan).compiled, group)
        return (source,) if source else ()

    def groups_of(self, plan: Plan, tree: Tree, paths: Iterable[str]) -> tuple[str, ...]:
        """Test files themselves, or what is built from them."""
        mine = of_node(plan)
        known = {group for suite in mine.suites for group in suite.files}
        found = []
        for path in paths:
            built = [group for out, source in mine.compiled if (group := built_path(path, out, source)) in known]
            if path in known or _is_taken(mine, path):
                found.append(path)
            elif built:
                found.append(str(built[0]))
        return tuple(dict.fromkeys(found))

    def units(self, plan: Plan, tree: Tree, group: str) -> tuple[str, ...] | None:
        """Tests with a fixed title; None where there are others too."""
        source = source_of(tree, of_node(plan).compiled, group)
        if source is None:
            return None
        module = _module(of_node(plan), tree, group, source)
        return tuple(module.tests) if module.tests and not _tables(module) else None

    def text(self, plan: Plan, tree: Tree, group: str, unit: str) -> str | None:
        """The statement of a test, or of what makes it."""
        source = source_of(tree, of_node(plan).compiled, group)
        module = _module(of_node(plan), tree, group, source) if source else Module()
        if unit in module.tests:
            return module.tests[unit].text
        scope = unit.rpartition("::")[0]
        near = sorted(_tables(module), key=lambda name: name.rpartition("::")[0] != scope)
        return module.tests[near[0]].text if near else None

    def asserts(self, plan: Plan, tree: Tree, test_id: str) -> bool:
        """By the words of the usual libraries."""
        group, unit = self.unit_of(test_id)
        text = self.text(plan, tree, group, unit)
        return text is None or self.checks(text)

    def checks(self, text: str) -> bool:
        """By the same words."""
        return bool(ASSERTING.search(text))

    def rewritten(self, base: Tree, source: Changes, passing: Iterable[str]) -> dict[str, str]:
        """None: tests are never in a file of the source."""
        return {}

    def coverable(self, lines: Mapping[str, tuple[Collection[int], Collection[int]]], tree: Tree) -> dict[str, list[int]] | None:
        """Not measured: what is run is often not what is in the tree (transpiled, bundled)."""
        return None

    def leaves_the_process(self, text: str) -> bool:
        """By the words of those that start others."""
        return bool(CHILDREN.search(text))


def _groups(plan: NodePlan, tree: Tree) -> set[str]:
    """Files of the suites, those that came later too."""
    known = {group for suite in plan.suites for group in suite.files}
    return known | {path for suite in plan.suites for path in taken(tree, suite.patterns, suite.ignored)
                    if path.startswith(f"{suite.folder}/" if suite.folder else "")}


def _is_taken(plan: NodePlan, path: str) -> bool:
    return any(taken([path], suite.patterns, suite.ignored) for suite in plan.suites)


def _module(plan: NodePlan, tree: Tree, group: str, path: str) -> Module:
    module = read_tests(tree.text(path) or "")
    return flat(module) if any(suite.runner == "tape" and (group in suite.files or _is_taken(plan, group)) for suite in plan.suites) else module


def _tables(module: Module) -> list[str]:
    """What makes tests whose titles the text does not say."""
    return [name for name in module.tests if _is_table(name)]


def _is_table(name: str) -> bool:
    return name.rpartition("::")[2].startswith(TABLE)


def _with_tables(touched: Touched) -> Touched:
    """A table, or a computed title, that is touched: so are all tests of the group around it, whichever they are."""
    own = {name for name in {*touched.new, *touched.edited, *touched.deleted} if _is_table(name)}
    reached = {name for name in touched.affected if _is_table(name)}
    scopes = {name.rpartition("::")[0] for name in own}
    around = {name.rpartition("::")[0] for name in reached} - scopes
    everything = touched.everything or "" in scopes | around
    return Touched(touched.new - own, (touched.edited - own) | (scopes - {""}), touched.deleted - own,
                   (touched.affected - reached) | (around - {""}), everything)


def _loads(tree: Tree, path: str, wanted: Collection[str]) -> bool:
    """Whether a file loads one of some files, through any that are beside it."""
    seen, queue = {path}, [path]
    for _ in range(LONGEST_CHAIN):
        more = []
        for one in queue:
            for name in LOADED.findall(tree.text(one) or ""):
                place = posixpath.normpath(posixpath.join(posixpath.dirname(one), name))
                stem = re.sub(r"\.[cm]?[jt]sx?$", "", place)
                hits = [other for other in (*wanted, *tree) if other == place or re.fullmatch(re.escape(stem) + r"(/index)?\.[cm]?[jt]sx?", other)]
                if any(other in wanted for other in hits):
                    return True
                more += [other for other in hits if other not in seen and posixpath.dirname(other).startswith(posixpath.dirname(path).split("/")[0])]
        seen.update(more)
        queue = more
        if not queue:
            break
    return False


def _reads(tree: Tree, path: str, data: frozenset[str]) -> bool:
    """Whether data files are named in a test file, or are its snapshots."""
    name = posixpath.basename(path)
    if any(posixpath.basename(one).startswith(name) for one in data):
        return True
    return affected_by_data(tree.text(path) or "", data, stems=False)
