"""Classes 61-64: a change that eats the machine, hangs, floods, or leaves something running."""

import pytest
from calc_repository import CORE, FIXED, NEW_TESTS, Repository
from judging import Command, processes_named

pytestmark = pytest.mark.docker

EXHAUSTED = ("rejected", "resource_exhausted")
REGRESSION = ("rejected", "regression")
TIMEOUT = ("rejected", "timeout")
VERIFIED = ("verified", "verified")

SMALL = "limits: {suite_s: 20, test_s: 3, memory_mb: 256, pids: 64, disk_mb: 32}\n"
HASTY = "limits: {suite_s: 8, test_s: 2}\n"
ROOMY = "limits: {suite_s: 60, test_s: 30}\n"


def in_add(body: str) -> str:
    """The fixed module, whose `add` does this first."""
    return FIXED.replace("    return a + b\n", "".join(f"    {line}\n" for line in body.splitlines()) + "    return a + b\n")


def at_import(body: str) -> str:
    """The fixed module, which does this when it is imported."""
    return body + "\n" + FIXED


# 61: processes, memory, disk, inodes

FORK_BOMB = "import os\nwhile True:\n    os.fork()"
CHILDREN = "import subprocess\nchildren = [subprocess.Popen(['sleep', '600']) for _ in range(500)]"
MEMORY_HOG = "taken = []\nwhile True:\n    taken.append(bytearray(16 << 20))"
DISK_FILL = "import os, tempfile\nfolder = tempfile.mkdtemp()\nfor n in range(64):\n    with open(os.path.join(folder, str(n)), 'wb') as file:\n        file.write(bytes(32 << 20))"
INODE_FILL = "import os, tempfile\nfolder = tempfile.mkdtemp()\nfor n in range(1000000):\n    os.mkdir(os.path.join(folder, str(n)))"


@pytest.mark.parametrize(("body", "config"), [
    (FORK_BOMB, SMALL.replace("pids: 64", "pids: 24")), (CHILDREN, SMALL), (MEMORY_HOG, SMALL), (DISK_FILL, ROOMY), (INODE_FILL, ROOMY),
], ids=["fork bomb", "children", "memory", "disk", "inodes"])
def test_a_change_that_takes_all_of_a_resource_is_rejected(repo: Repository, verify: Command, body: str, config: str) -> None:
    judged = verify(repo, head=repo.lay({"calc/core.py": in_add(body)}), config=config)

    assert judged.answer == EXHAUSTED


def test_a_base_that_takes_all_of_a_resource_is_not_held_against_the_change(repo: Repository, verify: Command) -> None:
    repo.rebase({"calc/core.py": in_add(MEMORY_HOG).replace("/ len(values)", "/ (len(values) + 1)")})

    judged = verify(repo, head=repo.lay({"calc/core.py": in_add(MEMORY_HOG)}), config=SMALL)

    assert judged.verdict["verdict"] != "rejected"


def test_a_change_that_works_within_the_limits_is_verified(repo: Repository, verify: Command) -> None:
    modest = in_add("import subprocess, tempfile\nspace = bytearray(32 << 20)\nwith tempfile.TemporaryFile() as file:\n    file.write(space)\nsubprocess.run(['true'], check=True)")

    judged = verify(repo, head=repo.lay({"calc/core.py": modest}), config=SMALL)

    assert judged.answer == VERIFIED


# 62: what outlives the run

DAEMON = '''\
import os
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for number in range(3):
            os.close(number)
        os.execv("/bin/sh", ["/bin/sh", "-c", "trap '' HUP TERM INT; while true; do sleep 1; : dualgate-attack-daemon; done"])
    os._exit(0)
'''


@pytest.mark.parametrize(("source", "answer"), [
    (DAEMON + FIXED.replace("a + b", "a - b"), REGRESSION), (DAEMON + FIXED, ("inconclusive", "needs_review")),
], ids=["a regression", "an honest fix"])
def test_a_daemon_does_not_outlive_the_run(repo: Repository, verify: Command, source: str, answer: tuple[str, str]) -> None:
    judged = verify(repo, head=repo.lay({"calc/core.py": source}))

    assert judged.answer == answer
    assert processes_named("dualgate-attack-daemon") == []


def test_a_change_that_waits_for_its_child_is_verified(repo: Repository, verify: Command) -> None:
    child = FIXED + "\n\ndef listed():\n    import subprocess\n    return subprocess.run(['echo', 'one'], stdout=subprocess.PIPE, check=True).stdout\n"
    tests = NEW_TESTS + "\n\ndef test_listed():\n    from calc.core import listed\n    assert listed() == b'one\\n'\n"

    judged = verify(repo, head=repo.lay({"calc/core.py": child, "tests/test_mean.py": tests}))

    assert judged.answer == VERIFIED


# 63: sleep

SLEEP = "import time\ntime.sleep(3600)"


@pytest.mark.parametrize("source", [in_add(SLEEP), at_import(SLEEP)], ids=["in a function", "at import"])
def test_sleeping_to_the_limit_is_a_timeout(repo: Repository, verify: Command, source: str) -> None:
    judged = verify(repo, head=repo.lay({"calc/core.py": source}), config=HASTY)

    assert judged.answer == TIMEOUT


def test_sleeping_only_in_the_reproducer_is_no_proof(repo: Repository, verify: Command) -> None:
    asleep = CORE.replace("    return sum(values)", "    import time\n    time.sleep(3600)\n    return sum(values)")

    judged = verify(repo, head=repo.lay({"calc/core.py": asleep}), config=SMALL)

    assert judged.verdict["verdict"] == "rejected"
    assert judged.proven == []


def test_a_base_that_hangs_where_the_fix_does_not_is_verified(repo: Repository, verify: Command) -> None:
    repo.rebase({"calc/core.py": CORE.replace("    return sum(values)", "    import time\n    time.sleep(3600)\n    return sum(values)")})

    judged = verify(repo, head=repo.lay({}), config=SMALL)

    assert judged.answer == VERIFIED


# 64: output

PAST_THE_CAPTURE = """\
import os
block = b'x' * (1 << 20)
for name in sorted(os.listdir('/proc/self/fd'), key=int):
    try:
        target = os.readlink('/proc/self/fd/' + name)
    except OSError:
        continue
    if 2 < int(name) < 200 and target.startswith('pipe:'):
        for _ in range(4096):
            os.write(int(name), block)
"""


def test_a_flood_of_output_is_rejected(repo: Repository, verify: Command) -> None:
    judged = verify(repo, head=repo.lay({"calc/core.py": in_add(PAST_THE_CAPTURE)}), config=ROOMY)

    assert judged.answer == EXHAUSTED


def test_a_talkative_fix_is_verified(repo: Repository, verify: Command) -> None:
    judged = verify(repo, head=repo.lay({"calc/core.py": in_add("print('x' * (1 << 20))")}))

    assert judged.answer == VERIFIED
