"""A small npm package with a defect, made on the spot: built by a script of its own, tested by Node's own runner and by plain TypeScript-free JavaScript."""

from __future__ import annotations

import json

MANIFEST = {
    "name": "stats", "version": "1.0.0", "main": "dist/index.js", "engines": {"node": ">=20"},
    "scripts": {"build": "node build.js", "test": "npm run build && node --test test/"},
}
BUILD = '''const fs = require("node:fs");
fs.mkdirSync("dist", { recursive: true });
require("node:vm").compileFunction(fs.readFileSync("src/index.js", "utf8"));
fs.copyFileSync("src/index.js", "dist/index.js");
'''
DEFECT = '''"use strict";

exports.mean = (values) => values.reduce((sum, value) => sum + value, 0) / (values.length + 1);

exports.span = (values) => Math.max(...values) - Math.min(...values);
'''
FIX = DEFECT.replace("(values.length + 1)", "values.length")
TEST = '''const { test, describe } = require("node:test");
const assert = require("node:assert");
const stats = require("..");

describe("span", () => {
  test("of two", () => assert.equal(stats.span([2, 9]), 7));
  test("of one", () => assert.equal(stats.span([4]), 0));
});
'''
MEAN_TEST = '''
test("mean of three", () => {
  assert.equal(stats.mean([1, 2, 3]), 2);
});
'''
BASE: dict[str, str | None] = {
    "package.json": json.dumps(MANIFEST, indent=2), "build.js": BUILD, "src/index.js": DEFECT, "test/span.test.js": TEST, "README.md": "Statistics.\n", ".gitignore": "dist\n",
}


def manifest(**more: object) -> str:
    """package.json with more in it."""
    return json.dumps({**MANIFEST, **more}, indent=2)
