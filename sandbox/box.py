"""A disposable container: a tree goes in, runs happen in it, nothing of it stays."""

from __future__ import annotations

import json
import re
import struct
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from docker.errors import APIError

from sandbox import inside
from sandbox.channel import Record, ReportChannel
from sandbox.docker import DockerEngine
from sandbox.docker_exec import STDERR, STDOUT, execute
from sandbox.errors import EngineUnavailable, Interrupted
from sandbox.hardening import HOSTNAME, RUNNER_UID, SUPERVISOR, SUPERVISOR_UID, box_arguments, run_environment
from sandbox.limits import Limits
from sandbox.plan import Service
from sandbox.services.running import open_services

BOOT = (
    "import sys,struct,json\n"
    "if sys.path and sys.path[0]=='': del sys.path[0]\n"
    "i=sys.stdin.buffer\n"
    "p=json.loads(i.read(struct.unpack('>I',i.read(4))[0]).decode())\n"
    "exec(compile(p.pop('launcher'),'<dualgate>','exec'),{'payload':p,'__name__':'dualgate_launcher'})\n"
)
# Files that the installation generated in the tree (extension modules, version files) never replace one of the tree's own. /opt/unpacked: an image's own
# last step, where what it holds was made from a tree and must know what differs.
UNPACK = (
    'root=$1; shift; tar -x --no-same-owner -C "$root" -f - && if [ $# -gt 0 ]; then (cd "$root" && sha256sum -- "$@"); fi'
    ' && if [ -d /opt/overlay ]; then cp -rn /opt/overlay/. "$root"/; fi && if [ -x /opt/unpacked ]; then /opt/unpacked "$root"; fi'
)
SUM = re.compile(r"^\\?([0-9a-f]{64})  ", re.MULTILINE)
# No process but the shell itself, which `df` takes the place of: where pids ran out there may be no other.
LOOK = (
    "for f in /sys/fs/cgroup/memory/memory.oom_control /sys/fs/cgroup/memory.events /sys/fs/cgroup/pids/pids.events /sys/fs/cgroup/pids.events; do"
    ' if [ -r "$f" ]; then while read -r name value; do case "${f##*/}:$name" in *:oom_kill|pids.events:max) echo "$name $value";; esac; done < "$f"; fi; done;'
    ' exec df --output=pcent,ipcent "$@"'
)


@dataclass(frozen=True)
class RunRequest:
    """What to run in a box, in the words of a driver (sandbox/inside).

    `args` name what is run (options and files of pytest, groups of another runner, one script); `wanted`: exact ids, None for all; `collect`: only
    find the tests; `settings`: what else the driver needs to know of the plan; `shown`: the command as a person would type it.
    """

    mode: str = "pytest"
    args: tuple[str, ...] = ()
    wanted: tuple[str, ...] | None = None
    trace: dict[str, list[int]] | None = None
    order: tuple[str, ...] | None = None
    collect: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)
    environment: tuple[tuple[str, str], ...] = ()
    deadline: float | None = None  # time.monotonic() value
    shown: tuple[str, ...] = ()

    @property
    def command(self) -> tuple[str, ...]:
        """For people."""
        return self.shown or ("pytest" if self.mode == "pytest" else "python", *self.args)


@dataclass
class RawRun:
    """What came out: verified records, and how it ended. `limit`: time, memory, pids, disk, output, deadline or None."""

    records: list[Record] = field(default_factory=list)
    status: int | None = None
    seconds: float = 0.0
    log: str = ""
    log_bytes: int = 0
    limit: str | None = None
    broken: str | None = None
    request: RunRequest = field(default_factory=RunRequest)


class _Log:
    """The head and the tail of a stream, and how long it was."""

    def __init__(self, kept_kb: int) -> None:
        self._half = kept_kb * 512
        self._head, self._tail, self.total = bytearray(), bytearray(), 0

    def add(self, data: bytes) -> None:
        self.total += len(data)
        room = self._half - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        if data:
            self._tail = (self._tail + data)[-self._half:]

    def text(self) -> str:
        cut = self.total - len(self._head) - len(self._tail)
        middle = f"\n[... {cut} bytes cut ...]\n".encode() if cut else b""
        return (bytes(self._head) + middle + bytes(self._tail)).decode("utf-8", errors="replace")


