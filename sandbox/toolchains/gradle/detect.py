"""A tree -> a plan for each of its Gradle builds."""

from __future__ import annotations

import posixpath
import re

from sandbox.plan import Choice
from sandbox.toolchains.gradle.builds import BUILD_FILES, SETTINGS_FILES, build_file, level, modules, roots
from sandbox.toolchains.gradle.distribution import choice, wrapper
from sandbox.toolchains.java.plan import JavaPlan
from sandbox.toolchains.java.releases import choose
from sandbox.toolchains.java.rules import JavaRules
from sandbox.toolchains.protocol import Sight
from sandbox.workspace import Tree

MOST_BUILDS = 3
MORE = re.compile(r"(^|/)(gradle\.properties|libs\.versions\.toml|gradle-wrapper\.properties|gradle\.lockfile)$|(^|/)(buildSrc|build-logic)/|\.gradle(\.kts)?$")


def plans(tree: Tree, sight: Sight) -> list[JavaPlan]:
    """A plan a build that has tests."""
    found = [_plan(tree, root, sight) for root in roots(tree)]
    return ([plan for plan in found if plan.test_files] or [plan for plan in found if plan.manifests][:1])[:MOST_BUILDS]


def _plan(tree: Tree, root: str, sight: Sight) -> JavaPlan:
    build = modules(tree, root)
    here = sight.before if sight.before is not None else tree
    known, file = level(tree, build)
    names = [module.name for module in build]
    first = next((path for name in (*SETTINGS_FILES, *BUILD_FILES) if (path := posixpath.join(root, name)) in tree), file)
    why = [Choice("projects" if len(names) > 1 else "project", ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else ""), first, 1)]
    releases = choose(tree, known, file, why)
    why.append(choice(wrapper(here, root)))
    start = root + "/" if root else ""
    manifests = {own for module in build if (own := build_file(tree, module.folder)) is not None}
    manifests |= {path for path in tree if path.startswith(start) and MORE.search(path)}
    rules, places = JavaRules(here, tree), tuple(place + "/" for module in build for place in module.test_roots)
    tests = {path for source in (tree, here) for path in source if path.startswith(places) and rules.is_test_file(path)}
    return JavaPlan(
        toolchain="gradle", framework="gradle", interpreters=releases, directory=root, test_files=tuple(sorted(tests)), version=sight.version,
        manifests=tuple(sorted(path for path in manifests if path in here and rules.is_manifest(path))), why=tuple(why), modules=build)
