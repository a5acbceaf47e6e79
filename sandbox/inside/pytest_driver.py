"""pytest and its plugin of a run: one signed record a phase, per-test time limits, selection by exact id.

Works with pytest 2.8 to 9. Nothing here reads or changes an outcome; the host works it out from the phases.
"""

import importlib
import importlib.util
import os
import re
import signal
import sys
import threading
import time

import pytest

CHUNK = 400
MANY = 1500  # a suite that may not come to its end within its time: the tests nearest to the change go first
HANGS_BEFORE_HASTE = 2  # a suite with endless tests gets a shorter limit, by the longest test that did end


def run(payload, channel):
    for folder in (payload["root"] + "/src", payload["root"]):
        if folder not in sys.path and os.path.isdir(folder):
            sys.path.append(folder)  # last, so that nothing in the tree can shadow an installed module
    args = list(payload["args"]) + steady_options(payload["root"])
    sys.argv = ["pytest"] + args
    return int(pytest.main(args, plugins=[Reporter(channel, payload)]))


def steady_options(root):
    """Options that make a run repeatable without taking the repository's own options away."""
    mine = release(pytest)
    options = ["--confcutdir=" + root, "--maxfail=0"]
    options += ["-o", "cache_dir=/tmp/.pytest_cache", "--continue-on-collection-errors"] if mine >= (3, 0) else ["-p", "no:cacheprovider"]
    if mine >= (3, 3):
        options += ["--rootdir=" + root]
    if installed("xdist"):
        options += ["-n0"]
    if installed("pytest_cov") and release(importlib.import_module("pytest_cov")) >= (2, 6):
        options += ["--no-cov"]
    if installed("pytest_randomly"):
        options += ["--randomly-dont-reorganize", "--randomly-seed=0"]
    if installed("pytest_random_order"):
        options += ["--random-order-bucket=none"]
    return options


def release(module):
    """(major, minor) of a module's version; (0, 0) where it has none."""
    numbers = re.findall(r"\d+", getattr(module, "__version__", ""))[:2]
    return (int(numbers[0]), int(numbers[1])) if len(numbers) == 2 else (0, 0)


def installed(name):
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def names_of(items):
    """[(item, its id)], no two alike."""
    return list(zip(items, numbered([item.nodeid.replace("::()::", "::") for item in items])))  # how pytest 3 and older write an instance


class Reporter:
    def __init__(self, channel, payload):
        self.send = channel.send
        self.root = payload["root"]
        self.wanted = None if payload["wanted"] is None else set(payload["wanted"])
        self.limit = payload["test_seconds"]
        self.stop_at = time.monotonic() + payload["suite_seconds"] if payload.get("suite_seconds") else None
        self.order = payload.get("order")
        self.index = {}
        self.current = None
        self.ending = {}
        self.hung = 0
        self.longest = 0.0

    # collection

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config):
        for name in ("xmlpath", "htmlpath", "report_log"):
            if getattr(config.option, name, None):
                setattr(config.option, name, None)

    def pytest_collectreport(self, report):
        if report.failed:
            text = cut(getattr(report, "longreprtext", None) or report.longrepr)
            self.send({"k": "uncollected", "file": report.nodeid, "message": text})
        elif report.skipped:
            self.send({"k": "skipped_file", "file": report.nodeid, "message": cut(report.longrepr, 500)})
        elif report.nodeid.split("::")[0].endswith(".py") and "::" not in report.nodeid:
            self.send({"k": "collected", "file": report.nodeid})

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, session, config, items):
        rows = names_of(items)
        self.send({"k": "found", "count": len(rows)})
        if self.wanted is not None:
            kept = [item for item, name in rows if name in self.wanted]
            dropped = [item for item, name in rows if name not in self.wanted]
            names = {id(item): name for item, name in rows}
            if dropped:
                config.hook.pytest_deselected(items=dropped)
            items[:] = kept
            self.names = names
        else:
            self.names = {id(item): name for item, name in rows}
        if self.order and len(items) > MANY:
            rank = {path: place for place, path in enumerate(self.order)}
            items.sort(key=lambda item: rank.get(item.nodeid.split("::")[0], len(rank)))

    def pytest_collection_finish(self, session):
        rows = []
        for place, item in enumerate(session.items):
            self.index[id(item)] = place
            path, line, _ = item.location
            name = getattr(self, "names", {}).get(id(item), item.nodeid)
            rows.append([name, path, (line or 0) + 1])
        for start in range(0, len(rows), CHUNK):
            self.send({"k": "items", "items": rows[start:start + CHUNK]})
        self.send({"k": "ready", "count": len(rows)})

    # tests

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item, nextitem):
        if self.stop_at is not None and time.monotonic() > self.stop_at:
            item.session.shouldstop = "dualgate: the suite's time is spent"
        self.current = self.index.get(id(item))
        self.send({"k": "start", "i": self.current})
        previous = self.arm()
        try:
            yield
        finally:
            self.disarm(previous)
            self.send({"k": "end", "i": self.current})
            self.current = None

    def arm(self):
        if not self.limit or threading.current_thread() is not threading.main_thread():
            return None
        previous = signal.signal(signal.SIGALRM, self.on_alarm)
        signal.setitimer(signal.ITIMER_REAL, self.limit, self.limit)
        return previous

    def disarm(self, previous):
        if self.limit and threading.current_thread() is threading.main_thread():
            signal.setitimer(signal.ITIMER_REAL, 0)
            if previous is not None:
                signal.signal(signal.SIGALRM, previous)

    def on_alarm(self, number, frame):
        self.hung += 1
        self.send({"k": "slow", "i": self.current, "frame": [frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name]})
        spent = self.limit
        if self.hung >= HANGS_BEFORE_HASTE:
            self.limit = min(self.limit, max(5.0, 10 * self.longest))
        raise pytest.fail.Exception("dualgate: no end after %g s" % spent)

    @pytest.hookimpl(hookwrapper=True, trylast=True)
    def pytest_runtest_makereport(self, item, call):
        if call.excinfo is not None:
            entries = [[str(e.path), e.lineno + 1, e.name] for e in call.excinfo.traceback][-30:]
            self.ending[call.when] = {
                "exception": call.excinfo.typename, "short": cut(call.excinfo.exconly(), 2000), "frames": entries,
                "nearest": nearest_names(call.excinfo.value),
            }
        yield

    def pytest_runtest_logreport(self, report):
        if self.current is None:
            return
        if report.outcome == "passed":
            self.longest = max(self.longest, report.duration)
        record = {"k": "phase", "i": self.current, "when": report.when, "outcome": report.outcome,
                  "seconds": round(report.duration, 4)}
        if hasattr(report, "wasxfail"):
            record["wasxfail"] = cut(report.wasxfail, 300)
        ending = self.ending.pop(report.when, None)
        if report.outcome == "failed":
            record["message"] = cut(getattr(report, "longreprtext", None) or report.longrepr)
            output = "".join(text for name, text in report.sections)
            if output:
                record["output"] = cut(output, 2000)
            record.update(ending or {})
        elif report.outcome == "skipped":
            reason = report.longrepr
            record["message"] = cut(reason[2] if isinstance(reason, tuple) and len(reason) == 3 else reason, 500)
        self.send(record)

    def pytest_internalerror(self, excrepr):
        self.send({"k": "internal", "message": cut(excrepr)})
