"""A tree -> a plan for each of its Maven builds."""

from __future__ import annotations

import posixpath

from sandbox.plan import Choice
from sandbox.toolchains.java.plan import JavaModule, JavaPlan
from sandbox.toolchains.java.releases import choose
from sandbox.toolchains.java.rules import JavaRules
from sandbox.toolchains.maven.poms import Pom, dependants, level, module_of, read_builds
from sandbox.toolchains.protocol import Sight
from sandbox.workspace import Tree

MOST_BUILDS = 4
CONFIGURATION = (".mvn/maven.config", ".mvn/jvm.config", ".mvn/extensions.xml", ".mvn/wrapper/maven-wrapper.properties")


def plans(tree: Tree, sight: Sight) -> list[JavaPlan]:
    """A plan a build that has tests; where there are many, those that the change touches, the root and those with most tests."""
    found = [_plan(tree, build, sight) for build in read_builds(tree)]
    found = [plan for plan in found if plan.test_files] or found[:1]
    if len(found) > MOST_BUILDS:
        found.sort(key=lambda plan: (not _touched(plan.directory, sight), plan.directory != "", -len(plan.test_files)))
        found = sorted(found[:MOST_BUILDS], key=lambda plan: plan.directory)
    return found


def _touched(folder: str, sight: Sight) -> bool:
    return any(not folder or path.startswith(folder + "/") for path in sight.changed)


def _plan(tree: Tree, build: list[Pom], sight: Sight) -> JavaPlan:
    root = build[0]
    here = sight.before if sight.before is not None else tree
    modules = tuple(module_of(tree, pom) for pom in build)
    names = [module.name for module in modules]
    why = [Choice("modules" if len(names) > 1 else "module", ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else ""), root.path, 1)]
    known, file = level(build)
    releases = choose(tree, known, file, why)
    chosen = _chosen(build, sight)
    if chosen:
        why.append(Choice("tests of", ", ".join(chosen[:8]) + (f" and {len(chosen) - 8} more" if len(chosen) > 8 else ""), root.path, 1))
    manifests = [*(pom.path for pom in build), *(posixpath.join(root.folder, name) for name in CONFIGURATION)]
    return JavaPlan(
        toolchain="maven", framework="surefire", interpreters=releases, directory=root.folder, test_files=_test_files(tree, here, modules),
        manifests=tuple(name for name in manifests if name in tree and name in here), version=sight.version, why=tuple(why), modules=modules, chosen=chosen)


def _chosen(build: list[Pom], sight: Sight) -> tuple[str, ...]:
    """Modules that the change touches, and those that depend on them; all where it touches none, or a file of the whole build."""
    folders = sorted((pom.folder for pom in build), key=len, reverse=True)
    root = build[0].folder
    inside = [path for path in sight.changed if not root or path.startswith(root + "/")]
    owners = {next((folder for folder in folders if not folder or path.startswith(folder + "/")), root) for path in inside}
    if not owners or len(build) == 1 or (root in owners and build[0].packaging != "pom"):
        return ()
    found = dependants(build, owners - {root} or {root})
    return tuple(sorted(found)) if len(found) < len(build) else ()


def _test_files(tree: Tree, before: Tree, modules: tuple[JavaModule, ...]) -> tuple[str, ...]:
    rules = JavaRules(before, tree)
    roots = tuple(root + "/" for module in modules for root in module.test_roots)
    return tuple(sorted({path for source in (tree, before) for path in source if path.startswith(roots) and rules.is_test_file(path)}))
