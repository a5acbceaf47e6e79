"""The static look only lowers."""

from __future__ import annotations

import pytest

from bot.changes.diff import ChangedLines
from bot.changes.static_look import look
from bot.findings import Severity
from sandbox.toolchains.python.toolchain import PYTHON
from sandbox.workspace import REGULAR, File, Tree


def signs(line: str, base: str = "") -> list[Severity]:
    tree = Tree({"pkg/m.py": File(REGULAR, base.encode())})
    return [f.severity for f in look({"pkg/m.py": ChangedLines({7: line}, (), ())}, tree, [PYTHON], lambda path: False)]


@pytest.mark.parametrize("line", [
    "import _pytest", "if 'pytest' in sys.modules:", 'if "unittest" not in modules:', "os.environ.get('PYTEST_CURRENT_TEST')", "sys._getframe(1)",
    "inspect.stack()", "for o in gc.get_objects():", "os._exit(0)", "raise unittest.SkipTest('x')", "frame.f_back", "sys.modules['pytest']", "from tests._impl import add", "    import pkg.tests.helpers",
])
def test_a_strong_sign_needs_review(line: str) -> None:
    assert Severity.BLOCKER in signs(line)


@pytest.mark.parametrize("line", [
    "return a + b", "# os._exit is not used here", "self.test = pytest_name", "from pkg.testing import run", "import contests", "raise SystemExit(1)", "import inspect", "sys.exit(1)", "contest()",
])
def test_ordinary_code_is_left_alone(line: str) -> None:
    assert Severity.BLOCKER not in signs(line)


def test_what_the_package_does_already_is_no_sign() -> None:
    assert signs("os._exit(1)", base="os._exit(0)") == []


def test_a_weak_sign_is_a_note() -> None:
    assert signs("atexit.register(f)") == [Severity.NOTE]
