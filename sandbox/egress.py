"""The installation's only way out: an internal network with a proxy (squid) that knows which hosts may be asked.

An internal network has no route to anywhere: not to the metadata address, not to the host's private ranges, not to a name server. What a host of
the list resolves to is looked at too, so that a name can't be pointed at a private address.
"""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import requests
from docker.errors import APIError

from sandbox import images
from sandbox.docker import DockerEngine
from sandbox.docker_exec import STDOUT, execute
from sandbox.errors import EngineUnavailable

DEFAULT_HOSTS = (
    "pypi.org", "files.pythonhosted.org", "registry.npmjs.org", "registry.yarnpkg.com", "index.crates.io", "static.crates.io", "crates.io",
    "proxy.golang.org", "sum.golang.org", "repo.maven.apache.org", "repo1.maven.org", "plugins.gradle.org", "services.gradle.org",
    "deb.debian.org", "security.debian.org",
)
# IANA's special-purpose registries, without the documentation ranges, and multicast: nothing that a public registry has.
PRIVATE = (
    "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.168.0.0/16", "198.18.0.0/15",
    "224.0.0.0/3", "::/127", "fc00::/7", "fe80::/10", "ff00::/8",
)
PORT, USER = 3128, "proxy"
LOG = "/tmp/access.log"
NOWHERE = "192.0.2.1"  # TEST-NET-1, RFC 5737: the engine's own resolver would pass names on to the host's
HOST = re.compile(r"\.?[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*")
START_S = 20.0
# The host takes no address on it, so that its own services can't be asked: older engines know the first option, 27 and newer the second.
HOSTLESS = {"com.docker.network.bridge.inhibit_ipv4": "true", "com.docker.network.bridge.gateway_mode_ipv4": "isolated"}


@dataclass(frozen=True)
class WayOut:
    """What a build container needs: the network's name, its name server, the variables that clients read."""

    network: str
    variables: Mapping[str, str]
    engine: DockerEngine
    proxy: str

    def refused(self) -> tuple[str, ...]:
        """`host:port` or addresses that are not on the list and were asked for, each once, in their order."""
        return tuple(dict.fromkeys(target for state, _, target in self._log() if "DENIED" in state))

    def unreachable(self) -> tuple[str, ...]:
        """Those of the list that the proxy itself could not reach (of a tunnel it says 500 where a name is unknown)."""
        own = {True: ("502", "503", "504"), False: ("500", "502", "503", "504")}
        return tuple(dict.fromkeys(target for state, status, target in self._log() if "DENIED" not in state and status in own["://" in target]))

    def _log(self) -> list[tuple[str, str, str]]:
        kept = bytearray()
        execute(self.engine.api, self.proxy, ["tail", "-c", "2000000", LOG], lambda stream, data: kept.extend(data) if stream == STDOUT else None, user=USER)
        rows = [line.split(" ", 2) for line in bytes(kept).decode("utf-8", errors="replace").splitlines()]
        return [(row[0], row[1], row[2]) for row in rows if len(row) == 3]


def configuration(hosts: Iterable[str], private: Iterable[str]) -> str:
    """squid's. `hosts`: names, `.name` with all below it; `private`: those of them that may have private addresses, since the operator named them."""
    known, trusted = _outermost(hosts), _outermost(private)
    lines = [
        f"http_port {PORT}", "acl ports port 80 443", f"acl hidden dst {' '.join(PRIVATE)}", "acl allowed dstdomain none.invalid",
        *(f"acl allowed dstdomain {host}" for host in known), "acl trusted dstdomain none.invalid", *(f"acl trusted dstdomain {host}" for host in trusted),
        "http_access deny !ports", "http_access deny CONNECT !ports", "http_access deny !allowed", "http_access deny hidden !trusted", "http_access allow all",
        "cache deny all", "via off", "forwarded_for delete", "httpd_suppress_version_string on", "shutdown_lifetime 0 seconds", "pid_filename none",
        "cache_log /dev/null", "logfile_rotate 0", "logformat host %Ss %>Hs %ru", f"access_log stdio:{LOG} logformat=host", "dns_v4_first on",
        "coredump_dir /tmp", "connect_timeout 20 seconds", "max_filedescriptors 1024",
    ]
    return "\n".join(lines) + "\n"


