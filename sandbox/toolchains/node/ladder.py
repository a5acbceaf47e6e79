"""The installation of npm packages into a build container: Node, the repository's package manager, its packages, one build to see what it writes."""

from __future__ import annotations

import json
import os
import posixpath
import re
import shlex
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from sandbox import inside
from sandbox.build_container import BuildContainer, Step
from sandbox.errors import EnvironmentFailed, UnknownPackage
from sandbox.toolchains.node.plan import NodePlan
from sandbox.toolchains.system_packages import install_packages

HOME, TOOLS, KEPT = "/opt/env", "/opt/env/tools", "/opt/env/tree"
REPORTERS, FACTS, PLAN = "/opt/env/dualgate", "/opt/env/facts.json", "/opt/env/plan.json"
PATH = f"{HOME}/bin:/usr/local/bin:/usr/bin:/bin"
NPM, TOOL_NODE, OLD_TOOL_NODE = "10", "22", "16"
STEP_S = 900.0
BROWSER = ("chromium", "fonts-liberation")
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


def reporters() -> dict[str, bytes]:
    """Name -> text of what the image holds of ours."""
    folder = inside.files("node_reporters")
    return {name: folder[name] for name in sorted(folder)}


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
        if self.plan.in_browser:
            self._browser()
        if self.plan.left_out:
            self._leave_out("left out", self.plan.left_out)
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

    def _browser(self) -> None:
        """Debian's Chromium, and a font: a page without one has no text to measure."""
        tried, dropped = install_packages(self.build, BROWSER, self.budget_s - (time.monotonic() - self._started), "a browser")
        self.tried += tried
        self.dropped += dropped

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

    def _leave_out(self, why: str, names: Sequence[str]) -> None:
        """Development dependencies that are not installed: what only checks style or publishes, which without a lock is most of what there is."""
        script = inside.source("leave_out.py")
        words = [self.root, json.dumps(list(self.plan.packages)), json.dumps(list(names))]
        self._need(f"{why}: {', '.join(names)[:200]}",
                   f"python3 -I -c {shlex.quote(script)} {' '.join(shlex.quote(word) for word in words)}")

    def _packages(self) -> None:
        for name, command in self._rungs():
            if self._try(name, command):
                return
            if self._git_refused():
                self._without_git()
                return
        raise EnvironmentFailed("the packages can't be installed", tuple(self.tried), self._tail())

    def _without_git(self) -> None:
        """Tests that load none of what a Git host alone has can run without it. Raises EnvironmentFailed where that does not help."""
        if self.plan.from_git:
            self._leave_out("from a Git host that is not reached", self.plan.from_git)
            self.dropped += [f"{name} (from a Git host)" for name in self.plan.from_git]
            loose = [(name, command) for name, command in self._rungs() if "--frozen-lockfile" not in command and "npm ci" not in command]
            if any(self._try(name, command) for name, command in loose):
                return
        raise EnvironmentFailed("a dependency comes from a Git host, which the installation does not reach", tuple(self.tried), self._tail())

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


def registry() -> str:
    """The address of the npm registry."""
    return "https://registry.npmjs.org"
