"""How an environment for Node is made and what a box gets of it: links to the packages, and what was built from the sources."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping

from sandbox import images, inside
from sandbox.build_container import BuildContainer, Step
from sandbox.docker import DockerEngine
from sandbox.hardening import RUNNER_UID
from sandbox.plan import Plan
from sandbox.results.report import TestReport
from sandbox.toolchains.node.ladder import FACTS, HOME, PLAN, RUNTIME, STEP_S, TOOLS, NodeLadder, reporters
from sandbox.toolchains.node.plan import of_node
from sandbox.toolchains.protocol import Ground
from sandbox.toolchains.shared_paths import is_prose
from sandbox.workspace import Tree

REBUILT = "/tmp/rebuilt"
MISSING_BINARY = re.compile(
    r"Could not locate the bindings file|Cannot find module '[^']*/(?:build/(?:Release|Debug)|binding)[^']*\.node'|No native build was found[^\n]*"
    r"|was compiled against a different Node")
OVERLAY = """
set -e
cd "$1"
rm -rf /opt/env/tree && mkdir -p /opt/env/tree
find . -name .git -prune -o -type d -name node_modules -print -prune | sed 's,^./,,' | while read -r folder; do
  if grep -q "^$folder/" /tmp/listed; then continue; fi
  mkdir -p "/opt/env/tree/$(dirname "$folder")"
  cp -a "$folder" "/opt/env/tree/$folder"
  echo "$folder"
done
chown -R 0:0 /opt/env
chmod -R a+rX,go-w /opt/env
"""
RELINK = """
import os, sys
root, kept = sys.argv[1], '/opt/env/tree'
for folder, names, files in os.walk(kept):
    for name in names + files:
        path = os.path.join(folder, name)
        if not os.path.islink(path):
            continue
        target = os.path.normpath(os.path.join(folder, os.readlink(path)))
        inside = (target + '/').startswith(kept + '/')
        if inside and 'node_modules' not in target[len(kept):].split('/'):  # a package of the repository itself
            os.unlink(path)
            os.symlink(root + target[len(kept):], path)
"""


def reporters_number() -> int:
    """A number that changes with them: an environment with others is another one."""
    total = hashlib.sha256()
    for name, data in reporters().items():
        total.update(name.encode() + b"\0" + data)
    for name in ("node_unpacked.py", "npm_package.py", "node_build.py"):
        total.update(inside.source(name).encode())
    total.update(OVERLAY.encode() + RELINK.encode())
    return int(total.hexdigest()[:10], 16)


def sources(plan: Plan, tree: Tree) -> tuple[str, ...]:
    """What the builds may read, where they are made beside the installation: all but tests and prose."""
    mine = of_node(plan)
    if not mine.prebuilt:
        return ()
    tests = set(mine.test_files)
    return tuple(path for path in tree if path not in tests and not is_prose(path))


class NodeInstaller:
    """Any release of Node, from the npm registry."""

    title = "Node"
    recipe = 1 + reporters_number()

    def base(self, engine: DockerEngine) -> str:
        """Debian alone."""
        return images.bootstrap(engine)

    def ground(self, engine: DockerEngine, release: str) -> Ground:
        """Always the base image: Node is fetched into the environment."""
        return Ground(self.base(engine), f"{HOME}/bin/node", release)

    def variables(self, plan: Plan) -> Mapping[str, str]:
        """Set for each command."""
        return {}

    def ladder(self, build: BuildContainer, plan: Plan, tree: Tree, root: str, ground: Ground, budget_s: float) -> NodeLadder:
        """The rungs."""
        return NodeLadder(build, of_node(plan), root, ground.release, budget_s)

    def needs(self, report: TestReport, plan: Plan) -> list[str]:
        """Packages whose compiled part is not there, by the folder that it was looked for in."""
        texts = [*report.uncollected.values(), *(result.message for result in report.results.values() if result.failed)]
        found = [name for text in texts if MISSING_BINARY.search(text) for name in re.findall(r"node_modules/((?:@[\w.-]+/)?[\w.-]+)/", text)]
        return [name for name in dict.fromkeys(found) if name not in ("bindings", "node-gyp-build", ".pnpm")]

    def release(self, build: BuildContainer) -> str:
        """As Node says it."""
        return build.step([f"{HOME}/bin/node", "--version"], 30).output.strip().removeprefix("v")

    def modules(self, build: BuildContainer) -> tuple[str, ...]:
        """None: a package is loaded from node_modules alone."""
        return ()

    def overlay(self, build: BuildContainer, root: str) -> tuple[str, bool]:
        """The folders of packages move into the image; each box gets links to them."""
        if build.step(["test", "-e", REBUILT], 30).ok:
            return "built from the sources", True
        done = build.need(["/bin/sh", "-c", OVERLAY, "sh", root], 900)
        build.need(["/usr/bin/python3", "-I", "-c", RELINK, root], 300)
        folders = [line for line in done.output.splitlines() if line.strip()]
        facts = json.loads(build.read(f"{HOME}/builds.json") or b"{}")
        plan = json.loads(build.read(PLAN) or b"{}")
        written = facts.get("written", []) if not plan.get("prebuilt") else []
        build.write(FACTS, json.dumps({**facts, "written": written, "modules": folders}).encode())
        return f"installed into {', '.join(folders[:8]) or 'nothing'}", bool(plan.get("prebuilt"))

    def rebuild(self, build: BuildContainer, root: str) -> Step:
        """The builds from the sources at hand, by the runner's uid: nothing of the image is theirs to change."""
        plan = json.loads(build.read(PLAN) or b"{}")
        build.need(["/bin/sh", "-c", f"chown -R {RUNNER_UID}:{RUNNER_UID} {root} && /opt/unpacked {root} && touch {REBUILT}"], 300)
        build.write(f"{TOOLS}/node_build.py", inside.source("node_build.py").encode())
        words = ["/usr/bin/python3", "-I", f"{TOOLS}/node_build.py", root, json.dumps(plan["steps"]), "again"]
        settings = [f"{name}={value}" for name, value in {**RUNTIME, "CI": "true", "HOME": "/tmp"}.items()]
        return build.step(["/usr/bin/env", *settings, *words], STEP_S)
