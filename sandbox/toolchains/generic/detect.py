"""A tree -> the plan for its own test command: what a person who knows the tools would type."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import yaml

from sandbox.plan import Choice
from sandbox.toolchains.generic.plan import CommandPlan, Form
from sandbox.toolchains.generic.rules import START_NAMES, CommandRules
from sandbox.toolchains.protocol import Sight
from sandbox.toolchains.system_packages import wanted_packages
from sandbox.workspace import Tree

MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
TARGET = re.compile(r"^(test|check|tests|unittest)\s*:(?!=)", re.MULTILINE)
CTEST = re.compile(r"\b(enable_testing|add_test|gtest_discover_tests|catch_discover_tests)\s*\(|\binclude\s*\(\s*CTest\s*\)", re.IGNORECASE)
MESON_TEST = re.compile(r"^\s*test\s*\(", re.MULTILINE)
AUTOMAKE_TESTS = re.compile(r"^\s*(TESTS|check_PROGRAMS|check_SCRIPTS)\s*\+?=", re.MULTILINE)
CI_COMMAND = re.compile(r"^\s*((?:make|sh|bash|\./|script|bin|rake|busted|luarocks|zig|prove|ctest|dune|stack|cabal|mix|nim|dub|crystal)\S*(?:\s+\S+)*)$")
CI_WORD = re.compile(r"\b(test|tests|check|spec)\b")
CMAKE_OPTION = re.compile(r"option\s*\(\s*(\w*(?:BUILD_TESTS?|BUILD_TESTING|ENABLE_TESTS?|ENABLE_TESTING|_TESTS))\b")
CMAKE_WORDS = ("-DCMAKE_BUILD_TYPE=Debug", "-DBUILD_TESTING=ON", "-DFETCHCONTENT_TRY_FIND_PACKAGE_MODE=ALWAYS")  # what is fetched: Debian's, if it has it
BUILD_FOLDER = "dualgate-build"


def plans(tree: Tree, sight: Sight) -> list[CommandPlan]:
    """One, of the first kind that fits; none where nothing says how this is tested."""
    finders: tuple[Callable[[Tree], CommandPlan | None], ...] = (_bats, _perl, _ctest, _meson, _automake, _make, _script, _workflow)
    found = next((plan for find in finders if (plan := find(tree))), None)
    return [_completed(found, tree, sight)] if found else []


def _completed(plan: CommandPlan, tree: Tree, sight: Sight) -> CommandPlan:
    files = plan.test_files or tuple(sorted(path for path in tree if CommandRules(tree, tree).is_test_file(path)))
    if plan.form is Form.TAP_FILES and sight.before is not None:
        suffix = plan.test_files[0].rsplit(".", 1)[1]
        files = tuple(sorted({*files, *(path for path in sight.before if path.endswith("." + suffix) and _is_own(path))}))
    wanted = wanted_packages(tree)
    why = [*plan.why, *(Choice("package", one.name, one.file, one.line) for one in wanted)]
    return replace(plan, test_files=files, packages=tuple(one.name for one in wanted), why=tuple(why), version=sight.version)


def _plan(
    framework: str, test: str, form: Form, why: Choice, build: tuple[str, ...] = (), reports: tuple[str, ...] = (), files: tuple[str, ...] = (),
) -> CommandPlan:
    return CommandPlan(
        toolchain="generic", framework=framework, interpreters=("12",), test=test, form=form, build=build, reports=reports, test_files=files, why=(why,))


def _is_own(path: str) -> bool:
    return not re.search(r"(^|/)(vendor|third_party|thirdparty|node_modules|external|deps|submodules|bats-core|test_helper|libs?/bats[\w-]*)/", path)


def _bats(tree: Tree) -> CommandPlan | None:
    files = tuple(sorted(path for path in tree if path.endswith(".bats") and _is_own(path)))
    return _plan("bats", "bats --tap", Form.TAP_FILES, Choice("framework", "bats", files[0], 1), files=files) if files else None


def _perl(tree: Tree) -> CommandPlan | None:
    files = tuple(sorted(path for path in tree if re.match(r"(x?t)/(?!lib/).*\.t$", path) and not path.startswith("xt/")))
    if not files:
        return None
    build = ("perl Makefile.PL", "make") if "Makefile.PL" in tree else ("perl Build.PL", "./Build") if "Build.PL" in tree else ()
    why = Choice("framework", "prove", next((name for name in ("Makefile.PL", "Build.PL", "cpanfile") if name in tree), files[0]), 1)
    return _plan("prove", "perl -Iblib/lib -Iblib/arch -Ilib -It/lib", Form.TAP_FILES, why, build, files=files)


def _line_of(tree: Tree, path: str, pattern: re.Pattern[str]) -> int:
    text = tree.text(path) or ""
    match = pattern.search(text)
    return text.count("\n", 0, match.start()) + 1 if match else 1


def _ctest(tree: Tree) -> CommandPlan | None:
    lists = sorted((path for path in tree if path.endswith("CMakeLists.txt")), key=lambda path: (path.count("/"), path))
    here = next((path for path in lists if CTEST.search(tree.text(path) or "")), None)
    if "CMakeLists.txt" not in tree or here is None:
        return None
    options = sorted({f"-D{name}=ON" for path in lists for name in CMAKE_OPTION.findall(tree.text(path) or "")})
    configure = ["cmake", "-S", ".", "-B", BUILD_FOLDER, *CMAKE_WORDS, *options]
    build = (" ".join(configure), f"cmake --build {BUILD_FOLDER} --parallel 2")
    test = f"ctest --test-dir {BUILD_FOLDER} --timeout 100 --output-on-failure --output-junit dualgate-junit.xml"
    return _plan("ctest", test, Form.JUNIT, Choice("framework", "ctest", here, _line_of(tree, here, CTEST)), build, (f"{BUILD_FOLDER}/dualgate-junit.xml",))


def _meson(tree: Tree) -> CommandPlan | None:
    here = next((path for path in sorted(tree) if path.endswith("meson.build") and MESON_TEST.search(tree.text(path) or "")), None)
    if "meson.build" not in tree or here is None:
        return None
    build = (f"meson setup {BUILD_FOLDER} --wrap-mode=nodownload", f"meson compile -C {BUILD_FOLDER}")
    why = Choice("framework", "meson", here, _line_of(tree, here, MESON_TEST))
    test = f"meson test -C {BUILD_FOLDER} --no-rebuild --print-errorlogs"
    return _plan("meson", test, Form.JUNIT, why, build, (f"{BUILD_FOLDER}/meson-logs/testlog.junit.xml",))


def _automake(tree: Tree) -> CommandPlan | None:
    here = next((path for path in sorted(tree) if path.endswith("Makefile.am") and AUTOMAKE_TESTS.search(tree.text(path) or "")), None)
    if here is None or not any(name in tree for name in ("configure.ac", "configure.in", "configure")):
        return None
    build = (*(() if "configure" in tree else ("autoreconf --install",)), "./configure", "make -j2")
    return _plan("automake", "make -k check", Form.AUTOMAKE, Choice("framework", "automake", here, _line_of(tree, here, AUTOMAKE_TESTS)), build, ("**/*.trs",))


def _make(tree: Tree) -> CommandPlan | None:
    for path in MAKEFILES:
        match = TARGET.search(tree.text(path) or "") if path in tree else None
        if match:
            line = (tree.text(path) or "").count("\n", 0, match.start()) + 1
            build = ("./configure",) if "configure" in tree else ()
            return _plan(f"make {match[1]}", f"make {match[1]}", Form.OUTPUT, Choice("test", f"make {match[1]}", path, line), build)
    return None


def _script(tree: Tree) -> CommandPlan | None:
    here = next((path for path in START_NAMES if path in tree), None)
    if here is None:
        return None
    shell = (re.match(r"#!\s*(?:/usr/bin/env\s+|\S*/)(\w+)", tree.text(here) or "") or ["", "sh"])[1]
    return _plan("script", f"{shell} {here}", Form.OUTPUT, Choice("test", here, here, 1))


def _workflow(tree: Tree) -> CommandPlan | None:
    for path in sorted(tree):
        if path.startswith(".github/workflows/") and path.endswith((".yml", ".yaml")):
            command = next((line for line in _run_lines(tree.text(path) or "") if CI_COMMAND.match(line) and CI_WORD.search(line)), None)
            if command:
                text = tree.text(path) or ""
                return _plan("command", command, Form.OUTPUT, Choice("test", command, path, text.count("\n", 0, text.find(command)) + 1))
    return None


def _run_lines(text: str) -> list[str]:
    try:
        jobs = (yaml.safe_load(text) or {}).get("jobs") or {}
        runs = [str(step.get("run") or "") for job in jobs.values() for step in job.get("steps") or () if isinstance(step, dict)]
    except (yaml.YAMLError, AttributeError):
        return []
    return [line.strip() for run in runs for line in run.replace("\\\n", " ").split("\n")]
