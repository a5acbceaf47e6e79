"""What has to be built before the tests: by their own script, or because they read what is not in the tree."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable

import yaml

from sandbox.toolchains.node.package import Package
from sandbox.toolchains.node.plan import Build
from sandbox.toolchains.node.runners import use_of
from sandbox.toolchains.node.scripts import Command, commands_of
from sandbox.workspace import Tree

BUILDERS = {
    "tsc", "tsup", "babel", "rollup", "rolldown", "webpack", "unbuild", "esbuild", "swc", "microbundle", "bunchee", "pkgroll", "bundt", "parcel",
    "gulp", "grunt", "tsdown",
    "vite", "browserify", "vue-tsc", "ncc", "tsc-alias", "resolve-tspaths", "tshy", "zshy", "duel", "obuild", "father", "ttsc", "tspc", "coffee",
    "pegjs", "peggy", "jison",
    "nearleyc", "uglifyjs", "terser", "preconstruct", "lerna", "wireit", "buble", "tsm", "cpy", "copyfiles", "shx", "mkdist",
    "turbo", "nx", "lage", "rush", "rslib",
}
RUNNING_TASKS = {"gulp", "grunt", "lerna", "turbo", "nx", "wireit"}
TESTING = re.compile(r"(^|[:_-])(tests?|karma|qunit|e2e|serve|clean)($|[:_-])")
NAMES = re.compile(r"(^|[:_-])(build|compile|transpile|bundle|dist|generate|codegen|gen|babel|tsc|rollup|webpack|prepare)($|[:_-])")
CHECKING = re.compile(r"(^|[:_-])(lint|types?|typecheck|check|docs?|size|watch|dev|release|publish|bench\w*|storybook|website|site|typings|dts)($"
                      r"|[:_-])")
USUAL = ("compile", "transpile", "build:lib", "build:js", "build:node", "build:cjs", "build", "build:src", "bundle", "dist", "prepare", "prepack",
         "prepublishOnly", "prepublish")
OUT_DIR = re.compile(r"(?:-d|--out-dir|--outDir)[ =](\S+)")


def is_builder(command: Command) -> bool:
    """Whether a command makes files that others read; a compiler that only checks does not."""
    program = posixpath.basename(command.words[0])
    if program in ("tsc", "vue-tsc") and ("--noEmit" in command.words or "--noemit" in command.words):
        return False
    if program in ("tsc", "vite") and "--watch" in command.words:
        return False
    if program in RUNNING_TASKS and any(CHECKING.search(word) or TESTING.search(word) for word in command.words[1:]):
        return False
    return program in BUILDERS if program != "vite" else "build" in command.words


def builds_of(package: Package, script: str) -> list[Build]:
    """The steps before the tests in a script's own words. A script of a build is run whole, by its name."""
    commands = list(commands_of(package, script))
    last = max((place for place, command in enumerate(commands) if use_of(command) is not None), default=len(commands))
    found: list[Build] = []
    for command in commands[:last]:
        if any(CHECKING.search(name) for name in command.scripts[1:]):
            continue
        name = next((name for name in command.scripts[1:] if NAMES.search(name)), None)
        if name is not None and not _tests(package, name):
            found.append(Build(package.folder, f"npm run {name}"))
        elif is_builder(command):
            found.append(Build(package.folder, command.text))
    return list(dict.fromkeys(found))


def _tests(package: Package, name: str) -> bool:
    return any(use_of(command) is not None for command in commands_of(package, name))


def usual_build(package: Package) -> Build | None:
    """The script that builds, where the tests' own does not."""
    names = [name for name in USUAL if name in package.scripts]
    for name in names:
        commands = list(commands_of(package, name))
        if not _tests(package, name) and any(is_builder(one) or posixpath.basename(one.words[0]) == "node" for one in commands):
            return Build(package.folder, f"npm run {name}")
    for name in names:  # a build that lints and tests as well: the step of it that builds
        for command in commands_of(package, name):
            if is_builder(command):
                return Build(package.folder, command.text)
    return None


def reads_what_is_built(tree: Tree, package: Package, files: Iterable[str]) -> bool:
    """Whether test files load what the tree does not have: the package's own entry, or a folder of what is built."""
    absent = absent_entries(tree, package)
    folders = {entry.split("/")[0] for entry in absent if "/" in entry}
    own = [re.escape(package.name)] if package.name and absent and not _is_mapped(tree, package) else []
    for path in files:
        text = tree.text(path) or ""
        up = posixpath.relpath(package.folder or ".", posixpath.dirname(path) or ".")
        words = [*own, *(re.escape(posixpath.join(up, folder)) for folder in folders), *([re.escape(up)] if absent else [])]
        if words and re.search(rf"(?:from\s+|require\(\s*|import\(\s*|import\s+)['\"`](?:{'|'.join(words)})(?:/[^'\"`]*)?['\"`]",
                               text) and _names_absent(text, words, up, tree, path):
            return True
    return False


