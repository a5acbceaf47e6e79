"""What a Python repository says of itself, read as data: nothing of it is run."""

from __future__ import annotations

import ast
import configparser
import re
import tomllib
from dataclasses import dataclass, field
from typing import Any

from sandbox.toolchains.python import poetry as poetry_tables
from sandbox.toolchains.python.requirement_files import is_requirements, requirement_lines
from sandbox.toolchains.python.syntax import parse_module
from sandbox.toolchains.python.workflows import read_workflows
from sandbox.workspace import Tree

NOX_TESTS = re.compile(r"(^|_)(tests?|unit|pytest|coverage)(_|$|\d)|^tests", re.IGNORECASE)
VERSION = re.compile(r"Programming Language :: Python :: (3\.\d+)")


@dataclass
class Metadata:
    """Requirement strings by where they stand. `origins`: (file, line) of a key, such as `extra:test`."""

    project: bool = False
    name: str | None = None
    requires_python: str | None = None
    classifiers: list[str] = field(default_factory=list)
    dependencies: list[str] = field(default_factory=list)
    build_requires: list[str] = field(default_factory=list)
    extras: dict[str, list[str]] = field(default_factory=dict)
    groups: dict[str, list[str]] = field(default_factory=dict)
    files: dict[str, list[str]] = field(default_factory=dict)
    tox: list[str] = field(default_factory=list)
    mentioned: list[str] = field(default_factory=list)  # of tox environments that are not the default one
    ci: list[str] = field(default_factory=list)
    ci_extras: list[str] = field(default_factory=list)
    ci_pythons: list[str] = field(default_factory=list)
    locked: dict[str, str] = field(default_factory=dict)
    pytest_settings: dict[str, str] = field(default_factory=dict)
    pytest_file: str | None = None
    origins: dict[str, tuple[str, int]] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)

    def keep_strings(self) -> None:
        """Drop what a malformed file put where strings belong."""
        self.name = self.name if isinstance(self.name, str) else None
        self.requires_python = self.requires_python if isinstance(self.requires_python, str) else None
        for rows in (self.dependencies, self.build_requires, self.tox, self.ci, self.ci_extras, *self.extras.values(), *self.groups.values()):
            rows[:] = [row for row in rows if isinstance(row, str)]

    def note(self, key: str, tree: Tree, file: str, needle: str) -> None:
        """Remember where a key stands."""
        self.origins.setdefault(key, (file, line_of(tree.text(file) or "", needle)))


def line_of(text: str, needle: str) -> int:
    """The first line (from 1) that holds the needle; 1 if none does."""
    return next((number for number, line in enumerate(text.splitlines(), 1) if needle in line), 1)


def read_metadata(tree: Tree) -> Metadata:
    """Everything that the known files say; a file that can't be parsed is a fault by name, not an end."""
    found = Metadata()
    for path, reader in (("pyproject.toml", _pyproject), ("setup.cfg", _setup_cfg), ("setup.py", _setup_py), ("tox.ini", _tox_ini),
                         ("noxfile.py", _noxfile), ("pytest.ini", _pytest_ini), ("Pipfile", _pipfile)):
        text = tree.text(path)
        if text is None:
            continue
        try:
            reader(found, tree, text)
        except (ValueError, SyntaxError, configparser.Error, AttributeError, TypeError, KeyError) as error:
            found.faults.append(f"{path}: {error}")
    for path in tree:
        if is_requirements(path):
            found.files[path] = requirement_lines(tree, path)
    for path in ("uv.lock", "poetry.lock", "pdm.lock"):
        text = tree.text(path)
        if text is not None:
            try:
                found.locked = _lock(text)
                found.note("lock", tree, path, "[[package]]")
            except ValueError as error:
                found.faults.append(f"{path}: {error}")
            break
    hints = read_workflows(tree)
    found.ci, found.ci_pythons = hints.requirements, hints.pythons
    found.ci_extras += hints.extras
    found.faults += hints.faults
    if hints.origin:
        found.origins["ci"] = hints.origin
    found.keep_strings()
    return found


