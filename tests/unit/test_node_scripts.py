"""Scripts of package.json, read as commands."""

from __future__ import annotations

import json

import pytest

from sandbox.toolchains.node.globs import matches
from sandbox.toolchains.node.package import Package
from sandbox.toolchains.node.runners import Use, use_of
from sandbox.toolchains.node.scripts import commands_of
from sandbox.toolchains.node.versions import admits


def uses(scripts: dict[str, str]) -> list[Use]:
    data = {"scripts": scripts}
    return [use for command in commands_of(Package("", data, json.dumps(data)), "test") if (use := use_of(command))]


@pytest.mark.parametrize(("scripts", "runner", "named", "words"), [
    ({"test": "jest && npm run lint", "lint": "eslint ."}, "jest", (), ()),
    ({"test": "npm run tests-only", "tests-only": "nyc tape 'test/**/*.js'"}, "tape", ("test/**/*.js",), ()),
    ({"test": "xo && nyc ava && tsd"}, "ava", (), ()),
    ({"test": "pnpm lint && vitest run --typecheck", "lint": "eslint"}, "vitest", (), ()),
    ({"test": "nyc --reporter=cobertura --reporter=text-summary mocha --require @babel/register --reporter dot --recursive"}, "mocha", (),
     ("--require", "@babel/register", "--recursive")),
    ({"test": 'mocha "out/**/*.spec.js" -s 0'}, "mocha", ("out/**/*.spec.js",), ("-s", "0")),
    ({"test": "uvu -r esm test"}, "uvu", ("test",), ("-r", "esm")),
    ({"test": "cross-env NODE_ENV=test npx c8 -r text mocha test/*.js --exit -R spec"}, "mocha", ("test/*.js",), ("--exit",)),
    ({"test": "node --test --experimental-test-coverage test/*.test.js"}, "node_test", ("test/*.test.js",), ()),
    ({"test": "run-s lint test:*", "lint": "eslint", "test:unit": "jest --config unit.js -i"}, "jest", (), ("--config", "unit.js")),
    ({"test": "npm run unit -- --watch=false", "unit": "jest"}, "jest", (), ()),
    ({"test": "nyc --reporter lcovonly -- mocha 'src/**/*.test.ts' --config ../mocharc.js"}, "mocha", ("src/**/*.test.ts",), ("--config", "../mocharc.js")),
    ({"test": "pnpm vitest run --dir src"}, "vitest", (), ("--dir", "src")),
    ({"test": "yarn build && yarn jest", "build": "tsc"}, "jest", (), ()),
    ({"pretest": "standard", "test": "NODE_OPTIONS=--experimental-vm-modules node node_modules/jest/bin/jest.js --ci"}, "jest", (), ()),
])
def test_the_runner_is_found_behind_what_stands_around_it(scripts: dict[str, str], runner: str, named: tuple[str, ...], words: tuple[str, ...]) -> None:
    found = uses(scripts)
    assert [(use.runner, use.named, use.words) for use in found] == [(runner, named, words)]


def test_options_of_node_are_not_given_by_a_variable() -> None:
    (use,) = uses({"test": "cross-env NODE_OPTIONS='--experimental-vm-modules --no-warnings' A=1 jest"})
    assert (use.node, use.environment) == (("--experimental-vm-modules", "--no-warnings"), (("A", "1"),))


def test_a_script_that_runs_itself_has_an_end() -> None:
    assert uses({"test": "npm test"}) == []


@pytest.mark.parametrize(("path", "patterns", "taken"), [
    ("test/a.js", ("test/*.js",), True), ("test/b/a.js", ("test/*.js",), False), ("test/b/a.js", ("test/**/*.js",), True),
    ("src/a.test.tsx", ("**/?(*.)+(spec|test).{js,tsx}",), True), ("test.js", ("**/?(*.)+(spec|test).{js,tsx}",), True), ("a.tests.js", ("**/?(*.)+(spec|test).js",), False),
    ("__tests__/x/y.js", ("**/__tests__/**/*.[jt]s?(x)",), True), ("tests/a.js", ("tests/**", "!tests/_*.js"), True), ("tests/_a.js", ("tests/**", "!tests/_*.js"), False),
])
def test_globs_are_those_of_the_runners(path: str, patterns: tuple[str, ...], taken: bool) -> None:
    assert matches(path, patterns) is taken


@pytest.mark.parametrize(("wanted", "major", "admitted"), [
    (">=18", 20, True), ("^18.0.0 || >=20", 19, False), ("14.x", 14, True), (">=0.10 <13", 12, True), (">=0.10 <13", 14, False), ("10 - 14", 12, True), ("", 8, True), ("~16.4", 16, True), ("*", 9, True),
])
def test_engines_admit_releases(wanted: str, major: int, admitted: bool) -> None:
    assert admits(wanted, major) is admitted
