"""Sources that run inside a box: a launcher that holds the report channel, and a driver for each runner.

They are sent over the runner's standard input as text and never stored in an image. Those of pytest and Django run under the environment's interpreter (Python
3.6 and newer), in the runner's own process; the other drivers run beside their runner, under the Python that every image of ours has.
"""

import hashlib
from functools import cache
from importlib import resources

ENVIRONMENT_PYTHON, IMAGE_PYTHON = "/opt/env/bin/python", "/usr/bin/python3"
DRIVERS = {"pytest": "pytest_driver.py", "django": "django_driver.py", "script": "script_driver.py", "go": "go_driver.py", "cargo": "cargo_driver.py",
           "command": "command_driver.py", "node": "node_driver.py", "maven": "maven_driver.py", "gradle": "gradle_driver.py"}
OF_PYTHON = ("pytest", "django", "script")
FAILURES = "python_failures.py"


def source(name: str) -> str:
    """The text of one file of this folder, such as `launcher.py`."""
    return resources.files(__name__).joinpath(name).read_text(encoding="utf-8")


def files(folder: str) -> dict[str, bytes]:
    """Name -> bytes of the files of one folder in here: what an environment's image is given."""
    return {entry.name: entry.read_bytes() for entry in resources.files(__name__).joinpath(folder).iterdir() if entry.is_file()}


def driver(mode: str) -> str:
    """The text of a mode's driver."""
    return (source(FAILURES) if mode in OF_PYTHON else "") + source(DRIVERS[mode])


def tracer(mode: str) -> str:
    """The text of what counts lines in the driver's own process; empty where the tests are in another."""
    return source("line_tracer.py") if interpreter(mode) == ENVIRONMENT_PYTHON else ""


def interpreter(mode: str) -> str:
    """What a mode's driver runs under."""
    return ENVIRONMENT_PYTHON if mode in OF_PYTHON else IMAGE_PYTHON


@cache
def digest() -> str:
    """sha256 of everything that runs inside: a report made by other sources is another report."""
    return hashlib.sha256("".join(source(name) for name in ("launcher.py", "line_tracer.py", FAILURES, *DRIVERS.values())).encode()).hexdigest()