def _outermost(hosts: Iterable[str]) -> list[str]:
    """Lower case, without those that `.name` of another one covers: squid takes both for a fault."""
    names = sorted({host.lower() for host in hosts})
    for name in names:
        if not HOST.fullmatch(name):
            raise ValueError(f"{name!r} is no host name")
    return [name for name in names if not any(other != name and other.startswith(".") and f".{name.lstrip('.')}".endswith(other) for other in names)]


@contextmanager
def open_egress(engine: DockerEngine, hosts: Iterable[str], more: Iterable[str] = (), addresses: Mapping[str, str] | None = None) -> Iterator[WayOut]:
    """A network with the proxy on it; both are gone afterwards, whatever happens.

    `more`: hosts beside the public registries that the operator named, which may be private; `addresses`: of names that the host knows by its own
    file. Raises ImageUnavailable, EngineUnavailable.
    """
    image, chosen = images.proxy(engine), tuple(more)
    text = configuration((*hosts, *chosen), chosen)
    network = _network(engine)
    try:
        proxy = engine.start_container(
            image, ["/bin/sh", "-c", 'printf %s "$SQUID" > /tmp/squid.conf && exec squid -N -f /tmp/squid.conf'], _limits(addresses or {}),
            user=USER, hostname="proxy", environment={"SQUID": text})
        try:
            address = _join(engine, network, proxy)
            url = f"http://{address}:{PORT}"
            names = {name: url for word in ("http_proxy", "https_proxy") for name in (word, word.upper())}
            yield WayOut(network, {**names, "no_proxy": "localhost,127.0.0.1", "NO_PROXY": "localhost,127.0.0.1"}, engine, proxy)
        finally:
            engine.remove_container(proxy)
    finally:
        _remove(engine, network)


def _limits(addresses: Mapping[str, str]) -> dict[str, Any]:
    return {
        "network_mode": "bridge", "security_opt": ["no-new-privileges"], "cap_drop": ["ALL"], "read_only": True, "log_config": {"type": "none"},
        "pids_limit": 64, "mem_limit": 256 << 20, "memswap_limit": 256 << 20, "ipc_mode": "private", "extra_hosts": dict(addresses),
        "tmpfs": {"/tmp": "rw,size=64m,mode=1777", **dict.fromkeys(("/run", "/var/log/squid", "/var/spool/squid"), "rw,size=1m,mode=1777")},
    }


def _network(engine: DockerEngine) -> str:
    name = f"dualgate-install-{secrets.token_hex(6)}"
    try:
        engine.api.create_network(name, driver="bridge", internal=True, options=HOSTLESS, labels=engine.labels())
    except (APIError, requests.RequestException) as error:
        raise EngineUnavailable(f"no network could be made for the installation: {error}") from error
    return name


def _join(engine: DockerEngine, network: str, proxy: str) -> str:
    """The proxy's address on the network, once it listens. Raises EngineUnavailable."""
    try:
        engine.api.connect_container_to_network(proxy, network)
        address: str = engine.api.inspect_container(proxy)["NetworkSettings"]["Networks"][network]["IPAddress"]
    except (APIError, KeyError, requests.RequestException) as error:
        raise EngineUnavailable(f"the proxy of the installation could not join its network: {error}") from error
    until = time.monotonic() + START_S
    while time.monotonic() < until:
        if execute(engine.api, proxy, ["bash", "-c", f"exec 3<>/dev/tcp/127.0.0.1/{PORT}"], lambda *_: None, user=USER).status == 0:
            return address
        time.sleep(0.1)
    raise EngineUnavailable("the proxy of the installation does not start")


def _remove(engine: DockerEngine, network: str) -> None:
    try:
        engine.api.remove_network(network)
    except (APIError, requests.RequestException):
        pass  # its container was not gone yet: the sweep has it

