"""Canaries in Python's test files: each a single line in the place of an empty one, so that no other line moves."""

from __future__ import annotations

import ast
import itertools
import random
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from sandbox.plan import Plan
from sandbox.results.report import Outcome
from sandbox.toolchains.canaries import Planted, fresh_name, words_of
from sandbox.toolchains.python.syntax import parse_module
from sandbox.toolchains.python.touched import read_module
from sandbox.workspace import File, Tree

Definition = ast.FunctionDef | ast.AsyncFunctionDef
BLANKS = " \t\f"
MOST = 6  # of a class, or of the functions of a file
CASE = re.compile(r"TestCase$")
LIBRARIES = {
    "numpy": (re.compile(r"\bassert_(allclose|array_equal|array_almost_equal|almost_equal|equal)\b"),
              '__import__("numpy.testing").testing.assert_allclose({a}.0, {b}.0)'),
    "pandas": (re.compile(r"\bassert_(frame|series|index)_equal\b"),
               '__import__("pandas.testing").testing.assert_series_equal(*map(__import__("pandas").Series, ([{a}], [{b}])))'),
    "mock": (re.compile(r"\.assert_(called|any_call|not_called)"), '__import__("unittest.mock").mock.Mock(name="{a}").assert_called_once()'),
}


@dataclass(frozen=True)
class _Kind:
    """One canary: its parameter list, its body and what an honest runner says."""

    body: str
    outcome: Outcome
    parameters: str = ""


class PythonCanaries:
    """For pytest's functions and classes, and for unittest's (and Django's) TestCase."""

    def plant(self, plan: Plan, tree: Tree, groups: Sequence[str], seed: str) -> Planted:
        """In each of these files that can be read and holds tests."""
        files: dict[str, File] = {}
        expected: dict[str, Outcome] = {}
        for path in groups:
            file = tree.get(path)
            if file is None or (text := tree.text(path)) is None or text.encode() != file.data:
                continue
            planted = plant_in(path, text, random.Random(f"{seed}:{path}"))
            if planted:
                files[path] = File(file.mode, planted[0].encode())
                expected.update(planted[1])
        return Planted(files, expected)


def plant_in(path: str, text: str, rng: random.Random) -> tuple[str, dict[str, Outcome]] | None:
    """(the text with canaries, id -> outcome); None where it can't be read, holds no test, or leaves no line for one."""
    module = parse_module(text)
    if module is None:
        return None
    units = read_module(text).tests
    lines = text.splitlines(keepends=True)
    rows: dict[int, str] = {}
    expected: dict[str, Outcome] = {}
    words, taken = words_of(units), set(re.findall(r"\w+", text))
    for scope in _scopes(module, units, lines):
        kinds = _kinds(scope, text, rng)
        places = rng.sample(scope.places, min(len(kinds), len(scope.places), MOST))
        for kind, place in zip(kinds, places, strict=False):
            name = fresh_name(rng, rng.choice(scope.names), words, taken)
            taken.add(name)
            parameters = ", ".join(filter(None, ("self" if scope.owner else "", kind.parameters)))
            rows[place] = f"{scope.indent}def {name}({parameters}): {kind.body}{lines[place - 1].strip(BLANKS)}"
            expected["::".join(filter(None, (path, scope.owner, name)))] = kind.outcome
    for place, row in rows.items():
        lines[place - 1] = row
    planted = "".join(lines)
    return (planted, expected) if rows and parse_module(planted) is not None else None


@dataclass(frozen=True)
class _Scope:
    """A module or a test class: the names of its tests, the indentation of its definitions, the numbers of its empty lines between them."""

    owner: str
    names: tuple[str, ...]
    indent: str
    places: tuple[int, ...]
    unittest: bool


