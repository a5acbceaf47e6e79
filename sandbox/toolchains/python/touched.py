"""Which tests of a Python file a change touches: compared test by test, by their syntax trees, not file by file."""

from __future__ import annotations

import ast
import re
from functools import lru_cache

from sandbox.toolchains.python.syntax import parse_module
from sandbox.toolchains.touched import Module, Touched, Unit, compare_modules
from sandbox.workspace import Tree

ASSERTING = re.compile(r"\bassert|\.assert\w*\(|pytest\.(raises|warns|fail|approx)|self\.fail|\braises\(|\bcheck\w*\(|\bexpect\w*\(|\bverify\w*\(")


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


def compare(old_text: str | None, new_text: str | None, changed_elsewhere: frozenset[str] = frozenset()) -> Touched:
    """Old and new text of one test file; None is an absent file. `changed_elsewhere`: fixtures and helpers of other files that changed."""
    return compare_modules(read_module(old_text or ""), read_module(new_text or ""), changed_elsewhere)


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


def asserts_something(tree: Tree, test_id: str) -> bool:
    """Whether a test's source goes on to check something; unknown counts as yes."""
    path, unit = unit_of(test_id)
    text = tree.text(path)
    if text is None:
        return True
    found = read_module(text).tests.get(unit)
    return found is None or bool(ASSERTING.search(found.text))
