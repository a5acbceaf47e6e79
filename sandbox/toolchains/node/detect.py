"""A tree -> a plan for each installation of npm packages that has tests."""

from __future__ import annotations

import datetime
import posixpath
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from sandbox.plan import Choice
from sandbox.toolchains.node.building import builds_of, compiled_folders, reads_what_is_built, usual_build
from sandbox.toolchains.node.linters import left_out
from sandbox.toolchains.node.managers import Manager, manager_of
from sandbox.toolchains.node.package import Package, members, read_packages
from sandbox.toolchains.node.patterns import taken, test_patterns
from sandbox.toolchains.node.plan import Build, NodePlan, Suite
from sandbox.toolchains.node.runners import Use, program_of, use_of
from sandbox.toolchains.node.scripts import commands_of
from sandbox.toolchains.node.versions import releases
from sandbox.toolchains.node.workspace_builds import in_order, packages_of, workspace_builds
from sandbox.toolchains.protocol import Sight
from sandbox.workspace import Tree

MOST_PLANS, MOST_SUITES = 4, 100
YOUNG = datetime.timedelta(days=30)
OTHER_SCRIPTS = re.compile(r"(tests?|unit|mocha|jest|vitest|tap|spec|ci|coverage|cover|check)([:_-].*)?")
BESIDES = re.compile(r"(^|[:_-])(e2e|integration|browser|watch|lint|types?|bench\w*|update|debug|dev|perf|acceptance|visual|smoke|docs?|ui"
                     r"|inspect|sauce\w*|browserstack)($|[:_-])")
PREPARING = re.compile(r"(^|[:_-])(prepare|prep|setup|build|generate|clean|server|bench\w*)($|[.:_-])")
FAR = re.compile(r"(^|/)(e2e|end-to-end|smoke-?tests?)(/|$)")  # what is tested there is what was deployed
LIBRARIES = (("node_test", re.compile(r"['\"]node:test['\"]|(?:\bfrom\s+|\brequire\(\s*|\bimport\(?\s*)['\"]test['\"]")),
             ("tape", re.compile(r"['\"](?:tape|tape-catch)['\"]")),
             ("tap", re.compile(r"['\"]tap['\"]")),
             ("uvu", re.compile(r"['\"]uvu['\"]")))
BY_DEPENDENCY = ("vitest", "jest", "mocha", "ava", "tap")
CONFIGURATION = (".npmrc", ".yarnrc", ".yarnrc.yml", "pnpm-workspace.yaml", ".pnpmfile.cjs", "lerna.json")


def plans(tree: Tree, sight: Sight) -> list[NodePlan]:
    """The workspace at the root, then packages that stand apart, those that the change touches first."""
    packages, found, done = read_packages(tree), [], set[str]()
    for folder, package in packages.items():
        if folder in done:
            continue
        inside = members(tree, package, packages)
        done.update(inside)
        plan = _plan(tree, package, {one: packages[one] for one in inside}, sight)
        if plan is not None:
            found.append(plan)
    near = [plan for plan in found if not FAR.search(plan.directory) or any(path.startswith(plan.directory + "/") for path in sight.changed)]
    found = near or found
    found.sort(key=lambda plan: (not _is_touched(plan, sight), plan.directory.count("/") + bool(plan.directory)))
    return sorted(found[:MOST_PLANS], key=lambda plan: plan.directory)


def _is_touched(plan: NodePlan, sight: Sight) -> bool:
    return any(not plan.directory or path.startswith(plan.directory + "/") for path in sight.changed) or not sight.changed