def _pyproject(found: Metadata, tree: Tree, text: str) -> None:
    data = tomllib.loads(text)
    file = "pyproject.toml"
    project, tool = data.get("project") or {}, data.get("tool") or {}
    found.build_requires = list((data.get("build-system") or {}).get("requires") or [])
    found.project = bool(project) or "build-system" in data or "poetry" in tool or "flit" in tool
    if project:
        found.name = project.get("name")
        found.requires_python = project.get("requires-python")
        found.note("requires-python", tree, file, "requires-python")
        found.dependencies += list(project.get("dependencies") or [])
        found.classifiers += VERSION.findall("\n".join(project.get("classifiers") or []))
        found.note("classifiers", tree, file, "Programming Language :: Python :: 3.")
    for name, rows in (project.get("optional-dependencies") or {}).items():
        found.extras[name] = list(rows)
        found.note(f"extra:{name}", tree, file, name)
    groups = data.get("dependency-groups") or {}
    for name in groups:
        found.groups[name] = _group(groups, name, set())
        found.note(f"group:{name}", tree, file, name)
    poetry = tool.get("poetry") or {}
    if poetry:
        found.name = found.name or poetry.get("name")
        rows = dict(poetry.get("dependencies") or {})
        found.requires_python = found.requires_python or poetry_tables.python_specifier(rows.pop("python", None))
        found.dependencies += [poetry_tables.requirement(name, spec) for name, spec in rows.items() if not poetry_tables.is_optional(spec)]
        by_group = {"dev": poetry.get("dev-dependencies") or {}}
        by_group |= {name: group.get("dependencies") or {} for name, group in (poetry.get("group") or {}).items()}
        for name, rows in by_group.items():
            if rows:
                found.groups[name] = [poetry_tables.requirement(key, spec) for key, spec in rows.items()]
                found.note(f"group:{name}", tree, file, f"{name}")
    flit = (tool.get("flit") or {}).get("metadata") or {}
    if flit:
        found.name = found.name or flit.get("dist-name") or flit.get("module")
        found.requires_python = found.requires_python or flit.get("requires-python")
        found.dependencies += list(flit.get("requires") or [])
        found.classifiers += VERSION.findall("\n".join(flit.get("classifiers") or []))
        for name, rows in (flit.get("requires-extra") or {}).items():
            found.extras[name] = list(rows)
            found.note(f"extra:{name}", tree, file, name)
    for name, rows in ((tool.get("pdm") or {}).get("dev-dependencies") or {}).items():
        found.groups[name] = [row for row in rows if isinstance(row, str) and not row.startswith("-e")]
    if (tool.get("uv") or {}).get("dev-dependencies"):
        found.groups.setdefault("dev", []).extend(tool["uv"]["dev-dependencies"])
    for name, env in ((tool.get("hatch") or {}).get("envs") or {}).items():
        rows = list(env.get("dependencies") or []) + list(env.get("extra-dependencies") or [])
        if rows:
            found.groups[f"hatch-{name}"] = rows
            found.note(f"group:hatch-{name}", tree, file, f"tool.hatch.envs.{name}")
    pytest_table = tool.get("pytest") or {}
    settings = pytest_table.get("ini_options") or {key: value for key, value in pytest_table.items() if key != "ini_options"}
    _pytest(found, tree, file, settings)
    tox = tool.get("tox") or {}
    if isinstance(tox.get("legacy_tox_ini"), str):
        _tox_ini(found, tree, tox["legacy_tox_ini"])
    found.tox += [row for row in ((tox.get("env_run_base") or {}).get("deps") or []) if isinstance(row, str)]


def _group(groups: dict[str, Any], name: str, seen: set[str]) -> list[str]:
    """The requirements of a PEP 735 group, its included groups among them."""
    if name in seen:
        return []
    seen.add(name)
    rows: list[str] = []
    for row in groups.get(name) or []:
        if isinstance(row, str):
            rows.append(row)
        elif isinstance(row, dict) and "include-group" in row:
            rows += _group(groups, row["include-group"], seen)
    return rows


