"""Base images: made from Debian's mirror, or pulled where a registry answers; and the list of what we keep."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import uuid
from dataclasses import dataclass
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import Any

import uv
from docker.errors import APIError, ImageNotFound

from sandbox.build_container import BuildContainer, open_build
from sandbox.docker import DockerEngine
from sandbox.errors import EngineUnavailable, ImageUnavailable
from sandbox.hardening import RUNNER_UID, SUPERVISOR_UID
from sandbox.interpreters import DEBIAN_PYTHONS, archive, on_host
from sandbox.ownership import OWNER_LABEL, is_alive, this_process

SUITE = "bookworm"
COMMON = (
    "python3", "python3-dev", "python3-venv", "git", "build-essential", "ca-certificates", "pkg-config", "tzdata", "less", "procps", "file",
    "locales", "netbase", "gettext", "unzip", "libffi-dev", "libssl-dev", "libxml2-dev", "libxslt1-dev", "zlib1g-dev",
)
FOR_COPIED_PYTHONS = (  # what the extension modules of a host's interpreters are linked against
    "libsqlite3-0", "libreadline8", "libbz2-1.0", "liblzma5", "libncursesw6", "libgdbm6", "libgdbm-compat4", "libyaml-0-2",
)
SETUP = f"""
set -e
getent passwd supervisor >/dev/null || useradd --uid {SUPERVISOR_UID} --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin supervisor
getent passwd runner >/dev/null || useradd --uid {RUNNER_UID} --no-create-home --home-dir /home/runner --shell /bin/sh runner
mkdir -p /home/runner /opt /repo
printf '[safe]\\n\\tdirectory = *\\n[core]\\n\\thooksPath = /dev/null\\n\\tattributesFile = /dev/null\\n' > /etc/gitconfig
chmod 755 /root
"""
BASE, PYTHON, ENVIRONMENT, TRIAL = "dualgate/base", "dualgate/python", "dualgate/environment", "dualgate/trial"
PROXY = "dualgate/proxy"
# Boxes can't keep bytecode: without it each start of an interpreter compiles what it imports of its own library, a third of a second.
COMPILE = "import compileall, os, re; compileall.compile_dir(os.path.dirname(os.__file__), quiet=2, rx=re.compile(r'/(test|tests|lib2to3|idlelib)/'))"
KIND_LABEL = "dualgate.kind"
APT_S = 600
APT = "-o APT::Sandbox::User=root -o Acquire::Retries=3"  # a build container can't change to apt's own user


@dataclass(frozen=True)
class KeptImage:
    """An image of ours: its reference, id, kind (base, python, environment), bytes, and when it was made (seconds since 1970)."""

    reference: str
    id: str
    kind: str
    size: int
    created: int
    labels: dict[str, str]


def _packages(suite: str, more: tuple[str, ...] = ()) -> tuple[str, ...]:
    return (*COMMON, *(FOR_COPIED_PYTHONS if suite == SUITE else ()), *more)


def base_reference(suite: str = SUITE, more: tuple[str, ...] = ()) -> str:
    """The name that this version's base image of a Debian release has. `more`: Debian packages beside the common ones."""
    recipe = "\n".join((suite, *_packages(suite, more), SETUP, installed_version("uv")))
    return f"{BASE}:{'-'.join((suite, *more[:1]))}-{hashlib.sha256(recipe.encode()).hexdigest()[:12]}"


def inspect(engine: DockerEngine, reference: str) -> dict[str, Any]:
    """The engine's description of an image. Raises docker.errors.ImageNotFound."""
    found: dict[str, Any] = engine.api.inspect_image(reference)  # type: ignore[no-untyped-call]
    return found


def image_id(engine: DockerEngine, reference: str) -> str | None:
    """The id of an image that is here, or None."""
    try:
        return str(inspect(engine, reference)["Id"])
    except ImageNotFound:
        return None


def bootstrap(engine: DockerEngine, pulled_from: str | None = None, suite: str = SUITE, more: tuple[str, ...] = ()) -> str:
    """Make the base image of a Debian release if it isn't here; its id.

    `pulled_from`: an image of a registry to start from (Debian with Python, git and a compiler) instead of Debian's mirror; `more`: Debian packages
    beside the common ones. Raises ImageUnavailable with what is missing.
    """
    if more:
        return _extended(engine, suite, more)
    reference = base_reference(suite)
    here = image_id(engine, reference)
    if here and not pulled_from:
        return here
    raw_tag = f"raw-{uuid.uuid4().hex[:12]}"
    raw = _pull(engine, pulled_from) if pulled_from else _debootstrap(engine, suite, raw_tag)
    try:
        with open_build(engine, raw) as build:
            build.need(["/bin/sh", "-c", SETUP], 60)
            build.write("/usr/local/bin/uv", Path(uv.find_uv_bin()).read_bytes(), "755")
            build.need(["/usr/local/bin/uv", "--version"], 60)
            return build.commit(BASE, reference.split(":")[1], {KIND_LABEL: "base"})
    finally:
        if not pulled_from:
            _forget(engine, f"{BASE}:{raw_tag}")


def _extended(engine: DockerEngine, suite: str, more: tuple[str, ...]) -> str:
    reference = base_reference(suite, more)
    here = image_id(engine, reference)
    if here is None:
        with open_build(engine, bootstrap(engine, suite=suite)) as build:
            install(build, more)
            here = build.commit(BASE, reference.split(":")[1], {KIND_LABEL: "base"})
    return here


