"""How an environment for Python is made: an interpreter, the ladder, what the installation generated in the tree."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from sandbox import images
from sandbox.build_container import BuildContainer, Step
from sandbox.docker import DockerEngine
from sandbox.plan import Plan
from sandbox.results.report import TestReport
from sandbox.toolchains.protocol import Ground
from sandbox.toolchains.python.install import ENV, UV, Ladder
from sandbox.toolchains.python.names import DISTRIBUTIONS, plugin_for_option
from sandbox.toolchains.python.plan import of_python
from sandbox.workspace import Tree

MODULE = re.compile(r"(?:ModuleNotFoundError|ImportError): No module named '?([\w.]+)'?")
ARGUMENTS = re.compile(r"unrecognized arguments: (.*)")
BUILD_VARIABLES = {
    "UV_CACHE_DIR": "/tmp/uv", "UV_LINK_MODE": "copy", "UV_NO_PROGRESS": "1", "UV_PYTHON_DOWNLOADS": "never", "UV_NO_CONFIG": "1",
    "UV_HTTP_TIMEOUT": "120", "VIRTUAL_ENV": ENV, "PIP_DISABLE_PIP_VERSION_CHECK": "1",
}
GENERATED = (
    "cd {root} && find . -type f ! -path './.git/*' ! -path '*/__pycache__/*' ! -path './build/*' ! -path './.eggs/*'"
    " | sed 's,^./,,' | sort | comm -23 - /tmp/listed > /tmp/generated;"
    " mkdir -p /opt/overlay && tar -c -T /tmp/generated | tar -x -C /opt/overlay && wc -l < /tmp/generated"
)
METADATA = r"\.(egg|dist)-info/|(^|/)_?_?version[^/]*\.py$|(^|/)PKG-INFO$"  # generated everywhere, and from nothing that a change edits
LISTING = (
    "import json,os,sysconfig\n"
    "p=sysconfig.get_path('purelib'); t=set()\n"
    "for d in os.listdir(p):\n"
    "    if d.endswith(('.dist-info','.egg-info','.pth','.egg-link','__pycache__')) or d.startswith('_'): continue\n"
    "    t.add(d.split('.')[0])\n"
    "print(json.dumps(sorted(t)))"
)


class PythonInstaller:
    """uv into /opt/env; the tree itself is imported from where it stands."""

    title = "Python"
    recipe = 13

    def base(self, engine: DockerEngine) -> str:
        """Debian's with a compiler and uv."""
        return images.bootstrap(engine)

    def ground(self, engine: DockerEngine, release: str) -> Ground:
        """The base image, or one with an interpreter of the host in it."""
        image, program = images.with_python(engine, release)
        return Ground(image, program, release)

    def variables(self, plan: Plan) -> Mapping[str, str]:
        """uv's, and the project's version for tools that ask Git for it."""
        return {**BUILD_VARIABLES, **version_variables(plan)}

    def ladder(self, build: BuildContainer, plan: Plan, tree: Tree, root: str, ground: Ground, budget_s: float) -> Ladder:
        """The rungs."""
        return Ladder(build, of_python(plan), root, ground.program, ground.release, budget_s=budget_s)

    def needs(self, report: TestReport, plan: Plan) -> list[str]:
        """Modules that the project's own files or the fixed list know, plugins of options."""
        return needs(report, plan)

    def release(self, build: BuildContainer) -> str:
        """As the interpreter says it."""
        return build.step([f"{ENV}/bin/python", "-c", "import sys;print(sys.version.split()[0])"], 30).output.strip()

    def modules(self, build: BuildContainer) -> tuple[str, ...]:
        """Those of site-packages."""
        listing = build.step([f"{ENV}/bin/python", "-c", LISTING], 60)
        return tuple(json.loads(listing.output.strip().splitlines()[-1])) if listing.ok else ()

    def overlay(self, build: BuildContainer, root: str) -> tuple[str, bool]:
        """Extension modules, version files, tables."""
        count = build.need(["/bin/sh", "-c", GENERATED.format(root=root)], 120)
        generated = build.step(["/bin/sh", "-c", f"grep -vE '{METADATA}' /tmp/generated | grep -q ."], 30).ok
        return f"files that the installation generated in the tree: {count.output.strip()}", generated

    def rebuild(self, build: BuildContainer, root: str) -> Step:
        """The editable installation again, with base's packages."""
        done = build.step([UV, "pip", "install", "--python", ENV, "--offline", "--reinstall", "--no-build-isolation", "--no-deps",
                           "--no-sources", "-e", root], 900)
        return done if done.ok else build.step(["/bin/sh", "-c", f"cd {root} && {ENV}/bin/python setup.py -q build_ext --inplace"], 900)


def version_variables(plan: Plan) -> dict[str, str]:
    """For projects whose version comes from Git: the last tag's, in each tool's own word."""
    if not plan.version:
        return {}
    return {"PBR_VERSION": plan.version, "POETRY_DYNAMIC_VERSIONING_BYPASS": plan.version, "SETUPTOOLS_SCM_PRETEND_VERSION": plan.version,
            "PDM_BUILD_SCM_VERSION": plan.version}


def needs(report: TestReport, plan: Plan) -> list[str]:
    """What a trial asks for by name: modules that the project's own files or the fixed list know, plugins of options."""
    text = "\n".join([*report.uncollected.values(), report.internal, report.log[-20000:]])
    wanted: list[str] = []
    for module in MODULE.findall(text):
        top = module.split(".")[0]
        known = of_python(plan).known_names
        name = DISTRIBUTIONS.get(top) or next((n for n in known if n.replace("-", "_") == top.lower().replace("-", "_")), None)
        if name:
            wanted.append(name)
    for words in ARGUMENTS.findall(text):
        wanted += [plugin for word in words.split() if (plugin := plugin_for_option(word))]
    return list(dict.fromkeys(wanted))
