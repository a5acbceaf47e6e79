"""A crate root -> the files of its modules, its tests by their paths, and everything that they could share."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, field

from sandbox.toolchains.rust.source import INNER_TEST, RUST_TEXT, Item, code_of, items
from sandbox.toolchains.source_text import shape, without_comments
from sandbox.toolchains.touched import Module, Unit
from sandbox.workspace import Tree

IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
MAKES_TESTS = re.compile(r"#\s*\[\s*(?:\w+\s*::\s*)*(?:\w*test\w*|rstest|quickcheck)\b")
MOST_CRATES = 512


@dataclass
class Crate:
    """`files`: of all modules, each with its module path; `tested`: of those, the ones that are compiled for tests alone."""

    module: Module = field(default_factory=Module)
    files: dict[str, str] = field(default_factory=dict)
    tested: set[str] = field(default_factory=set)
    texts: dict[str, tuple[str, str]] = field(default_factory=dict)  # unit -> (file, source)


_known: dict[tuple[str, str], Crate] = {}


def read_crate(tree: Tree, root: str) -> Crate:
    """The crate of a root file in a tree; empty where there is none."""
    key = (tree.digest, root)
    if key not in _known:
        while len(_known) >= MOST_CRATES:
            _known.pop(next(iter(_known)), None)
        crate = Crate()
        _File(tree, crate, root, posixpath.dirname(root), "", False).read()
        _made(crate)
        _known[key] = crate
    return _known[key]


@dataclass(frozen=True)
class _File:
    """One file of a crate: `folder` is where its submodules are looked for, `prefix` its module path with `::` behind it."""

    tree: Tree
    crate: Crate
    path: str
    folder: str
    prefix: str
    only_tests: bool

    def read(self) -> None:
        text = self.tree.text(self.path)
        if text is None or self.path in self.crate.files:
            return
        self.crate.files[self.path] = self.prefix
        if self.only_tests:
            self.crate.tested.add(self.path)
        self._walk(text, items(text), self.prefix, self.folder, self.only_tests)

    def _walk(self, text: str, found: tuple[Item, ...], prefix: str, folder: str, only_tests: bool) -> None:
        for place, item in enumerate(found):
            inside = only_tests or item.is_test_only
            if item.word == "mod" and item.body < 0:
                self._outer(item, prefix, folder, inside)
                self._share(prefix + item.name, _unit(text, item))
            elif item.word == "mod":
                self._walk(text, items(text, item.body, item.end - 1), f"{prefix}{item.name}::", posixpath.join(folder, item.name), inside)
                self._share(f"{prefix}{item.name}::(head)", Unit(shape(" ".join(item.attributes)), frozenset(), text[item.start:item.body]))
            elif item.is_test:
                self._test(prefix + item.name, _unit(text, item))
            else:
                self._other(text, item, prefix, place)

    def _outer(self, item: Item, prefix: str, folder: str, inside: bool) -> None:
        """`mod name;`: beside this file, or where its attribute says."""
        named = next((match[1] for attribute in item.attributes if (match := re.search(r'#\s*\[\s*path\s*=\s*"([^"]+)"', attribute))), None)
        if named:
            places = [posixpath.normpath(posixpath.join(posixpath.dirname(self.path), named))]
        else:
            places = [posixpath.join(folder, f"{item.name}.rs"), posixpath.join(folder, item.name, "mod.rs")]
        for path in places:
            if path in self.tree:
                below = posixpath.dirname(path) if path.endswith("/mod.rs") or named else posixpath.join(folder, item.name)
                _File(self.tree, self.crate, path, below, f"{prefix}{item.name}::", inside).read()
                return

    def _other(self, text: str, item: Item, prefix: str, place: int) -> None:
        """What tests may share, and macros whose invocations hold or make tests."""
        unit = _unit(text, item)
        if item.word.endswith("!") and item.word != "macro_rules!":
            for match in INNER_TEST.finditer(text, item.head, item.end):
                if not match[1].startswith("$"):
                    self._test(prefix + match[1], unit)
            self._share(f"{prefix}{item.word}{item.name}", unit)
            return
        name = item.name or f"({item.word or 'text'} {shape(text[item.head:item.body if item.body > 0 else item.end])[:120]})"
        self._share(prefix + name, unit)

    def _test(self, name: str, unit: Unit) -> None:
        self.crate.module.tests[name] = unit
        self.crate.texts[name] = (self.path, unit.text)

    def _share(self, name: str, unit: Unit) -> None:
        while name in self.crate.module.shared:
            name = f"{name}'"
        self.crate.module.shared[name] = unit
        self.crate.texts.setdefault(name, (self.path, unit.text))


def _made(crate: Crate) -> None:
    """Invocations of macros of the crate that make tests: each is a test by its first word."""
    shared = crate.module.shared
    makers = {name.rpartition("::")[2].rstrip("'") for name, unit in shared.items() if unit.text.find("macro_rules") >= 0 and MAKES_TESTS.search(unit.text)}
    for name, unit in list(shared.items()):
        scope, _, last = name.rpartition("::")
        called, _, argument = last.partition("!")
        if argument and called in makers:
            known = (scope + "::" if scope else "") + argument.rstrip("'")
            crate.module.tests.setdefault(known, unit)
            crate.texts.setdefault(known, crate.texts[name])


def _unit(text: str, item: Item) -> Unit:
    whole = text[item.start:item.end]
    uses = frozenset(IDENTIFIER.findall(code_of(text)[item.start:item.end])) - {item.name}
    return Unit(shape(without_comments(whole, RUST_TEXT)), uses, whole)