def _scopes(module: ast.Module, known: Collection[str], lines: list[str]) -> Iterator[_Scope]:
    functions = tuple(node.name for node in module.body if isinstance(node, Definition) and node.name in known)
    if functions:
        yield _Scope("", functions, "", _gaps(module.body, lines) or _end(lines), unittest=False)
    for node in module.body:
        if isinstance(node, ast.ClassDef):
            names = tuple(d.name for d in node.body if isinstance(d, Definition) and f"{node.name}::{d.name}" in known)
            methods = [d for d in node.body if isinstance(d, Definition)]
            if names and (places := _gaps(node.body, lines)):
                indent = re.match(r"[ \t]*", lines[methods[0].lineno - 1])
                yield _Scope(node.name, names, indent[0] if indent else "    ", places, _is_case(node))


def _is_case(node: ast.ClassDef) -> bool:
    """Whether a class is unittest's: by the name of a base, or by what its methods call."""
    bases = [base.attr if isinstance(base, ast.Attribute) else base.id for base in node.bases if isinstance(base, ast.Attribute | ast.Name)]
    asserting = any(isinstance(n, ast.Attribute) and n.attr in ("assertEqual", "assertTrue", "assertRaises", "assertIn") and isinstance(n.value, ast.Name)
                    and n.value.id == "self" for n in ast.walk(node))
    return any(CASE.search(base) for base in bases) or asserting


def _gaps(body: Sequence[ast.stmt], lines: list[str]) -> tuple[int, ...]:
    """Numbers of the empty lines before definitions of one level, after the first statement that is no import and no docstring."""
    found: list[int] = []
    for before, after in itertools.pairwise(body):
        if not isinstance(after, Definition | ast.ClassDef) and not isinstance(before, Definition | ast.ClassDef):
            continue
        begin = min([after.lineno, *(d.lineno for d in getattr(after, "decorator_list", ()))])
        found += [number for number in range((before.end_lineno or before.lineno) + 1, begin) if not lines[number - 1].strip()]
    return tuple(found)


def _end(lines: list[str]) -> tuple[int, ...]:
    """A file without an empty line between definitions gets some behind its last."""
    ending = "\r\n" if lines[-1].endswith("\r\n") else "\n"
    if not lines[-1].endswith("\n"):
        lines[-1] += ending
    lines += [ending] * MOST
    return tuple(range(len(lines) - MOST + 1, len(lines) + 1))


def _kinds(scope: _Scope, text: str, rng: random.Random) -> list[_Kind]:
    """What to plant, the most telling first: in each style of assertion that the file uses one that must fail, then skip, error and pass."""
    a = rng.randrange(2, 90)
    b = a + rng.randrange(1, 9)
    if scope.unittest:
        failing = [f"self.assertEqual({a}, {b})", f"self.assertTrue({a} == {b})", f"self.assertRaises(KeyError, str, {a})"]
        rest = [_Kind(f'self.skipTest("{a}")', Outcome.SKIPPED), _Kind(f"raise LookupError({a})", Outcome.FAILED),
                _Kind(f"self.assertEqual({a}, {a})", Outcome.PASSED)]
    else:
        failing = [f"assert {a} == {b}"] + ([f'__import__("pytest").raises(KeyError, str, {a})'] if "raises(" in text else [])
        rest = [_Kind(f'__import__("pytest").skip("{a}")', Outcome.SKIPPED), _Kind(f"raise LookupError({a})", Outcome.FAILED),
                _Kind(f"assert {a} == {a}", Outcome.PASSED), _Kind("pass", Outcome.ERROR, fresh_parameter(rng, text)),
                _Kind(f'__import__("pytest").xfail("{a}")', Outcome.XFAILED)]
    failing += [body.format(a=a, b=b) for sign, body in LIBRARIES.values() if sign.search(text)]
    return [*(_Kind(body, Outcome.FAILED) for body in failing), *rest]


def fresh_parameter(rng: random.Random, text: str) -> str:
    """A name that no fixture has."""
    return fresh_name(rng, "a", words_of(re.findall(r"def (\w+)", text)), set(re.findall(r"\w+", text)))
