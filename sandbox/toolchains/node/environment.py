"""How an environment for Node is made: a release of Node, the repository's package manager, its packages, one build to see what it writes."""

from __future__ import annotations

import hashlib
import json
import os
import posixpath
import re
import shlex
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sandbox import images, inside
from sandbox.build_container import BuildContainer, Step
from sandbox.docker import DockerEngine
from sandbox.errors import EnvironmentFailed, UnknownPackage
from sandbox.hardening import RUNNER_UID
from sandbox.plan import Plan
from sandbox.results.report import TestReport
from sandbox.toolchains.node.plan import NodePlan, of_node
from sandbox.toolchains.protocol import Ground
from sandbox.toolchains.shared_paths import is_prose
from sandbox.workspace import Tree

HOME, TOOLS, KEPT = "/opt/env", "/opt/env/tools", "/opt/env/tree"
REPORTERS, FACTS, PLAN = "/opt/env/dualgate", "/opt/env/facts.json", "/opt/env/plan.json"
REBUILT = "/tmp/rebuilt"
PATH = f"{HOME}/bin:/usr/local/bin:/usr/bin:/bin"
NPM, TOOL_NODE, OLD_TOOL_NODE = "10", "22", "16"
STEP_S = 900.0
QUIET = {
    "npm_config_audit": "false", "npm_config_fund": "false", "npm_config_update_notifier": "false", "npm_config_ignore_scripts": "true",
    "npm_config_progress": "false",
    "npm_config_engine_strict": "false", "npm_config_cache": "/tmp/npm", "npm_config_fetch_retries": "4", "npm_config_loglevel": "error",
    "npm_config_yes": "true",
    "npm_config_package_lock": "true", "npm_config_store_dir": "/tmp/pnpm", "npm_config_manage_package_manager_versions": "false",
    "npm_config_strict_peer_dependencies": "false",
    "COREPACK_ENABLE_STRICT": "0", "YARN_CACHE_FOLDER": "/tmp/yarn", "YARN_ENABLE_SCRIPTS": "false", "YARN_NODE_LINKER": "node-modules",
    "YARN_ENABLE_TELEMETRY": "0",
    "YARN_ENABLE_IMMUTABLE_INSTALLS": "false", "YARN_ENABLE_GLOBAL_CACHE": "true", "YARN_GLOBAL_FOLDER": "/tmp/yarn-global",
    "YARN_CHECKSUM_BEHAVIOR": "update",
    "YARN_ENABLE_HARDENED_MODE": "0", "HUSKY": "0", "CI": "true", "PUPPETEER_SKIP_DOWNLOAD": "1", "PUPPETEER_SKIP_CHROMIUM_DOWNLOAD": "1",
    "PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD": "1",
    "CYPRESS_INSTALL_BINARY": "0", "ELECTRON_SKIP_BINARY_DOWNLOAD": "1", "SENTRYCLI_SKIP_DOWNLOAD": "1", "CHROMEDRIVER_SKIP_DOWNLOAD": "true",
    "NO_COLOR": "1",
}
RUNTIME = {
    "PATH": PATH, "npm_config_update_notifier": "false", "npm_config_cache": "/tmp/npm", "npm_config_offline": "true",
    "NODE_DISABLE_COMPILE_CACHE": "1",
    "npm_config_manage_package_manager_versions": "false", "COREPACK_ENABLE_STRICT": "0", "YARN_ENABLE_NETWORK": "0", "YARN_IGNORE_PATH": "1",
    "HUSKY": "0",
}
UNKNOWN = re.compile(r"(?:E404|404 Not Found)[^\n]*?((?:@[\w.~-]+/)?[\w.~-]+)@|No matching version found for ((?:@[\w.~-]+/)?[\w.~-]+)@|ETARGET"
                     r"|ERR_PNPM_FETCH_404|Couldn't find package")
