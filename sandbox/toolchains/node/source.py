"""JavaScript and TypeScript source -> its tests, and what they share. By its brackets and statements, without a parser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from sandbox.toolchains.source_text import blanked, shape
from sandbox.toolchains.touched import Module, Unit

IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*")
GROUPS = {"describe", "suite", "context", "fdescribe", "xdescribe", "group"}
TESTS = {"it", "test", "specify", "fit", "xit", "xtest", "ftest", "tape", "bench"}
HOOKS = {"before", "after", "beforeEach", "afterEach", "beforeAll", "afterAll", "setup", "teardown", "suiteSetup", "suiteTeardown"}
CALL = re.compile(r"(?:await\s+|void\s+|return\s+|(?:const|let|var)\s+[\w$]+\s*=\s*)?([A-Za-z_$][\w$]*)((?:\s*\.\s*[A-Za-z_$][\w$]*)*)\s*(\()")
DECLARING = re.compile(r"(?<![\w$.])(?:it|test|describe|suite|specify|context|tape)(?:\s*\.\s*\w+)*\s*[(`]")
TABLE = "(table"  # of what makes tests whose titles the text does not say: such a unit stands for them
NESTED = re.compile(r"(?:await\s+|void\s+|return\s+)?(?:[A-Za-z_$][\w$]*\s*\.\s*(?:test|it|describe|skip|todo|only)\b|(?:test|it|describe)\b)")
DECLARED = re.compile(r"(?:export\s+)?(?:default\s+)?(?:async\s+)?(?:function\s*\*?|class|const|let|var|interface|type|enum)\s+([A-Za-z_$][\w$]*)")
IMPORTED = re.compile(r"(?:import\b|export\s+(?:\*|\{)|(?:const|let|var)\s*\{)")
ASSERTING = re.compile(
    r"assert|expect|should|\bt\.\w+\(|\btest\w*\(|\bis\w*\(|\bequals?\(|\bdeepEqual|\bthrows|\bok\(|\bverify|\bcheck|toThrow|\bstrictEqual"
    r"|\bcompare|\bmatch", re.IGNORECASE)
BEFORE_REGEX = re.compile(r"(?:^|[=(,:;!&|?{}\[+\-*%<>~^\n]|\b(?:return|typeof|case|in|of|void|throw|new|delete|await|yield))\s*$")


@lru_cache(maxsize=512)
def code_of(text: str) -> str:
    """The text with comments and the content of strings, templates and regular expressions blanked; places stay as they are."""
    return "".join(_pieces(text))


def _pieces(text: str) -> Iterator[str]:
    place, tail = 0, ""
    pattern = re.compile(r"//[^\n]*|/\*.*?\*/|'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\"|`|/", re.DOTALL)
    while True:
        match = pattern.search(text, place)
        if match is None:
            yield text[place:]
            return
        plain = text[place:match.start()]
        tail = (tail + plain)[-40:]
        yield plain
        found = match[0]
        if found == "`":
            end = _template_end(text, match.end())
        elif found == "/":
            end = _regex_end(text, match.start()) if BEFORE_REGEX.search(tail) else match.end()
        else:
            end = match.end()
        piece = text[match.start():end]
        yield piece if piece == "/" else blanked(piece)
        if not piece.startswith(("//", "/*")):
            tail = (tail + ("/" if piece == "/" else "x"))[-40:]
        place = end


def _template_end(text: str, place: int) -> int:
    while place < len(text):
        if text[place] == "\\":
            place += 2
        elif text[place] == "`":
            return place + 1
        elif text.startswith("${", place):
            place = _brace_end(text, place + 2)
        else:
            place += 1
    return len(text)


def _brace_end(text: str, place: int) -> int:
    depth = 1
    while place < len(text) and depth:
        char = text[place]
        if char == "`":
            place = _template_end(text, place + 1)
            continue
        if char in "'\"":
            match = re.compile(rf"{char}(?:\\.|[^{char}\\\n])*{char}").match(text, place)
            place = match.end() if match else place + 1
            continue
        depth += (char == "{") - (char == "}")
        place += 1
    return place


def _regex_end(text: str, start: int) -> int:
    match = re.compile(r"/(?:\\[^\n]|\[(?:\\[^\n]|[^\]\\\n])*\]|[^/\\\n\[])+/[a-z]*").match(text, start)
    return match.end() if match else start + 1


@dataclass(frozen=True)
class Statement:
    """Places of one statement in the text."""

    start: int
    end: int


def statements(code: str, start: int, end: int) -> Iterator[Statement]:
    """The statements of a block, by brackets, semicolons and line ends outside of them."""
    place, begin, depth = start, None, 0
    while place < end:
        char = code[place]
        if begin is None and not char.isspace() and char not in ";,":
            begin = place
        if char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        if begin is not None and depth <= 0 and (char == ";" or (char in "\n)}" and _ends(code, place, end))):
            yield Statement(begin, place + 1)
            begin, depth = None, 0
        place += 1
    if begin is not None:
        yield Statement(begin, end)


def _ends(code: str, place: int, end: int) -> bool:
    """Whether a statement ends here, where no semicolon says so: the next line does not go on with it."""
    rest = code[place + 1:end]
    line, _, after = rest.partition("\n")
    if code[place] != "\n" and line.strip():
        return False
    following = (after if code[place] != "\n" else rest).lstrip()
    before = code[max(0, place - 200):place + 1].rstrip()
    return not re.match(r"[.,)\]?:=&|*+\-/<>%]|else\b|catch\b|finally\b|instanceof\b|in\b|of\b|as\b|from\b|\{",
                        following) and not before.endswith(("=", ",", "(", "+", "=>", "&&", "||", ":", "?", "."))


@lru_cache(maxsize=256)
def read_tests(text: str) -> Module:
    """Tests by their titles, `::` between the levels; everything else by name. What has no fixed title is a unit `(table n)` of the group around it."""
    module = Module()
    _read(module, text, code_of(text), 0, len(text), "")
    return module


def _read(module: Module, text: str, code: str, start: int, end: int, scope: str) -> None:
    for number, one in enumerate(statements(code, start, end)):
        part, whole = code[one.start:one.end], text[one.start:one.end]
        called = _called(text, code, one)
        if called is None and DECLARING.search(part) and not DECLARED.match(part):
            called = "table", None, None  # a loop, a condition: tests are made in it
        if called is None:
            _share(module, scope, part, whole, number)
            continue
        kind, title, body = called
        if kind == "group" and title is not None and body is not None:
            inner = f"{scope}{title}::"
            head = text[one.start:body[0]]
            module.shared[f"{inner}(head)"] = Unit(shape(head), frozenset(), head, True)
            _read(module, text, code, body[0], body[1], inner)
        elif kind == "test" and title is not None:
            _read_test(module, text, code, one, f"{scope}{title}")
        elif kind == "hook":
            module.shared[_free(module, f"{scope}(hook {number})")] = Unit(shape(whole), frozenset(IDENTIFIER.findall(part)), whole, True)
        else:
            tables = sum(name.startswith(f"{scope}{TABLE}") for name in module.tests)
            _join(module, f"{scope}{TABLE} {tables + 1})", Unit(shape(whole), frozenset(IDENTIFIER.findall(part)), whole))


def _read_test(module: Module, text: str, code: str, one: Statement, name: str) -> None:
    """A test, and those that its body declares: they are tests of their own, and no part of it."""
    body = _body(code, one.start, one.end)
    kept, place = [], one.start
    for inner in statements(code, *body) if body else ():
        called = _called(text, code, inner) if NESTED.match(code, inner.start, inner.end) else None
        if called is not None and called[0] == "test" and called[1] is not None:
            _read_test(module, text, code, inner, f"{name}::{called[1]}")
            kept.append((place, inner.start))
            place = inner.end
    kept.append((place, one.end))
    _add(module, name, "".join(code[a:b] for a, b in kept), "".join(text[a:b] for a, b in kept))


def flat(module: Module) -> Module:
    """The same by the last titles alone, as tape writes them."""
    found = Module(shared=dict(module.shared))
    for name, unit in module.tests.items():
        _join(found, name.rpartition("::")[2], unit)
    return found


def _add(module: Module, name: str, part: str, whole: str) -> None:
    _join(module, name, Unit(shape(whole), frozenset(IDENTIFIER.findall(part)), whole))


def _join(module: Module, name: str, unit: Unit) -> None:
    if name in module.tests:  # equal titles are one unit: the ordinals of ids move when one is put before another
        before = module.tests[name]
        unit = Unit(before.shape + " " + unit.shape, before.uses | unit.uses, before.text + "\n" + unit.text)
    module.tests[name] = unit


def _share(module: Module, scope: str, part: str, whole: str, number: int) -> None:
    uses = frozenset(IDENTIFIER.findall(part))
    match = DECLARED.match(part)
    names = [match[1]] if match else IDENTIFIER.findall(part.partition("=")[0].partition(" from")[0])[:40] if IMPORTED.match(part) else []
    names = [name for name in names if name not in ("import", "const", "let", "var", "from", "as", "type", "export")]
    if not names:
        module.shared[_free(module, f"{scope}(statement {number})")] = Unit(shape(whole), uses, whole, True)
    for name in names:
        module.shared[_free(module, f"{scope}{name}")] = Unit(shape(whole), uses - {name}, whole)


def _free(module: Module, name: str) -> str:
    while name in module.shared:
        name = f"{name}'"
    return name


def _called(text: str, code: str, one: Statement) -> tuple[str, str | None, tuple[int, int] | None] | None:
    """(group, test, hook or table; its title where that is fixed; the body of a group) of a statement that declares tests."""
    match = CALL.match(code, one.start, one.end)
    if match is None:
        return None
    name, more = match[1], re.findall(r"[\w$]+", match[2])
    kind = _kind(name, more)
    if kind is None:
        return None
    if kind == "hook":
        return "hook", None, None
    if "each" in more or "for" in more or code[match.end():one.end].lstrip()[:1] in ("[", "{"):
        return "table", None, None
    title = _title(text, match.end(), one.end)
    body = _body(code, match.end(), one.end) if kind == "group" else None
    return kind, title, body


def _kind(name: str, more: list[str]) -> str | None:
    last = more[-1] if more else name
    if name in HOOKS or (more and last in HOOKS and name in (*TESTS, *GROUPS, "t", "tap", "mocha")):
        return "hook"
    if name in GROUPS or "describe" in more:
        return "group"
    if name in TESTS or (more and last in ("test", "it", "serial", "failing", "only", "skip", "todo") and not name.startswith(("expect", "assert"))):
        return "test"
    return "test" if not more and len(name) <= 24 and name[0].islower() and name not in ("require", "if", "for", "while", "switch", "function",
                                                                                         "catch", "return", "super", "import") else None


def _title(text: str, start: int, end: int) -> str | None:
    """The first argument, where it is a string."""
    match = re.compile(r"\s*(?:'((?:\\.|[^'\\\n])*)'|\"((?:\\.|[^\"\\\n])*)\"|`((?:\\.|[^`\\$]|\$(?!\{))*)`)\s*(?:,|\))").match(text, start, end)
    if match is None:
        return None
    raw = next(group for group in match.groups() if group is not None)
    plain = re.sub(r"\\(?:u\{([0-9a-fA-F]+)\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", _unescaped, raw, flags=re.DOTALL)
    return re.sub(r"\s+", " ", plain).strip().replace(" > ", "::")


def _unescaped(match: re.Match[str]) -> str:
    number = match[1] or match[2] or match[3]
    if number:
        return chr(int(number, 16)) if int(number, 16) < 0x110000 else ""
    return {"n": "\n", "t": "\t", "r": "\r", "\n": ""}.get(match[4], match[4])


def _body(code: str, start: int, end: int) -> tuple[int, int] | None:
    """The block of the function that a group is given."""
    begin = re.compile(r"(?:=>|\))\s*\{").search(code, start, end)
    if begin is None:
        return None
    place, depth = begin.end(), 1
    while place < end and depth:
        depth += (code[place] in "{") - (code[place] in "}")
        place += 1
    return begin.end(), place - 1
