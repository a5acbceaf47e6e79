"""What the workflows of a repository start beside its tests. Read as data."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import yaml

from sandbox.plan import Service
from sandbox.services.kinds import kind_of
from sandbox.toolchains.ci_variables import PLAIN, needs_no_server, told
from sandbox.workspace import Tree

PORT = re.compile(r"(?:(?:[\d.]+:)?(\d+):)?(\d+)(?:/tcp)?")
TESTS = re.compile(r"\b(tests?|pytest|tox|nox|spec|unittest|jest|vitest|mocha|ctest|nextest|verify|gradlew?|mvnw?)\b")
MOST = 4


@dataclass(frozen=True)
class Wanted:
    """Services that can be had, images that can't (`image at file:line`), and the variables that the same job gives its tests."""

    services: tuple[Service, ...] = ()
    missing: tuple[str, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()


def wanted_services(tree: Tree) -> Wanted:
    """Of the first job with services, in the order of the workflows' names, that runs tests; empty where there is none."""
    for path in sorted(tree):
        if path.startswith(".github/workflows/") and path.endswith((".yml", ".yaml")):
            text = tree.text(path) or ""
            if "services:" in text and (found := _of_workflow(path, text)):
                return found
    return Wanted()


def _of_workflow(path: str, text: str) -> Wanted | None:
    try:
        data = yaml.safe_load(text)
        testing = [job for job in data["jobs"].values() if TESTS.search(str(job.get("steps")))]
        jobs = [job for job in testing if isinstance(job.get("services"), dict)]
    except (yaml.YAMLError, AttributeError, KeyError, TypeError):
        return None
    if not jobs or any(needs_no_server(job) for job in testing):
        return None
    services, missing = [], []
    for alias, row in list(jobs[0]["services"].items())[:MOST]:
        image = str(row.get("image", "") if isinstance(row, dict) else row)
        line = next((number for number, words in enumerate(text.split("\n"), 1) if image and image in words), 1)
        service = _service(str(alias), image, row if isinstance(row, dict) else {}, path, line)
        if service is None:
            missing.append(f"{image} at {path}:{line}")
        else:
            services.append(service)
    return Wanted(tuple(services), tuple(missing), tuple(dict(told(data, jobs[0], TESTS)).items()) if services else ())


def _service(alias: str, image: str, row: dict[str, Any], path: str, line: int) -> Service | None:
    kind = kind_of(image)
    if kind is None or not re.fullmatch(r"[\w.-]+", alias):
        return None
    ports = [match for port in row.get("ports") or () if (match := PORT.fullmatch(str(port)))]
    port = next((int(match[1] or match[2]) for match in ports if int(match[2]) == kind.port), kind.port)
    given = row.get("env") if isinstance(row.get("env"), dict) else {}
    settings = tuple((name, str(value)) for name, value in (given or {}).items() if name in kind.settings and PLAIN.fullmatch(str(value)))
    return Service(kind.name, alias, port, settings, image, path, line)
