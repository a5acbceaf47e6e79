"""Sources that run inside a box, under the interpreter of the environment (Python 3.6 and newer).

They are sent over the runner's standard input as text and never stored in an image. `source()` gives their text.
"""

from importlib import resources


def source(name: str) -> str:
    """The text of one file of this folder, such as `launcher.py`."""
    return resources.files(__name__).joinpath(name).read_text(encoding="utf-8")
