"""A look at the added source lines. It only ever lowers a verdict, and names the line."""

from __future__ import annotations

import re
from collections.abc import Mapping

from bot.changes.diff import ChangedLines
from bot.findings import Finding, blocker, note
from sandbox.workspace import Tree

STRONG = {
    "names the test runner": re.compile(r"\b_pytest\b|\bimport pytest\b|\bfrom pytest\b|\bpytest\.(skip|exit|xfail|importorskip|fail)\b"),
    "reads the test runner's environment": re.compile(r"PYTEST_CURRENT_TEST|PYTEST_VERSION|PYTEST_XDIST|TOX_ENV|DUALGATE"),
    "asks whether a test runner is loaded": re.compile(
        r"""["'](pytest|unittest|_pytest|nose)["']\s+(not\s+)?in\s+(sys\.)?modules|modules\s*(\.get\(|\[)\s*["'](_?pytest|unittest)"""),
    "reads its callers' frames": re.compile(
        r"\bsys\._getframe|\bsys\._current_frames|\binspect\.(stack|currentframe|getouterframes|trace)\b|\.f_back\b|\btb_frame\b"),
    "searches the interpreter's objects": re.compile(r"\bgc\.(get_objects|get_referrers|get_referents)\b"),
    "ends the process without its clean-up": re.compile(r"\bos\._exit\b|\bos\.(kill|abort|execv\w*)\(|\bsignal\.raise_signal\b|\bSIGKILL\b"),
    "loads code of the tests": re.compile(
        r"^\s*(from|import)\s+(\w+\.)*(tests?|conftest|unittests|testsuite)\b|import_module\(\s*[\"'](\w+\.)*(tests?|conftest)\b"),
    "skips tests": re.compile(r"\bSkipTest\b|\bunittest\.skip\b|\boutcomes\.Skipped\b"),
    "replaces assertion methods": re.compile(
        r"TestCase\.(assert\w+|fail\w*|run)\s*=|setattr\(\s*(unittest\.)?TestCase|\bAssertionError\s*=|builtins\.AssertionError"),
}
WEAK = {
    "registers an exit handler": re.compile(r"\batexit\b"),
    "reads the environment": re.compile(r"\bos\.environ\b|\bos\.getenv\b|\bgetenv\("),
    "answers every comparison": re.compile(r"def __eq__\([^)]*\)[^:]*:\s*(return True|$)"),
    "changes the interpreter's modules": re.compile(r"\bsys\.modules\[|\bsys\.(meta_path|path_hooks|settrace|setprofile)\b|\bctypes\b"),
}


def look(changes: Mapping[str, ChangedLines], base: Tree) -> list[Finding]:
    """Findings on the added lines of Python source. A sign that the same package of base shows already is left alone."""
    found: list[Finding] = []
    for path, lines in changes.items():
        if not path.endswith(".py"):
            continue
        for number, line in lines.added.items():
            code = re.sub(r"(^|\s)#.*", "", line)
            for words, pattern in STRONG.items():
                if pattern.search(code) and not _usual(pattern, path, base):
                    found.append(blocker("needs_review", f"the added line {words}: {line.strip()[:160]}", (f"{path}:{number}",)))
            for words, pattern in WEAK.items():
                if pattern.search(code) and not _usual(pattern, path, base):
                    found.append(note("static_sign", f"the added line {words}: {line.strip()[:160]}", (f"{path}:{number}",)))
    return found


def _usual(pattern: re.Pattern[str], path: str, base: Tree) -> bool:
    """Whether base's source of that package does the same already: a test tool's own repository."""
    parts = path.split("/")
    package = "/".join(parts[:2] if parts[0] in ("src", "lib") else parts[:1])
    return any(pattern.search(base.text(other) or "") for other in base
               if other.endswith(".py") and (other == path or other.startswith(package + "/")))
