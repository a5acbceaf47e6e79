"""Files of npm packages, pinned by version and integrity, kept in the user's cache."""

from __future__ import annotations

import base64
import hashlib
import io
import os
import tarfile
from dataclasses import dataclass
from pathlib import Path

import platformdirs
import requests


@dataclass(frozen=True)
class Package:
    """A package of the npm registry at one version."""

    name: str
    version: str
    integrity: str

    @property
    def address(self) -> str:
        registry = os.environ.get("npm_config_registry") or "https://registry.npmjs.org"  # noqa: SIM112 (npm writes its variables so)
        return f"{registry.rstrip('/')}/{self.name}/-/{self.name.rsplit('/', 1)[-1]}-{self.version}.tgz"


OPENAPI = Package("@octokit/openapi", "23.0.2", "sha512-pV8M7L9GY23AybNvTmo2nyjmpmnt6+2sRE/tqr0ZLQcPS4lnw7u5eZGNmwRNkBC3D7gZXbFx5AHzLUVRBXGDhg==")
EXAMPLES = Package("@octokit/webhooks-examples", "7.6.1", "sha512-De6U3XB6O3DtCa7bKgCMzTHdeopqqZ6SNivMYJnK65ierKL1AnNIA0tkRYCRS7lwGT792d+Ps1WbfHlso6MynQ==")
SCHEMAS = Package("@octokit/webhooks-schemas", "7.6.1", "sha512-qW0Bwtb76r4m2WzVhKDyfEeEnt1GEQoRjkCqmq2ZeB0nNVDJ+Z2LBDS9FDPyduuMXf/ZTWiCJp9PFFHgRfBe3A==")


class Tampered(Exception):
    """A package is not the one that was pinned."""


def file_of(package: Package, path: str) -> Path:
    """A file of a package, downloaded the first time. Raises Tampered, requests.RequestException, KeyError for a path that is not in it."""
    folder = Path(os.environ.get("DUALGATE_TEST_CACHE") or platformdirs.user_cache_dir("dualgate-tests"))
    target = folder / f"{package.name.replace('/', '-').lstrip('@')}-{package.version}" / path.replace("/", "_")
    if not target.exists():
        with tarfile.open(fileobj=io.BytesIO(_download(package)), mode="r:gz") as archive:
            member = archive.extractfile(f"package/{path}")
            assert member is not None, path
            _write(target, member.read())
    return target


def _download(package: Package) -> bytes:
    answer = requests.get(package.address, timeout=300)
    answer.raise_for_status()
    found = "sha512-" + base64.b64encode(hashlib.sha512(answer.content).digest()).decode()
    if found != package.integrity:
        raise Tampered(f"{package.address}: expected {package.integrity}, got {found}")
    return answer.content


def _write(target: Path, data: bytes) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f"{target.name}.{os.getpid()}")
    partial.write_bytes(data)
    partial.replace(target)
