"""A tree -> the plan of its Python part, with the file and line behind each choice."""

from __future__ import annotations

import ast
import datetime
import re
import shlex
import sys
from collections.abc import Iterable

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name

from sandbox import interpreters
from sandbox.plan import Choice
from sandbox.toolchains.protocol import Sight
from sandbox.toolchains.python import names
from sandbox.toolchains.python.django import DjangoRun, django_run, uses_django
from sandbox.toolchains.python.metadata import Metadata, read_metadata
from sandbox.toolchains.python.paths import is_manifest, is_test_file, own_patterns
from sandbox.toolchains.python.plan import PythonPlan, Requirements
from sandbox.toolchains.python.syntax import parse_module
from sandbox.workspace import Tree

TEST_WORD = re.compile(r"(^|[-_./])(tests?|testing|pytest|unittest|ci)($|[-_.\d])|tests?_require|^hatch-(default|.*test.*)$", re.IGNORECASE)
DEV_WORD = re.compile(r"(^|[-_./])(dev|devel|develop|development|all)($|[-_.])", re.IGNORECASE)
SKIPPED_WORD = re.compile(r"(docs?|lint|typing|mypy|benchmark|style|release|pre-?commit|format)($|[-_.])", re.IGNORECASE)
IMPORTS_PYTEST = re.compile(r"^\s*(import|from) pytest\b", re.MULTILINE)
FRESH = datetime.timedelta(days=30)
SETTLED = datetime.timedelta(days=182)


def detect(
    tree: Tree, commit_date: datetime.date, available: tuple[str, ...], version: str | None, today: datetime.date, before: Tree | None = None,
) -> PythonPlan | None:
    """The plan, or None where nothing is Python.

    `commit_date`: the base commit's day; dependencies are resolved as of the day after where it is older than 30 days.
    `version`: the last tag, for projects that ask Git for theirs.
    `before`: base, where `tree` holds a change's tests as well: its test files belong to the suite whatever the change does to them.
    """
    python_files = [path for path in tree if path.endswith(".py")]
    if not python_files and not any(is_manifest(path) for path in tree):
        return None
    found = read_metadata(tree)
    patterns = own_patterns(found.pytest_settings)
    test_files = _test_files(tree, patterns)
    own_files = _test_files(before, patterns) if before is not None else ()
    why: list[Choice] = []
    framework, django = _framework(found, before, own_files, why) if before is not None and own_files else _framework(found, tree, test_files, why)
    interpreters = _interpreters(found, commit_date, available, why)
    extras = _extras(found, why)
    stages = _stages(found, tree, test_files, extras, why)
    cut = commit_date + datetime.timedelta(days=1) if today - commit_date > FRESH else None
    why.append(Choice("dependencies as of", cut.isoformat() if cut else "today: the commit is younger than 30 days", *found.origins.get("lock", (None, None))))
    return PythonPlan(
        toolchain="python", framework=framework, django=django, interpreters=interpreters, project=found.project, extras=extras,
        build_requires=tuple(found.build_requires), stages=stages,
        constraints=tuple(f"{name}=={release}" for name, release in sorted(found.locked.items())), known_names=_known_names(found),
        test_files=tuple(sorted({*test_files, *own_files})), exclude_newer=cut, version=version,
        manifests=tuple(sorted(path for path in tree if is_manifest(path) and (before is None or path in before))), why=tuple(why))


def plans(tree: Tree, sight: Sight) -> list[PythonPlan]:
    """The plan of the whole tree, with the interpreters that this machine has; none where nothing is Python."""
    found = detect(tree, sight.commit_date, interpreters.available(), sight.version, sight.today, sight.before)
    return [found] if found is not None else []


def _test_files(tree: Tree, patterns: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted(path for path in tree if path.endswith(".py") and is_test_file(path, patterns)))


