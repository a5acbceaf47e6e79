"""A tree of npm packages -> what is built and run."""

from __future__ import annotations

import datetime
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from sandbox.toolchains.node.detect import plans
from sandbox.toolchains.node.environment import RELINK
from sandbox.toolchains.node.plan import NodePlan
from sandbox.toolchains.node.unknown_runner import unknown_runner
from sandbox.toolchains.protocol import Sight
from sandbox.workspace import REGULAR, File, Tree

DAY = datetime.date(2026, 1, 1)
TEST = "it('adds', () => {})\n"


def plan_of(files: dict[str, str | dict[str, Any]]) -> NodePlan:
    tree = Tree({path: File(REGULAR, (text if isinstance(text, str) else json.dumps(text)).encode()) for path, text in files.items()})
    return plans(tree, Sight(DAY, DAY))[0]


def suites(plan: NodePlan) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(suite.folder, suite.runner, suite.files) for suite in plan.suites]


def commands(plan: NodePlan) -> list[tuple[str, str]]:
    return [(build.folder, build.command) for build in plan.builds]


def member(name: str, test: str = "vitest run", **more: Any) -> dict[str, Any]:
    return {"name": name, "main": "dist/index.js", "scripts": {"build": "tsdown", "test": test}, **more}


def test_qunit_that_is_told_no_file_has_its_usual_folder() -> None:
    plan = plan_of({"package.json": {"scripts": {"test": "qunit"}}, "test/a.js": TEST})
    assert suites(plan) == [("", "qunit", ("test/a.js",))]


def test_a_runner_is_tested_by_itself() -> None:
    plan = plan_of({"package.json": {"name": "qunit", "scripts": {"test": "node bin/qunit.js test/*.js"}}, "bin/qunit.js": "'test'", "test/a.js": TEST})
    assert suites(plan) == [("", "qunit", ("test/a.js",))]


def test_a_word_in_quotes_is_no_library() -> None:
    plan = plan_of({"package.json": {"scripts": {"test": "node ./test/all.js"}}, "test/all.js": "process.env.NODE_ENV = 'test'"})
    assert suites(plan) == [("", "script", ("test/all.js",))]


def test_the_commands_of_a_shell_script_are_read() -> None:
    script = "#!/bin/bash\nset -ex\n# it's all\nnpx xo\nnpx c8 --report=none \\\n  mocha test\ncd elsewhere\nnpx jest\n"
    plan = plan_of({"package.json": {"scripts": {"test": "./scripts/test.sh"}}, "scripts/test.sh": script, "test/a.js": TEST})
    assert suites(plan) == [("", "mocha", ("test/a.js",))]


def test_packages_that_others_load_are_built_before_them() -> None:
    plan = plan_of({
        "package.json": {"private": True, "workspaces": ["packages/*"]},
        "packages/a/package.json": member("@s/a", devDependencies={"@s/b": "workspace:*"}), "packages/a/test/a.test.ts": TEST,
        "packages/b/package.json": member("@s/b", dependencies={"@s/c": "workspace:*"}), "packages/c/package.json": member("@s/c"),
        "packages/d/package.json": member("@s/d"),
    })
    assert commands(plan) == [("packages/c", "npm run build"), ("packages/b", "npm run build")]


def test_a_runner_that_is_led_to_the_sources_needs_no_build() -> None:
    plan = plan_of({
        "package.json": {"private": True, "workspaces": ["packages/*"], "scripts": {"test": "vitest"}},
        "vitest.config.ts": "export default { test: { alias: [{ find: /^@s\\/(.*)$/, replacement: '/packages/$1/src' }, {find: '@s/b'}] } }",
        "packages/a/package.json": member("@s/a", dependencies={"@s/b": "workspace:*"}), "packages/a/test/a.test.ts": TEST,
        "packages/b/package.json": member("@s/b"),
    })
    assert commands(plan) == []


def test_one_program_of_the_root_builds_them_all() -> None:
    plan = plan_of({
        "package.json": {"private": True, "workspaces": ["packages/*"], "scripts": {"build": "node scripts/build.mjs", "test": "jest"}},
        "packages/a/package.json": {"name": "a", "main": "build/index.js", "dependencies": {"b": "*"}}, "packages/a/__tests__/a.js": TEST,
        "packages/b/package.json": {"name": "b", "main": "build/index.js"},
    })
    assert commands(plan) == [("", "npm run build")]


def test_a_program_that_prepares_is_run_before_the_tests_and_is_none() -> None:
    scripts = {"test": "pnpm test:prepare && vitest run", "test:prepare": "node ./test/prepare.ts"}
    plan = plan_of({"package.json": {"scripts": scripts}, "test/prepare.ts": "", "test/a.test.ts": TEST})
    assert (suites(plan), commands(plan)) == ([("", "vitest", ("test/a.test.ts",))], [("", "npm run test:prepare")])