def _parser(text: str) -> configparser.RawConfigParser:
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True, comment_prefixes=("#", ";"))
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(text)
    return parser


def _lines(text: str | None) -> list[str]:
    return [line.split(" #")[0].strip() for line in (text or "").splitlines() if line.strip() and not line.strip().startswith("#")]


def _setup_cfg(found: Metadata, tree: Tree, text: str) -> None:
    parser = _parser(text)
    file = "setup.cfg"
    if parser.has_section("metadata") and parser.has_option("metadata", "name"):
        found.project = True
        found.name = found.name or parser.get("metadata", "name")
        found.classifiers += VERSION.findall(parser.get("metadata", "classifiers", fallback="") or "")
        found.note("classifiers", tree, file, "Programming Language :: Python :: 3.")
    if parser.has_section("options"):
        found.dependencies += _lines(parser.get("options", "install_requires", fallback=""))
        found.groups.setdefault("tests_require", []).extend(_lines(parser.get("options", "tests_require", fallback="")))
        found.requires_python = found.requires_python or parser.get("options", "python_requires", fallback=None)
        found.note("requires-python", tree, file, "python_requires")
    if parser.has_section("options.extras_require"):
        for name, rows in parser.items("options.extras_require"):
            found.extras[name] = [row for row in _lines(rows) if "%(" not in row]
            found.note(f"extra:{name}", tree, file, name)
    for section in ("tool:pytest", "pytest"):
        if parser.has_section(section):
            _pytest(found, tree, file, dict(parser.items(section)))


def _setup_py(found: Metadata, tree: Tree, text: str) -> None:
    module = parse_module(text)
    if module is None:
        raise ValueError("not a Python file")
    constants = {target.id: node.value for node in ast.walk(module) if isinstance(node, ast.Assign)
                 for target in node.targets if isinstance(target, ast.Name)}
    call = next((node for node in ast.walk(module) if isinstance(node, ast.Call)
                 and (getattr(node.func, "id", "") == "setup" or getattr(node.func, "attr", "") == "setup")), None)
    found.project = found.project or call is not None
    found.classifiers += VERSION.findall(text)
    found.note("classifiers", tree, "setup.py", "Programming Language :: Python :: 3.")
    if call is None:
        return
    values = {keyword.arg: _literal(keyword.value, constants) for keyword in call.keywords if keyword.arg}
    if isinstance(values.get("name"), str):
        found.name = found.name or values["name"]
    if isinstance(values.get("python_requires"), str):
        found.requires_python = found.requires_python or values["python_requires"]
        found.note("requires-python", tree, "setup.py", "python_requires")
    found.dependencies += _strings(values.get("install_requires"))
    found.groups.setdefault("tests_require", []).extend(_strings(values.get("tests_require")))
    extras = values.get("extras_require")
    for name, rows in (extras.items() if isinstance(extras, dict) else ()):
        if isinstance(name, str):
            found.extras.setdefault(name, _strings(rows))
            found.note(f"extra:{name}", tree, "setup.py", name)


def _literal(node: ast.expr, constants: dict[str, ast.expr], depth: int = 0) -> Any:
    """A literal's value with names looked up; what is not literal is left out."""
    if depth > 6:
        return None
    match node:
        case ast.Constant():
            return node.value
        case ast.Name() if node.id in constants:
            return _literal(constants[node.id], constants, depth + 1)
        case ast.List() | ast.Tuple() | ast.Set():
            return [_literal(item, constants, depth + 1) for item in node.elts]
        case ast.Dict():
            return {_literal(k, constants, depth + 1): _literal(v, constants, depth + 1) for k, v in zip(node.keys, node.values, strict=True) if k}
        case ast.BinOp(op=ast.Add()):
            left, right = _literal(node.left, constants, depth + 1), _literal(node.right, constants, depth + 1)
            return left + right if isinstance(left, list) and isinstance(right, list) else left or right
    return None


