"""Which files of a npm package steer its tests, and which only look so."""

from __future__ import annotations

import json

import pytest

from sandbox.toolchains.node.rules import NodeRules
from sandbox.workspace import REGULAR, File, Tree

TEST = 'test("a", () => { expect(require("../src").a).toBe(1); });\n'


def steers(path: str, files: dict[str, str], new: str | None = None, **manifest: object) -> bool:
    data = {"name": "a", "main": "src/index.js", "scripts": {"test": "jest"}, "devDependencies": {"jest": "1"}, **manifest}
    base = {"package.json": json.dumps(data), "src/index.js": "exports.a = 1;\n", "test/a.test.js": TEST, **files}
    trees = [Tree({name: File(REGULAR, text.encode()) for name, text in each.items()}) for each in (base, {**base, **({path: new} if new is not None else {})})]
    return NodeRules(*trees).is_harness(path)


@pytest.mark.parametrize(("path", "files", "manifest"), [
    ("prepare-tests.js", {"prepare-tests.js": ""}, {"jest": {"setupFiles": ["<rootDir>/prepare-tests.js"]}}),
    ("src/prepare.ts", {"src/prepare.ts": "", "vitest.config.ts": "export default { test: { setupFiles: ['./src/prepare.ts'] } }"}, {"scripts": {"test": "vitest"}}),
    ("tools/hooks.js", {"tools/hooks.js": "", ".mocharc.yml": "require:\n  - ./tools/hooks.js\n"}, {"scripts": {"test": "mocha"}}),
    ("tools/hooks.js", {"tools/hooks.js": "", "test/a.js": TEST}, {"scripts": {"test": "mocha -r ./tools/hooks"}}),
    ("tools/inner.js", {"tools/make.js": "require('./inner');", "tools/inner.js": ""}, {"scripts": {"test": "npm run build && jest", "build": "node tools/make.js"}}),
    ("tools/make.js", {"tools/make.js": ""}, {"scripts": {"test": "npm run build && jest", "build": "node tools/make.js"}}),
    ("build.js", {"build.js": ""}, {}), ("vite.config.ts", {}, {}), ("jest.setup.js", {}, {}), ("shared.js", {"jest.config.js": "require('./shared')", "shared.js": ""}, {}),
])
def test_what_is_loaded_or_run_before_the_tests_is_of_the_harness(path: str, files: dict[str, str], manifest: dict[str, object]) -> None:
    assert steers(path, files, **manifest)


def test_a_new_file_that_the_configuration_would_load_is_too() -> None:
    assert steers("src/setupTests.js", {}, new="expect.extend({});\n")
    assert steers("prepare.js", {}, new="", jest={"setupFiles": ["./prepare.js"]})


@pytest.mark.parametrize(("path", "files", "manifest"), [
    ("src/vite.ts", {"src/vite.ts": ""}, {}), ("lib/build.js", {"lib/build.js": ""}, {}), ("packages/core/src/webpack.ts", {}, {}),
    ("src/index.js", {"jest.config.js": "require('./src/index.js')"}, {}), ("src/make.js", {"src/index.js": "require('./make')"}, {"scripts": {"test": "node src/make.js && jest"}}),
    ("bin/a.js", {"bin/a.js": ""}, {"bin": "bin/a.js", "scripts": {"test": "node bin/a.js && jest"}}), ("test/a.test.js", {}, {"scripts": {"test": "jest test/a.test.js"}}),
    ("tools/release.js", {"tools/release.js": ""}, {"scripts": {"test": "jest", "release": "node tools/release.js"}}),
    ("src/page.html", {"src/page.html": ""}, {"scripts": {"test": "cpy src/page.html dist && jest"}}),
    ("src/index.node.ts", {"src/index.node.ts": "", "test/a.js": TEST}, {"main": "dist/index.js", "scripts": {"test": "mocha --file src/index.node.ts"}}),
    ("lib/render.js", {"lib/render.js": "", "tools/make.js": "require('../lib/render')"}, {"scripts": {"test": "node tools/make.js && jest"}}),
    ("test/helper.js", {"test/helper.js": ""}, {"jest": {"setupFiles": ["./test/helper.js"]}}),
])
def test_the_product_and_its_tests_are_not(path: str, files: dict[str, str], manifest: dict[str, object]) -> None:
    assert not steers(path, files, **manifest)
