"""Sources that run inside a box, under the interpreter of the environment (Python 3.6 and newer).

They are sent over the runner's standard input as text and never stored in an image. `source()` gives their text.
"""

import hashlib
from functools import cache
from importlib import resources


def source(name: str) -> str:
    """The text of one file of this folder, such as `launcher.py`."""
    return resources.files(__name__).joinpath(name).read_text(encoding="utf-8")


@cache
def digest() -> str:
    """sha256 of everything that runs inside: a report made by other sources is another report."""
    return hashlib.sha256("".join(source(name) for name in ("launcher.py", "pytest_reporter.py", "line_tracer.py")).encode()).hexdigest()