class _Progress:
    """Follows the records of a run and tells when it has hung."""

    def __init__(self, limits: Limits, deadline: float | None) -> None:
        self._limits, self._deadline = limits, deadline
        self._since = time.monotonic()
        self._allowed = limits.collect_s
        self._collected = False
        self.limit: str | None = None

    def note(self, record: Record) -> None:
        self._collected = self._collected or record["k"] in ("ready", "start")
        if not self._collected:
            return  # collection has one limit as a whole
        self._since = time.monotonic()
        if record["k"] in ("start", "slow", "phase"):
            self._allowed = self._limits.test_s + self._limits.silence_s
        else:
            self._allowed = self._limits.collect_s

    def within(self) -> bool:
        now = time.monotonic()
        if self._deadline is not None and now > self._deadline:
            self.limit = "deadline"
        elif now - self._since > self._allowed:
            self.limit = "time"
        return self.limit is None


class Box:
    """A started container with the tree in place."""

    def __init__(self, engine: DockerEngine, container: str, root: str, limits: Limits) -> None:
        self._engine, self.container, self.root, self.limits = engine, container, root, limits
        self._used = False

    def unpack(self, archive: bytes, attested: Mapping[str, str]) -> None:
        """Lay the tree out, owned by the supervisor's uid. `attested`: path -> sha256 of files that the box must then hold. Raises EngineUnavailable."""
        said = _Log(64)
        done = execute(self._engine.api, self.container, ["/bin/sh", "-c", UNPACK, "sh", self.root, *attested],
                       lambda _, data: said.add(data), user=str(SUPERVISOR_UID), stdin=archive)
        if done.status != 0:
            if self._engine.closed:
                raise Interrupted("the run was stopped")
            raise EngineUnavailable(f"the tree could not be unpacked in a box: {said.text()[-300:]}")
        held = SUM.findall(said.text())
        differs = [path for path, has, wanted in zip(attested, held, attested.values(), strict=False) if has != wanted]
        if differs or len(held) < len(attested):
            raise EngineUnavailable(f"a box does not hold the tree that it was given: {', '.join(differs[:3]) or 'its files could not be read'}")

    def put(self, path: str, data: bytes) -> None:
        """Write one file below the root, with its folders, as the supervisor's uid."""
        script = 'mkdir -p "$(dirname "$1")" && cat > "$1"'
        done = execute(self._engine.api, self.container, ["/bin/sh", "-c", script, "sh", f"{self.root}/{path}"],
                       lambda *_: None, user=str(SUPERVISOR_UID), stdin=data)
        if done.status != 0:
            raise EngineUnavailable(f"{path} could not be written in a box")

    def open_folders(self) -> None:
        """Let the runner make new files in every folder; the sticky bit keeps it from replacing those that are there."""
        execute(self._engine.api, self.container, ["find", self.root, "-type", "d", "-exec", "chmod", "1777", "{}", "+"],
                lambda *_: None, user=str(SUPERVISOR_UID))

    def run(self, request: RunRequest) -> RawRun:
        """Start the runner as its own uid and read its report until it ends, a limit is hit, or the box dies."""
        if self._used:
            self.end_runner()  # what the run before left behind
        self._used = True
        channel, log = ReportChannel(), _Log(self.limits.kept_log_kb)
        progress = _Progress(self.limits, request.deadline)
        result = RawRun(request=request)

        def sink(stream: int, data: bytes) -> None:
            if stream == STDOUT:
                for record in channel.feed(data):
                    progress.note(record)
                    result.records.append(record)
            elif stream == STDERR:
                log.add(data)

        def watch() -> bool:
            if log.total > self.limits.output_mb * 1024 * 1024:
                progress.limit = "output"
            return progress.within() and not channel.broken and not channel.ended and not self._engine.closed

        body = self._payload(request, channel)
        try:
            done = execute(
                self._engine.api, self.container, [inside.interpreter(request.mode), "-c", BOOT], sink, user=str(RUNNER_UID),
                stdin=struct.pack(">I", len(body)) + body,
                environment=run_environment(request.environment), watch=watch)
        except APIError as error:
            raise EngineUnavailable(f"the engine refused a run: {error.explanation}") from error
        if self._engine.closed:
            raise Interrupted("the run was stopped")
        ended = next((r["status"] for r in reversed(result.records) if r["k"] == "exit"), None)
        result.status = ended if channel.ended else done.status
        result.seconds, result.log, result.log_bytes = done.seconds, log.text(), log.total
        result.limit, result.broken = progress.limit, channel.broken
        if not channel.ended or ended != 0:
            self.end_runner()  # first: where it holds every process that the box may have, nothing could be looked at
            result.limit = result.limit or self._resource_limit(channel.ended)
        return result

    def _payload(self, request: RunRequest, channel: ReportChannel) -> bytes:
        limits = self.limits
        payload: dict[str, Any] = {
            "key": channel.key.hex(), "root": self.root, "mode": request.mode, "args": list(request.args),
            "wanted": list(request.wanted) if request.wanted is not None else None, "test_seconds": limits.test_s,
            "suite_seconds": limits.suite_s, "collect_seconds": limits.collect_s, "trace": request.trace, "order": request.order,
            "collect": request.collect, "settings": dict(request.settings), "launcher": inside.source("launcher.py"),
            "driver": inside.driver(request.mode), "tracer": inside.tracer(request.mode) if request.trace else "",
        }
        return json.dumps(payload).encode()

    def end_runner(self) -> None:
        """Kill whatever the runner's uid left behind; the supervisor's own is out of its reach."""
        self._persist(["/bin/sh", "-c", "kill -9 -1"], RUNNER_UID, lambda status, _: status in (0, 1))  # 1: there was nothing left

    def _persist(self, argv: list[str], user: int, done: Callable[[int | None, str], bool]) -> str:
        """What a command of ours says, tried again for a while: in a box that is full of processes it may not start at once."""
        for _ in range(8):
            said = _Log(8)
            try:
                status = execute(self._engine.api, self.container, argv, lambda _, data, said=said: said.add(data), user=str(user)).status  # type: ignore[misc]
            except APIError:
                status = None  # the runtime's own process had no room
            if done(status, said.text()) or self._engine.closed:
                break
            time.sleep(0.25)
        return said.text()

    def _resource_limit(self, ended: bool) -> str | None:
        """Which resource ran out, from the kernel's own counters. The runner's end (not its tests) decides for memory and pids."""
        folders = [self.root, "/tmp", "/home/runner", "/var/tmp"]
        text = self._persist(["/bin/sh", "-c", LOOK, "sh", *folders], SUPERVISOR_UID, lambda _, text: "%" in text)
        counts = [line.split() for line in text.splitlines() if len(line.split()) == 2]
        if any(name == "oom_kill" and int(value) > 0 for name, value in counts):
            return "memory"
        if any(name == "max" and value.isdigit() and int(value) > 0 for name, value in counts):
            return "pids"
        if any(word[:-1].isdigit() and int(word[:-1]) >= 99 for row in counts for word in row if word.endswith("%")):
            return "disk"
        return None


