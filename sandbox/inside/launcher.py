"""First code of a run: moves the report channel out of reach, then starts the test runner or a script.

Started with the namespace {"payload": {...}}: key (hex), root, mode (pytest | script), args, wanted (ids or null), test_seconds,
suite_seconds (stop before the next test; null for never), order (files, most relevant first, for a suite too long to finish),
trace ({file: [lines]} or null), reporter and tracer (source texts).
"""

import ctypes
import fcntl
import hashlib
import hmac
import json
import os
import sys
import threading
import traceback

REPORT_DESCRIPTOR = 200
TEXT_LIMIT = 6000


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


def run_pytest(payload, channel):
    import pytest

    space = {"__name__": "dualgate_reporter"}
    exec(compile(payload["reporter"], "<dualgate reporter>", "exec"), space)
    reporter = space["Reporter"](channel, payload)
    args = list(payload["args"]) + space["steady_options"](payload["root"])
    sys.argv = ["pytest"] + args
    return int(pytest.main(args, plugins=[reporter]))


def run_script(payload, channel):
    """Exit status 0 passes, but only as the script's own end: an exit from the code under test is a failure."""
    import runpy

    path = payload["args"][0]
    sys.argv = [path]
    # As `python FILE` would: the script's own folder first, which holds nothing but the script.
    sys.path.insert(0, os.path.dirname(path))
    channel.send({"k": "items", "items": [[payload["wanted"][0], path, 1]]})
    channel.send({"k": "start", "i": 0})
    record = {"k": "phase", "i": 0, "when": "call", "outcome": "passed", "seconds": 0.0}
    try:
        runpy.run_path(path, run_name="__main__")
    except BaseException as error:
        frames = traceback.extract_tb(error.__traceback__)
        inner = [f for f in frames if not f.filename.startswith("<frozen") and "runpy" not in f.filename]
        own_end = isinstance(error, SystemExit) and error.code in (None, 0) and inner and inner[-1].filename == path
        if not own_end:
            text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
            record.update(
                outcome="failed", message=text[-TEXT_LIMIT:], exception=type(error).__name__,
                short=("%s: %s" % (type(error).__name__, error))[:2000],
                frames=[[f.filename, f.lineno, f.name] for f in inner][-30:],
            )
    channel.send(record)
    return 0 if record["outcome"] == "passed" else 1


def main(payload):
    channel = Channel(bytes.fromhex(payload.pop("key")))
    close_standard_streams()
    channel.send({"k": "hello", "python": sys.version.split()[0]})
    os.chdir(payload["root"])
    for folder in (payload["root"] + "/src", payload["root"]):
        if folder not in sys.path and os.path.isdir(folder):
            sys.path.append(folder)  # last, so that nothing in the tree can shadow an installed module
    tracer = None
    if payload.get("trace"):
        space = {"__name__": "dualgate_tracer"}
        exec(compile(payload["tracer"], "<dualgate tracer>", "exec"), space)
        tracer = space["LineTracer"](payload["root"], payload["trace"])
        tracer.start()
    status = 120
    try:
        status = {"pytest": run_pytest, "script": run_script}[payload["mode"]](payload, channel)
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