def _plan(tree: Tree, root: Package, packages: Mapping[str, Package], sight: Sight) -> NodePlan | None:
    why = [Choice("package", root.name or "(no name)", root.path, 1)]
    suites, builds, compiled = _suites(tree, root, packages, sight, why)
    if not any(suite.files for suite in suites):
        return None
    tested = packages_of(packages, (path for suite in suites for path in suite.files))
    builds = in_order(workspace_builds(tree, root, packages, tested), builds, root)
    manager = manager_of(tree, root)
    why.append(Choice("packages", f"{manager.name} {manager.version}".strip(), manager.lock or root.path, 1))
    for build in builds:
        why.append(Choice("build", build.command, posixpath.join(build.folder, "package.json"), 1))
    in_browser = any(suite.runner == "karma" for suite in suites)
    dated = not manager.lock and sight.today - sight.commit_date > YOUNG
    sources = {source for suite in suites for group in suite.files if (source := source_of(tree, compiled, group))}
    return NodePlan(
        toolchain="node", framework=", ".join(dict.fromkeys(suite.runner.replace("_", ":") for suite in suites)),
        interpreters=releases(tree, root, sight.commit_date, why), directory=root.folder, test_files=tuple(sorted(sources)),
        manifests=_manifests(tree, root, packages, manager, sight), exclude_newer=sight.commit_date if dated else None, version=sight.version,
        why=tuple(why),
        manager=manager.name, manager_version=manager.version, lock=manager.lock, suites=tuple(suites), builds=tuple(builds),
        prebuilt=bool(builds) and not _are_built(tree, suites), compiled=compiled,
        packages=tuple(packages), left_out=left_out(tree, packages, in_browser) if not manager.lock else (), in_browser=in_browser,
        from_git=tuple(dict.fromkeys(name for package in packages.values() for name in package.from_git)))


def _manifests(tree: Tree, root: Package, packages: Mapping[str, Package], manager: Manager, sight: Sight) -> tuple[str, ...]:
    names = [package.path for package in packages.values()] + [manager.lock, *(posixpath.join(root.folder, name) for name in CONFIGURATION)]
    names += [path for path in tree if path.startswith((posixpath.join(root.folder, "patches/"), posixpath.join(root.folder, ".yarn/patches/"),
                                                        posixpath.join(root.folder, ".yarn/releases/")))]
    here = sight.before if sight.before is not None else tree
    return tuple(dict.fromkeys(name for name in names if name and name in tree and name in here))


def _suites(
    tree: Tree, root: Package, packages: Mapping[str, Package], sight: Sight, why: list[Choice],
) -> tuple[list[Suite], list[Build], tuple[tuple[str, str], ...]]:
    suites: list[Suite] = []
    builds: list[Build] = []
    compiled: tuple[tuple[str, str], ...] = ()
    owned: set[str] = set()
    for package in sorted(packages.values(), key=lambda one: (one.folder != root.folder, not _changed_in(one.folder, sight), one.folder)):
        if len(suites) >= MOST_SUITES:
            break
        script, uses = _uses(tree, package)
        steps = builds_of(package, script) if script else []
        pairs = compiled_folders(tree, package, steps or [step for step in [usual_build(package)] if step])
        mine = _apart([_suite(tree, package, use, pairs, owned, sight) for use in uses])
        if not mine:
            continue
        owned |= {group for suite in mine for group in suite.files}
        sources = [path for suite in mine for group in suite.files if (path := source_of(tree, pairs, group))]
        if not steps and (_are_built(tree, mine) or reads_what_is_built(tree, package, sources)):
            step = usual_build(package)
            steps = [step] if step else []
        suites, builds, compiled = [*suites, *mine], [*builds, *steps], (*compiled, *pairs)
        why += [Choice("tests", f"{suite.runner.replace('_', ':')}: {len(suite.files)} files", package.path,
                       package.line(script or "devDependencies")) for suite in mine]
    return suites, builds, tuple(dict.fromkeys(compiled))


def _apart(suites: Iterable[Suite]) -> list[Suite]:
    """Suites of which none runs what another one runs: the same tests in another time zone, or under another name, have the same ids."""
    kept: list[Suite] = []
    for suite in sorted(suites, key=lambda one: -len(one.files)):
        mine = tuple(group for group in suite.files if not any(group in other.files for other in kept))
        if mine:
            kept.append(replace(suite, files=mine))
    return kept


def _changed_in(folder: str, sight: Sight) -> bool:
    return any(path.startswith(folder + "/") for path in sight.changed) if folder else bool(sight.changed)


def _are_built(tree: Tree, suites: Iterable[Suite]) -> bool:
    return any(group not in tree for suite in suites for group in suite.files)


def _uses(tree: Tree, package: Package) -> tuple[str, list[Use]]:
    """(script, runners that it comes to): of `test`, else of another one that sounds like it, else by what is installed."""
    names = ["test", *(name for name in package.scripts if name != "test" and OTHER_SCRIPTS.fullmatch(name) and not BESIDES.search(name)),
             *(name for name in package.scripts if OTHER_SCRIPTS.fullmatch(name) and BESIDES.search(name) and "unit" in name)]
    for name in names:
        found = list(_runners(tree, package, name))
        if found:
            return name, found
    for runner in BY_DEPENDENCY:
        if package.requires(runner):
            return "", [Use(runner, (), (), (), (), "", runner)]
    return "", []