@contextmanager
def open_box(
    engine: DockerEngine, image: str, root: str, archive: bytes, limits: Limits, writable: bool = False, services: Sequence[Service] = (),
    attested: Mapping[str, str] | None = None,
) -> Iterator[Box]:
    """A new box with the archive unpacked at `root`, its services on its loopback; all removed whatever happens. `attested`: see Box.unpack.

    Raises EngineUnavailable, ImageUnavailable, Interrupted.
    """
    with open_services(engine, services) as network, _started(engine, image, root, archive, limits, writable, network, attested or {}) as box:
        yield box


@contextmanager
def _started(
    engine: DockerEngine, image: str, root: str, archive: bytes, limits: Limits, writable: bool, network: str | None,
    attested: Mapping[str, str],
) -> Iterator[Box]:
    tree_mb = len(archive) // (1024 * 1024) + 1
    host = box_arguments(root, replace(limits), tree_mb, engine.runtime, writable, network)
    container = engine.start_container(
        image, ["/usr/bin/python3", "-I", "-S", "-c", SUPERVISOR], host, user=f"{SUPERVISOR_UID}:{SUPERVISOR_UID}",
        working_dir="/", environment={}, stdin_open=False, tty=False,
        **({} if network else {"hostname": HOSTNAME}))  # `network_disabled` would leave it without localhost
    try:
        box = Box(engine, container, root, limits)
        box.unpack(archive, attested)
        if writable:
            box.open_folders()
        yield box
    finally:
        engine.discard(container)
