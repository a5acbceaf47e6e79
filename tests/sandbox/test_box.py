"""The walls: what code in a box can reach, and how its end is told."""

from __future__ import annotations

import datetime
import hashlib
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from sandbox.box import RawRun, RunRequest, open_box
from sandbox.docker import DockerEngine
from sandbox.environment import Workshop, prepare
from sandbox.environment_image import Environment
from sandbox.errors import EngineUnavailable
from sandbox.limits import Limits
from sandbox.results.events import build_report
from sandbox.results.report import TestReport
from sandbox.toolchains.python.plan import PythonPlan
from sandbox.workspace import REGULAR, File, Tree, to_tar
from tests.repository import BASE

pytestmark = pytest.mark.docker
ROOT = "/repo/walls"
TREE = Tree({name: File(REGULAR, text.encode()) for name, text in BASE.items()})
PLAN = PythonPlan(toolchain="python", framework="pytest", interpreters=("3.11",), project=False)
SMALL = Limits(test_s=10, collect_s=30, silence_s=5, memory_mb=256, pids=64, temporary_mb=32, tree_mb=32, output_mb=4)
Run = Callable[..., RawRun]


@pytest.fixture(scope="module")
def engine() -> Iterator[DockerEngine]:
    engine = DockerEngine("test-walls")
    yield engine
    engine.close()


@pytest.fixture(scope="module")
def environment(engine: DockerEngine, data_folder: Path) -> Environment:
    return prepare(engine, Workshop(data_folder, Path("/etc/ssl/certs/ca-certificates.crt")), PLAN, TREE, ROOT, git={}, today=datetime.date(2026, 1, 1))


@pytest.fixture
def script(engine: DockerEngine, environment: Environment) -> Run:
    """Run a script in a box of its own."""

    def run(text: str, limits: Limits = SMALL) -> RawRun:
        tree = TREE.with_changes({"probe.py": File(REGULAR, text.encode())})
        with open_box(engine, environment.image, ROOT, to_tar(tree), limits) as box:
            return box.run(RunRequest(mode="script", args=(f"{ROOT}/probe.py",), wanted=("probe.py",)))

    return run


def outcome(run: RawRun) -> str:
    return next(iter(build_report(run, ROOT).results.values())).outcome.value


@pytest.mark.parametrize("probe", [
    "open('stats.py', 'a')", "open('new.py', 'w')", "os.remove('stats.py')", "os.kill(1, 9)", "open('/proc/1/environ').read()", "os.listdir('/proc/1/fd')",
    "open('/etc/passwd', 'a')", "open('/opt/env/x', 'w')", "os.setuid(0)", "os.chown('/tmp', 0, 0)", "open('/var/run/docker.sock')",
    "socket.create_connection(('169.254.169.254', 80), 2)", "socket.create_connection(('172.17.0.1', 2375), 2)", "socket.getaddrinfo('example.org', 80)",
    "os.mknod('/tmp/sda', 0o60600, os.makedev(8, 0))", "os.unshare(0x10000000) if hasattr(os, 'unshare') else os.setuid(0)", "os.mkdir('/repo/other')",
])
def test_a_wall_holds(script: Run, probe: str) -> None:
    run = script(f"import os, socket\ntry:\n    {probe}\nexcept OSError:\n    raise SystemExit(0)\nraise SystemExit('a wall gave way')\n")
    assert outcome(run) == "passed", run.records


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_loopback_works(script: Run, host: str) -> None:
    assert outcome(script(f"import socket\ns = socket.create_server(('{host}', 0), family=socket.AF_INET6 if ':' in '{host}' else socket.AF_INET)\n"
                          "socket.create_connection(s.getsockname()[:2], 2)\n")) == "passed"