def install(build: BuildContainer, packages: tuple[str, ...]) -> None:
    """Debian packages, without what they merely recommend. Raises ImageUnavailable."""
    for words in ("update", f"install --yes --no-install-recommends {' '.join(packages)}"):
        done = build.step(["/bin/sh", "-c", f"DEBIAN_FRONTEND=noninteractive apt-get --quiet {APT} {words}"], APT_S)
        if not done.ok:
            raise ImageUnavailable(f"{' '.join(packages)} can't be installed from Debian's mirror: {done.output.strip()[-300:]}")
    build.need(["/bin/sh", "-c", "rm -rf /var/lib/apt/lists/* /var/cache/apt/*"], 60)


def _pull(engine: DockerEngine, reference: str) -> str:
    try:
        engine.api.pull(reference)
        return str(inspect(engine, reference)["Id"])
    except APIError as error:
        raise ImageUnavailable(f"{reference} can't be pulled: {error.explanation}") from error


def _debootstrap(engine: DockerEngine, suite: str, tag: str) -> str:
    if shutil.which("mmdebstrap") is None:
        raise ImageUnavailable("no mmdebstrap on this machine to make a base image with: apt-get install mmdebstrap")
    argv = ["mmdebstrap", "--quiet", "--variant=minbase", f"--include={','.join(_packages(suite))}", suite, "-"]
    making = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert making.stdout is not None
    assert making.stderr is not None
    try:
        engine.api.import_image_from_stream(making.stdout, repository=BASE, tag=tag)
        error_text = making.stderr.read().decode("utf-8", errors="replace")
        if making.wait() != 0:
            raise ImageUnavailable(f"mmdebstrap failed: {error_text.strip()[-400:]}")
    except APIError as error:
        raise EngineUnavailable(f"the base image could not be imported: {error.explanation}") from error
    finally:
        if making.poll() is None:
            making.kill()
            making.wait()
    return str(inspect(engine, f"{BASE}:{tag}")["Id"])


def _forget(engine: DockerEngine, reference: str) -> None:
    try:
        engine.api.remove_image(reference)
    except APIError:
        pass  # the finished image is built on its layers: only the name goes, or nothing


def with_python(engine: DockerEngine, version: str) -> tuple[str, str]:
    """(image id, interpreter path) for a Python version, made on demand. Raises ImageUnavailable."""
    found = on_host().get(version)
    suite = DEBIAN_PYTHONS.get(version)
    if suite == SUITE or (suite and found is None):
        return bootstrap(engine, suite=suite), f"/usr/bin/python{version}"
    if found is None:
        raise ImageUnavailable(f"no Python {version} on this machine; install one with pyenv or uv")
    base = bootstrap(engine)
    reference = f"{PYTHON}:{found.full_version}-compiled-{base_reference().rsplit('-', 1)[1]}"
    here = image_id(engine, reference)
    if here is None:
        with open_build(engine, base) as build:
            build.need(["tar", "-x", "-C", "/", "-f", "-"], 300, archive(found))
            build.need([found.executable, "-c", "import ssl, sqlite3, zlib, ctypes, lzma, bz2"], 60)
            build.step([found.executable, "-c", COMPILE], 300)
            here = build.commit(PYTHON, reference.split(":")[1], {KIND_LABEL: "python"})
    return here, found.executable


def proxy(engine: DockerEngine) -> str:
    """Id of the image that the installation's way out runs in: squid from Debian's mirror, made on demand. Raises ImageUnavailable."""
    base = bootstrap(engine)
    reference = f"{PROXY}:{base_reference().rsplit('-', 1)[1]}"
    here = image_id(engine, reference)
    if here is None:
        with open_build(engine, base) as build:
            install(build, ("squid",))
            here = build.commit(PROXY, reference.split(":")[1], {KIND_LABEL: "proxy"})
    return here


def kept_images(engine: DockerEngine) -> list[KeptImage]:
    """Everything that we keep, newest first."""
    rows = []
    for image in engine.api.images(filters={"label": KIND_LABEL}):
        labels = image.get("Labels") or {}
        for reference in image.get("RepoTags") or []:
            rows.append(KeptImage(reference, image["Id"], labels.get(KIND_LABEL, ""), image["Size"], image["Created"], labels))
    return sorted(rows, key=lambda row: -row.created)


def drop_trials(engine: DockerEngine) -> None:
    """Forget images on trial that are this process's own, or whose process died; the one that was kept has another name too."""
    for image in engine.api.images(name=TRIAL):
        owner = (image.get("Labels") or {}).get(OWNER_LABEL, "")
        if owner == this_process() or not is_alive(owner):
            for reference in image.get("RepoTags") or []:
                if reference.startswith(f"{TRIAL}:"):
                    _forget(engine, reference)


def prune(engine: DockerEngine, keep_bytes: int, last_used: dict[str, float]) -> list[KeptImage]:
    """Remove environments, least recently used first, until those that stay fit into `keep_bytes`; what was removed."""
    kept = kept_images(engine)
    rows = [row for row in kept if row.reference.startswith(f"{ENVIRONMENT}:")]
    rows.sort(key=lambda row: last_used.get(row.reference, row.created), reverse=True)
    below = min((row.size for row in kept if row.kind in ("base", "python")), default=0)  # each is built on one of these: its layers are there once
    removed, total = [], 0
    for row in rows:
        total += max(0, row.size - below)
        if total > keep_bytes:
            try:
                engine.api.remove_image(row.reference)
            except APIError:
                continue  # in use by a run
            removed.append(row)
    return removed