def _framework(found: Metadata, tree: Tree, test_files: tuple[str, ...], why: list[Choice]) -> tuple[str, DjangoRun | None]:
    if found.pytest_file:
        why.append(Choice("framework", "pytest", *found.origins.get("pytest", (found.pytest_file, 1))))
        return "pytest", None
    django = django_run(tree) if uses_django(tree, test_files) and not any(IMPORTS_PYTEST.search(tree.text(path) or "") for path in test_files) else None
    if django:
        why.append(django.choice())
        return "django", django
    for path in test_files:
        text = tree.text(path) or ""
        if re.search(r"^(\s*(import|from) pytest\b|(async )?def test)", text, re.MULTILINE):
            why.append(Choice("framework", "pytest", path, 1))
            return "pytest", None
    unittest_file = next((path for path in test_files if re.search(r"\bTestCase\b", tree.text(path) or "")), None)
    if unittest_file:
        why.append(Choice("framework", "unittest, run by pytest", unittest_file, 1))
        return "unittest", None
    why.append(Choice("framework", "pytest, for want of any sign"))
    return "pytest", None


def _interpreters(found: Metadata, commit_date: datetime.date, available: tuple[str, ...], why: list[Choice]) -> tuple[str, ...]:
    """The best first: the highest that the project names, that was out six months before the commit, and that it allows."""
    try:
        allowed_by_project = SpecifierSet(found.requires_python or "")
    except InvalidSpecifier:
        allowed_by_project = SpecifierSet("")
    allowed = [v for v in available if allowed_by_project.contains(v + ".99") or allowed_by_project.contains(v + ".0")]
    settled = [v for v in allowed if names.RELEASED[v] + SETTLED <= commit_date] or (allowed or list(available))[:1]
    named = [v for v in settled if v in found.classifiers] or [v for v in settled if v in found.ci_pythons and not found.classifiers]
    best = (named or settled)[-1]
    file, line = found.origins.get("classifiers" if named else "requires-python", (None, None))
    why.append(Choice("interpreter", best, file, line))
    rest = [v for v in reversed(settled) if v != best] + [v for v in allowed if v not in settled]
    return (best, *rest)


def _chosen(keys: Iterable[str]) -> list[str]:
    """Names of test groups; where there is none, those of development."""
    keys = list(keys)
    tests = [key for key in keys if TEST_WORD.search(key) and not SKIPPED_WORD.search(key)]
    return tests or [key for key in keys if DEV_WORD.search(key) and not SKIPPED_WORD.search(key)]


def _extras(found: Metadata, why: list[Choice]) -> tuple[str, ...]:
    chosen = list(dict.fromkeys(_chosen(found.extras) + [name for name in found.ci_extras if name in found.extras]))
    for name in chosen:
        why.append(Choice("extra", name, *found.origins.get(f"extra:{name}", (None, None))))
    return tuple(chosen)


def _stages(found: Metadata, tree: Tree, test_files: tuple[str, ...], extras: tuple[str, ...], why: list[Choice]) -> tuple[Requirements, ...]:
    stages: list[Requirements] = []

    def add(origin: str, lines: Iterable[str], key: str) -> None:
        rows = tuple(dict.fromkeys(row for row in lines if _is_requirement(row)))
        if rows:
            stages.append(Requirements(origin, rows))
            why.append(Choice("requirements", f"{origin}: {len(rows)}", *found.origins.get(key, (origin if origin in tree else None, None))))

    for name in extras:
        add(f"extra {name}", found.extras[name], f"extra:{name}")
    for name in dict.fromkeys([*_chosen(found.groups), *(["tests_require"] if found.groups.get("tests_require") else [])]):
        add(f"group {name}", found.groups[name], f"group:{name}")
    files = _chosen(found.files) or ([path for path in found.files if path == "requirements.txt"])
    if not found.project and "requirements.txt" in found.files and "requirements.txt" not in files:
        files = ["requirements.txt", *files]
    files += [key[5:] for key in found.origins if key.startswith("file:") and key[5:] in found.files and key[5:] not in files]
    for path in files:
        add(path, found.files[path], f"file:{path}")
    add(found.origins.get("tox", ("tox.ini", 1))[0], found.tox, "tox")
    add("pytest plugins", _plugins(found, tree, test_files), "pytest")
    add("imports of the tests", _test_imports(found, tree, test_files), "")
    return tuple(stages)