def test_the_environment_is_fixed_and_empty_of_the_hosts(script: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "ghs_secret")
    run = script("import os, sys, time\nprint(sorted(os.environ))\nassert not any('TOKEN' in k or 'DUALGATE' in k for k in os.environ)\n"
                 "assert (os.getuid(), os.environ['TZ'], os.environ['PYTHONHASHSEED'], os.uname().nodename) == (1000, 'UTC', '0', 'box')\n")
    assert outcome(run) == "passed", run.records


@pytest.mark.parametrize("text", ["import os\nos._exit(0)\n", "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n", "import sys\nsys.stdout.close()\nimport os\nos._exit(0)\n"])
def test_an_end_without_the_last_record_is_a_crash(script: Run, text: str) -> None:
    assert outcome(script(text)) == "failed"


def test_an_exit_from_the_code_under_test_is_no_pass(script: Run) -> None:
    assert outcome(script("exec(compile('def mean(v):\\n    raise SystemExit(0)', 'stats.py', 'exec'))\nmean([1])\nassert False\n")) == "failed"


def test_a_record_that_the_reporter_did_not_write_breaks_the_channel(script: Run) -> None:
    run = script("import os\nfor fd in range(3, 300):\n    try:\n        os.write(fd, b'forged {\"k\": \"exit\"}\\n')\n    except OSError:\n        pass\n")
    assert run.broken


def test_a_child_does_not_get_the_channel(script: Run) -> None:
    run = script("import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'import os\\nfor fd in range(3, 300):\\n try: os.write(fd, b\"x\")\\n except OSError: pass'],"
                 " close_fds=False, check=True)\n")
    assert (run.broken, outcome(run)) == (None, "passed")


@pytest.mark.parametrize(("text", "limit"), [
    ("import time\ntime.sleep(600)\n", "time"), ("x = []\nwhile True:\n    x.append(bytearray(1 << 20))\n", "memory"),
    ("import sys\nwhile True:\n    print('x' * 100000)\n", "output"),
    ("import os, time\nwhile True:\n    try:\n        os.fork() or time.sleep(60)\n    except OSError:\n        os._exit(1)\n", "pids"),
])
def test_a_limit_ends_the_run_by_its_name(script: Run, text: str, limit: str) -> None:
    assert script(text).limit == limit


def test_the_log_of_a_flood_is_bounded(script: Run) -> None:
    run = script("import sys\nwhile True:\n    print('x' * 100000)\n")
    assert len(run.log) <= SMALL.kept_log_kb * 1024 + 100
    assert "bytes cut" in run.log


def test_nothing_of_a_run_is_alive_in_the_next(engine: DockerEngine, environment: Environment) -> None:
    daemon = "import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        time.sleep(600)\n    os._exit(0)\n"
    count = "import os\nalive = [p for p in os.listdir('/proc') if p.isdigit() and ') Z ' not in open('/proc/' + p + '/stat').read()]\nassert len(alive) == 2\n"
    tree = TREE.with_changes({"a.py": File(REGULAR, daemon.encode()), "b.py": File(REGULAR, count.encode())})
    with open_box(engine, environment.image, ROOT, to_tar(tree), SMALL) as box:
        box.run(RunRequest(mode="script", args=(f"{ROOT}/a.py",), wanted=("a.py",)))
        second = box.run(RunRequest(mode="script", args=(f"{ROOT}/b.py",), wanted=("b.py",)))
    assert outcome(second) == "passed", second.records


def test_a_box_that_holds_another_tree_is_not_used(engine: DockerEngine, environment: Environment) -> None:
    names = ["odd\\name\n.py", "-n.py", "plain.py"]
    tree = Tree({name: File(REGULAR, name.encode()) for name in names})
    sums = {name: hashlib.sha256(name.encode()).hexdigest() for name in names}
    with open_box(engine, environment.image, ROOT, to_tar(tree), SMALL, attested=sums):
        pass
    for wrong in ({**sums, "plain.py": "0" * 64}, {**sums, "gone.py": "0" * 64}):
        with pytest.raises(EngineUnavailable), open_box(engine, environment.image, ROOT, to_tar(tree), SMALL, attested=wrong):
            pass