def test_what_a_compiler_would_make_of_tests_is_no_second_suite() -> None:
    files = {"package.json": {"scripts": {"test": "vitest run"}}, "tsconfig.json": '{"compilerOptions": {"outDir": "dist"}}', "test/a.test.ts": TEST}
    assert suites(plan_of(files)) == [("", "vitest", ("test/a.test.ts",))]
    compiled = {**files, "package.json": {"scripts": {"test": "tsc && mocha dist/test"}}}
    assert suites(plan_of(compiled)) == [("", "mocha", ("dist/test/a.test.js",))]


def test_a_workspace_may_name_a_folder_of_tests() -> None:
    plan = plan_of({
        "package.json": {"name": "chart"}, "pnpm-workspace.yaml": "packages: ['test/integration/*']", "test/fixtures/x/package.json": {"scripts": {"test": "jest"}},
        "test/fixtures/x/a.test.js": TEST, "test/integration/node/package.json": {"scripts": {"test": "node test.js"}}, "test/integration/node/test.js": "",
    })
    assert suites(plan) == [("test/integration/node", "script", ("test/integration/node/test.js",))]


@pytest.mark.parametrize("task", ["grunt test", "turbo run test", "gulp lint"])
def test_a_task_that_tests_is_no_build(task: str) -> None:
    plan = plan_of({"package.json": {"scripts": {"test": f"{task} && mocha"}}, "test/a.js": TEST})
    assert commands(plan) == []


@pytest.mark.parametrize(("scripts", "words"), [
    ({"test": "npm run lint && cypress run", "lint": "eslint ."}, "tests in browsers (cypress)"), ({"test": "zx all.mjs"}, "tests by zx, none of which"),
])
def test_a_repository_without_a_plan_is_told_what_its_script_starts(scripts: dict[str, str], words: str) -> None:
    text = json.dumps({"scripts": scripts})
    assert words in (unknown_runner(Tree({"package.json": File(REGULAR, text.encode())})) or "")


def test_tests_of_what_is_deployed_are_no_plan_beside_others() -> None:
    files = {"e2e/smoke/package.json": {"scripts": {"test": "jest"}}, "e2e/smoke/a.test.js": TEST}
    others = {"package.json": {"scripts": {"test": "mocha"}}, "test/a.js": TEST}
    assert (plan_of({**files}).directory, plan_of({**files, **others}).directory) == ("e2e/smoke", "")
    tree = Tree({path: File(REGULAR, (text if isinstance(text, str) else json.dumps(text)).encode()) for path, text in {**files, **others}.items()})
    assert [plan.directory for plan in plans(tree, Sight(DAY, DAY))] == [""]
    assert [plan.directory for plan in plans(tree, Sight(DAY, DAY, changed=frozenset({"e2e/smoke/x.js"})))] == ["", "e2e/smoke"]


def test_links_to_packages_of_the_repository_lead_into_the_box() -> None:
    assert _relinked({"node_modules/a": "../packages/a", "packages/b/node_modules/@s/a": "../../../a", "node_modules/.pnpm/c/node_modules/a": "../../../../packages/a",
                      "demo/node_modules/whole": "../..", "node_modules/kept": ".pnpm/c/node_modules/a", "packages/a/node_modules/x": "../../../node_modules/a"}) == {
        "node_modules/a": "/repo/x/packages/a", "packages/b/node_modules/@s/a": "/repo/x/packages/a",
        "node_modules/.pnpm/c/node_modules/a": "/repo/x/packages/a", "demo/node_modules/whole": "/repo/x", "node_modules/kept": ".pnpm/c/node_modules/a",
        "packages/a/node_modules/x": "../../../node_modules/a"}


def _relinked(links: dict[str, str]) -> dict[str, str]:
    with tempfile.TemporaryDirectory() as kept:
        for path, target in links.items():
            (Path(kept) / path).parent.mkdir(parents=True, exist_ok=True)
            (Path(kept) / path).symlink_to(target)
        subprocess.run([sys.executable, "-c", RELINK.replace("/opt/env/tree", kept), "/repo/x"], check=True)
        return {path: os.readlink(Path(kept) / path) for path in links}


def test_karma_runs_the_files_that_are_named_like_tests() -> None:
    scripts = {"test": "pnpm test-ci", "test-ci": 'concurrently "pnpm:test-ci-*"', "test-ci-karma": "cross-env NODE_ENV=test karma start ./karma.conf.cjs --auto-watch --grep"}
    plan = plan_of({"package.json": {"scripts": scripts, "devDependencies": {"karma": "6", "karma-jasmine": "5", "karma-spec-reporter": "1", "husky": "9"}},
                    "karma.conf.cjs": "module.exports = {}", "src/a.js": "", "test/specs/a.tests.js": TEST, "test/fixtures/a/x.js": "", "test/index.js": ""})
    assert suites(plan) == [("", "karma", ("test/specs/a.tests.js",))]
    assert (plan.in_browser, plan.left_out, plan.suites[0].named, plan.suites[0].words) == (True, ("husky",), ("start", "./karma.conf.cjs"), ("--grep",))
