"""What the machine has, and the command that mends what it lacks."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from bot.settings import Settings
from sandbox import images, interpreters
from sandbox.docker import START_HINT, DockerEngine
from sandbox.errors import EngineUnavailable

ROOM_GB = 10.0


@dataclass(frozen=True)
class Check:
    """One look. `mend`: what a person types."""

    name: str
    ok: bool
    detail: str
    mend: str = ""


def examine(engine: DockerEngine, settings: Settings) -> list[Check]:
    """Every check; those that need an engine are left out where none answers."""
    checks = []
    try:
        version = engine.api.version()
        checks.append(Check("engine", True, f"Docker {version['Version']}, API {version['ApiVersion']}"))
        checks += _engine_checks(engine)
    except EngineUnavailable as error:
        checks.append(Check("engine", False, str(error), START_HINT))
    checks.append(Check("interpreters", True, f"Python {', '.join(interpreters.available())}"))
    checks.append(_disk("data folder", _existing(settings.data_dir)))
    bundle = settings.trusted_ca()
    checks.append(Check("CA bundle", bundle is not None, str(bundle) if bundle else "none found", "apt-get install ca-certificates, or set DUALGATE_CA_BUNDLE"))
    return checks


def _engine_checks(engine: DockerEngine) -> list[Check]:
    info = engine.api.info()
    runtimes = sorted(name for name in info.get("Runtimes", {}) if "." not in name)
    limits = [name for name, key in (("memory", "MemoryLimit"), ("pids", "PidsLimit"), ("cpu", "CpuCfsQuota")) if not info.get(key, True)]
    here = images.image_id(engine, images.base_reference())
    can_make = shutil.which("mmdebstrap") is not None
    rows = [
        Check("runtime", True, f"{info.get('DefaultRuntime', 'runc')} (there: {', '.join(runtimes)})"),
        Check("limits", not limits, "memory, pids and cpu are enforced" if not limits else f"not enforced: {', '.join(limits)}", "boot with cgroups for them"),
        Check("base image", here is not None, images.base_reference() if here else "not made yet",
              "dualgate images bootstrap" if can_make else "apt-get install mmdebstrap && dualgate images bootstrap"),
    ]
    folder = Path(info.get("DockerRootDir", "/var/lib/docker"))
    return [*rows, _disk("Docker's disk", _existing(folder))]


def _existing(path: Path) -> Path:
    while not path.exists():
        path = path.parent
    return path


def _disk(name: str, path: Path) -> Check:
    free = shutil.disk_usage(path).free / 1e9
    return Check(name, free >= ROOM_GB, f"{free:.0f} GB free at {path}", "dualgate images prune --keep-gb 10")
