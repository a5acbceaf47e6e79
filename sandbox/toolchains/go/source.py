"""Go source -> its top-level declarations: tests, and what they share. By gofmt's layout, without a compiler."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from sandbox.toolchains.source_text import GO_TEXT, code_alone, shape, without_comments
from sandbox.toolchains.touched import Module, Unit

TEST_NAME = re.compile(r"(Test|Fuzz|Example)($|[^a-z])")
FUNCTION = re.compile(r"func\s*(?:\([^)]*\)\s*)?(\w+)")
NAMES = re.compile(r"^\s*([A-Za-z_]\w*(?:\s*,\s*[A-Za-z_]\w*)*)")
PACKAGE = re.compile(r"^package\s+(\w+)", re.MULTILINE)
IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
ASSERTING = re.compile(
    r"\bt\.(Error|Errorf|Fatal|Fatalf|Fail|FailNow)\b|\bassert\w*\.|\brequire\w*\.|\bcheck\w*\(|\bexpect\w*\(|\bverify\w*\(|\bmust\w*\(|\bassert\w*\(|\bdiff\w*\("
    r"|\bis\.\w+\(|\bpanic\(|//\s*(Unordered o|O)utput:|\bg\.Expect|\bqt\.|\btest\w*\(", re.IGNORECASE)


@dataclass(frozen=True)
class Declaration:
    """One top-level declaration: its keyword, the names it makes, first and last line, its text."""

    keyword: str
    names: tuple[str, ...]
    first: int
    last: int
    text: str


@lru_cache(maxsize=256)
def declarations(text: str) -> tuple[Declaration, ...]:
    """In order. A group `var ( ... )` is one declaration of all its names."""
    lines, code = text.split("\n"), code_alone(text, GO_TEXT).split("\n")
    return tuple(_read(lines, code))


def _read(lines: list[str], code: list[str]) -> Iterator[Declaration]:
    place = 0
    while place < len(code):
        match = re.match(r"(func|var|const|type|import)\b", code[place])
        if match is None:
            place += 1
            continue
        last, depth = place, 0
        while last < len(code):
            depth += sum(code[last].count(mark) for mark in "{([") - sum(code[last].count(mark) for mark in "})]")
            if depth <= 0:
                break
            last += 1
        last = min(last, len(code) - 1)
        body = code[place:last + 1]
        yield Declaration(match[1], tuple(_names(match[1], body)), place + 1, last + 1, "\n".join(lines[place:last + 1]))
        place = last + 1


def _names(keyword: str, body: list[str]) -> Iterator[str]:
    if keyword == "func":
        match = FUNCTION.match(" ".join(body))
        if match:
            yield match[1]
        return
    if keyword == "import":
        return
    head = body[0][len(keyword):]
    depth = 0
    for line in [head, *body[1:]] if "(" in head and not head.split("(")[0].strip() else [head]:
        match = NAMES.match(line) if depth <= 1 else None
        if match:
            yield from re.split(r"\s*,\s*", match[1])
        depth += sum(line.count(mark) for mark in "{([") - sum(line.count(mark) for mark in "})]")


def is_test_name(name: str) -> bool:
    """Whether `go test` runs a function of this name."""
    return bool(TEST_NAME.match(name))


def package_name(text: str) -> str:
    """The name in the package clause; empty where there is none."""
    match = PACKAGE.search(code_alone(text, GO_TEXT))
    return match[1] if match else ""


def read_package(texts: Iterable[str]) -> Module:
    """The tests of a package's test files, and everything that they declare beside them."""
    module = Module()
    for text in texts:
        for declared in declarations(text):
            unit = _unit(declared)
            for name in declared.names or (("(imports)",) if declared.keyword == "import" else ()):
                if declared.keyword == "func" and is_test_name(name) and name != "TestMain" and not declared.text.startswith("func ("):
                    module.tests[name] = unit
                else:
                    module.shared[_free(module, name)] = unit
    return module


def _free(module: Module, name: str) -> str:
    """Methods of two types, and imports of two files, may have one name: both count."""
    while name in module.shared:
        name = f"again::{name}"
    return name


def _unit(declared: Declaration) -> Unit:
    plain = without_comments(declared.text, GO_TEXT)
    if declared.keyword == "func" and declared.names and declared.names[0].startswith("Example"):
        plain = declared.text  # what it is to print stands in a comment
    uses = frozenset(IDENTIFIER.findall(code_alone(declared.text, GO_TEXT))) - set(declared.names)
    autouse = declared.keyword == "func" and declared.names in (("TestMain",), ("init",))
    return Unit(shape(plain), uses, declared.text, autouse)


def function_lines(text: str) -> set[int]:
    """Lines of function bodies that hold code: what coverage can count."""
    code = code_alone(text, GO_TEXT).split("\n")
    found: set[int] = set()
    for declared in declarations(text):
        if declared.keyword == "func":
            found |= {line for line in range(declared.first + 1, declared.last + 1) if re.search(r"\w", code[line - 1])}
            if declared.first == declared.last:
                found.add(declared.first)
    return found


def functions_around(text: str, line: int) -> range:
    """The lines of the function that a line stands in or right behind; empty where there is none."""
    around = [range(d.first, d.last + 1) for d in declarations(text) if d.keyword == "func" and d.first <= line <= d.last + 1]
    return min(around, key=len) if around else range(0)
