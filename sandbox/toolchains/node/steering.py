"""Files of a tree that steer its tests: by their names, because a configuration has them loaded before the tests, or because a script runs them."""

from __future__ import annotations

import itertools
import json
import posixpath
import re
from collections.abc import Iterable, Iterator

from sandbox.toolchains.node.package import Package, read_packages
from sandbox.toolchains.node.patterns import CONFIGURATIONS, SOURCE
from sandbox.toolchains.node.plan import NodePlan
from sandbox.toolchains.node.scripts import commands_of
from sandbox.workspace import Tree

TOOLS = (r"jest|vitest|vite|ava|karma|babel|rollup|rolldown|webpack|tsup|tsdown|build|unbuild|esbuild|playwright|cypress|wallaby|nyc|c8|swc|metro"
         r"|rspack|obuild|nx|turbo|gulpfile|gruntfile")
CONFIGURATION = re.compile(
    rf"^({TOOLS})(\.[\w-]+)+\.([cm]?[jt]sx?|json)$|^(vitest|jest)\.(workspace|setup|preset)\.\w+$"
    r"|^\.(mocharc|babelrc|swcrc|nycrc|c8rc|taprc|jestrc|browserslistrc)(\.\w+)?$|^tsconfig(\.[\w-]+)*\.json$|^jsconfig\.json$"
    r"|^mocha\.opts$|^jasmine\.(json|[cm]?js)$|^(gulpfile|gruntfile)\.[cm]?[jt]s$", re.IGNORECASE)
PLAIN = re.compile(rf"^({TOOLS})\.([cm]?[jt]sx?|json)$", re.IGNORECASE)  # of a tool's, or a module of the product that is about one
PRODUCT = re.compile(r"(^|/)(src|source|lib|app|server|client|packages/[^/]+/(?!package\.json)[^/]+)/")
LOADED_FIRST = re.compile(
    r"""\b(setupFiles\w*|globalSetup|globalTeardown|testEnvironment|environment|testRunner|runner|reporters?|resolver|snapshotSerializers|testSequencer
    |transform|require|file|import|loader|before|helpers)["']?\s*[:=]\s*(\[[^\]]*\]|\{[^}]*\}|"[^"\n]*"|'[^'\n]*'|(?:\n\s*-\s*\S+)+|[^\s"'\[{][^\n,]*)""",
    re.VERBOSE)
OF_SETUP = re.compile(r"setupFiles|globalSetup|globalTeardown|testEnvironment|testRunner|reporter|resolver|snapshotSerializers|testSequencer")
IN_SOURCE = re.compile(r"(^|/)(src|source|lib|app|server|client)/")  # what a runner loads there first may well be the product's entry
BY_HABIT = re.compile(r"(^|/)src/setupTests\.[jt]sx?$")
LOADS = re.compile(r"(?:\bfrom\s*|\brequire\(\s*|\bimport\(\s*|\bimport\s*)['\"](\.\.?(?:/[^'\"\n]*)?)['\"]")
ENDINGS = ("", ".js", ".cjs", ".mjs", ".ts", ".cts", ".mts", ".jsx", ".tsx", "/index.js", "/index.ts")
OF_RUNNERS = ("jest", "mocha", "ava", "vitest", "tap", "nyc", "c8", "jasmine")
OF_TESTS = re.compile(r"(^|/)(tests?|__tests__|node_modules)/")
INTERPRETERS = {"node", "tsx", "ts-node", "babel-node", "esno", "bun", "deno", "sh", "bash", "zsh", "python", "python3", "perl", "ruby"}
LOADING = {"-r", "--require", "--import", "--loader", "--experimental-loader", "-c", "--config", "--file", "--setupFiles", "--setupFilesAfterEnv"}
ENTRIES = ("main", "module", "browser", "exports", "bin", "types", "source")


def is_configuration(path: str) -> bool:
    """By its name alone."""
    name = posixpath.basename(path)
    return bool(CONFIGURATION.match(name)) or bool(PLAIN.match(name) and not PRODUCT.search(path))


