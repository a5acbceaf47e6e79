"""What CI and tox tell the tests by environment variables. Read as data."""

from __future__ import annotations

import configparser
import re
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from sandbox.plan import Choice
from sandbox.workspace import Tree

PLAIN = re.compile(r"[\w.@%+=:,/ -]{0,200}")  # what may be handed to tests: no quotes, no substitutions
NAME = re.compile(r"[A-Z][A-Z0-9_]*")
# What steers an interpreter, a runner, a build or the run itself is ours; colours and widths are of a terminal that is not there.
OF_THE_RUN = re.compile(r"^(PATH|HOME|USER|SHELL|TMPDIR|PYTHON.*|LD_.*|NODE_.*|GIT_.*|GITHUB_.*|CI|DUALGATE_.*|.*TOKEN.*|CARGO_.*|RUST.*|C?GO[A-Z0-9_]*|JAVA_.*"
                        r"|JDK_.*|MAVEN_.*|GRADLE_.*|.*_PROXY|PIP_.*|UV_.*|NPM_.*|YARN_.*|PNPM_.*|TOX.*|NOX.*|PYTEST_.*|PY_COLORS|FORCE_COLOR|CLICOLOR.*|NO_COLOR|TERM"
                        r"|COLUMNS|LINES|COVERAGE.*|CODECOV.*|COVERALLS.*|PRE_COMMIT.*|LC_.*|LANG|TZ|DISPLAY|CC|CXX|CFLAGS|CXXFLAGS|LDFLAGS|MAKEFLAGS|AR|RANLIB)$")
TESTS = {
    "python": re.compile(r"\b(pytest|tox|nox|unittest|manage\.py test|runtests|run_tests|django-admin test|hatch|make test|make check|coverage run)\b"),
    "node": re.compile(r"\b(npm|yarn|pnpm|npx|node|jest|vitest|mocha)\b"), "rust": re.compile(r"\bcargo\b"), "go": re.compile(r"\bgo test\b|\bmake test\b"),
    "maven": re.compile(r"\bmvnw?\b"), "gradle": re.compile(r"\bgradlew?\b"),
}


def ci_variables(tree: Tree, toolchain: str) -> tuple[tuple[tuple[str, str], ...], tuple[Choice, ...]]:
    """The variables that the first testing job of each kind gives the tests of a toolchain, and where they stand; what tox says comes last."""
    found: dict[str, tuple[str, str]] = {}
    for path in sorted(tree):
        if not found and path.startswith(".github/workflows/") and path.endswith((".yml", ".yaml")):
            found.update({name: (value, path) for name, value in _of_workflow(tree.text(path) or "", toolchain)})
    if toolchain == "python":
        found.update({name: (value, "tox.ini") for name, value in _of_tox(tree.text("tox.ini") or "")})
    why = [Choice("variable", f"{name}={value}", path, _line_of(tree.text(path) or "", name)) for name, (value, path) in found.items()]
    return tuple((name, value) for name, (value, _) in found.items()), tuple(why)


def told(data: Mapping[str, Any], job: Mapping[str, Any], tests: re.Pattern[str]) -> Iterator[tuple[str, str]]:
    """Of a workflow, one of its jobs and the steps that test; none that only means something where the workflow runs."""
    steps = [step for step in job.get("steps") or () if isinstance(step, dict) and tests.search(str(step.get("run") or ""))]
    for table in (data.get("env"), job.get("env"), *(step.get("env") for step in steps)):
        for name, value in table.items() if isinstance(table, dict) else ():
            text = str(value).lower() if isinstance(value, bool) else str(value)
            if is_for_tests(str(name), text):
                yield str(name), text


def needs_no_server(job: Mapping[str, Any]) -> bool:
    """Whether a job is the one, of several that differ in their database, that takes SQLite."""
    return not job.get("services") and "sqlite" in str(job).lower()


def is_for_tests(name: str, value: str) -> bool:
    """Whether a variable may reach the tests."""
    return bool(NAME.fullmatch(name)) and not OF_THE_RUN.match(name) and bool(PLAIN.fullmatch(value))


def _of_workflow(text: str, toolchain: str) -> list[tuple[str, str]]:
    tests = TESTS.get(toolchain)
    if tests is None or "env:" not in text:
        return []
    try:
        data = yaml.safe_load(text)
        jobs = [one for one in data["jobs"].values() if any(tests.search(str(step.get("run") or "")) for step in one.get("steps") or ())]
        return list(told(data, sorted(jobs, key=lambda one: not needs_no_server(one))[0], tests)) if jobs else []
    except (yaml.YAMLError, AttributeError, KeyError, TypeError):
        return []


def _of_tox(text: str) -> Iterator[tuple[str, str]]:
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True, comment_prefixes=("#", ";"))
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    try:
        parser.read_string(text)
    except configparser.Error:
        return
    for key in ("setenv", "set_env"):
        for row in (parser.get("testenv", key, fallback="") or "").splitlines():
            name, sign, value = (part.strip() for part in row.partition("="))
            if sign and is_for_tests(name, value):
                yield name, value


def _line_of(text: str, name: str) -> int:
    return next((number for number, line in enumerate(text.splitlines(), 1) if re.match(rf"\s*-?\s*{name}\b", line)), 1)
