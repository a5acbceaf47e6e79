"""Classes 67-69: what code in a box can find of the host. The probes run inside: `verified` means that each of them came back with nothing."""

import pytest
from calc_repository import FIXED, NEW_TESTS, Repository
from judging import Command

pytestmark = pytest.mark.docker

VERIFIED = ("verified", "verified")
SECRET = "s3cret-of-the-caller-57d1"
CALLERS = {
    "DUALGATE_ADMIN_TOKEN": SECRET, "DUALGATE_AGENT": SECRET, "GITHUB_WEBHOOK_SECRET": SECRET, "GITHUB_PRIVATE_KEY": SECRET, "GITHUB_TOKEN": SECRET,
    "DATABASE_URL": f"postgresql://user:{SECRET}@localhost/x", "ANTHROPIC_API_KEY": SECRET, "OPENAI_API_KEY": SECRET, "AWS_SECRET_ACCESS_KEY": SECRET,
    "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "user.token", "GIT_CONFIG_VALUE_0": SECRET, "NETRC": f"/tmp/{SECRET}",
}
PROBES = '''
import errno
import os
import socket
import stat
import subprocess


def environment():
    """Names of variables, of every process that can be read."""
    texts = ["\\0".join(f"{name}={value}" for name, value in os.environ.items())]
    for number in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{number}/environ") as file:
                texts.append(file.read())
        except OSError:
            pass
    return "\\0".join(texts)


def files(*roots):
    """Texts of everything small that can be read below some folders."""
    found = []
    for root in roots:
        for folder, _, names in os.walk(root):
            for name in names:
                path = os.path.join(folder, name)
                try:
                    if stat.S_ISREG(os.lstat(path).st_mode) and os.path.getsize(path) < 1 << 20:
                        with open(path, "rb") as file:
                            found.append(file.read())
                except OSError:
                    pass
    return b"\\0".join(found)


def command_lines():
    found = []
    for number in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{number}/cmdline", "rb") as file:
                found.append(file.read())
        except OSError:
            pass
    return b"\\0".join(found)


def reached(host, port):
    """None, or how far a connection came."""
    try:
        with socket.create_connection((host, port), timeout=2):
            return "connected"
    except OSError as error:
        return None if error.errno in (errno.ENETUNREACH, errno.EHOSTUNREACH) else repr(error)


def resolved(name):
    try:
        return socket.getaddrinfo(name, 443)
    except OSError:
        return None


def mounts():
    """(source, place, type) of everything that is mounted."""
    with open("/proc/self/mountinfo") as file:
        rows = [line.split(" - ") for line in file]
    return [(after.split()[1], before.split()[4], after.split()[0]) for before, after in rows]


def devices():
    return sorted(name for name in os.listdir("/dev") if stat.S_ISBLK(os.lstat(f"/dev/{name}").st_mode))


def capabilities():
    with open("/proc/self/status") as file:
        rows = dict(line.split(":", 1) for line in file)
    return {name: int(rows[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")}, rows["NoNewPrivs"].strip()
'''


def probing(tests: str) -> dict[str, str]:
    """The fix with the probes beside it, and tests of the change that say what they must find: nothing."""
    head = NEW_TESTS.replace("import mean", "import mean\nfrom calc import probes\n\nSECRET = ''.join(" + repr([SECRET[:9], SECRET[9:]]) + ")")
    return {"calc/core.py": FIXED, "calc/probes.py": PROBES, "tests/test_mean.py": head + tests}


# 67: secrets


def test_no_secret_of_the_caller_is_in_the_box(repo: Repository, verify: Command) -> None:
    repo.git("remote", "add", "origin", f"https://x-access-token:{SECRET}@example.invalid/owner/calc.git")
    repo.git("config", "http.extraHeader", f"AUTHORIZATION: basic {SECRET}")
    (repo.path / ".env.local").write_text(f"TOKEN={SECRET}\n", encoding="utf-8")
    head = repo.lay(probing('''

def test_environment():
    text = probes.environment()
    assert SECRET not in text
    assert not any(word in text for word in ("DUALGATE_", "GITHUB_", "AWS_", "API_KEY", "DATABASE_URL", "GIT_CONFIG", "SSH_AUTH_SOCK", "_proxy", "_PROXY"))


def test_other_processes():
    assert SECRET.encode() not in probes.command_lines()
    try:
        text = open("/proc/1/environ").read()
    except OSError:
        text = ""
    assert SECRET not in text


def test_files():
    import os
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    text = probes.files(os.path.join(root, ".git"), os.path.expanduser("~"), "/run", "/tmp", "/var/tmp", "/root", "/home", "/etc")
    assert SECRET.encode() not in text
    assert b"example.invalid" not in text and b"[remote" not in text and b"x-access-token" not in text
    assert not any(os.path.exists(os.path.expanduser(name)) for name in ("~/.netrc", "~/.git-credentials", "~/.ssh", "~/.docker", "~/.aws", "~/.config/gh"))
'''))
    (repo.path / ".env.local").write_text(f"TOKEN={SECRET}\n", encoding="utf-8")

    judged = verify(repo, head=head, environment=CALLERS)

    assert judged.answer == VERIFIED
    assert len(judged.proven) == 4


