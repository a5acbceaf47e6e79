"""Test runners of Node -> the records of a run. Runs beside them, under the image's Python, and holds the channel: no test has it.

args: groups (test files from the root), none for all; wanted: ids, the others are left out of the report. settings: suites [{folder, runner, files
(groups known to be its own), words, node, environment, named}], builds [{folder, command, name}], script ([path, name] or null).
"""

import collections
import hashlib
import hmac
import json
import os
import re
import secrets
import shlex
import shutil
import signal
import subprocess
import threading
import time

ALIVE_S = 20.0
GRACE_S = 10.0
COLLECT_S = 60.0  # a trial shows whether the tests start, not how they end
BUILD_S = 600.0
REPORTERS = "/opt/env/dualgate"
FACTS = "/opt/env/facts.json"
NODE = "/opt/env/bin/node"
UNSTARTED = object()
CHOSEN_MOST = 400  # tests beyond which all of a file are run and the rest is left out of the report
PIPE_READ = 65536
SUPERVISOR_UID = 2000
STRAYS_ROUNDS = 50  # a process that starts others as fast as it is ended
FRAME = re.compile(r"^\s*(?:at\s+|❯\s*)(?:(.*?)\s+\(?)?(?:file://)?(/[^\s()]+?|[\w.@-]+(?:/[\w.@-]+)*\.[cm]?[jt]sx?):(\d+):\d+\)?\s*$", re.MULTILINE)
COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
NAMED = re.compile(r"^([A-Z]\w*(?:Error|Exception))(?: \[\w+\])?: ", re.MULTILINE)


