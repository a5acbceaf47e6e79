"""First code of a run: moves the report channel out of reach, then starts the driver of the test runner.

Started with the namespace {"payload": {...}}: key (hex), root, mode, args, wanted (ids or null), test_seconds, suite_seconds (stop before the
next test; null for never), collect_seconds, order (groups, most relevant first, for a suite too long to finish), trace ({file: [lines]} or null),
collect (find the tests, run none), settings (the plan's words for the driver), driver and tracer (source
texts; no tracer where the driver counts lines by itself). A driver defines
run(payload, channel) -> exit status.
"""

import ctypes
import fcntl
import hashlib
import hmac
import json
import os
import subprocess
import sys
import threading
import time
import traceback

REPORT_DESCRIPTOR = 200


class Channel:
    """Signed records on a descriptor that children do not inherit; the key is hashed forward after each."""

    def __init__(self, key):
        self.key = key
        self.sequence = 0
        self.pid = os.getpid()
        self.lock = threading.Lock()
        self.descriptor = fcntl.fcntl(1, fcntl.F_DUPFD_CLOEXEC, REPORT_DESCRIPTOR)
        self._write = os.write
        self._hmac = hmac.new
        self._sha256 = hashlib.sha256
        self._dumps = json.dumps
        self._getpid = os.getpid

    def send(self, record):
        if self._getpid() != self.pid:
            return
        with self.lock:
            body = self._dumps(record, ensure_ascii=True).encode("ascii")
            mac = self._hmac(self.key, b"%d:" % self.sequence + body, self._sha256).hexdigest()[:32]
            line = mac.encode("ascii") + b" " + body + b"\n"
            self.sequence += 1
            self.key = self._sha256(self.key + b"next").digest()
            while line:
                line = line[self._write(self.descriptor, line):]


def close_standard_streams():
    """Standard output becomes the log stream, standard input is empty, and other processes of the uid can't look in."""
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    try:
        ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)  # PR_SET_DUMPABLE
    except (OSError, AttributeError):
        pass


def start_display(number):
    """The X server of an environment that has one; tests begin when it listens."""
    if not number or not os.path.exists("/usr/bin/Xvfb"):
        return
    with open(os.devnull, "r+b") as null:
        subprocess.Popen(["/usr/bin/Xvfb", number, "-screen", "0", "1280x1024x24", "-nolisten", "tcp"], stdin=null, stdout=null, stderr=null)
    for _ in range(100):
        if os.path.exists("/tmp/.X11-unix/X" + number.lstrip(":")):
            break
        time.sleep(0.05)


def main(payload):
    channel = Channel(bytes.fromhex(payload.pop("key")))
    close_standard_streams()
    channel.send({"k": "hello", "python": sys.version.split()[0]})
    os.chdir(payload["root"])
    start_display(os.environ.get("DISPLAY"))
    tracer = None
    if payload["tracer"]:
        space = {"__name__": "dualgate_tracer"}
        exec(compile(payload["tracer"], "<dualgate tracer>", "exec"), space)
        tracer = space["LineTracer"](payload["root"], payload["trace"])
        tracer.start()
    status = 120
    try:
        space = {"__name__": "dualgate_driver"}
        exec(compile(payload["driver"], "<dualgate driver>", "exec"), space)
        status = space["run"](payload, channel)
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else 1
    except BaseException:
        traceback.print_exc()
    if tracer:
        channel.send({"k": "lines", "executed": tracer.stop()})
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass
    channel.send({"k": "exit", "status": status})
    os._exit(status & 0xFF)


main(payload)  # noqa: F821