# 68: the network


def test_no_network_is_reached_from_the_box(repo: Repository, verify: Command) -> None:
    judged = verify(repo, head=repo.lay(probing('''

import pytest


@pytest.mark.parametrize(("host", "port"), [
    ("169.254.169.254", 80), ("169.254.170.2", 80), ("172.17.0.1", 22), ("172.17.0.1", 2375), ("10.0.0.1", 443), ("192.168.0.1", 80), ("1.1.1.1", 53),
    ("fd00:ec2::254", 80), ("fe80::1%lo", 80),
])
def test_unreachable(host, port):
    assert probes.reached(host, port) is None


def test_no_name_is_resolved():
    assert probes.resolved("example.org") is None
    assert probes.resolved("host.docker.internal") is None
    assert probes.resolved("metadata.google.internal") is None


def test_loopback_alone():
    import socket
    assert probes.reached("1.1.1.1", 80) is None
    assert [name for _, name in socket.if_nameindex() if name != "lo" and open("/sys/class/net/%s/operstate" % name).read() != "down\\\\n"] == []


def test_loopback_works():
    import socket
    assert probes.reached("1.1.1.1", 80) is None
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname()).close()
''')))

    assert judged.answer == VERIFIED
    assert len(judged.proven) == 13


# 69: the engine and the host


def test_nothing_of_the_host_is_in_the_box(repo: Repository, verify: Command, canary: object) -> None:
    judged = verify(repo, head=repo.lay(probing('''

import os


def test_no_engine():
    assert not any(os.path.exists(path) for path in ("/var/run/docker.sock", "/run/docker.sock", "/run/containerd/containerd.sock", "/run/podman/podman.sock"))
    assert probes.devices() == []


def test_no_mount_of_the_host():
    shared = [row for row in probes.mounts() if row[2] not in ("overlay", "tmpfs", "proc", "sysfs", "cgroup", "cgroup2", "devpts", "mqueue")
              and row[1] not in ("/etc/resolv.conf", "/etc/hostname", "/etc/hosts")]
    assert shared == []


def test_no_privilege():
    capabilities, no_new = probes.capabilities()
    assert set(capabilities.values()) == {0}
    assert no_new == "1"
    assert os.getuid() != 0 and os.geteuid() != 0


def test_no_way_to_the_rest():
    assert probes.devices() == []
    for path in ("/proc/sysrq-trigger", "/proc/sys/kernel/core_pattern", "/etc/passwd", "/opt/env/bin/python", "/sys/fs/cgroup/release_agent", "/dev/kmsg", "/dev/mem"):
        assert not os.access(path, os.W_OK), path
    for words in (["mount", "-t", "tmpfs", "none", "/mnt"], ["unshare", "--map-root-user", "true"], ["nsenter", "--target", "1", "--pid", "true"], ["kill", "-9", "1"]):
        assert probes.subprocess.run(words, stderr=probes.subprocess.DEVNULL).returncode != 0, words


def test_the_first_process_is_out_of_reach():
    assert probes.devices() == []
    for name in ("environ", "maps", "mem", "root", "fd"):
        try:
            os.listdir("/proc/1/fd") if name == "fd" else os.readlink("/proc/1/root") if name == "root" else open("/proc/1/%s" % name).read(1)
        except OSError:
            continue
        assert False, name
''')))

    assert judged.answer == VERIFIED
    assert len(judged.proven) == 6


def test_the_tree_cant_be_rewritten_while_it_is_tested(repo: Repository, verify: Command) -> None:
    judged = verify(repo, head=repo.lay(probing('''

import os


def test_read_only():
    assert probes.devices() == []
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    taken = []
    for name in ("tests/test_core.py", "tests/test_mean.py", "calc/core.py", "pyproject.toml", ".git/config", ".git/HEAD"):
        for act in (lambda path: open(path, "a").close(), os.remove, lambda path: os.rename(path, path + "x"), lambda path: os.chmod(path, 0o777)):
            try:
                act(os.path.join(root, name))
                taken.append(name)
            except OSError:
                pass
    assert taken == []
''')))

    assert judged.answer == VERIFIED
    assert len(judged.proven) == 2
