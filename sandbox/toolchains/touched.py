"""Which tests a change touches: test by test, by their source text, whatever the language."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Unit:
    """A test, helper, fixture or import: its shape without positions, the names it uses, and its source text."""

    shape: str
    uses: frozenset[str]
    text: str
    autouse: bool = False


@dataclass
class Module:
    """Tests by `Class::test`; everything else by name; per class what its tests share. `parsed` is False for what can't be read."""

    tests: dict[str, Unit] = field(default_factory=dict)
    shared: dict[str, Unit] = field(default_factory=dict)
    parsed: bool = True


@dataclass(frozen=True)
class Touched:
    """What a change did to the tests of one group, by unit. `affected`: by way of a helper, fixture, import or data file."""

    new: frozenset[str] = frozenset()
    edited: frozenset[str] = frozenset()
    deleted: frozenset[str] = frozenset()
    affected: frozenset[str] = frozenset()
    everything: bool = False

    def is_own(self, unit: str) -> bool:
        """Whether a test is new or edited, by its own source or that of a unit around it (a macro's, a table's)."""
        return any(name in self.new or name in self.edited for name in _around(unit))

    def touches(self, unit: str) -> bool:
        """Whether a base test must be judged as touched (unsure counts as touched)."""
        return self.everything or any(name in self.edited or name in self.deleted or name in self.affected for name in _around(unit))

    def reaching(self, units: Iterable[str]) -> Touched:
        """The same with more tests that are reached, those left out that are new or edited themselves."""
        every = frozenset(units) - self.new - self.edited
        return Touched(self.new, self.edited, self.deleted, self.affected | every, self.everything)


def _around(unit: str) -> list[str]:
    """A unit, and those that its name is in."""
    parts = unit.split("::")
    return ["::".join(parts[:count]) for count in range(len(parts), 0, -1)]


def compare_modules(old: Module, new: Module, changed_elsewhere: frozenset[str] = frozenset()) -> Touched:
    """Two versions of one group of tests. `changed_elsewhere`: fixtures and helpers of other files that changed."""
    if not old.parsed or not new.parsed:
        return Touched(new=frozenset(new.tests), everything=True)
    added = set(new.tests) - set(old.tests)
    deleted = set(old.tests) - set(new.tests)
    renamed = {name for name in added for gone in deleted if _same_body(old.tests[gone], new.tests[name], gone, name)}
    moved = {gone for gone in deleted for name in renamed if _same_body(old.tests[gone], new.tests[name], gone, name)}
    edited = {name for name in set(old.tests) & set(new.tests) if old.tests[name].shape != new.tests[name].shape}
    changed = {name for name in set(old.shared) | set(new.shared)
               if (old.shared.get(name) and old.shared[name].shape) != (new.shared.get(name) and new.shared[name].shape)}
    affected = _affected(old, changed, changed_elsewhere) | _affected(new, changed, changed_elsewhere)
    return Touched(frozenset(added - renamed), frozenset(edited), frozenset(deleted - moved), frozenset(affected - edited - added))


def _same_body(old: Unit, new: Unit, old_name: str, new_name: str) -> bool:
    return _nameless(old, old_name) == _nameless(new, new_name)


def _nameless(unit: Unit, name: str) -> str:
    own = re.escape(name.rsplit("::", 1)[-1])
    return re.sub(rf"\bname='{own}'|\b(?<=func ){own}\b|\b(?<=fn ){own}\b", "", unit.shape, count=1)


def _affected(module: Module, changed: set[str], elsewhere: frozenset[str]) -> set[str]:
    """Tests that reach a changed name, through any number of helpers."""
    dirty = {name.rsplit("::", 1)[-1] for name in changed} | set(elsewhere)
    everywhere = {name.rpartition("::")[0] for name in changed
                  if (unit := module.shared.get(name)) is not None and unit.autouse}
    everywhere |= {name.removesuffix("::(head)") for name in changed if name.endswith("::(head)")}
    grown = True
    while grown:
        more = {name.rsplit("::", 1)[-1] for name, unit in module.shared.items() if unit.uses & dirty} - dirty
        everywhere |= {name.rpartition("::")[0] for name, unit in module.shared.items()
                       if unit.autouse and unit.uses & dirty and not name.endswith("(head)")}
        grown = bool(more)
        dirty |= more
    return {name for name, unit in module.tests.items()
            if unit.uses & dirty or any(scope == "" or name.startswith(scope + "::") for scope in everywhere)}


def affected_by_data(text: str, paths: frozenset[str], stems: bool = True) -> bool:
    """Whether a test file names one of these data files (by its name without the ending too, with `stems`), or a folder that they are in."""
    for path in paths:
        *folders, name = path.split("/")
        words = [name, *([name.rsplit(".", 1)[0]] if stems else []), *(f for f in folders if f not in ("test", "tests"))]
        if any(re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text) for word in words):
            return True
    return False