def _is_requirement(row: str) -> bool:
    try:
        return Requirement(row).url is None
    except InvalidRequirement:
        return False


def _plugins(found: Metadata, tree: Tree, test_files: tuple[str, ...]) -> list[str]:
    """Plugins that the configuration or the tests name, in the words of the fixed list."""
    wanted: list[str] = []
    try:
        options = shlex.split(found.pytest_settings.get("addopts", ""))
    except ValueError:
        options = found.pytest_settings.get("addopts", "").split()
    wanted += [plugin for option in options if (plugin := names.plugin_for_option(option))]
    wanted += [names.PLUGIN_SETTINGS[key] for key in found.pytest_settings if key in names.PLUGIN_SETTINGS]
    for path in test_files:
        text = tree.text(path) or ""
        wanted += [names.PLUGIN_MARKS[mark] for mark in re.findall(r"pytest\.mark\.(\w+)", text) if mark in names.PLUGIN_MARKS]
        for arguments in re.findall(r"def test_\w+\(([^)]*)\)", text):
            wanted += [names.PLUGIN_FIXTURES[word] for word in re.findall(r"\w+", arguments) if word in names.PLUGIN_FIXTURES]
    project = canonicalize_name(found.name or "")
    return [name for name in dict.fromkeys(wanted) if canonicalize_name(name) != project]


def _test_imports(found: Metadata, tree: Tree, test_files: tuple[str, ...]) -> list[str]:
    """Distributions of what the tests import without a net: the fixed list's, and names that the project's own files use."""
    own = {path.split("/")[0].removesuffix(".py") for path in tree if path.endswith(".py")}
    own |= {path.split("/")[1].removesuffix(".py") for path in tree if path.startswith(("src/", "lib/")) and path.endswith(".py")}
    own |= {part.removesuffix(".py") for path in test_files for part in path.split("/")}
    known = set(_known_names(found))
    wanted: list[str] = []
    conftests = [path for path in tree if path.endswith("conftest.py")]
    for path in (*test_files, *conftests):
        for name in unguarded_imports(tree.text(path) or ""):
            if name in own or name in sys.stdlib_module_names or name == canonicalize_name(found.name or "").replace("-", "_"):
                continue
            distribution = names.DISTRIBUTIONS.get(name) or (name if canonicalize_name(name) in known else None)
            if distribution:
                wanted.append(distribution)
        for name in guarded_imports(tree.text(path) or ""):
            distribution = names.DISTRIBUTIONS.get(name, name)
            if name not in own and canonicalize_name(distribution) in known and canonicalize_name(distribution) != canonicalize_name(found.name or ""):
                wanted.append(distribution)
    return list(dict.fromkeys(wanted))


def guarded_imports(text: str) -> list[str]:
    """Top-level names that a test module would skip without: `importorskip`, and imports in `try` and in functions."""
    found = [name.split(".")[0] for name in re.findall(r"importorskip\(\s*[\"']([\w.]+)", text)]
    found += [name for name in re.findall(r"^[ \t]+(?:import|from) (\w+)", text, re.MULTILINE) if name not in sys.stdlib_module_names]
    return list(dict.fromkeys(found))


def unguarded_imports(text: str) -> list[str]:
    """Top-level names imported at the top of a module, outside `try` and `if`."""
    module = parse_module(text)
    if module is None:
        return []
    found: list[str] = []
    for node in module.body:
        if isinstance(node, ast.Import):
            found += [alias.name.split(".")[0] for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            found.append(node.module.split(".")[0])
    return list(dict.fromkeys(found))


def _known_names(found: Metadata) -> tuple[str, ...]:
    """Every distribution that the project's own files name, canonical."""
    rows = [*found.dependencies, *found.tox, *found.mentioned, *found.ci, *found.locked]
    for table in (found.extras, found.groups, found.files):
        rows += [row for lines in table.values() for row in lines]
    known = set()
    for row in rows:
        match = re.match(r"[A-Za-z0-9][\w.-]*", row)
        if match:
            known.add(canonicalize_name(match[0]))
    return tuple(sorted(known))
