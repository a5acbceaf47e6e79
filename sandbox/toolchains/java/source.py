"""Java source -> its tests and what they share, by braces, without a compiler."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from sandbox.toolchains.source_text import code_alone, shape, without_comments
from sandbox.toolchains.touched import Module, Unit

JAVA_TEXT = re.compile(r"(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<string>\"\"\".*?(?<!\\)\"\"\"|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+')", re.DOTALL)
TYPE = re.compile(r"(?<![\w.@])(?:class|interface|enum|record|@interface)\s+(\w+)")
IMPORT = re.compile(r"\s*import\s+(?:static\s+)?[\w.]*?(\w+|\*)\s*;?\s*$")
TEST_MARK = re.compile(r"@(?:\w+\.)*(?:\w*Test|TestFactory|TestTemplate|Theory|Property|Fact|Example)\b")
ANY_TEST = re.compile(TEST_MARK.pattern + r"|\bextends\s+(?:\w+\.)*\w*(?:TestCase|Specification|Spec|Tests?)\b|\bfun\s+`")
JUNIT3 = re.compile(r"\bpublic\s+void\s+(test\w*)\s*\(\s*\)")
AROUND = re.compile(r"@(?:\w+\.)*(?:Before|After|Rule|ClassRule|RegisterExtension|TempDir|Mock|Spy|Captor|InjectMocks|Parameters?|DataPoints?)\w*\b")
NAMED = re.compile(r"(\w+)\s*(?:=(?!=)|;|,|$)")
IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*")
ASSERTING = re.compile(
    r"\b(assert\w*|verify\w*|expect\w*|fail\w*|check\w*|should\w*|ensure\w*|matches|andExpect|StepVerifier|thrown|test\w+)\s*[.(]|\bAssert\w*\.|\bassert\s"
    r"|\bexpected\s*=|@\w*Expect\w*|\bTruth\b|\bthen:|\bexpect:|\bthrow\b", re.IGNORECASE)


@dataclass(frozen=True)
class Member:
    """One member of a type: what stands before its body, all of it, first and last place in the text; `body`: of a type, its own places."""

    head: str
    start: int
    end: int
    body: tuple[int, int] | None = None


def holds_tests(text: str) -> bool:
    """Whether a source text looks as if it had tests."""
    return bool(ANY_TEST.search(text) or JUNIT3.search(text))


@lru_cache(maxsize=512)
def read_class(text: str, name: str) -> Module:
    """The tests of a file named for the class `name`, and everything that they share; `Inner::method` for those of nested classes."""
    module = Module()
    if not name:
        return Module(parsed=False)
    _read(text, code_alone(text, JAVA_TEXT), (0, len(text)), "", name, module)
    return module


def superclasses(text: str) -> frozenset[str]:
    """Names of the classes that those of a file extend."""
    return frozenset(re.findall(r"\b(?:extends|implements)\s+(?:\w+\.)*(\w+)", code_alone(text, JAVA_TEXT)))


def _read(text: str, code: str, span: tuple[int, int], scope: str, own: str, module: Module) -> None:
    for member in members(code, *span):
        if member.body is not None and (match := TYPE.search(member.head)):
            inner = scope if not scope and match[1] == own else f"{scope}{match[1]}::"
            module.shared[_free(module, f"{inner}(class)")] = _unit(text, code, member.start, member.body[0], autouse=True)
            _read(text, code, member.body, inner, own, module)
            continue
        imported = IMPORT.match(member.head)
        if imported:
            module.shared[_free(module, imported[1])] = Unit(shape(member.head), frozenset(), member.head)
            continue
        _member(text, code, member, scope, module)


def _member(text: str, code: str, member: Member, scope: str, module: Module) -> None:
    head = _without_annotations(member.head)
    called = re.search(r"([\w$]+)\s*\(", head.split("=")[0])
    if called is None:
        names = [match[1] for match in NAMED.finditer(re.sub(r"<[^;=]*>", "", head))] or ["(init)"]
        for name in names[:1]:
            around = name == "(init)" or bool(AROUND.search(member.head))
            module.shared[_free(module, scope + name)] = _unit(text, code, member.start, member.end, around)
        return
    name = called[1]
    unit = _unit(text, code, member.start, member.end)
    if TEST_MARK.search(member.head) or JUNIT3.search(head):
        used = frozenset(re.findall(r'"(?:[\w.$]+#)?(\w+)(?:\(.*?\))?"', text[member.start:member.start + len(member.head)]))
        if "@MethodSource" in member.head and not used:
            used = frozenset({name})
        module.tests.setdefault(scope + name, Unit(unit.shape, unit.uses - {name} | used, unit.text))
    else:
        constructor = not re.search(r"[\w>\]]\s+[\w$]+\s*\(", re.sub(r"\b(public|protected|private)\b", "", head))
        around = constructor or bool(AROUND.search(member.head)) or name in ("setUp", "tearDown", "suite")
        module.shared[_free(module, scope + name)] = Unit(unit.shape, unit.uses - {name}, unit.text, around)


def _free(module: Module, name: str) -> str:
    """Overloads have one name: all count."""
    scope, _, last = name.rpartition("::")
    while name in module.shared:
        scope = f"{scope}::again" if scope else "again"
        name = f"{scope}::{last}"
    return name


def _unit(text: str, code: str, start: int, end: int, autouse: bool = False) -> Unit:
    own = text[start:end]
    return Unit(shape(without_comments(own, JAVA_TEXT)), frozenset(IDENTIFIER.findall(code[start:end])), own.strip("\n"), autouse)


def _without_annotations(head: str) -> str:
    """A head without `@Name(...)`; the parentheses of annotations may nest."""
    kept, place = [], 0
    for match in re.finditer(r"@(?!interface\b)[\w.]+\s*", head):
        if match.start() < place:
            continue
        kept.append(head[place:match.start()])
        place = match.end()
        if head[place:place + 1] == "(":
            place = _closing(head, place, "(", ")") + 1
    return "".join(kept) + head[place:]


def _closing(code: str, place: int, opening: str, closing: str) -> int:
    """The place of the mark that closes the one at `place`; the last one where there is none."""
    depth = 0
    for at in range(place, len(code)):
        depth += (code[at] == opening) - (code[at] == closing)
        if depth == 0:
            return at
    return len(code) - 1


def members(code: str, start: int, end: int) -> Iterator[Member]:
    """The members of a type's body, or the declarations of a file. `code`: without comments and strings."""
    begin = at = start
    while at < end:
        mark = code[at]
        if mark == "(":
            at = _closing(code, at, "(", ")")
        elif mark == ";":
            if code[begin:at].strip():
                yield Member(code[begin:at + 1], begin, at + 1)
            begin = at + 1
        elif mark == "{":
            close = _closing(code, at, "{", "}")
            head = code[begin:at]
            if re.search(r"=(?!=)", _without_annotations(head)) and not TYPE.search(head):
                at = close  # of a value: the declaration goes on to its semicolon
            else:
                yield Member(head, begin, min(close + 1, end), (at + 1, close))
                begin, at = close + 1, close
        at += 1


def bodies(text: str) -> list[range]:
    """Lines of the methods, constructors, initialisers and fields with a value, each as a whole."""
    code = code_alone(text, JAVA_TEXT)
    return [range(code.count("\n", 0, start) + 1, code.count("\n", 0, end) + 2) for start, end in _bodies(code, 0, len(code))]


def _bodies(code: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    for member in members(code, start, end):
        if member.body is not None and TYPE.search(member.head):
            yield from _bodies(code, *member.body)
        elif member.body is not None or "=" in _without_annotations(member.head):
            yield member.start + len(member.head) - len(member.head.lstrip()), member.end - 1


def method_lines(text: str) -> dict[str, int]:
    """Name of a method -> the line that it is first declared on."""
    found: dict[str, int] = {}
    for match in re.finditer(r"(?<![.\w])(\w+)\s*\([^;{}]*\)\s*(?:throws [\w., ]+)?\{", code_alone(text, JAVA_TEXT)):
        found.setdefault(match[1], text.count("\n", 0, match.start()) + 1)
    return found