def cut(text, limit=6000):
    return text if len(text) <= limit else text[:limit // 3] + "\n[...]\n" + text[-(limit * 2 // 3):]


class NodeRun:
    """Everything that is sent goes through here."""

    def __init__(self, channel, payload):
        self.send, self.root = channel.send, payload["root"]
        self.wanted = None if payload["wanted"] is None else set(payload["wanted"])
        self.limit, self.collect = payload["test_seconds"], payload["collect"]
        self.places, self.ended = {}, collections.Counter()
        self.open = collections.OrderedDict()  # place -> since, of tests that run now
        self.files = {}  # group -> what was last said of it: begun, collected, broken
        self.seen = collections.defaultdict(int)
        self.failed = self.count = self.said = 0
        self.last = time.monotonic()
        self.stop_at = time.monotonic() + (min(COLLECT_S, payload["suite_seconds"] or COLLECT_S) if self.collect else payload["suite_seconds"] or 1e9)
        self.cut = False
        self.titles = None if self.wanted is None or len(self.wanted) > CHOSEN_MOST else sorted({re.sub(r" #\d+$", "", name) for name in self.wanted})

    def names(self):
        """A pattern of the titles that are wanted, as runners compare them: joined by a blank; None for all."""
        plain = [name.partition(" :: ")[2].replace(" > ", " ") for name in self.titles or ()]
        if not plain or any("(file)" in name or "(program)" in name for name in plain):
            return None
        return "^(%s)$" % "|".join(re.sub(r"\\? ", r"\\s+", re.escape(name)).replace("/", r"\/") for name in plain)

    def group(self, path):
        """A file as its id begins."""
        path = os.path.normpath(re.sub(r"^file://", "", path)) if path else ""
        real = os.path.realpath(path) if path else ""
        for one in (path, real):
            if one.startswith(self.root + "/"):
                return one[len(self.root) + 1:]
        return path or "(no file)"

    def name(self, group, titles, ends):
        """The id of the next test of these titles that has not ended; one that is retried begins more than once."""
        plain = group + " :: " + " > ".join(re.sub(r"\s+", " ", title).strip() for title in titles)
        number = self.ended[plain] + 1
        self.ended[plain] += ends
        return plain if number == 1 else "%s #%d" % (plain, number)

    def place(self, name, group):
        if self.wanted is not None and name not in self.wanted:
            return None
        if name not in self.places:
            self.places[name] = len(self.places)
            self.send({"k": "items", "items": [[name, group, 1]]})
        return self.places[name]

    def event(self, event):
        self.last = time.monotonic()
        handle = {"file": self.on_file, "start": self.on_start, "test": self.on_test, "end": self.on_end, "broken": self.on_broken}.get(event["e"])
        if handle:
            handle(event, self.group(event.get("f", "")))

    def on_file(self, event, group):
        self.files.setdefault(group, "begun")

    def on_start(self, event, group):
        if self.files.get(group) in ("collected", "broken"):
            return  # told late: its end is known
        place = self.place(self.name(group, event["t"], 0), group)
        if place is not None and place not in self.open:
            self.open[place] = time.monotonic()
            self.send({"k": "start", "i": place})

    def on_test(self, event, group):
        self.files.setdefault(group, "begun")
        place = self.place(self.name(group, event["t"], 1), group)
        self.seen[group] += 1
        self.count += 1
        self.failed += event["o"] == "failed"
        if place is None:
            return
        if place not in self.open:
            self.send({"k": "start", "i": place})
        self.open.pop(place, None)
        record = {"k": "phase", "i": place, "when": "setup" if event.get("w") == "setup" else "call", "outcome": event["o"], "seconds": round(event.get("s") or 0.0, 4)}
        if event["o"] == "failed":
            record.update(self.failure(event))
        elif event["o"] == "xfailed":
            record.update(outcome="skipped", wasxfail="expected to fail")
        self.send(record)
        self.send({"k": "end", "i": place})

    def failure(self, event):
        message, stack = COLOURS.sub("", event.get("m") or ""), COLOURS.sub("", event.get("st") or "")
        frames = []
        for match in FRAME.finditer(stack):
            path = match[2] if match[2].startswith("/") else os.path.join(self.root, match[2])
            path = os.path.realpath(path)
            if "/node_modules/" not in path and not path.startswith(REPORTERS):
                frames.append([path, int(match[3]), (match[1] or "")[-200:]])
        whole = message if message and message in stack else message + "\n" + stack
        exception = event.get("x") or "Error"
        named = NAMED.search(stack)
        if exception in ("Error", "fail") and named:
            exception = named[1]
        return {"message": cut(stack if message and message in stack else whole), "short": cut(message or stack, 2000), "exception": exception, "frames": frames[:30][::-1]}

    def on_end(self, event, group):
        if self.files.get(group) != "broken":
            self.files[group] = "collected"
            self.send({"k": "collected", "file": group})

    def on_broken(self, event, group):
        self.failed += 1
        self.files[group] = "broken"
        text = cut(COLOURS.sub("", event["m"]).strip() or "the file does not load")
        if self.seen[group]:
            self.send({"k": "collected", "file": group})
            self.on_test({"t": ["(file)"], "o": "failed", "m": text, "st": text}, group)
        else:
            self.send({"k": "uncollected", "file": group, "message": text})

    def died(self, status, tail):
        """A runner's process ended before it said so."""
        self.failed += 1
        for group in [group for group, state in self.files.items() if state == "begun"]:
            self.files[group] = "broken"
            if self.seen[group] or any(name.startswith(group + " :: ") for name in self.places):
                self.send({"k": "collected", "file": group})
                self.send({"k": "died", "file": group})
            else:
                self.send({"k": "uncollected", "file": group, "message": cut(tail) or "the program ended with %s" % status})
        self.open.clear()

    def hang(self):
        """Say what has had its time."""
        place = next(reversed(self.open), None)  # the innermost: those around it wait
        if place is not None:
            name = next(name for name, other in self.places.items() if other == place)
            self.send({"k": "slow", "i": place, "frame": [os.path.join(self.root, name.partition(" :: ")[0]), 1, name.partition(" :: ")[2]]})

    def alive(self):
        if time.monotonic() - self.said > ALIVE_S:
            self.said = time.monotonic()
            self.send({"k": "alive"})


class Pipe:
    """The folder that one process of a runner reports through: a key, what is asked of it, a FIFO."""

    def __init__(self, asked):
        self.folder = "/tmp/dualgate-" + secrets.token_hex(8)
        os.mkdir(self.folder, 0o700)
        self.key = secrets.token_hex(32).encode()
        for name, data in (("key", self.key), ("asked", json.dumps(asked).encode())):
            with open(os.path.join(self.folder, name), "wb") as file:
                file.write(data)
        os.mkfifo(self.folder + "/pipe", 0o600)
        self.descriptor = os.open(self.folder + "/pipe", os.O_RDWR | os.O_NONBLOCK)
        self.rest, self.sequence, self.forged = b"", 0, False

    def records(self):
        """What has arrived, in order; a line that is not signed ends the belief in all that follow."""
        while not self.forged:
            try:
                data = os.read(self.descriptor, PIPE_READ)
            except BlockingIOError:
                return
            *lines, self.rest = (self.rest + data).split(b"\n")
            for line in lines:
                record = self.checked(line)
                if record is None:
                    self.forged = True
                    return
                yield record

    def checked(self, line):
        mac, _, body = line.partition(b" ")
        signed = hmac.new(self.key, b"%d:" % self.sequence + body, hashlib.sha256).hexdigest()[:32].encode()
        self.sequence += 1
        return json.loads(body) if hmac.compare_digest(mac, signed) else None

    def close(self):
        os.close(self.descriptor)
        shutil.rmtree(self.folder, ignore_errors=True)


class Tap:
    """The Test Anything Protocol of one file, nested -> events. A line whose number is not the next one is nobody's result."""

    LINE = re.compile(r"^( *)(not )?ok(?: (\d+))?(?: -)? ?(.*?)( \{)?$")
    PLAN = re.compile(r"^( *)1\.\.(\d+)")
    DIRECTIVE = re.compile(r"(?<!\\)#\s*(skip|todo)\b", re.IGNORECASE)
    TIME = re.compile(r"(?<!\\)#\s*time=([\d.]+)(ms|s)")

    def __init__(self, run, path):
        self.run, self.path = run, path
        self.names, self.numbers, self.plans = [], collections.Counter(), {}
        self.wrong, self.problem, self.bad, self.diagnostic = {}, "", 0, None
        run.event({"e": "file", "f": path})

    def feed(self, line):
        line = COLOURS.sub("", line.rstrip("\n"))
        if self.diagnostic is not None:
            if line.strip() == "...":
                self.wrong.setdefault(len(self.diagnostic[0]) // 4, "\n".join(self.diagnostic[1]))
                self.diagnostic = None
            else:
                self.diagnostic[1].append(line[len(self.diagnostic[0]):])
            return
        started = re.match(r"^( *)# Subtest(?:: (.*))?$", line)
        if started:
            self.open(len(started[1]) // 4, started[2] or "")
            self.run.event({"e": "start", "f": self.path, "t": list(self.names)})
        elif line.strip() == "---" and self.wrong.get("open") is not None:
            self.diagnostic = (line[:len(line) - len(line.lstrip())], [])
        elif line.strip() == "}" and self.names:
            self.names.pop()
        elif self.PLAN.match(line):
            match = self.PLAN.match(line)
            self.plans[(len(match[1]) // 4, tuple(self.names[:len(match[1]) // 4]))] = int(match[2])
        elif line.lstrip().startswith("Bail out!"):
            self.problem = self.problem or line.strip()
        else:
            match = self.LINE.match(line)
            if match and len(match[1]) % 4 == 0:
                self.result(match)

    def open(self, depth, name):
        inside = depth if depth <= len(self.names) else depth - 1  # old releases indent the heading like what is below it
        self.names = self.names[:inside] + [name]
        self.numbers[(inside + 1, tuple(self.names))] = 0

    def result(self, match):
        depth, failed, number, rest, brace = len(match[1]) // 4, bool(match[2]), match[3], match[4], match[5]
        directive = self.DIRECTIVE.search(rest)
        name = re.sub(r"\\([#\\])", r"\1", re.split(r"(?<!\\)#", rest)[0].strip())
        above = tuple(self.names[:depth])
        if depth > len(self.names):
            return
        key = (depth, above)
        if number is not None and int(number) != self.numbers[key] + 1:
            self.problem = self.problem or "a result out of order: %s" % match[0].strip()
        self.numbers[key] += 1
        self.wrong["open"] = True if failed else None
        closes = len(self.names) > depth and self.names[depth] == name
        if closes or brace or depth == 0:
            self.tell([*above, name or "(no title)"], failed, directive, rest, depth)
        self.names = self.names[:depth]
        if brace:
            self.open(depth, name)

    def tell(self, titles, failed, directive, rest, depth):
        time_of = self.TIME.search(rest)
        seconds = float(time_of[1]) * (0.001 if time_of[2] == "ms" else 1) if time_of else 0.0
        event = {"e": "test", "f": self.path, "t": titles, "o": "skipped" if directive else "failed" if failed else "passed", "s": seconds}
        if event["o"] == "failed":
            self.bad += 1
            text = self.wrong.pop(depth + 1, "") or self.wrong.pop(depth, "")
            event.update(x="AssertionError", m=text or "not ok", st=text)
        self.run.event(event)

    def finish(self, status):
        for (depth, names), count in self.plans.items():
            if self.numbers[(depth, names)] != count:
                self.problem = self.problem or "%d results where %d were planned" % (self.numbers[(depth, names)], count)
        if (0, ()) not in self.plans:
            self.problem = self.problem or "the program ended with %s before its plan" % status
        if self.problem or (status and not self.bad):
            self.run.event({"e": "broken", "f": self.path, "m": self.problem or "the program ended with %s" % status})
        else:
            self.run.event({"e": "end", "f": self.path})
        return {"bad": self.bad + bool(self.problem)}


class Suite:
    """One runner in one folder."""

    def __init__(self, run, settings):
        self.run, self.settings = run, settings
        self.folder = os.path.join(run.root, settings["folder"]) if settings["folder"] else run.root
        self.runner = settings["runner"]
        self.node, self.said = settings["node"], ""
        self.words = list(settings["words"])

    def start(self, groups):
        """Run the named groups, or everything where there is None; the exit status."""
        return getattr(self, "run_" + self.runner)(groups)

    # what is installed

    def package(self, name):
        """The folder of an installed package, as Node looks for it."""
        folder = self.folder
        while True:
            place = os.path.join(folder, "node_modules", name)
            if os.path.isdir(place):
                return os.path.realpath(place)
            if named(folder) == name:
                return folder  # the repository of the runner itself
            if folder in (self.run.root, "/"):
                raise FileNotFoundError("%s is not installed" % name)
            folder = os.path.dirname(folder)

    def manifest(self, name):
        with open(os.path.join(self.package(name), "package.json"), encoding="utf-8") as file:
            return json.load(file)

    def program(self, name):
        """The file of a package's command."""
        commands = self.manifest(name).get("bin") or {}
        path = commands if isinstance(commands, str) else commands.get(name) or next(iter(commands.values()))
        return os.path.join(self.package(name), path)

    def major(self, name):
        return int(re.match(r"\d*", self.manifest(name).get("version", "0"))[0] or 0)

    # the runners

    def paths(self, groups):
        return [os.path.join(self.run.root, group) for group in groups]

    def run_jest(self, groups):
        argv = ["--ci", "--reporters=" + REPORTERS + "/jest.cjs", "--runInBand", "--coverage=false", "--forceExit", "--bail=0",
                "--watchman=false", "--cacheDirectory=/tmp/jest"]
        if groups is not None:
            argv += ["--runTestsByPath", *self.paths(groups)]
        if self.run.names():
            argv += ["--testNamePattern=" + self.run.names()]
        return self.begin("jest", argv + self.words, groups)

    def begin(self, name, words, groups):
        """A runner that has its tests in its own process: what they see of the command line is the repository's."""
        return self.follow([REPORTERS + "/%s_start.cjs" % name], groups, package=self.package(name), words=words, shown=self.words + self.settings["named"])

    def run_vitest(self, groups):
        argv = [self.program("vitest"), "run", "--reporter=" + REPORTERS + "/vitest.mjs", "--coverage.enabled=false", "--bail=0"]
        if self.run.names():
            argv += ["--testNamePattern=" + self.run.names()]
        return self.follow(argv + self.words + [os.path.relpath(path, self.folder) for path in self.paths(groups or ())], groups)

    def run_mocha(self, groups):
        argv = ["--reporter", REPORTERS + "/mocha.cjs", *self.words]
        if self.major("mocha") >= 8:
            argv += ["--no-parallel"]
        argv += ["--no-bail"] if self.major("mocha") >= 6 else []
        whole = self.begin("mocha", argv + (self.settings["named"] if groups is None else self.paths(groups)), groups)
        if whole is not UNSTARTED:
            return whole
        status = 0  # one file that does not load ends the whole of mocha before its first test
        for group, path in self.each(groups):
            status = max(status, self.begin("mocha", [*argv, path], [group]) or 0)
        return status

    def run_node_test(self, groups):
        status = 0
        for group, path in self.each(groups):
            argv = ["--test", "--test-reporter=" + REPORTERS + "/node_test.mjs", "--test-reporter-destination=stdout", *self.words, path]
            status = max(status, self.follow(argv, [group]) or 0)
        return status

    def run_tape(self, groups):
        status = 0
        for group, path in self.each(groups):
            status = max(status, self.follow(["-r", REPORTERS + "/tape.cjs", *self.words, path], [group]) or 0)
        return status

    def run_uvu(self, groups):
        status = 0
        for group, path in self.each(groups):
            status = max(status, self.follow(["-r", REPORTERS + "/uvu.cjs", *self.words, path], [group]) or 0)
        return status

    def run_ava(self, groups):
        argv = ["-r", REPORTERS + "/ava.cjs", self.program("ava"), "--tap", *self.words]
        return self.follow(argv + (self.paths(groups) if groups is not None else self.settings["named"]), groups, package=self.package("ava"))

    def run_jasmine(self, groups):
        argv = [self.program("jasmine"), "--helper=" + REPORTERS + "/jasmine_helper.cjs", "--random=false", *self.words]
        return self.follow(argv + self.paths(self.settings["files"] if groups is None else groups), groups)

    def run_karma(self, groups):
        """In a browser: the page holds every file that is not left out."""
        others = [] if groups is None else [path for path in self.paths(self.settings["files"]) if path not in self.paths(groups)]
        words = {"named": self.settings["named"], "others": others}
        shown = self.settings["named"] + self.words
        return self.follow([REPORTERS + "/karma_start.cjs"], groups, package=self.package("karma"), words=words, shown=shown)

    def run_tap(self, groups):
        """Each file by itself, by its own output: the program of tap starts them so too."""
        status = 0
        for group, path in self.each(groups):
            status = max(status, self.follow(self.tap_loaders() + [path], [group], tap=True) or 0)
        return status

    def run_qunit(self, groups):
        """Its command writes TAP and nothing of files: each by itself."""
        status = 0
        for group, path in self.each(groups):
            status = max(status, self.follow([self.program("qunit"), *self.words, path], [group], tap=True) or 0)
        return status

    def tap_loaders(self):
        """What tap 18 and newer have TypeScript read by."""
        folder = os.path.join(self.folder, "node_modules/@tapjs/typescript")
        return ["--import", "@tapjs/mock/import", "--import", "@isaacs/ts-node-temp-fork-for-pr-2009/import"] if os.path.isdir(folder) else []

    def run_script(self, groups):
        """A program is one test: its exit status 0 passes."""
        run, status = self.run, 0
        for group, path in self.each(groups):
            run.event({"e": "file", "f": path})
            run.event({"e": "start", "f": path, "t": ["(program)"]})
            began = time.monotonic()
            ended = self.follow([path], None, plain=True)
            outcome = {"e": "test", "f": path, "t": ["(program)"], "o": "passed" if ended == 0 else "failed", "s": time.monotonic() - began}
            run.event({**outcome, "x": "exit", "m": "exit status %s" % ended, "st": self.said} if ended else outcome)
            run.event({"e": "end", "f": path})
            status = max(status, ended or 0)
        return status

    def each(self, groups):
        """(group, path) of files, run one after the other until the time is spent."""
        for group in self.settings["files"] if groups is None else groups:
            path = os.path.join(self.run.root, group)
            if self.run.cut:
                return
            if os.path.exists(path):
                yield group, path

    # one process

    def follow(self, argv, groups, package=None, words=(), shown=(), tap=False, plain=False):
        """Start a process of Node and read its report to the end; the exit status."""
        run = self.run
        pipe = Pipe({"files": self.paths(groups) if groups is not None else None, "package": package, "words": words, "shown": list(shown),
                     "titles": run.titles})
        environment = {**os.environ, **dict(self.settings["environment"]), "DUALGATE_REPORT": pipe.folder, "CI": "true"}
        speaks = [] if tap or plain else ["-r", REPORTERS + "/channel.cjs"]
        if not speaks:
            del environment["DUALGATE_REPORT"]
        command = [NODE, *speaks, *self.node, *argv]
        os.write(2, ("$ " + " ".join(map(shlex.quote, [*command[1 + len(speaks):], *(shown if isinstance(words, dict) else words)])) + "\n").encode())
        process = subprocess.Popen(command, cwd=self.folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   start_new_session=True)
        tail, lines = collections.deque(maxlen=60), collections.deque()
        echo = threading.Thread(target=forward, args=(process.stdout, tail, lines if tap else None), daemon=True)
        echo.start()
        reader = Tap(run, self.paths(groups)[0]) if tap else None
        try:
            done, killed = self.read(process, pipe, reader, lines)
        finally:
            end_group(process)
            pipe.close()
        echo.join(2)
        self.said = COLOURS.sub("", "".join(tail)).strip()
        if killed is None and plain:
            return process.returncode
        if killed is None and reader:
            drain(lines, reader)
            done = reader.finish(process.returncode)
        return self.close(process.returncode, done, killed, pipe, groups, self.said)

    def read(self, process, pipe, reader=None, lines=()):
        """(what the reporter said of its end, or None; why it was ended by us, or None)."""
        run, done, over_at = self.run, None, None
        run.last = time.monotonic()
        while True:
            ended = process.poll() is not None
            drain(lines, reader)
            for record in pipe.records():
                if record["e"] == "done":
                    done = record
                run.event(record)
            now = time.monotonic()
            if ended:
                return done, None
            if done is not None:
                over_at = over_at or now + GRACE_S
                if now > over_at:
                    return done, "open"  # something that a test left open holds the process
            elif pipe.forged:
                return None, "forged"
            elif run.open and run.limit and now - run.last > run.limit or now - run.last > 3 * (run.limit or 1e9):
                run.hang()
                return None, "hang"
            elif now > run.stop_at:
                run.cut = True
                run.send({"k": "cut"})
                return None, "cut"
            if not run.open:
                run.alive()
            time.sleep(0.02)

    def close(self, status, done, killed, pipe, groups, tail):
        run = self.run
        if killed == "cut":
            return 1
        if pipe.forged:
            run.send({"k": "internal", "message": "the report of the test runner was written to by something else"})
            return 1
        if done is not None:
            return (1 if done["bad"] else 0) if killed == "open" else status
        if self.runner == "mocha" and not pipe.sequence and killed is None and len(self.settings["files"] if groups is None else groups) > 1:
            return UNSTARTED
        for group in groups or ():
            run.files.setdefault(group, "begun")
        run.died(status, tail)
        if groups is None and not run.files:
            run.send({"k": "uncollected", "file": "(session)", "message": cut(tail or "the test runner ended with %s" % status)})
        return status if status else 1


def named(folder):
    """The name of the package that a folder is; None where it is none."""
    try:
        with open(os.path.join(folder, "package.json"), encoding="utf-8") as file:
            return json.load(file).get("name")
    except (OSError, ValueError):
        return None


def forward(stream, tail, lines=None):
    for raw in stream:
        text = raw.decode("utf-8", "replace")
        tail.append(text)
        if lines is not None:
            lines.append(text)
        os.write(2, raw)


def drain(lines, reader):
    while lines:
        reader.feed(lines.popleft())


def end_group(process):
    """Whatever the process has started goes with it, what left its group too: nothing of one file may look at the report of the next."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except OSError:
        pass
    process.wait()
    end_strays()


def end_strays():
    """End what is in no session of ours: a display is, nothing that a test starts can be. In a box alone, where all that we may end is the tests'."""
    if os.stat("/proc/1").st_uid != SUPERVISOR_UID:
        return
    for _ in range(STRAYS_ROUNDS):
        if not any([ended(int(name)) for name in os.listdir("/proc") if name.isdigit()]):
            return


def ended(pid):
    """Whether there was a live stray to be ended."""
    try:
        with open("/proc/%d/stat" % pid, encoding="utf-8", errors="replace") as file:
            state = file.read().rpartition(")")[2].split()
        if state[0] in "ZX" or int(state[3]) == os.getsid(0):
            return False
        os.kill(pid, signal.SIGKILL)
        return True
    except (OSError, ValueError, IndexError):
        return False


def build(run, settings):
    """What the tests read is made from the tree at hand, before them, once in a box."""
    done = "/tmp/dualgate.built"
    if not settings["builds"] or os.path.exists(done):
        return 0
    expected = facts().get("builds", {})
    status = 0
    for step in settings["builds"]:
        folder = os.path.join(run.root, step["folder"]) if step["folder"] else run.root
        ended, text = build_step(run, step, folder)
        if ended != 0 and expected.get(step["folder"] + "\0" + step["command"]) == 0:
            status = 1
            run.send({"k": "uncollected", "file": "(build)", "message": "the build fails: %s\n%s" % (step["command"], cut(reason_of(text), 4000))})
    open(done, "w").close()
    return status


def reason_of(text):
    """What a builder says of the fault: without stacks and what npm says of itself behind it."""
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    return "\n".join(line for line in lines if not re.match(r"\s+at |npm (ERR!|error)|Node\.js v|\s*ELIFECYCLE|error Command failed|ERROR: \"", line))


def build_step(run, step, folder):
    os.write(2, ("$ " + step["command"] + "\n").encode())
    path = ":".join([os.path.join(folder, "node_modules/.bin"), os.path.join(run.root, "node_modules/.bin"), os.environ["PATH"]])
    process = subprocess.Popen(["/bin/sh", "-c", step["command"]], cwd=folder, env={**os.environ, "PATH": path, "CI": "true"}, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
    tail = collections.deque(maxlen=80)
    echo = threading.Thread(target=forward, args=(process.stdout, tail), daemon=True)
    echo.start()
    stop_at = time.monotonic() + BUILD_S
    while process.poll() is None and time.monotonic() < stop_at:
        run.alive()
        time.sleep(0.05)
    end_group(process)
    echo.join(2)
    return process.returncode, COLOURS.sub("", "".join(tail)).strip()


def facts():
    try:
        with open(FACTS, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return {}


def run_suites(run, payload):
    status, settings = 0, payload["settings"]
    asked = list(dict.fromkeys(payload["args"] or [name.partition("::")[0].strip() for name in payload["wanted"] or ()]))
    order = {group: place for place, group in enumerate(payload["order"] or ())}
    for one in settings["suites"]:
        if run.cut:
            break
        groups = None
        if asked:
            groups = [group for group in asked if owns(settings, one, group)]
            if not groups:
                continue
        one["files"].sort(key=lambda group: order.get(group, len(order)))
        status = max(status, Suite(run, one).start(groups) or 0)
    return status


def owns(settings, suite, group):
    """Whether a group is run by a suite: one of its files, or below its folder where no suite has it."""
    if any(group in other["files"] for other in settings["suites"]):
        return group in suite["files"]
    around = [other for other in settings["suites"] if not other["folder"] or group.startswith(other["folder"] + "/")]
    return bool(around) and suite is max(around, key=lambda other: len(other["folder"]))


def run_script(run, payload):
    """A program of its own: exit status 0 passes."""
    path, name = payload["settings"]["script"]
    run.send({"k": "items", "items": [[name, os.path.join(run.root, path), 1]]})
    run.send({"k": "start", "i": 0})
    began = time.monotonic()
    done = subprocess.run([NODE, *payload["settings"].get("node", []), path], cwd=run.root, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    text = done.stdout[-64000:].decode("utf-8", "replace")
    os.write(2, text.encode("utf-8", "replace"))
    record = {"k": "phase", "i": 0, "when": "call", "outcome": "passed" if done.returncode == 0 else "failed", "seconds": round(time.monotonic() - began, 4)}
    if done.returncode != 0:
        said = [line for line in text.splitlines() if NAMED.match(line.strip())]
        record.update(run.failure({"m": said[-1].strip() if said else "exit status %d" % done.returncode, "st": text}))
    run.send(record)
    run.send({"k": "end", "i": 0})
    return 0 if done.returncode == 0 else 1


def run(payload, channel):
    following = NodeRun(channel, payload)
    channel.send({"k": "ready", "count": len(payload["settings"]["suites"])})
    built = build(following, payload["settings"])
    if payload["settings"].get("script"):
        return run_script(following, payload)
    status = run_suites(following, payload)
    if not following.count and not following.failed and not built:
        return 5
    return status or built
