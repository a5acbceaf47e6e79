"""Services of one box: started fresh, on one loopback that the box joins, gone with it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from sandbox import images
from sandbox.build_container import open_build
from sandbox.docker import DockerEngine
from sandbox.docker_exec import execute
from sandbox.errors import EngineUnavailable, ImageUnavailable
from sandbox.hardening import HOSTNAME
from sandbox.plan import Service
from sandbox.services.kinds import DATA, KINDS, Kind

USER_ID = 2100
IMAGE = "dualgate/service"
READY_S = 60.0


def service_image(engine: DockerEngine, kind: Kind) -> str:
    """Id of the image of a kind, made from Debian's mirror on demand. Raises ImageUnavailable."""
    base = images.bootstrap(engine)
    reference = f"{IMAGE}:{kind.name}-{images.base_reference().rsplit('-', 1)[1]}"
    here = images.image_id(engine, reference)
    if here is None:
        with open_build(engine, base) as build:
            images.install(build, kind.packages)
            folder = DATA.rpartition("/")[0]
            made = build.step(["/bin/sh", "-c", f"useradd --uid {USER_ID} --no-create-home service && mkdir -p {folder} && chown service {folder}"
                               f" && HOME=/tmp setpriv --reuid={USER_ID} --regid={USER_ID} --clear-groups sh -c '{kind.prepare}'"], 120)
            if not made.ok:
                raise ImageUnavailable(f"{kind.name} can't be prepared: {made.output.strip()[-300:]}")
            here = build.commit(IMAGE, reference.split(":")[1], {images.KIND_LABEL: "service"})
    return here


@contextmanager
def open_services(engine: DockerEngine, services: Sequence[Service]) -> Iterator[str | None]:
    """The container whose network a box joins, once every service answers; None where there is no service.

    Raises ImageUnavailable, EngineUnavailable.
    """
    started: list[str] = []
    try:
        for service in services:
            kind = KINDS[service.kind]
            mode = f"container:{started[0]}" if started else "none"
            host = _arguments(mode, {"extra_hosts": {one.alias: "127.0.0.1" for one in services}} if not started else {})
            started.append(engine.start_container(
                service_image(engine, kind), ["/bin/sh", "-c", kind.start], host, user=f"{USER_ID}:{USER_ID}",
                environment={**dict(service.settings), "PORT": str(service.port), "HOME": "/tmp", "LANG": "C.UTF-8"},
                **({} if len(started) else {"hostname": HOSTNAME})))
        for container, service in zip(started, services, strict=True):
            _await(engine, container, service)
        yield started[0] if started else None
    finally:
        for container in reversed(started):
            engine.discard(container)


def _arguments(mode: str, more: dict[str, Any]) -> dict[str, Any]:
    return {
        "network_mode": mode, "cap_drop": ["ALL"], "security_opt": ["no-new-privileges"], "read_only": True, "ipc_mode": "private",
        "log_config": {"type": "none"}, "mem_limit": 1024 << 20, "memswap_limit": 1024 << 20, "pids_limit": 256, "oom_score_adj": 500,
        "nano_cpus": int(1e9), "shm_size": 128 << 20,
        "tmpfs": {"/tmp": f"rw,nosuid,nodev,size=1024m,uid={USER_ID},gid={USER_ID},mode=1777", "/run": "rw,nosuid,nodev,size=16m,mode=755"},
        **({"sysctls": {"net.ipv6.conf.all.disable_ipv6": "0"}} if mode == "none" else {}), **more,
    }


def _await(engine: DockerEngine, container: str, service: Service) -> None:
    until = time.monotonic() + READY_S
    while time.monotonic() < until and not engine.closed:
        if execute(engine.api, container, ["test", "-e", "/tmp/ready"], lambda *_: None, user=str(USER_ID)).status == 0:
            return
        time.sleep(0.1)
    raise EngineUnavailable(f"the service {service.kind} ({service.image}) does not start in {READY_S:.0f} s")
