"""Suites that need a screen: who says so, and the X server that is drawn nowhere."""

from __future__ import annotations

import re

from sandbox.plan import Choice
from sandbox.workspace import Tree

NUMBER = ":99"
VARIABLES = (("DISPLAY", NUMBER), ("XDG_RUNTIME_DIR", "/tmp"))
# The server, and what the usual toolkits load before they draw anything.
PACKAGES = ("xvfb", "xauth", "libgl1", "libegl1", "libglib2.0-0", "libfontconfig1", "libdbus-1-3", "libxkbcommon-x11-0", "libxcb-cursor0",
            "libxcb-icccm4", "libxcb-image0", "libxcb-keysyms1", "libxcb-randr0", "libxcb-render-util0", "libxcb-shape0", "libxcb-xinerama0",
            "libxrender1", "libxi6", "python3-tk")
SAYS = re.compile(r"xvfb|pytest-qt|\bpyvirtualdisplay\b", re.IGNORECASE)
FILES = re.compile(r"^(\.github/workflows/[^/]+\.ya?ml|\.travis\.yml|\.gitlab-ci\.yml|tox\.ini|noxfile\.py|pyproject\.toml|setup\.(cfg|py)|package\.json"
                   r"|[\w.-]*requirements[\w.-]*\.txt)$")


def display_choice(tree: Tree) -> Choice | None:
    """The line that asks for a screen; None where nothing does."""
    for path in sorted(tree):
        if FILES.match(path):
            text = tree.text(path) or ""
            match = SAYS.search(text)
            if match:
                return Choice("display", "an X server that is drawn nowhere", path, text.count("\n", 0, match.start()) + 1)
    return None
