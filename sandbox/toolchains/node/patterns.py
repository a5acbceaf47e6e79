"""Which files a runner takes for tests: by its command, by its configuration, by its own habit."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterable
from typing import Any

import yaml

from sandbox.toolchains.node.globs import matches
from sandbox.toolchains.node.package import Package
from sandbox.toolchains.node.runners import Use
from sandbox.workspace import Tree

ENDINGS = "{js,jsx,cjs,mjs,ts,tsx,cts,mts}"
SOURCE = re.compile(r"\.[cm]?[jt]sx?$")
HABITS: dict[str, tuple[str, ...]] = {
    "jest": ("**/__tests__/**/*.{js,jsx,ts,tsx,mjs,cjs}", f"**/?(*.)+(spec|test).{ENDINGS}"),
    "vitest": (f"**/*.{{test,spec}}.{ENDINGS}", f"**/__tests__/*.{{test,spec}}.{ENDINGS}"),
    "mocha": ("test/*.{js,cjs,mjs}",),
    "ava": (f"test.{ENDINGS}", f"{{src,source}}/test.{ENDINGS}", f"**/test-*.{ENDINGS}", f"**/*.{{spec,test}}.{ENDINGS}",
            f"**/{{test,tests,__tests__}}/**/*.{ENDINGS}"),
    "tape": (), "uvu": (),
    "tap": (f"{{test,tests,__tests__}}/**/*.{ENDINGS}", f"**/*.{{spec,test,tests}}.{ENDINGS}", f"**/{{test,tests,spec}}.{ENDINGS}"),
    "node_test": (f"**/*{{.,-,_}}test.{ENDINGS}", f"**/test-*.{ENDINGS}", f"**/test.{ENDINGS}", f"**/test/**/*.{ENDINGS}"),
    "jasmine": ("spec/**/*{.,S,s}pec.{js,mjs,ts}",), "qunit": ("test/**/*.{js,cjs,mjs}",), "script": (),
    "karma": (f"{{test,tests,spec,specs}}/**/*{{.,-,_,S,s}}{{spec,test,tests,Spec,Test}}.{ENDINGS}", f"**/*.{{spec,test}}.{ENDINGS}",
              f"**/{{specs,spec,__tests__}}/**/*.{ENDINGS}"),
}
IGNORED = ("**/node_modules/**", "**/.git/**", "**/bower_components/**")
OF_AVA = ("**/{fixture,fixtures,helper,helpers}/**", "**/_*", "**/_*/**")
CONFIGURATIONS = {
    "jest": ("jest.config.js", "jest.config.cjs", "jest.config.mjs", "jest.config.ts", "jest.config.json"),
    "vitest": tuple(f"{name}.config.{ending}" for name in ("vitest", "vite") for ending in ("ts", "mts", "js", "mjs", "cjs")),
    "mocha": (".mocharc.js", ".mocharc.cjs", ".mocharc.mjs", ".mocharc.json", ".mocharc.jsonc", ".mocharc.yml", ".mocharc.yaml", "test/mocha.opts"),
    "ava": ("ava.config.js", "ava.config.mjs", "ava.config.cjs"), "jasmine": ("spec/support/jasmine.json", "spec/support/jasmine.mjs",
                                                                              "spec/support/jasmine.js"),
    "tap": (".taprc",), "qunit": (), "tape": (), "uvu": (), "node_test": (), "script": (), "karma": (),
}
STRINGS = re.compile(r"'([^'\n]*)'|\"([^\"\n]*)\"|`([^`\n$]*)`")


def test_patterns(tree: Tree, package: Package, use: Use) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(globs of test files, globs of those left out), both from the root of the tree."""
    given = tuple(use.named) if use.runner not in ("jest", "vitest", "karma") else ()
    found = [one for word in given for one in _as_globs(tree, package.folder, word, use)]
    if not found:
        read = _configured(tree, package, use.runner)
        found = [one for word in read for one in _as_globs(tree, package.folder, word, use)] if read else []
    if not found:
        found = [_from_root(package.folder, pattern) for pattern in HABITS[use.runner]]
    if use.runner == "mocha" and not given and "--recursive" in use.words:
        found += [_from_root(package.folder, "test/**/*.{js,cjs,mjs}")]
    out = [*IGNORED, *(OF_AVA if use.runner == "ava" else ())]
    return tuple(found), tuple(out)


