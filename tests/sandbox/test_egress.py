"""The installation's only way out, from inside a build container on its network."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox import images
from sandbox.build_container import BuildContainer, open_build
from sandbox.docker import DockerEngine
from sandbox.egress import DEFAULT_HOSTS, WayOut, open_egress

pytestmark = pytest.mark.docker
ADDRESSES = {"pointed.example": "10.11.12.13", "own.example": "127.0.0.1", "metadata.example": "169.254.169.254"}
BUNDLE = Path("/etc/ssl/certs/ca-certificates.crt")


@pytest.fixture(scope="module")
def engine() -> Iterator[DockerEngine]:
    made = DockerEngine("egress-tests")
    yield made
    made.close()


@pytest.fixture(scope="module")
def way(engine: DockerEngine) -> Iterator[WayOut]:
    with open_egress(engine, (*DEFAULT_HOSTS, "pointed.example", "metadata.example"), ("own.example", "nowhere.invalid"), ADDRESSES) as opened:
        yield opened


@pytest.fixture(scope="module")
def build(engine: DockerEngine, way: WayOut) -> Iterator[BuildContainer]:
    with open_build(engine, images.bootstrap(engine), {}, BUNDLE, way.variables, network=way.network) as made:
        yield made


def ask(build: BuildContainer, url: str, proxied: bool = True) -> str:
    """A status, or the words of an error."""
    handler = "urllib.request.ProxyHandler()" if proxied else "urllib.request.ProxyHandler({})"
    words = f"import urllib.request\ntry:\n print(urllib.request.build_opener({handler}).open({url!r}, timeout=4).status)\nexcept OSError as e:\n print(e)"
    return build.step(["/usr/bin/python3", "-c", words], 60).output.strip()


def test_a_registry_answers(build: BuildContainer) -> None:
    assert ask(build, "https://pypi.org/simple/six/") == "200"
    assert build.step(["/usr/local/bin/uv", "pip", "install", "--quiet", "--target", "/tmp/there", "six"], 120).ok


@pytest.mark.parametrize("url", [
    "https://example.org/", "http://169.254.169.254/latest/meta-data/", "https://pypi.org.example.org/", "https://pypi.org:22/",
    "http://pypi.org:6379/", "http://[::1]/",
])
def test_what_is_not_on_the_list_is_refused_and_listed(build: BuildContainer, way: WayOut, url: str) -> None:
    assert "403" in ask(build, url)
    assert any(url.split("//")[1].split("/")[0].split(":22")[0] in target for target in way.refused())


def test_an_address_written_as_a_number_is_refused(build: BuildContainer) -> None:
    assert "403" in ask(build, "http://2852039166/")


@pytest.mark.parametrize("name", ["pointed.example", "metadata.example"])
def test_a_listed_name_that_points_at_a_private_address_is_refused(build: BuildContainer, name: str) -> None:
    assert "403" in ask(build, f"http://{name}/")


def test_a_host_that_the_operator_named_may_be_private_and_one_that_is_down_is_told_apart(build: BuildContainer, way: WayOut) -> None:
    assert "503" in ask(build, "http://own.example/")  # allowed: it is only that nothing listens there
    assert "Tunnel connection failed: 50" in ask(build, "https://nowhere.invalid/")
    assert not {"http://own.example/", "nowhere.invalid:443"} & set(way.refused())
    assert {"http://own.example/", "nowhere.invalid:443"} <= set(way.unreachable())


def test_past_the_proxy_there_is_nothing(build: BuildContainer) -> None:
    assert ask(build, "https://pypi.org/simple/six/", proxied=False).startswith("<urlopen error")
    assert "name resolution" in build.step(["/usr/bin/python3", "-c", "import socket; socket.getaddrinfo('pypi.org', 443)"], 60).output
    for place in ("/var/run/docker.sock", "/run/docker.sock"):
        assert not build.step(["test", "-e", place], 60).ok


def test_the_host_has_no_address_there(build: BuildContainer, engine: DockerEngine, way: WayOut) -> None:
    with socket.create_server(("0.0.0.0", 0)) as server:
        gateway = engine.api.inspect_network(way.network)["IPAM"]["Config"][0]["Gateway"]
        addresses = (gateway, engine.api.inspect_network("bridge")["IPAM"]["Config"][0].get("Gateway", "172.17.0.1"))
        for address in addresses:
            assert ask(build, f"http://{address}:{server.getsockname()[1]}/", proxied=False).startswith("<urlopen error")
        server.settimeout(0.5)
        with pytest.raises(TimeoutError):
            server.accept()


def test_nothing_of_it_stays(engine: DockerEngine) -> None:
    with open_egress(engine, ("pypi.org",)) as one:
        assert engine.api.networks(names=[one.network])
    assert not engine.api.networks(names=[one.network])
