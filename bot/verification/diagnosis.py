"""Why a test fails now, in words that a person or an agent can act on. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection

from bot.findings import Finding, Severity
from sandbox.results.report import TestResult

DIAGNOSED = 20  # failing tests that get a diagnosis of their own
SYNTAX = ("SyntaxError", "IndentationError", "TabError")


def kind_of(result: TestResult) -> str:
    """missing_package, hallucinated_api, syntax_error, assertion, exception, timeout or crash."""
    exception = (result.exception or "").rsplit(".", 1)[-1]
    text = result.short or result.message
    if result.kind in ("crash", "timeout"):
        return result.kind
    if exception == "ModuleNotFoundError" or (exception == "ImportError" and "No module named" in text):
        return "missing_package"
    if exception in SYNTAX:
        return "syntax_error"
    if (exception == "AttributeError" and "has no attribute" in text) or (exception == "ImportError" and "cannot import name" in text) or (
            exception == "TypeError" and "unexpected keyword argument" in text):
        return "hallucinated_api"
    if exception in ("AssertionError", "Failed", "failureException") or text.startswith(("assert ", "AssertionError")):
        return "assertion"
    return "exception"


def first_lines(result: TestResult, limit: int = 6) -> str:
    """The lines that pytest marks with E, or the message's last ones."""
    marked = [line[1:].strip() for line in result.message.splitlines() if line.startswith("E ") and line[1:].strip()]
    lines = marked or [line for line in (result.short or result.message).splitlines() if line.strip()]
    return "\n".join(lines[:limit])


def place_in(result: TestResult, paths: Collection[str]) -> str | None:
    """`file:line` of the innermost frame in one of the files that the change edits."""
    return next((f"{f[0]}:{f[1]} in {f[2]}" for f in reversed(result.frames) if f[0] in paths), None)


def place(result: TestResult) -> str:
    """Where it went wrong: the innermost frame in the repository, else where the test stands."""
    inside = [f for f in result.frames if not f[0].startswith(("/", "<"))]
    return f"{inside[-1][0]}:{inside[-1][1]}" if inside else f"{result.file}:{result.line}"


def diagnose(result: TestResult, changed: Collection[str], severity: Severity) -> Finding:
    """One failing test as a finding: kind, what was expected, where, and the frame inside the change."""
    kind = kind_of(result)
    words = first_lines(result)
    inside = place_in(result, changed)
    if inside:
        words += f"\ninside the change: {inside}"
    if result.nearest and kind == "hallucinated_api":
        package, version, name, near = result.nearest
        known = f"{package} {version}" if version else str(package)
        words += f"\n{known} has no {name}" + (f"; it has {', '.join(near)}" if near else "")
    if result.output:
        words += "\noutput: " + re.sub(r"\s+", " ", result.output)[:200]
    return Finding(kind, severity, words, (place(result),), (result.id,))