def steering_files(tree: Tree, plans: Iterable[NodePlan], base: Tree) -> frozenset[str]:
    """What configurations and the scripts of tests and builds name, with what those files load; what base's product loads itself is the product."""
    mine = list(plans)
    packages = read_packages(tree)
    named = {path for package in packages.values() for path in _configured(tree, package)}
    named |= {path for plan in mine for path in _of_plan(tree, plan, packages) if not IN_SOURCE.search(path)}
    named |= {path for path in tree if BY_HABIT.search(path)}
    tests = {path for plan in mine for path in plan.test_files}
    configurations = {path for path in tree if is_configuration(path) and SOURCE.search(path)}
    found: set[str] = set()
    queue = sorted((named | configurations) - tests)
    while queue:
        path = queue.pop()
        if path not in found and path not in tests:
            found.add(path)
            queue += [other for other in _loaded_by(tree, path) if not IN_SOURCE.search(other)]
    return frozenset(found - _product(base, packages, found, tests))


def _configured(tree: Tree, package: Package) -> Iterator[str]:
    texts = [json.dumps(package.data[name]) for name in OF_RUNNERS if isinstance(package.data.get(name), dict)]
    texts = [f"{text[1:-1]}\n" for text in texts]
    texts += [tree.text(posixpath.join(package.folder, name)) or "" for names in CONFIGURATIONS.values() for name in names]
    for text in texts:
        for match in LOADED_FIRST.finditer(text):
            named = _files(tree, package.folder, re.findall(r"[\w@./<>-]+", match[2]))
            yield from (path for path in named if OF_SETUP.match(match[1]) or not IN_SOURCE.search(path))


def _of_plan(tree: Tree, plan: NodePlan, packages: dict[str, Package]) -> Iterator[str]:
    for suite in plan.suites:
        words = [part for word in (*suite.words, *suite.node) for part in word.split("=")]
        yield from _files(tree, suite.folder, words)
    for package in packages.values():
        names = {name for build in plan.builds if build.folder == package.folder for name in re.findall(r"\brun (\S+)", build.command)} | {"test"}
        for name in names:
            for command in commands_of(package, name):
                yield from _files(tree, package.folder, _programs(command.words))


def _programs(words: tuple[str, ...]) -> Iterator[str]:
    """What a command runs or loads, and not what it reads or writes."""
    yield words[0]
    if posixpath.basename(words[0]) in INTERPRETERS:
        yield from [word for word in words[1:] if not word.startswith("-")][:1]
    for option, word in itertools.pairwise(words):
        if option in LOADING:
            yield word


def _files(tree: Tree, folder: str, words: Iterable[str]) -> Iterator[str]:
    """Files of the tree that words name."""
    for word in words:
        place = posixpath.normpath(posixpath.join(folder, word.replace("<rootDir>/", "")))
        yield from (place + ending for ending in ENDINGS if re.search(r"\.\w+$", place + ending) and place + ending in tree)


def _loaded_by(tree: Tree, path: str) -> list[str]:
    """Files beside it that a file loads."""
    text = tree.text(path) or "" if SOURCE.search(path) else ""
    return list(_files(tree, posixpath.dirname(path), LOADS.findall(text)))


def _product(tree: Tree, packages: dict[str, Package], steering: set[str], tests: set[str]) -> set[str]:
    """Entries of the packages, and what source loads that steers nothing."""
    entries = {path for package in packages.values() for name in ENTRIES
               for path in _files(tree, package.folder, re.findall(r"\"([\w@./-]+)\"", json.dumps(package.data.get(name) or "")))}
    found, queue = set[str](), list(entries & steering)
    queue += [other for path in tree if SOURCE.search(path) and path not in steering and path not in tests and not OF_TESTS.search(path)
              for other in _loaded_by(tree, path) if other in steering]
    while queue:
        path = queue.pop()
        if path in steering and path not in found:
            found.add(path)
            queue += _loaded_by(tree, path)
    return found