def taken(paths: Iterable[str], patterns: tuple[str, ...], ignored: tuple[str, ...]) -> tuple[str, ...]:
    """Those of some paths that the globs take."""
    return tuple(path for path in paths if SOURCE.search(path) and not path.endswith(".d.ts") and matches(path, patterns)
                 and not matches(path, ignored))


def _from_root(folder: str, pattern: str) -> str:
    sign = "!" if pattern.startswith("!") else ""
    inner = pattern.removeprefix("!").removeprefix("<rootDir>/").removeprefix("./").lstrip("/")
    return sign + (posixpath.normpath(f"{folder}/{inner}") if folder else posixpath.normpath(inner))


def _as_globs(tree: Tree, folder: str, word: str, use: Use) -> list[str]:
    """A file, folder or glob that a command or a configuration names."""
    place = _from_root(folder, word)
    to_be_built = not re.search(r"[*?{(\[]|\.\w+$", place)
    inside = to_be_built or any(path.startswith(place + "/") for path in tree)
    if not inside or place in tree:
        return [place]
    if use.runner == "mocha":
        endings = "{" + ",".join(dict.fromkeys(["js", "cjs", "mjs", *_extensions(use.words)])) + "}"
        return [f"{place}/**/*.{endings}" if "--recursive" in use.words else f"{place}/*.{endings}"]
    return [f"{place}/**/*.{ENDINGS}"]


def _extensions(words: tuple[str, ...]) -> list[str]:
    found = [words[place + 1] for place, word in enumerate(words[:-1]) if word == "--extension"]
    found += [word.partition("=")[2] for word in words if word.startswith("--extension=")]
    return [one.strip().lstrip(".") for row in found for one in row.split(",")]


def _configured(tree: Tree, package: Package, runner: str) -> list[str]:
    """Globs of a runner's own configuration, read as data or, where it is a program, as text."""
    table = package.data.get(runner if runner != "node_test" else "")
    found = _from_data(runner, table) if isinstance(table, dict) else []
    for name in CONFIGURATIONS[runner]:
        text = tree.text(posixpath.join(package.folder, name))
        if text is not None and not found:
            found = _from_text(runner, name, text)
    return found


def _from_data(runner: str, data: dict[str, Any]) -> list[str]:
    if runner == "jasmine":
        folder = str(data.get("spec_dir") or "spec")
        return [posixpath.join(folder, str(one)) for one in data.get("spec_files") or []]
    for key in {"jest": ("testMatch",), "ava": ("files",), "mocha": ("spec",), "vitest": ("include",), "tap": ("include", "files")}.get(runner, ()):
        value = data.get(key)
        rows = [value] if isinstance(value, str) else value if isinstance(value, list) else []
        if rows:
            return [str(row) for row in rows]
    return []


def _from_text(runner: str, name: str, text: str) -> list[str]:
    if name.endswith(("json", "jsonc", "yml", "yaml", ".taprc")):
        try:
            data = json.loads(text) if name.endswith("json") else yaml.safe_load(re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE))
        except (ValueError, yaml.YAMLError):
            return []
        return _from_data(runner, data) if isinstance(data, dict) else []
    if name.endswith(".opts"):
        return [line.strip() for line in text.splitlines() if line.strip() and not line.strip().startswith(("-", "#"))]
    for key in {"jest": ("testMatch",), "ava": ("files",), "mocha": ("spec",), "vitest": ("include",)}.get(runner, ()):
        match = re.search(rf"\b{key}\s*:\s*(\[[^\]]*\]|'[^'\n]*'|\"[^\"\n]*\"|`[^`\n]*`)", text)
        if match and not (runner == "vitest" and "coverage" in text[:match.start()].rsplit("}", 1)[-1]):
            return ["".join(groups) for groups in STRINGS.findall(match[1])]
    return []