MISSING_BINARY = re.compile(
    r"Could not locate the bindings file|Cannot find module '[^']*/(?:build/(?:Release|Debug)|binding)[^']*\.node'|No native build was found[^\n]*"
    r"|was compiled against a different Node")


def reporters() -> dict[str, bytes]:
    """Name -> text of what the image holds of ours."""
    folder = inside.files("node_reporters")
    return {name: folder[name] for name in sorted(folder)}


def reporters_number() -> int:
    """A number that changes with them: an environment with others is another one."""
    total = hashlib.sha256()
    for name, data in reporters().items():
        total.update(name.encode() + b"\0" + data)
    for name in ("node_unpacked.py", "npm_package.py", "node_build.py"):
        total.update(inside.source(name).encode())
    return int(total.hexdigest()[:10], 16)


@dataclass
class NodeLadder:
    """Installs into one build container."""

    build: BuildContainer
    plan: NodePlan
    root: str
    release: str
    budget_s: float
    tried: list[str] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    variables: dict[str, str] = field(default_factory=lambda: dict(RUNTIME))
    last: Step | None = None
    _started: float = field(default_factory=time.monotonic)

    @property
    def folder(self) -> str:
        """Where it is installed."""
        return posixpath.join(self.root, self.plan.directory) if self.plan.directory else self.root

    def install(self) -> None:
        """Node, the manager, the packages, what the tests load of ours, one build."""
        self._tools()
        if self.plan.left_out:
            self._leave_out()
        self._packages()
        if self.plan.extra:
            self.added(self.plan.extra)
        self._ours()
        self._build_once()

    def added(self, lines: Sequence[str]) -> None:
        """`name@range` beside what base has. Raises UnknownPackage, EnvironmentFailed."""
        if not lines:
            return
        words = " ".join(shlex.quote(line) for line in lines)
        command = {"pnpm": f"pnpm add --save-dev {'-w ' if len(self.plan.packages) > 1 else ''}{words}",
                   "yarn": f"yarn add --dev -W --ignore-engines {words}",
                   "berry": f"yarn add --dev {words}"}.get(self.plan.manager, f"npm install --no-save --legacy-peer-deps {words}")
        if not self._try(f"added: {' '.join(lines)}", command):
            output = self.last.output if self.last else ""
            match = UNKNOWN.search(output)
            if match:
                raise UnknownPackage(next((name for name in match.groups() if name), lines[0].rpartition("@")[0] or lines[0]), output[-1500:])
            raise EnvironmentFailed(f"packages can't be installed: {' '.join(lines)}", tuple(self.tried), self._tail())
        self._ours()

    def asked(self, names: Sequence[str]) -> None:
        """Packages whose compiled part is missing: their own scripts make it."""
        for name in names:
            self._try(f"install scripts of {name}", f"npm_config_ignore_scripts=false npm_config_nodedir=/usr npm rebuild {shlex.quote(name)}")

    def _tools(self) -> None:
        self._need("folders", f"mkdir -p {HOME}/bin {TOOLS} {REPORTERS} {KEPT}")
        tool = OLD_TOOL_NODE if self.plan.manager == "pnpm" and self.plan.manager_version.split(".")[0] in ("3", "4", "5", "6", "7") else TOOL_NODE
        self._fetch("Node for the tools", "node-linux-@", tool, f"{TOOLS}/node")
        self._fetch(f"Node {self.release}", "node-linux-@", self.release, f"{HOME}/node")
        self._need("links", f"ln -sfn {HOME}/node/bin/node {HOME}/bin/node && {HOME}/bin/node --version")
        self._fetch("npm", "npm", "8" if tool == OLD_TOOL_NODE else NPM, f"{TOOLS}/npm")
        self._wrap("npm", f"{TOOLS}/npm/bin/npm-cli.js")
        self._wrap("npx", f"{TOOLS}/npm/bin/npx-cli.js")
        name = {"pnpm": "pnpm", "yarn": "yarn", "berry": "@yarnpkg/cli-dist"}.get(self.plan.manager)
        if name:
            self._fetch(self.plan.manager, name, self.plan.manager_version or ("1.22" if name == "yarn" else ""), f"{TOOLS}/manager")
            self._wrap("pnpm" if name == "pnpm" else "yarn", f"{TOOLS}/manager/bin/{'pnpm.cjs' if name == 'pnpm' else 'yarn.js'}")
            if name == "pnpm":
                self._wrap("pnpx", f"{TOOLS}/manager/bin/pnpx.cjs")

    def _fetch(self, title: str, name: str, wanted: str, folder: str) -> None:
        self.build.write("/tmp/npm_package.py", inside.source("npm_package.py").encode())
        machine = {"aarch64": "arm64", "x86_64": "x64"}.get(os.uname().machine, "x64")
        words = [registry(), name.replace("linux-@", f"linux-{machine}"), wanted.split("+")[0], folder]
        self._need(title, f"python3 -I /tmp/npm_package.py {' '.join(shlex.quote(word) for word in words)} && chmod -R a+rX {folder}"
                   + (f" && chmod 755 {folder}/bin/node" if name.startswith("node-") else ""))

    def _wrap(self, name: str, script: str) -> None:
        """A command that runs under the tools' Node, and what it starts under the repository's."""
        text = f'#!/bin/sh\nexec {TOOLS}/node/bin/node {script} "$@"\n'
        self.build.write(f"{HOME}/bin/{name}", text.encode(), "755")

    def _leave_out(self) -> None:
        """What only checks style or publishes is not installed: without a lock it is most of what there is."""
        script = inside.source("leave_out.py")
        words = [self.root, json.dumps(list(self.plan.packages)), json.dumps(list(self.plan.left_out))]
        self._need(f"left out: {', '.join(self.plan.left_out)[:200]}",
                   f"python3 -I -c {shlex.quote(script)} {' '.join(shlex.quote(word) for word in words)}")

    def _packages(self) -> None:
        for name, command in self._rungs():
            if self._try(name, command):
                return
            if self._git_refused():
                raise EnvironmentFailed("a dependency comes from a Git host, which the installation does not reach", tuple(self.tried), self._tail())
        raise EnvironmentFailed("the packages can't be installed", tuple(self.tried), self._tail())

    def _rungs(self) -> list[tuple[str, str]]:
        """The manager's own way first, then with ever less insistence."""
        locked = bool(self.plan.lock)
        if self.plan.manager == "pnpm":
            rows = [("pnpm install --frozen-lockfile", "pnpm install --frozen-lockfile")] if locked else []
            return [*rows, ("pnpm install", "pnpm install --no-frozen-lockfile")]
        if self.plan.manager == "yarn":
            common = "--ignore-scripts --ignore-engines --non-interactive --network-timeout 300000"
            rows = [("yarn install --frozen-lockfile", f"yarn install --frozen-lockfile {common}")] if locked else []
            return [*rows, ("yarn install", f"yarn install {common}")]
        if self.plan.manager == "berry":
            return [("yarn install", "yarn install")]
        clean = "rm -rf node_modules; "
        rows = [("npm ci", "npm ci"), ("npm ci --legacy-peer-deps", f"{clean}npm ci --legacy-peer-deps")] if locked else []
        if self.plan.exclude_newer:
            before = f"npm install --before={self.plan.exclude_newer.isoformat()}T23:59:59Z"
            rows += [(before, before), (f"{before} --legacy-peer-deps", f"{clean}{before} --legacy-peer-deps")]
        return [*rows, ("npm install", f"{clean}npm install"), ("npm install --legacy-peer-deps", f"{clean}npm install --legacy-peer-deps"),
                ("npm install --force", f"{clean}npm install --force")]

    def _git_refused(self) -> bool:
        return bool(self.last and re.search(r"git ls-remote|ssh: |Could not read from remote|git@github\.com", self.last.output))

    def _ours(self) -> None:
        """Reporters, and the one runner that has to be told where to speak."""
        for name, data in reporters().items():
            self.build.write(f"{REPORTERS}/{name}", data)
        self.build.write("/opt/unpacked", inside.source("node_unpacked.py").encode(), "755")
        self.build.write(f"{TOOLS}/node_build.py", inside.source("node_build.py").encode())
        steps = [{"folder": one.folder, "command": one.command} for one in self.plan.builds]
        self.build.write(PLAN, json.dumps({"prebuilt": self.plan.prebuilt, "steps": steps}).encode())
        if any(suite.runner == "uvu" for suite in self.plan.suites):
            script = (f"for f in $(find -L {self.folder}/node_modules/uvu/dist -maxdepth 1 -name 'index.*js'); do sed -i "
                      "-e 's/state\\.__test__ = test\\.name;/&globalThis.__dualgate_uvu\\&\\&globalThis.__dualgate_uvu.start(name,test.name);/' "
                      "-e 's/write(PASS);/&globalThis.__dualgate_uvu\\&\\&globalThis.__dualgate_uvu.end(name,test.name);/' "
                      "-e 's/write(FAIL);/&globalThis.__dualgate_uvu\\&\\&globalThis.__dualgate_uvu.end(name,test.name,err);/' $f; done; "
                      f"grep -l __dualgate_uvu {self.folder}/node_modules/uvu/dist/index.*js")
            self._need("uvu speaks", script)

    def _build_once(self) -> None:
        """The builds on base: whether they succeed, and what they write; where tests are built as well, each box makes its own."""
        if self.plan.builds:
            self._try("build", f"rm -rf /opt/overlay; {build_words(self.plan, self.root, 'first' if self.plan.prebuilt else 'trial')}")

    def _shell(self, command: str) -> list[str]:
        settings = " ".join(f"{name}='{value}'" for name, value in {**QUIET, "PATH": PATH}.items())
        return ["/bin/sh", "-c", f'export {settings} YARN_HTTP_PROXY="$http_proxy" YARN_HTTPS_PROXY="$https_proxy"; cd {self.folder} && {command}']

    def _try(self, name: str, command: str) -> bool:
        left = self.budget_s - (time.monotonic() - self._started)
        if left <= 0:
            raise EnvironmentFailed(f"the time for the installation ({self.budget_s:.0f} s) is spent", tuple(self.tried), self._tail())
        self.last = self.build.step(self._shell(command), min(left, STEP_S))
        self.tried.append(f"{name}: {'ok' if self.last.ok else 'out of time' if self.last.status is None else 'failed'} ({self.last.seconds:.1f} s)")
        return self.last.ok

    def _need(self, name: str, command: str) -> None:
        if not self._try(name, command):
            raise EnvironmentFailed(f"{name} failed", tuple(self.tried), self._tail())

    def _tail(self) -> str:
        lines = (self.last.output if self.last else "").strip().splitlines()
        return "\n".join(lines[-40:])


def build_words(plan: NodePlan, root: str, what: str) -> str:
    """The command that builds in a build container, for a shell."""
    steps = [{"folder": one.folder, "command": one.command} for one in plan.builds]
    return f"/usr/bin/python3 -I {TOOLS}/node_build.py {shlex.quote(root)} {shlex.quote(json.dumps(steps))} {what}"


def sources(plan: Plan, tree: Tree) -> tuple[str, ...]:
    """What the builds may read, where they are made beside the installation: all but tests and prose."""
    mine = of_node(plan)
    if not mine.prebuilt:
        return ()
    tests = set(mine.test_files)
    return tuple(path for path in tree if path not in tests and not is_prose(path))


def registry() -> str:
    """The address of the npm registry."""
    return "https://registry.npmjs.org"


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
        if target.startswith(kept + '/') and not os.path.lexists(target):
            os.unlink(path)
            os.symlink(root + target[len(kept):], path)
"""


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
