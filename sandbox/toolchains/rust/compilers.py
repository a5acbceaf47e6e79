"""Which compilers can be had: those of Debian's releases, and those that rustup keeps on the host."""

from __future__ import annotations

import io
import os
import re
import subprocess
import tarfile
from pathlib import Path

from sandbox import images
from sandbox.build_container import open_build
from sandbox.docker import DockerEngine
from sandbox.errors import ImageUnavailable
from sandbox.toolchains.protocol import Ground
from sandbox.toolchains.rust.detect import DEBIANS, NEWEST

MORE = ("cmake",)
PACKAGES = {NEWEST: ("bookworm", ("rustc-web", "cargo-web", *MORE)), DEBIANS: ("trixie", ("rustc", "cargo", *MORE))}
COPIED = "/opt/rust"
IMAGE = "dualgate/rust"
UNNEEDED = re.compile(r"(^|/)(share|etc|src)(/|$)|/(rust-analyzer|clippy|cargo-clippy|rustfmt|cargo-fmt|rls|cargo-miri|miri|rust-gdb\w*|rust-lldb)[^/]*$")


def on_host() -> dict[str, Path]:
    """Release (1.70, nightly) -> the folder of such a toolchain of the host."""
    home = Path(os.environ.get("RUSTUP_HOME") or Path.home() / ".rustup") / "toolchains"
    found: dict[str, Path] = {}
    for folder in sorted(home.iterdir()) if home.is_dir() else []:
        match = re.match(r"(nightly|stable|beta|\d+\.\d+)", folder.name)
        if match and (folder / "bin" / "rustc").exists():
            found[match[1]] = folder.resolve()
    return found


def base_image(engine: DockerEngine) -> str:
    """Id of the image with the newest of Debian's. Raises ImageUnavailable."""
    suite, packages = PACKAGES[NEWEST]
    return images.bootstrap(engine, suite=suite, more=packages)


def ground(engine: DockerEngine, release: str) -> Ground:
    """The image with a release, made on demand. Raises ImageUnavailable where neither Debian nor the host has it."""
    short = ".".join(release.split(".")[:2])
    if short in PACKAGES:
        suite, packages = PACKAGES[short]
        return Ground(images.bootstrap(engine, suite=suite, more=packages), "/usr/bin", short)
    folder = on_host().get(short) or on_host().get(release)
    if folder is None:
        raise ImageUnavailable(f"no Rust {release}: Debian has {NEWEST} and {DEBIANS}, and rustup has none here")
    said = subprocess.run([folder / "bin" / "rustc", "--version"], capture_output=True, text=True, check=True).stdout
    version = "-".join(re.findall(r"[\w.]+", said)[1:4])
    reference = f"{IMAGE}:{version}-{images.base_reference().rsplit('-', 1)[1]}"
    here = images.image_id(engine, reference)
    if here is None:
        with open_build(engine, images.bootstrap(engine)) as build:
            build.need(["/bin/sh", "-c", f"mkdir -p {COPIED} && tar -x -C {COPIED} -f -"], 300, archive(folder))
            build.need([f"{COPIED}/bin/rustc", "--version"], 60)
            here = build.commit(IMAGE, reference.split(":")[1], {images.KIND_LABEL: "rust"})
    return Ground(here, f"{COPIED}/bin", release)


def archive(folder: Path) -> bytes:
    """A tar of a toolchain without its documentation and its tools for people, readable by all."""
    buffer = io.BytesIO()

    def clean(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
        if UNNEEDED.search(entry.name):
            return None
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = "root"
        entry.mode = (entry.mode | 0o444 | (0o111 if entry.isdir() or entry.mode & 0o100 else 0)) & ~0o022
        return entry

    with tarfile.open(fileobj=buffer, mode="w") as tar:
        tar.add(folder, arcname=".", filter=clean)
    return buffer.getvalue()