def absent_entries(tree: Tree, package: Package) -> set[str]:
    """Files that a package is loaded by and that the tree does not have."""
    return {entry for entry in _entries(package) if not _there(tree, posixpath.normpath(posixpath.join(package.folder, entry)))}


def _is_mapped(tree: Tree, package: Package) -> bool:
    """Whether a configuration leads the package's own name to its sources."""
    texts = [package.text, *(tree.text(path) or "" for path in tree if posixpath.dirname(path) == package.folder
                             and re.search(r"config|tsconfig|\.mocharc", path))]
    word = re.escape(package.name)
    return any(re.search(rf"(alias|moduleNameMapper|paths|NameMapper)[^;]{{0,600}}['\"/^]{word}\b", text) for text in texts)


def _names_absent(text: str, words: list[str], up: str, tree: Tree, path: str) -> bool:
    """A path that is there after all (`../src/x` below `..`) is no reason to build."""
    for name in re.findall(r"(?:from\s+|require\(\s*|import\(\s*|import\s+)['\"`]([^'\"`\n]+)['\"`]", text):
        if not re.fullmatch(rf"(?:{'|'.join(words)})(?:/.*)?", name):
            continue
        if not name.startswith("."):
            return True
        place = posixpath.normpath(posixpath.join(posixpath.dirname(path), name))
        if name.rstrip("/") == up or not _there(tree, place):
            return True
    return False


def _there(tree: Tree, place: str) -> bool:
    endings = ("", ".js", ".cjs", ".mjs", ".ts", ".tsx", ".jsx", ".json", "/index.js", "/index.ts", "/index.mjs", "/index.cjs", "/package.json")
    base = re.sub(r"\.([cm]?)js$", r".\1ts", place)
    return any(place + ending in tree for ending in endings) or base in tree


def _entries(package: Package) -> set[str]:
    """Files that a package is loaded by."""
    found: set[str] = set()

    def walk(value: object) -> None:
        if isinstance(value, str) and "*" not in value and not value.endswith(".d.ts"):
            found.add(posixpath.normpath(value))
        elif isinstance(value, dict):
            for key, inner in value.items():
                if key != "types":
                    walk(inner)
        elif isinstance(value, list):
            for inner in value:
                walk(inner)

    for key in ("main", "module", "exports", "bin"):
        walk(package.data.get(key))
    return {entry for entry in found if not entry.startswith("..")} - {".", ""}


def compiled_folders(tree: Tree, package: Package, builds: Iterable[Build]) -> tuple[tuple[str, str], ...]:
    """(folder of what is built, folder of its sources), from the root: by tsconfig.json and by the builders' options."""
    found: list[tuple[str, str]] = []
    for name in ("tsconfig.json", "tsconfig.build.json", "tsconfig.test.json", "test/tsconfig.json", "src/tsconfig.json"):
        path = posixpath.join(package.folder, name)
        options = _compiler_options(tree.text(path) or "")
        out = options.get("outDir")
        if isinstance(out, str):
            folder = posixpath.dirname(path)
            root = str(options.get("rootDir") or _only_folder(tree, folder))
            found.append((posixpath.normpath(posixpath.join(folder, out)), posixpath.normpath(posixpath.join(folder, root))))
    for build in builds:
        for text in [build.command, *package.scripts.values()]:
            match = OUT_DIR.search(text)
            if match and re.search(r"\b(babel|swc|tsc)\b", text):
                source = re.search(r"\b(?:babel|swc) (\w[\w/.-]*)", text)
                found.append((posixpath.normpath(posixpath.join(package.folder, match[1])),
                              posixpath.normpath(posixpath.join(package.folder, source[1] if source else "src"))))
    return tuple(dict.fromkeys(pair for pair in found if pair[0] != pair[1]))


def _compiler_options(text: str) -> dict[str, object]:
    """Of a tsconfig.json, comments and trailing commas and all: YAML reads those."""
    plain = re.sub(r"(^|\s)//[^\n]*|/\*.*?\*/", " ", text, flags=re.DOTALL)
    try:
        data = yaml.safe_load(plain.replace("\t", " ")) if plain.strip() else {}
    except (yaml.YAMLError, ValueError, RecursionError):
        return {}
    options = data.get("compilerOptions") if isinstance(data, dict) else None
    return options if isinstance(options, dict) else {}


def _only_folder(tree: Tree, folder: str) -> str:
    """What tsc takes for the root of the sources where nothing says so: `src` where all TypeScript is in there."""
    prefix = f"{folder}/" if folder else ""
    tops = {path[len(prefix):].split("/")[0] for path in tree if path.startswith(prefix) and path.endswith((".ts", ".tsx"))
            and not path.endswith(".d.ts")
            and "/" in path[len(prefix):]}
    return "src" if "src" in tops and not tops & {"test", "tests"} else "."
