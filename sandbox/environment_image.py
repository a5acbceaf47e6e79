"""What an environment image holds beside its packages: files that the installation generated in the tree, and what we know of it."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sandbox import images
from sandbox.build_container import BuildContainer
from sandbox.docker import DockerEngine
from sandbox.ownership import OWNER_LABEL, this_process
from sandbox.plan import Plan
from sandbox.toolchains.python.install import ENV
from sandbox.workspace import Tree, to_tar

META_LABEL = "dualgate.environment"
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


@dataclass(frozen=True)
class Environment:
    """A ready image. `modules`: top-level names that are installed in it; `cached`: nothing had to be installed;
    `generated`: the installation left files in the tree that a change may have to make anew (extension modules, tables)."""

    key: str
    image: str
    reference: str
    python: str
    cached: bool
    seconds: float
    root: str
    tried: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    generated: bool = False
    plan: Plan | None = None


def version_variables(plan: Plan) -> dict[str, str]:
    """For projects whose version comes from Git: the last tag's, in each tool's own word."""
    if not plan.version:
        return {}
    return {"PBR_VERSION": plan.version, "POETRY_DYNAMIC_VERSIONING_BYPASS": plan.version, "SETUPTOOLS_SCM_PRETEND_VERSION": plan.version,
            "PDM_BUILD_SCM_VERSION": plan.version}


def lay_out(build: BuildContainer, tree: Tree, root: str, git: Mapping[str, bytes]) -> None:
    """The tree in a build container, and a list of it: what is not in the list is generated (times tell nothing: setuptools cuts them to whole seconds)."""
    build.need(["tar", "-x", "--no-same-owner", "-C", root, "-f", "-"], 300, to_tar(tree, git))
    build.need(["/bin/sh", "-c", f"cd {root} && find . -type f | sed 's,^./,,' | sort > /tmp/listed"], 120)


def keep(
    build: BuildContainer, tried: Sequence[str], dropped: Sequence[str], key: str, root: str, plan: Plan, on_trial: bool = False,
) -> Environment:
    """The container as an image of that key, or as one that still has to show itself. Raises EngineUnavailable."""
    count = build.need(["/bin/sh", "-c", GENERATED.format(root=root)], 120)
    generated = build.step(["/bin/sh", "-c", f"grep -vE '{METADATA}' /tmp/generated | grep -q ."], 30).ok
    listing = build.step([f"{ENV}/bin/python", "-c", LISTING], 60)
    modules = json.loads(listing.output.strip().splitlines()[-1]) if listing.ok else []
    release = build.step([f"{ENV}/bin/python", "-c", "import sys;print(sys.version.split()[0])"], 30).output.strip()
    tried = [*tried, f"files that the installation generated in the tree: {count.output.strip()}"]
    meta: dict[str, Any] = {"python": release, "tried": tried[-60:], "dropped": list(dropped), "modules": modules, "generated": generated}
    labels = {images.KIND_LABEL: "environment", META_LABEL: json.dumps(meta), OWNER_LABEL: this_process()}
    image = build.commit(images.TRIAL, f"{key}-{secrets.token_hex(4)}", labels) if on_trial else build.commit(images.ENVIRONMENT, key, labels)
    return Environment(
        key=key, image=image, reference=f"{images.ENVIRONMENT}:{key}", python=release, cached=False, seconds=0.0, root=root, tried=tuple(tried),
        dropped=tuple(dropped), modules=tuple(modules), generated=generated, plan=plan)


def kept(engine: DockerEngine, key: str, root: str, plan: Plan) -> Environment | None:
    """The image of a key with what is known of it, or None."""
    reference = f"{images.ENVIRONMENT}:{key}"
    image = images.image_id(engine, reference)
    if image is None:
        return None
    meta = json.loads(images.inspect(engine, reference)["Config"]["Labels"][META_LABEL])
    return Environment(
        key=key, image=image, reference=reference, python=meta["python"], cached=True, seconds=0.0, root=root, tried=tuple(meta["tried"]),
        dropped=tuple(meta["dropped"]), modules=tuple(meta["modules"]), generated=meta["generated"], plan=plan)