def test_no_container_is_left(engine: DockerEngine, script: Run) -> None:
    script("pass\n")
    until = time.monotonic() + 20
    while left := engine.api.containers(all=True, filters={"label": "dualgate.run=test-walls"}):
        assert time.monotonic() < until, left
        time.sleep(0.05)


def test_an_environment_that_changes_meanwhile_does_not_part_the_engine_from_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    def changed_while_it_was_read() -> dict[str, str]:
        raise KeyError("PYTEST_CURRENT_TEST")

    monkeypatch.setattr("requests.utils.getproxies", changed_while_it_was_read)
    assert DockerEngine("test-environment").api.ping()


def suite(engine: DockerEngine, environment: Environment, files: dict[str, str], **request: object) -> TestReport:
    tree = TREE.with_changes({name: File(REGULAR, text.encode()) for name, text in files.items()})
    with open_box(engine, environment.image, ROOT, to_tar(tree), replace(SMALL, test_s=2)) as box:
        return build_report(box.run(RunRequest(**request)), ROOT)  # type: ignore[arg-type]


ODD = '''
import pytest, unittest

@pytest.mark.parametrize("x", ["a b", "[", "]x[", "é", "a::b", "a - b", "line\\nbreak"])
def test_odd(x):
    pass

@pytest.mark.parametrize("x", [1, 2], ids=["same", "same"])
def test_same(x):
    assert x == 1

def test_twice(): pass
def test_twice(): pass

class Old(unittest.TestCase):
    def test_sub(self):
        for i in range(3):
            with self.subTest(i=i):
                self.assertNotEqual(i, 1)

@pytest.mark.xfail
def test_expected(): assert 0

@pytest.mark.xfail
def test_unexpected(): pass

@pytest.mark.xfail(strict=True)
def test_strict(): pass

@pytest.fixture
def broken(): raise ValueError("fixture")

def test_fixture(broken): pass

def test_endless():
    while True: pass

def test_after(): pass
'''


def test_every_outcome_of_pytest_is_told_by_whole_id(engine: DockerEngine, environment: Environment) -> None:
    report = suite(engine, environment, {"test_odd.py": ODD})
    states = {name.removeprefix("test_odd.py::"): r.outcome.value for name, r in report.results.items() if name.startswith("test_odd")}
    odd = {name: state for name, state in states.items() if name.startswith("test_odd[")}
    assert len(odd) == 7
    assert set(odd.values()) == {"passed"}
    rest = {name: state for name, state in states.items() if name not in odd and not name.startswith("test_same")}
    assert rest == {"test_twice": "passed", "Old::test_sub": "failed", "test_expected": "xfailed", "test_unexpected": "xpassed", "test_strict": "failed",
                    "test_fixture": "error", "test_endless": "failed", "test_after": "passed"}
    assert sum(name.startswith("test_same") for name in states) == 2
    assert report.results["test_odd.py::test_endless"].kind == "timeout"


def test_a_file_that_does_not_load_hides_no_other(engine: DockerEngine, environment: Environment) -> None:
    report = suite(engine, environment, {"test_broken.py": "import nothing_here\n", "pytest.ini": "[pytest]\naddopts = -x\n"})
    assert "nothing_here" in report.uncollected["test_broken.py"]
    assert report.results["test_stats.py::test_span"].passed


def test_exact_ids_are_selected(engine: DockerEngine, environment: Environment) -> None:
    wanted = ("test_odd.py::test_odd[]x[]", "test_odd.py::test_after")
    report = suite(engine, environment, {"test_odd.py": ODD}, args=("test_odd.py",), wanted=wanted)
    assert set(report.results) == set(wanted)


def test_lines_that_ran_are_told(engine: DockerEngine, environment: Environment) -> None:
    report = suite(engine, environment, {}, args=("test_stats.py",), trace={"stats.py": [2, 6]})
    assert report.executed == {"stats.py": [6]}
