"""`go test -json` -> the records of a run. Runs beside the tests, under the image's Python, and holds the channel: no test has it.

args: groups, none for all; wanted: units are chosen with -run, and the rest is left out of the report. settings: directory (of the module, from the
root), packages [[folder from the module, import path, group], ...], flags, cache [the environment's, the run's own], script ([path, name] or null).
"""

import collections
import json
import os
import re
import signal
import subprocess
import threading
import time

MESSAGE_LIMIT = 6000
OUTPUT_LIMIT = 16000
CHOSEN_MOST = 400  # units beyond which all of a package are run and the rest is left out of the report
ALIVE_S = 20.0
GRACE_S = 4.0
TEST_FUNCTION = re.compile(r"^func ((?:Test|Example|Fuzz)(?:[^a-z\s(]\w*)?)\s*\(", re.MULTILINE)
PLACE = re.compile(r"^\s*(?:Error Trace:\s+)?((?:/|[\w.-]+/)*[\w.-]+\.go):(\d+)(?::\d+)?:?\s*(.*)$")
STACK = re.compile(r"^\t(/\S+\.go):(\d+)(?: \+0x[0-9a-f]+)?$")
NOISE = re.compile(r"^\s*(=== (RUN|PAUSE|CONT|NAME)|--- (FAIL|PASS|SKIP):)")
ENDS = {"pass": "passed", "fail": "failed", "skip": "skipped"}


