"""What an environment image holds beside its packages: files that belong into the tree of each box, and what we know of it."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sandbox import images
from sandbox.build_container import BuildContainer
from sandbox.docker import DockerEngine
from sandbox.ownership import OWNER_LABEL, this_process
from sandbox.plan import Plan
from sandbox.toolchains.protocol import Installed, Installer
from sandbox.workspace import Tree, to_tar

META_LABEL = "dualgate.environment"


@dataclass(frozen=True)
class Environment:
    """A ready image. `release`: of the interpreter or compiler; `modules`: top-level names that are installed in it; `cached`: nothing had to be
    installed; `generated`: the installation left files in the tree that a change may have to make anew (extension modules, tables); `variables`:
    what every run in it needs to know; `refused`: what the installation asked for of the network and did not get."""

    key: str
    image: str
    reference: str
    release: str
    cached: bool
    seconds: float
    root: str
    tried: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    generated: bool = False
    variables: tuple[tuple[str, str], ...] = ()
    plan: Plan | None = None


def lay_out(build: BuildContainer, tree: Tree, root: str, git: Mapping[str, bytes]) -> None:
    """The tree in a build container, and a list of it: what is not in the list is generated (times tell nothing: setuptools cuts them to whole seconds)."""
    build.need(["tar", "-x", "--no-same-owner", "-C", root, "-f", "-"], 300, to_tar(tree, git))
    build.need(["/bin/sh", "-c", f"cd {root} && find . -type f | sed 's,^./,,' | sort > /tmp/listed"], 120)


def keep(
    build: BuildContainer, installer: Installer, made: Installed, key: str, root: str, plan: Plan, on_trial: bool = False,
    refused: tuple[str, ...] = (),
) -> Environment:
    """The container as an image of that key, or as one that still has to show itself. Raises EngineUnavailable."""
    words, generated = installer.overlay(build, root)
    modules, release = installer.modules(build), installer.release(build)
    tried, variables = [*made.tried, words], dict(sorted(made.variables.items()))
    meta: dict[str, Any] = {"release": release, "tried": tried[-60:], "dropped": list(made.dropped), "modules": list(modules), "generated": generated,
                            "variables": variables, "refused": list(refused)}
    labels = {images.KIND_LABEL: "environment", META_LABEL: json.dumps(meta), OWNER_LABEL: this_process()}
    image = build.commit(images.TRIAL, f"{key}-{secrets.token_hex(4)}", labels) if on_trial else build.commit(images.ENVIRONMENT, key, labels)
    return Environment(
        key=key, image=image, reference=f"{images.ENVIRONMENT}:{key}", release=release, cached=False, seconds=0.0, root=root, tried=tuple(tried),
        refused=refused, dropped=tuple(made.dropped), modules=modules, generated=generated, variables=tuple(variables.items()), plan=plan)


def kept(engine: DockerEngine, key: str, root: str, plan: Plan) -> Environment | None:
    """The image of a key with what is known of it, or None."""
    reference = f"{images.ENVIRONMENT}:{key}"
    image = images.image_id(engine, reference)
    if image is None:
        return None
    meta = json.loads(images.inspect(engine, reference)["Config"]["Labels"][META_LABEL])
    return Environment(
        key=key, image=image, reference=reference, release=meta["release"], cached=True, seconds=0.0, root=root, tried=tuple(meta["tried"]),
        refused=tuple(meta["refused"]), dropped=tuple(meta["dropped"]), modules=tuple(meta["modules"]),
        generated=meta["generated"], variables=tuple(meta["variables"].items()), plan=plan)