def _strings(value: Any) -> list[str]:
    return [row for row in value if isinstance(row, str)] if isinstance(value, list) else []


def _tox_ini(found: Metadata, tree: Tree, text: str) -> None:
    parser = _parser(text)
    if parser.has_section("testenv"):
        for row in _lines(parser.get("testenv", "deps", fallback="")):
            row = re.sub(r"^[\w,{}!.-]+:\s+", "", row)
            if row.startswith("-r"):
                found.origins.setdefault(f"file:{row[2:].strip().removeprefix('{toxinidir}/')}", ("tox.ini", line_of(text, row)))
            elif "{" not in row and not row.startswith("-"):
                found.tox.append(row)
        for name in _lines(parser.get("testenv", "extras", fallback="")):
            found.ci_extras.append(name)
        found.note("tox", tree, "tox.ini", "deps")
    for section in parser.sections():
        if section.startswith("testenv:"):
            rows = [re.sub(r"^[\w,{}!.-]+:\s+", "", row) for row in _lines(parser.get(section, "deps", fallback=""))]
            found.mentioned += [row for row in rows if "{" not in row and not row.startswith("-")]
    for section in ("pytest", "tool:pytest"):
        if parser.has_section(section):
            _pytest(found, tree, "tox.ini", dict(parser.items(section)))


def _noxfile(found: Metadata, tree: Tree, text: str) -> None:
    """What the sessions install, by their literal words; those of a session that is named for tests are taken for the tests'."""
    module = parse_module(text)
    if module is None:
        raise ValueError("not a Python file")
    for session in (node for node in module.body if isinstance(node, ast.FunctionDef)):
        rows = [arg.value for call in ast.walk(session) if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "install"
                for arg in call.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
        tests = NOX_TESTS.search(session.name)
        for before, row in zip(["", *rows], rows, strict=False):
            local = re.fullmatch(r"\.\[([\w,\s-]+)\]", row)
            if before in ("-r", "--requirement") and tests:
                found.origins.setdefault(f"file:{row}", ("noxfile.py", line_of(text, row)))
            elif local and tests:
                found.ci_extras += [name.strip() for name in local[1].split(",")]
            elif not before.startswith("-") and re.match(r"[A-Za-z]", row) and "/" not in row:
                (found.tox if tests else found.mentioned).append(row)
                found.origins.setdefault("tox", ("noxfile.py", line_of(text, row)))


def _pytest_ini(found: Metadata, tree: Tree, text: str) -> None:
    parser = _parser(text)
    found.pytest_file = "pytest.ini"
    if parser.has_section("pytest"):
        found.pytest_settings = {k: str(v) for k, v in parser.items("pytest")}


def _pytest(found: Metadata, tree: Tree, file: str, settings: dict[str, Any]) -> None:
    if settings and found.pytest_file is None:
        found.pytest_file = file
        found.pytest_settings = {k: " ".join(map(str, v)) if isinstance(v, list) else str(v) for k, v in settings.items()}
        found.note("pytest", tree, file, "pytest")


def _pipfile(found: Metadata, tree: Tree, text: str) -> None:
    data = tomllib.loads(text)
    for table, name in (("packages", "pipfile"), ("dev-packages", "dev")):
        found.groups[name] = [poetry_tables.requirement(key, spec) for key, spec in (data.get(table) or {}).items()]


def _lock(text: str) -> dict[str, str]:
    """Distribution -> version of a lock file; those locked at several versions are left to the resolver."""
    versions: dict[str, set[str]] = {}
    for package in tomllib.loads(text).get("package") or []:
        if package.get("name") and package.get("version") and not (package.get("source") or {}).get("editable"):
            versions.setdefault(package["name"], set()).add(package["version"])
    return {name: found.pop() for name, found in versions.items() if len(found) == 1}
