"""Which tests of a Python file a change touches: compared test by test, by their syntax trees, not file by file."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from sandbox.toolchains.python.syntax import parse_module
from sandbox.workspace import Tree

ASSERTING = re.compile(r"\bassert|\.assert\w*\(|pytest\.(raises|warns|fail|approx)|self\.fail|\braises\(|\bcheck\w*\(|\bexpect\w*\(|\bverify\w*\(")


@dataclass(frozen=True)
class Unit:
    """A test, helper, fixture or import: its shape without positions, the names it uses, and its source text."""

    shape: str
    uses: frozenset[str]
    text: str
    autouse: bool = False


@dataclass
class Module:
    """Tests by `Class::test`; everything else by name; per class what its tests share."""

    tests: dict[str, Unit] = field(default_factory=dict)
    shared: dict[str, Unit] = field(default_factory=dict)
    parsed: bool = True


@lru_cache(maxsize=256)
def read_module(text: str) -> Module:
    """The units of a test file; `parsed` is False where it has no syntax tree."""
    tree = parse_module(text)
    if tree is None:
        return Module(parsed=False)
    module = Module()
    _read(tree.body, "", text.split("\n"), module)
    return module


def _read(body: list[ast.stmt], prefix: str, lines: list[str], module: Module) -> None:
    for place, node in enumerate(body):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                unit = _unit(node, lines, _is_autouse(node))
                fixture = any("fixture" in ast.dump(d) for d in node.decorator_list)
                if node.name.startswith("test") and not fixture:
                    module.tests[prefix + node.name] = unit
                else:
                    module.shared[prefix + node.name] = unit
            case ast.ClassDef():
                head = [ast.dump(x) for x in (*node.bases, *node.keywords, *node.decorator_list)]
                uses = frozenset(n.id for x in (*node.bases, *node.decorator_list) for n in ast.walk(x) if isinstance(n, ast.Name))
                module.shared[f"{prefix}{node.name}::(head)"] = Unit("|".join(head), uses, f"class {node.name}", True)
                _read(node.body, f"{prefix}{node.name}::", lines, module)
            case ast.Import() | ast.ImportFrom():
                for alias in node.names:
                    origin = f"{getattr(node, 'module', '')}:{getattr(node, 'level', 0)}:{alias.name}"
                    module.shared[prefix + (alias.asname or alias.name.split(".")[0])] = Unit(origin, frozenset(), origin)
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign():
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                for target in targets:
                    for name in ast.walk(target):
                        if isinstance(name, ast.Name):
                            module.shared[prefix + name.id] = _unit(node, lines, name.id == "pytestmark")
            case ast.Expr(value=ast.Constant()):
                continue
            case _:
                module.shared[f"{prefix}(statement {place})"] = _unit(node, lines, True)


def _unit(node: ast.stmt, lines: list[str], autouse: bool) -> Unit:
    uses = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} | {n.arg for n in ast.walk(node) if isinstance(n, ast.arg)}
    uses |= {n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name) and n.value.id in ("self", "cls")}
    uses |= {n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str) and n.value.isidentifier()}
    return Unit(ast.dump(node), frozenset(uses), "\n".join(lines[node.lineno - 1:node.end_lineno]), autouse)


def _is_autouse(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    if node.name in ("setUp", "tearDown", "setUpClass", "tearDownClass", "setup_method", "teardown_method", "setup_class", "teardown_class",
                     "setup_module", "teardown_module", "setUpModule", "tearDownModule", "setup_function", "teardown_function", "setup", "teardown"):
        return True
    return any("autouse" in ast.dump(d) for d in node.decorator_list)


@dataclass(frozen=True)
class Touched:
    """What a change did to the tests of one file, by `Class::test`. `affected`: by way of a helper, fixture or import."""

    new: frozenset[str] = frozenset()
    edited: frozenset[str] = frozenset()
    deleted: frozenset[str] = frozenset()
    affected: frozenset[str] = frozenset()
    everything: bool = False

    def touches(self, unit: str) -> bool:
        """Whether a base test must be judged as touched (unsure counts as touched)."""
        return self.everything or unit in self.edited or unit in self.deleted or unit in self.affected


def compare(old_text: str | None, new_text: str | None, changed_elsewhere: frozenset[str] = frozenset()) -> Touched:
    """Old and new text of one test file; None is an absent file. `changed_elsewhere`: fixtures and helpers of other files that changed."""
    old, new = read_module(old_text or ""), read_module(new_text or "")
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
    nameless = [unit.shape.replace(f"name='{name.rsplit('::', 1)[-1]}'", "name=''", 1) for unit, name in ((old, old_name), (new, new_name))]
    return nameless[0] == nameless[1]


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


def unit_of(test_id: str) -> tuple[str, str]:
    """(path, `Class::test`) of a pytest id, without its parameters and ordinal."""
    path, _, rest = test_id.partition("::")
    return path, re.sub(r" #\d+$", "", rest).split("[")[0]


def changed_fixtures(old_text: str | None, new_text: str | None) -> frozenset[str]:
    """Names of helpers and fixtures that differ between two versions of a helper module or conftest."""
    old, new = read_module(old_text or ""), read_module(new_text or "")
    names = set(old.shared) | set(new.shared) | set(old.tests) | set(new.tests)
    differ = {n for n in names if _shape(old, n) != _shape(new, n)}
    if not old.parsed or not new.parsed:
        differ |= names
    return frozenset(name.rsplit("::", 1)[-1] for name in differ)


def _shape(module: Module, name: str) -> str | None:
    unit = module.shared.get(name) or module.tests.get(name)
    return unit.shape if unit else None


def affected_by_data(text: str, paths: frozenset[str], stems: bool = True) -> bool:
    """Whether a test file names one of these data files (by its name without the ending too, with `stems`), or a folder that they are in."""
    for path in paths:
        *folders, name = path.split("/")
        words = [name, *([name.rsplit(".", 1)[0]] if stems else []), *(f for f in folders if f not in ("test", "tests"))]
        if any(re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text) for word in words):
            return True
    return False


def asserts_something(tree: Mapping[str, object], test_id: str) -> bool:
    """Whether a test's source goes on to check something; unknown counts as yes."""
    path, unit = unit_of(test_id)
    text = tree.text(path) if isinstance(tree, Tree) else None
    if text is None:
        return True
    found = read_module(text).tests.get(unit)
    return found is None or bool(ASSERTING.search(found.text))