def cut(text, limit=MESSAGE_LIMIT):
    return text if len(text) <= limit else text[:limit // 3] + "\n[...]\n" + text[-(limit * 2 // 3):]


class Test:
    """One test of one package, as far as it has got."""

    def __init__(self, place, name, now):
        self.place, self.name, self.since = place, name, now
        self.output, self.size, self.ended, self.paused, self.hung = [], 0, False, False, False

    def add(self, text):
        if self.size < OUTPUT_LIMIT:
            self.output.append(text)
            self.size += len(text)

    def text(self):
        return "".join(self.output)


class Package:
    """What is known of one package of the run."""

    def __init__(self, folder, path, group):
        self.folder, self.path, self.group = folder, path, group
        self.tests = collections.OrderedDict()
        self.output, self.started, self.normal, self.broken = [], False, False, ""

    def running(self):
        return [t for t in self.tests.values() if not t.ended]


class GoRun:
    """Follows one `go test -json`. Everything that is sent goes through here."""

    def __init__(self, channel, payload):
        self.send, self.root = channel.send, payload["root"]
        settings = payload["settings"]
        self.directory = os.path.join(self.root, settings["directory"]) if settings["directory"] else self.root
        self.wanted = None if payload["wanted"] is None else set(payload["wanted"])
        self.limit, self.collect = payload["test_seconds"], payload["collect"]
        self.packages = collections.OrderedDict((path, Package(folder, path, group)) for folder, path, group in settings["packages"])
        self.places, self.functions, self.build_output = {}, {}, collections.defaultdict(list)
        self.count = self.failed = 0
        self.lock = threading.RLock()
        self.cut = False

    # tests

    def place_of(self, package, name):
        """The number of a test among the items; None for one that was not asked for."""
        known = package.group + "::" + name
        if self.wanted is not None and known not in self.wanted:
            return None
        if known not in self.places:
            file, line = self.where(package, name.split("/")[0])
            self.places[known] = len(self.places)
            self.send({"k": "items", "items": [[known, os.path.join(self.root, file), line]]})
        return self.places[known]

    def where(self, package, function):
        return self.functions_of(package).get(function, (self.relative(os.path.join(self.directory, package.folder)), 0))

    def functions_of(self, package):
        """Test function -> (file, line), by the text of the package's test files."""
        if package.path not in self.functions:
            found = self.functions[package.path] = {}
            folder = os.path.join(self.directory, package.folder)
            for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
                if not name.endswith("_test.go"):
                    continue
                with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
                    text = file.read()
                for match in TEST_FUNCTION.finditer(text):
                    found[match[1]] = (self.relative(os.path.join(folder, name)), text.count("\n", 0, match.start()) + 1)
        return self.functions[package.path]

    def folder_of(self, package):
        """From the root; "" for the root itself."""
        folder = os.path.relpath(os.path.join(self.directory, package.folder), self.root)
        return "" if folder == "." else folder

    def relative(self, path):
        path = os.path.normpath(path)
        return path[len(self.root) + 1:] if path.startswith(self.root + "/") else path

    # events

    def event(self, event):
        if "ImportPath" in event:
            self.build_output[event["ImportPath"].split(" ")[0]].append(event.get("Output", ""))
            return
        package = self.packages.get(event.get("Package"))
        if package is None:
            return
        action, name = event.get("Action"), event.get("Test")
        if name is None:
            self.of_package(package, action, event)
        else:
            self.of_test(package, action, name, event)

    def of_test(self, package, action, name, event):
        now, test = time.monotonic(), package.tests.get(name)
        if test is None:
            if action not in ("run", "output", "pass", "fail", "skip"):
                return
            test = package.tests[name] = Test(self.place_of(package, name), name, now)
            self.touch(package, name, now)
            if test.place is not None:
                self.send({"k": "start", "i": test.place})
        if action == "output":
            test.add(event.get("Output", ""))
        elif action in ("pause", "cont"):
            test.paused, test.since = action == "pause", now
        elif action in ENDS and not test.ended:
            self.end(package, test, ENDS[action], event.get("Elapsed", 0.0))
            self.touch(package, name, now)

    def touch(self, package, name, now):
        """A test waits for its subtests: its own time begins again with each."""
        while "/" in name:
            name = name.rpartition("/")[0]
            if name in package.tests:
                package.tests[name].since = now

    def end(self, package, test, outcome, seconds):
        test.ended = True
        self.failed += outcome == "failed"
        self.count += 1
        if test.place is None:
            return
        record = {"k": "phase", "i": test.place, "when": "call", "outcome": outcome, "seconds": round(seconds, 4)}
        if outcome == "failed":
            record.update(self.failure(package, test.name, test.text()))
        elif outcome == "skipped":
            record["message"] = cut(self.said(test.text()), 500)
        self.send(record)
        self.send({"k": "end", "i": test.place})

    def said(self, text):
        return "\n".join(line.rstrip() for line in text.splitlines() if line.strip() and not NOISE.match(line)).strip()

    def failure(self, package, name, text):
        said = self.said(text)
        panic = re.search(r"^panic: (.*?)(?: \[recovered.*)?$", text, re.MULTILINE)
        if panic:
            return {"message": cut(said), "exception": "panic", "short": "panic: " + panic[1][:2000], "frames": self.stack(text)}
        if not said:
            return {"message": "a subtest failed", "exception": "Failed", "short": "a subtest failed", "frames": []}
        frames, words = [], ""
        lines = said.splitlines()
        for place, line in enumerate(lines):
            match = PLACE.match(line)
            if match:
                frames = [[self.file(package, match[1]), int(match[2]), name.split("/")[0]]]
                words = match[3] or next((other.strip() for other in lines[place + 1:] if other.strip()), "")
                break
        error = re.search(r"^\s*Error:\s+(.*(?:\n\s+\t.*)*)", said, re.MULTILINE)
        return {"message": cut(said), "exception": "Failed", "short": cut((error[1] if error else words) or lines[-1], 2000), "frames": frames}

    def file(self, package, name):
        if name.startswith("/"):
            return name
        beside = os.path.normpath(os.path.join(self.directory, package.folder, name))
        return beside if os.path.exists(beside) else os.path.join(self.directory, name)

    def stack(self, text):
        """Frames of the first goroutine that a trace shows, outermost first."""
        frames, before, begun = [], "", False
        for line in text.splitlines():
            if line.startswith("goroutine "):
                if begun and frames:
                    break
                begun = True
            match = STACK.match(line)
            if match:
                frames.append([match[1], int(match[2]), re.sub(r"\(.*\)$", "", before).rsplit("/", 1)[-1][-200:]])
            before = line.strip()
        inside = [f for f in frames if f[0].startswith(self.root + "/")]
        return (inside or frames)[:30][::-1]

    # packages

    def of_package(self, package, action, event):
        text = event.get("Output", "")
        if action == "start":
            package.started = True
        elif action == "output":
            package.normal = package.normal or text in ("PASS\n", "FAIL\n")
            if re.search(r"\[(build|setup) failed\]", text):
                package.broken = package.path
            elif len(package.output) < 400:
                package.output.append(text)
        elif action in ENDS:
            package.broken = event.get("FailedBuild", "").split(" ")[0] or package.broken
            self.close(package, ENDS[action])

    def is_end_of_broken(self, event):
        package = self.packages.get(event.get("Package"))
        return package is not None and event.get("Action") == "fail" and "Test" not in event and bool(package.broken or event.get("FailedBuild"))

    def close(self, package, outcome):
        """The end of a package: what did not compile, what was running when its program died, what never began."""
        if package.broken:
            package.normal = True
            self.failed += 1
            text = "".join(self.build_output.get(package.broken) or self.build_output.get(package.path) or package.output)
            self.send({"k": "uncollected", "file": package.group, "message": cut(text.strip() or "the package does not compile")})
            return
        if outcome == "skipped" and not package.tests:
            return  # no test files
        died = not package.normal and not (self.collect and outcome == "passed")
        if package.tests or not died:
            self.send({"k": "collected", "file": package.group})
        if died:
            self.death(package)

    def death(self, package):
        self.send({"k": "died", "file": package.group})
        unfinished = package.running()
        text = "".join(package.output)
        named = any(t.hung for t in unfinished) or any("panic: " in t.text() for t in package.tests.values() if t.ended)
        if not named and "panic: " in text and len(unfinished) == 1:
            self.end(package, unfinished[0], "failed", 0.0)
        for test in unfinished:
            if test.hung and test.place is not None:
                frames = self.stack(text + test.text())
                file, line = self.where(package, test.name.split("/")[0])
                self.send({"k": "slow", "i": test.place, "frame": frames[-1] if frames else [os.path.join(self.root, file), line, test.name]})
        leaves = {t.name for t in unfinished if not t.paused and not any(o.name.startswith(t.name + "/") for o in unfinished)}
        lost = [t.place for t in unfinished if not t.ended and not t.hung and t.place is not None and (named or t.name not in leaves)]
        never = [name for name in self.functions_of(package) if name not in package.tests]
        lost += [place for place in (self.place_of(package, name) for name in never) if place is not None]
        if lost:
            self.send({"k": "lost", "i": lost})
        if not package.tests and not self.cut:
            tail = self.said(text)
            self.send({"k": "uncollected", "file": package.group, "message": cut(tail or "its program ended before the first test")})

    # time

    def hanging(self):
        """Tests that have had their time: (package, test)."""
        now, found = time.monotonic(), []
        for package in self.packages.values():
            running = [t for t in package.running() if not t.paused]
            for test in running:
                waits = any(o.name.startswith(test.name + "/") for o in running)
                if not waits and not test.hung and self.limit and now - test.since > self.limit:
                    found.append((package, test))
        return found

    def busy(self):
        return any(not t.paused for p in self.packages.values() for t in p.running())


def programs_in(folder):
    """Process ids of test programs that were started in a folder."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink("/proc/%s/exe" % pid).split(" ")[0].endswith(".test") and os.readlink("/proc/%s/cwd" % pid) == folder:
                found.append(int(pid))
        except OSError:
            continue
    return found


def signal_all(pids, number):
    for pid in pids:
        try:
            os.kill(pid, number)
        except OSError:
            pass


def watch(run, process, ended, stop_at):
    """Ends what hangs, and the whole when its time is spent; says that it is alive while it compiles."""
    said, quit_at = time.monotonic(), {}
    while not ended.wait(0.2):
        now = time.monotonic()
        with run.lock:
            for package, test in run.hanging():
                test.hung = True
                folder = os.path.normpath(os.path.join(run.directory, package.folder))
                signal_all(programs_in(folder), signal.SIGQUIT)
                quit_at[folder] = now + GRACE_S
            for folder in [f for f, at in quit_at.items() if now > at]:
                signal_all(programs_in(folder), signal.SIGKILL)
                quit_at[folder] = now + GRACE_S
            if not run.busy() and now - said > ALIVE_S:
                run.send({"k": "alive"})
                said = now
            if stop_at is not None and now > stop_at and not run.cut:
                run.cut = True
                run.send({"k": "cut"})
                os.killpg(process.pid, signal.SIGKILL)


def forward_errors(run, stream):
    """The tool's own words: into the log, and by package for what does not compile (go 1.23 and older)."""
    package = None
    for raw in stream:
        line = raw.decode("utf-8", "replace")
        os.write(2, raw)
        match = re.match(r"# (\S+)", line)
        if match:
            package = match[1]
        elif package:
            with run.lock:
                if len(run.build_output[package]) < 400:
                    run.build_output[package].append(line)


def chosen(run, payload):
    """(-run pattern or None, import paths) of what was asked for."""
    groups = payload["args"] or [p.group for p in run.packages.values()]
    order = payload["order"] or []
    rank = {group: place for place, group in enumerate(order)}
    paths = [p.path for p in run.packages.values() if p.group in set(groups)]
    paths.sort(key=lambda path: rank.get(run.packages[path].group, len(rank)))
    if run.wanted is None:
        return None, paths
    names = sorted({name.partition("::")[2].split("/")[0] for name in run.wanted})
    asked = {name.partition("::")[0] for name in run.wanted}
    paths = [path for path in paths if run.packages[path].group in asked]
    return ("^(%s)$" % "|".join(map(re.escape, names)) if len(names) <= CHOSEN_MOST else None), paths


def go_test(run, payload, channel):
    pattern, paths = chosen(run, payload)
    settings = payload["settings"]
    if not paths:
        channel.send({"k": "ready", "count": 0})
        return 5
    argv = ["go", "test", "-json", "-vet=off", "-count=1", "-timeout=0"] + settings["flags"]
    argv += ["-list", "^(Test|Example|Fuzz)"] if payload["collect"] else (["-run", pattern] if pattern else [])
    profile = None
    if payload.get("trace"):
        profile = "/tmp/dualgate.cover"
        folders = {os.path.dirname(path) for path in payload["trace"]}
        covered = [p.path for p in run.packages.values() if run.folder_of(p) in folders]
        argv += ["-coverprofile", profile, "-coverpkg", ",".join(covered)] if covered else []
    channel.send({"k": "ready", "count": len(paths)})
    process = subprocess.Popen(argv + paths, cwd=run.directory, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    stop_at = time.monotonic() + payload["suite_seconds"] if payload["suite_seconds"] else None
    ended = threading.Event()
    helpers = [threading.Thread(target=watch, args=(run, process, ended, stop_at), daemon=True),
               threading.Thread(target=forward_errors, args=(run, process.stderr), daemon=True)]
    for helper in helpers:
        helper.start()
    waiting = []
    for raw in process.stdout:
        try:
            event = json.loads(raw)
        except ValueError:
            os.write(2, raw)
            continue
        if event.get("Action") == "output":
            os.write(2, event.get("Output", "").encode("utf-8", "replace"))
        with run.lock:
            if payload["collect"]:
                listed(run, event)
            if run.is_end_of_broken(event):
                waiting.append(event)  # go 1.23 and older tell why on the other stream, in no order
            else:
                run.event(event)
    status = process.wait()
    ended.set()
    for helper in helpers:
        helper.join(5)
    for event in waiting:
        run.event(event)
    if profile and os.path.exists(profile):
        channel.send({"k": "lines", "executed": executed(run, profile, payload["trace"])})
    if payload["collect"]:
        return status if run.places or run.failed else 5
    if not run.count and not run.failed and status == 0:
        return 5
    return status


def listed(run, event):
    package = run.packages.get(event.get("Package"))
    name = event.get("Output", "").strip()
    if package is not None and "Test" not in event and re.match(r"(Test|Example|Fuzz)\w*$", name):
        run.place_of(package, name)


def executed(run, profile, trace):
    """Traced lines in blocks that ran: {file: [lines]}; None where no block holds any of them."""
    folders = {p.path: run.folder_of(p) for p in run.packages.values()}
    ran, known = collections.defaultdict(set), collections.defaultdict(set)
    with open(profile, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            match = re.match(r"(.+)/([^/]+\.go):(\d+)\.\d+,(\d+)\.\d+ \d+ (\d+)$", line)
            if match and match[1] in folders:
                path, block = os.path.join(folders[match[1]], match[2]), range(int(match[3]), int(match[4]) + 1)
                known[path].update(block)
                if int(match[5]):
                    ran[path].update(block)
    if not any(known[path] & set(numbers) for path, numbers in trace.items()):
        return None
    return {path: sorted(set(numbers) & ran[path]) for path, numbers in trace.items()}


def go_script(run, payload, channel):
    """A program of its own: exit status 0 passes."""
    path, name = payload["settings"]["script"]
    channel.send({"k": "items", "items": [[name, os.path.join(run.root, path), 1]]})
    channel.send({"k": "ready", "count": 1})
    channel.send({"k": "start", "i": 0})
    package = "./" + os.path.relpath(os.path.join(run.root, os.path.dirname(path)), run.directory)
    began = time.monotonic()
    built = subprocess.run(["go", "build", "-o", "/tmp/dualgate-script", package], cwd=run.directory, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT)
    text = built.stdout.decode("utf-8", "replace")
    record = {"k": "phase", "i": 0, "when": "call", "outcome": "passed", "seconds": 0.0}
    if built.returncode != 0:
        record.update(outcome="failed", message=cut(text), exception="build", short=cut(text.strip(), 2000), frames=[])
    else:
        done = subprocess.run(["/tmp/dualgate-script"], cwd=run.directory, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        text = done.stdout[-64000:].decode("utf-8", "replace")
        if done.returncode != 0:
            record.update(outcome="failed", **run.failure(Package(".", "", ""), "main", text + "\nexit status %d" % done.returncode))
    os.write(2, text.encode("utf-8", "replace"))
    record["seconds"] = round(time.monotonic() - began, 4)
    channel.send(record)
    channel.send({"k": "end", "i": 0})
    return 0 if record["outcome"] == "passed" else 1


def warm_cache(kept, own):
    """The environment's build cache as links in a folder that can be written: the tool refuses a cache on a read-only file system."""
    if os.path.isdir(own) or not os.path.isdir(kept):
        return
    for folder, _, names in os.walk(kept):
        mine = os.path.join(own, os.path.relpath(folder, kept))
        os.makedirs(mine, exist_ok=True)
        for name in names:
            os.symlink(os.path.join(folder, name), os.path.join(mine, name))


def run(payload, channel):
    warm_cache(*payload["settings"]["cache"])
    following = GoRun(channel, payload)
    if payload["settings"].get("script"):
        return go_script(following, payload, channel)
    return go_test(following, payload, channel)
