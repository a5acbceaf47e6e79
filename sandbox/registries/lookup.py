"""Whether a public registry has a package, and since when."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import requests

from sandbox.errors import EngineUnavailable

TIMEOUT_S, TRIES = 15.0, 3
LARGEST = 64 << 20  # bytes; npm's document of a package with thousands of releases has some 30 MB


class RegistryUnavailable(EngineUnavailable):
    """A registry does not answer, or says that it is broken."""


@dataclass(frozen=True)
class Known:
    """What a registry says of a name. `exists` None: it does not tell. `first`: the day of its first release, where there is one that can be believed."""

    registry: str
    name: str
    exists: bool | None
    first: datetime.date | None = None


@dataclass(frozen=True)
class Registry:
    """How one is asked. `anchor`: a package that everybody knows and the year of its first release, by which a mirror with dates of its own gives
    itself away; `page`: the path of a name; `first`: the earliest date in an answer; None where it holds none."""

    name: str
    url: str
    page: Callable[[str], str]
    anchor: tuple[str, int]
    first: Callable[[requests.Response], str | None]
    accept: str = "*/*"


def _escaped(name: str) -> str:
    return "/".join(quote(word, safe="@!") for word in name.split("/"))


def _crate(name: str) -> str:
    """Of the sparse index: https://doc.rust-lang.org/cargo/reference/registry-index.html#index-files"""
    low = quote(name.lower(), safe="")
    return f"{len(low)}/{low}" if len(low) < 3 else f"3/{low[0]}/{low}" if len(low) == 3 else f"{low[:2]}/{low[2:4]}/{low}"


def _module(name: str) -> str:
    """Capital letters as the module proxy wants them: https://go.dev/ref/mod#goproxy-protocol"""
    return _escaped(re.sub(r"[A-Z]", lambda match: "!" + match[0].lower(), name)) + "/@v/list"


def _artifact(name: str) -> str:
    group, artifact = name.split(":")
    return f"{quote(group, safe='').replace('.', '/')}/{quote(artifact, safe='')}/maven-metadata.xml"


def _first_file(answer: requests.Response) -> str | None:
    return min((row["upload-time"] for row in answer.json().get("files", ()) if row.get("upload-time")), default=None)


def _first_version(answer: requests.Response) -> str | None:
    times: dict[str, Any] = answer.json().get("time") or {}
    return times.get("created") or min((str(time) for time in times.values() if isinstance(time, str)), default=None)


REGISTRIES: Mapping[str, Registry] = {one.name: one for one in (
    Registry("pypi", "https://pypi.org/simple/", lambda name: f"{_escaped(name)}/", ("requests", 2012), _first_file, "application/vnd.pypi.simple.v1+json"),
    Registry("npm", "https://registry.npmjs.org/", lambda name: quote(name, safe="@"), ("chalk", 2013), _first_version),
    Registry("crates", "https://index.crates.io/", _crate, ("serde", 2014), lambda _: None),
    Registry("go", "https://proxy.golang.org/", _module, ("github.com/spf13/pflag", 2017), lambda _: None),
    Registry("maven", "https://repo.maven.apache.org/maven2/", _artifact, ("junit:junit", 2005), lambda _: None),
)}
TITLES = {"pypi": "PyPI", "npm": "npm", "crates": "crates.io", "go": "the Go module proxy", "maven": "Maven Central"}


class Lookup:
    """Asks each name once. `ca_bundle`: PEM file of certificates to trust beside the system's own list."""

    def __init__(self, ca_bundle: Path | None = None) -> None:
        self._session = requests.Session()
        self._verify: str | bool = str(ca_bundle) if ca_bundle else True
        self._known: dict[tuple[str, str], Known] = {}
        self._believed: dict[str, bool] = {}

    def ask(self, registry: str, name: str) -> Known:
        """Raises RegistryUnavailable where there is no answer."""
        if (registry, name) not in self._known:
            self._known[registry, name] = self._ask(REGISTRIES[registry], name)
        return self._known[registry, name]

    def _ask(self, registry: Registry, name: str) -> Known:
        answer = self._get(registry, name)
        if answer.status_code in (404, 410):
            return Known(registry.name, name, False)
        if answer.status_code != 200:
            return Known(registry.name, name, None)  # a mirror that hides names says 403
        return Known(registry.name, name, True, _day(registry.first(answer)) if self._is_believed(registry) else None)

    def _is_believed(self, registry: Registry) -> bool:
        """Whether its dates are those of the releases."""
        if registry.name not in self._believed:
            anchor, year = registry.anchor
            answer = self._get(registry, anchor)
            day = _day(registry.first(answer)) if answer.status_code == 200 else None
            self._believed[registry.name] = day is not None and day.year <= year
        return self._believed[registry.name]

    def _get(self, registry: Registry, name: str) -> requests.Response:
        problem = ""
        for _ in range(TRIES):
            try:
                answer = self._session.get(
                    registry.url + registry.page(name), timeout=TIMEOUT_S, verify=self._verify, headers={"Accept": registry.accept}, stream=True)
                with answer:
                    if answer.status_code < 500 and answer.status_code != 429:
                        answer._content = answer.raw.read(LARGEST, decode_content=True)
                        return answer
                    problem = f"status {answer.status_code}"
            except requests.RequestException as error:
                problem = type(error).__name__
        raise RegistryUnavailable(f"{TITLES[registry.name]} does not answer ({problem}), so that {name} can't be looked up")


def _day(text: str | None) -> datetime.date | None:
    try:
        return datetime.date.fromisoformat(text[:10]) if text else None
    except ValueError:
        return None