def _runners(tree: Tree, package: Package, script: str) -> Iterable[Use]:
    for command in commands_of(package, script):
        if any(BESIDES.search(name) for name in command.scripts[1:]):
            continue
        use = use_of(command) or _of_program(tree, package, program_of(command))
        if use is not None:
            yield use


def _of_program(tree: Tree, package: Package, use: Use | None) -> Use | None:
    """`node test.js`: the runner that the file loads; a plain program where it sounds like a test."""
    if use is None:
        return None
    place = posixpath.normpath(posixpath.join(package.folder, use.named[0]))
    path = next((place + ending for ending in ("", ".js", "/index.js", ".mjs", ".cjs", "/index.mjs", ".ts") if place + ending in tree), None)
    if path is None:
        return None
    named = (posixpath.relpath(path, package.folder or "."),)
    runner = next((name for name, pattern in LIBRARIES if pattern.search(tree.text(path) or "")), None)
    if runner is not None:
        return replace(use, runner=runner, named=named)
    if PREPARING.search(use.script) or PREPARING.search(posixpath.basename(path)):
        return None
    return replace(use, named=named) if re.search(r"(^|/)(tests?|specs?)([/._-]|$)|[._-](test|spec)\.", use.named[0]) else None


def _suite(tree: Tree, package: Package, use: Use, pairs: tuple[tuple[str, str], ...], owned: set[str], sight: Sight) -> Suite:
    patterns, ignored = test_patterns(tree, package, use)
    files = set(taken(tree, patterns, ignored))
    for before in [sight.before] if sight.before is not None else []:
        files |= set(taken(before, patterns, ignored))
    outs = [(out, source) for out, source in pairs if not any(path.startswith(out + "/") for path in tree)
            and (not files or any(pattern.startswith(out + "/") for pattern in patterns))]
    files |= {group for out, source in outs for path in tree if path not in files and (group := built_path(path, out, source))
              and taken([group], patterns, ignored)}
    prefix = f"{package.folder}/" if package.folder else ""
    mine = tuple(sorted(path for path in files if path.startswith(prefix) and path not in owned and _is_test_text(tree, path, use)
                        and _is_named(path, use)))
    return Suite(package.folder, use.runner, mine, patterns, ignored, use.words, use.named, use.node, use.environment)


def _is_named(path: str, use: Use) -> bool:
    """jest and vitest are told parts of paths."""
    if use.runner not in ("jest", "vitest") or not use.named:
        return True
    return any(word.removeprefix("./").replace("\\", "") in path for word in use.named)


def _is_test_text(tree: Tree, path: str, use: Use) -> bool:
    """Runners that start each file of a folder by itself, helpers and data too, get those that load the runner's library."""
    text = tree.text(path)
    library = next((pattern for name, pattern in LIBRARIES if name == use.runner), None)
    if text is None or library is None or library.search(text):
        return True
    by_name = use.named or use.runner != "node_test"
    return bool(by_name) and not re.search(r"(^|/)(helpers?|fixtures?|utils?|_\w+|common)(/|\.)", path)


def built_path(path: str, out: str, source: str) -> str | None:
    """Where a compiler puts a source file; None for what it does not compile."""
    inside = path if source == "." else path[len(source) + 1:] if path.startswith(source + "/") else None
    if inside is None or not re.search(r"\.[cm]?[jt]sx?$", inside) or inside.endswith(".d.ts"):
        return None
    return posixpath.join(out, re.sub(r"\.([cm]?)[jt]sx?$", r".\1js", inside))


def source_of(tree: Tree, pairs: tuple[tuple[str, str], ...], group: str) -> str | None:
    """The file in the tree that a group is made from: itself, or the source of what is built; None where there is neither."""
    if group in tree:
        return group
    for out, source in pairs:
        if group.startswith(out + "/"):
            inside = group[len(out) + 1:]
            stem = re.sub(r"\.([cm]?)js$", r".\1", inside).rstrip(".")
            base = stem if source == "." else posixpath.join(source, stem)
            found = next((path for ending in (".ts", ".tsx", ".js", ".jsx", ".mts", ".cts", ".mjs", ".cjs") if (path := base + ending) in tree), None)
            found = found or next((path for ending in ("ts", "js") if (path := base + ending) in tree), None)
            if found:
                return found
    return None
