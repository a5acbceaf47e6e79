"""A file from hosts that an installation itself may not ask: fetched by curl alone, in a container where nothing of the repository is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sandbox.build_container import CA_PATH, BuildContainer, open_build
from sandbox.docker import DockerEngine
from sandbox.egress import open_egress

FETCH_S, PLACE = 600, "/tmp/fetched"


@dataclass(frozen=True)
class Fetched:
    """`data`: the file, None where it could not be had; then `fault` is curl's word, and `dead` the hosts that could not be reached."""

    data: bytes | None
    fault: str = ""
    dead: tuple[str, ...] = ()


def fetch(engine: DockerEngine, image: str, url: str, hosts: Sequence[str], bundle: bytes | None) -> Fetched:
    """What `url` and its redirections lead to, by way of `hosts` and no other. `image`: one with curl; `bundle`: authorities to trust.

    Raises EngineUnavailable, ImageUnavailable.
    """
    with open_egress(engine, hosts) as way, open_build(engine, image, environment=way.variables, network=way.network) as box:
        if bundle:
            box.write(CA_PATH, bundle)
        trust = ["--cacert", CA_PATH] if bundle else []
        done = box.step(["curl", "-sSfL", "--proto", "=https", "--retry", "2", "--max-time", str(FETCH_S), *trust, "-o", PLACE, url], FETCH_S + 60)
        data = box.read(PLACE) if done.ok else None
        dead = tuple(target.rpartition(":")[0] or target for target in way.unreachable())
        return Fetched(data, "" if done.ok else (done.output.strip().splitlines() or ["no end in time"])[-1], dead)


def into(build: BuildContainer, image: str, url: str, hosts: Sequence[str], path: str) -> Fetched:
    """The same, laid into a build container at `path`, with the authorities that it has been given."""
    found = fetch(build.engine, image, url, hosts, build.read(CA_PATH))
    if found.data is not None:
        build.write(path, found.data)
    return found
