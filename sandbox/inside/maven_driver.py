"""`mvn -o test` -> the records of a run. Runs beside the tests, under the image's Python, and holds the channel: no test has it.

args: groups (classes below their module's folder), none for what the build's own configuration runs; wanted: exact ids, of which classes and methods are
chosen with -Dtest. settings: directory (of the build, from the root), modules [[folder, name, [folders of tests]], ...], chosen (folders of the modules that
are run, none for all), tests [[group, file], ...], flags, repository [the run's own, the environment's], build (where `target` folders really are), coverage (JaCoCo's folder).

A report (TEST-*.xml) counts when Maven itself says that its class has come to its end, and is read at that moment: files that the code under test writes
are nobody's word.
"""

import collections
import os
import re
import signal
import socket
import subprocess
import threading
import time
from xml.etree import ElementTree

MESSAGE_LIMIT = 6000
ALIVE_S = 20.0
SAMPLE_S = 5.0
RESUMES = 8
CHOSEN_LIMIT = 100000  # bytes of -Dtest; the kernel takes 128 KiB a word
METHODS_MOST = 150
BEGUN = re.compile(r"^(?:\[INFO\] )?Running ([\w.$]+)")
RESULTS = re.compile(r"^(?:\[\w+\] )?Results ?:")
ENDED = re.compile(r"^(?:\[\w+\] )?Tests run: (\d+), Failures: (\d+), Errors: (\d+), Skipped: (\d+)(?:, Time elapsed: [^<\n]*?)?(?: *<<< \w+!)?(?:,? --? in ([\w.$]+))?\s*$")
GOAL = re.compile(r"^\[INFO\] --- (?:[\w-]+?-)?(\w+)(?:-maven-plugin)?:[\w.-]+:([\w-]+) .*@ (\S+) ---")
FAILED_GOAL = re.compile(r"^\[ERROR\] Failed to execute goal (?:on project (\S+?):|(\S+?)(?: \([^)]*\))? on project (\S+?):) ?(.*)$")
PLACE = re.compile(r"^\[ERROR\] (/\S+?\.(?:java|kt|groovy|scala)):(?:\[(\d+),\d+\]|(\d+):|(?: \()?(\d+)?)")
FRAME = re.compile(r"^\s*at (?:[\w.$-]*/)*([\w.$]+)\.([\w$<>]+)\(([\w$-]+\.\w+):(\d+)\)")
SOURCE = re.compile(r"(?:^|/)src/[\w-]+/java/(.+)\.java$")
COUNTED = "/tmp/dualgate-jacoco.exec"
SUFFIXES = (".java", ".kt", ".groovy", ".scala")


def cut(text, limit=MESSAGE_LIMIT):
    return text if len(text) <= limit else text[:limit // 3] + "\n[...]\n" + text[-(limit * 2 // 3):]


class Module:
    """One module of the build, and how far it has got."""

    def __init__(self, folder, name, roots):
        self.folder, self.name, self.roots = folder, name, roots
        self.seen = self.tested = False
        self.errors, self.failed = [], ""


class MavenRun:
    """Follows runs of Maven. Everything that is sent goes through here."""

    def __init__(self, channel, payload):
        self.send, self.root, settings = channel.send, payload["root"], payload["settings"]
        self.payload, self.settings = payload, settings
        self.directory = os.path.join(self.root, settings["directory"]) if settings["directory"] else self.root
        self.modules = [Module(*row) for row in settings["modules"]]
        self.files = dict((group, path) for group, path in settings["tests"])
        self.wanted = None if payload["wanted"] is None else set(payload["wanted"])
        self.places, self.counts, self.lines, self.sources = {}, collections.Counter(), {}, None
        self.done, self.told = set(), set()
        self.running, self.hung = {}, None  # classes that have begun, and when
        self.module, self.lock, self.cut = None, threading.RLock(), False
        self.failed = self.count = 0
        self.dead = False

    # what is chosen

    def groups(self):
        """Classes asked for; None for what the configuration runs."""
        if self.wanted is not None:
            return list(dict.fromkeys(group for name in self.payload["wanted"] if (group := group_of(name))))
        return [group for group in self.payload["args"]] or None

    def module_of(self, group):
        folder = group.rpartition("/")[0]
        return next((m for m in self.modules if m.folder == folder), None)

    def selected(self):
        """Modules whose tests are run."""
        groups = self.groups()
        if groups is not None:
            folders = {module.folder for group in groups if (module := self.module_of(group))}
        else:
            folders = set(self.settings["chosen"])
        return [m for m in self.modules if m.folder in folders] or self.modules

    def patterns(self, groups):
        """-Dtest for some classes; with their methods where few are wanted."""
        methods = collections.defaultdict(set)
        few = self.wanted is not None and len(self.wanted) <= METHODS_MOST and (len(groups) == 1 or self.knows_methods())
        for name in self.wanted if few else ():
            head, _, last = name.partition("#")
            methods[group_of(name)].add(plain_method(head, last))
        rows = []
        for group in groups:
            name = group.rpartition("/")[2]
            chosen = methods.get(group, {None})
            rows.append(name if None in chosen else name + "#" + "+".join(sorted(method + "*" for method in chosen)))
        return ",".join(rows)

    def knows_methods(self):
        """Whether every surefire that the environment holds can choose methods of several classes: since 2.19."""
        folder = os.path.join(self.settings["repository"][1], "org/apache/maven/plugins/maven-surefire-plugin")
        versions = [name for name in (os.listdir(folder) if os.path.isdir(folder) else []) if any(n.endswith(".jar") for n in os.listdir(os.path.join(folder, name)))]
        return all(tuple(map(int, re.findall(r"\d+", name)[:2])) >= (2, 19) for name in versions)

    # where things are

    def reports_of(self, name):
        """Report files of a class that are there now, the newest first, each with its module."""
        found = []
        for module in self.modules:
            target = os.path.join(self.directory_of(module), "target")
            for folder in sorted(os.listdir(target)) if os.path.isdir(target) else []:
                path = os.path.join(target, folder, "TEST-%s.xml" % name)
                if folder.endswith("-reports") and os.path.isfile(path):
                    found.append((os.stat(path).st_mtime_ns, path, module))
        return sorted(found, key=lambda row: -row[0])

    def directory_of(self, module):
        return os.path.normpath(os.path.join(self.root, module.folder))

    def source_of(self, group):
        """The path of a class's source, from the root; "" where none has its name."""
        if group in self.files:
            return self.files[group]
        module, name = self.module_of(group), group.rpartition("/")[2].replace(".", "/")
        for root in module.roots if module else []:
            for suffix in SUFFIXES:
                if os.path.isfile(os.path.join(self.root, root, name + suffix)):
                    return root + "/" + name + suffix
        return ""

    def line_of(self, path, method):
        if path not in self.lines:
            found = self.lines[path] = {}
            try:
                with open(os.path.join(self.root, path), encoding="utf-8", errors="replace") as file:
                    text = file.read()
            except OSError:
                text = ""
            for match in re.finditer(r"(?<![.\w])(\w+)\s*\([^;{}]*\)\s*(?:throws [\w., ]+)?\{", text):
                found.setdefault(match[1], text.count("\n", 0, match.start()) + 1)
        return self.lines[path].get(method, 1)

    def place_of_frame(self, kind, name):
        """A frame's class and file name -> the file; the name alone for what is not of the tree."""
        if self.sources is None:
            self.sources = collections.defaultdict(list)
            for folder, folders, names in os.walk(self.directory):
                folders[:] = [f for f in folders if f not in ("target", ".git", "node_modules")]
                for one in names:
                    if one.endswith(SUFFIXES):
                        self.sources[one].append(os.path.join(folder, one))
        package = kind.rpartition(".")[0].replace(".", "/")
        return next((path for path in self.sources[name] if os.path.dirname(path).endswith(package)), None)

    # tests

    def item(self, group, known):
        """The number of a test among the items; None for one that was not asked for. The second and later equals have an ordinal."""
        self.counts[known] += 1
        if self.counts[known] > 1:
            known = "%s #%d" % (known, self.counts[known])
        if self.wanted is not None and known not in self.wanted:
            return None
        path = self.source_of(group)
        method = re.match(r"[\w$]*", known.partition("#")[2])[0]
        self.places[known] = len(self.places)
        self.send({"k": "items", "items": [[known, os.path.join(self.root, path), self.line_of(path, method) if path else 1]]})
        return self.places[known]

    def case(self, module, case, suite):
        kind, name = case.get("classname") or suite, case.get("name") or ""
        if not re.fullmatch(r"[\w.$]+", kind):
            kind = suite
        if name == kind:
            name = "(class)"
        known = (module.folder + "/" if module.folder else "") + kind + "#" + name
        group = group_of(known)
        place = self.item(group, known)
        outcome, record = outcome_of(case)
        self.count += 1
        self.failed += outcome == "failed"
        if place is None:
            return
        if outcome == "failed":
            record["frames"] = self.frames(record.pop("trace"))
        seconds = re.sub(r"[^\d.]", "", case.get("time") or "") or "0"
        self.send({"k": "start", "i": place})
        self.send(dict(record, k="phase", i=place, when="call", outcome=outcome, seconds=float(seconds)))
        self.send({"k": "end", "i": place})

    def frames(self, trace):
        """Frames of the last cause that has some in the tree, outermost first."""
        found = []
        for part in re.split(r"^Caused by: ", trace, flags=re.MULTILINE):
            rows = [(self.place_of_frame(m[1], m[3]), int(m[4]), m[2]) for m in map(FRAME.match, part.splitlines()) if m]
            inside = [list(row) for row in rows if row[0]]
            found = inside or found
        return found[:30][::-1]

    # Maven's own words

    def line(self, line):
        line = line.rstrip("\n")
        goal = GOAL.match(line)
        if goal:
            self.lose_running()
            self.module = next((m for m in self.modules if m.name == goal[3]), None)
            if self.module is not None:
                self.module.seen = True
                self.module.tested = self.module.tested or goal[2] in ("test", "integration-test")
            return
        begun, ended = BEGUN.match(line), ENDED.match(line)
        if begun:
            self.running[begun[1]] = time.monotonic()
        elif RESULTS.match(line):
            self.lose_running()
        elif ended and (ended[5] or self.running):
            self.ended(ended[5] or list(self.running)[-1], int(ended[2]) + int(ended[3]), int(ended[4]))
        elif self.module is not None and (line.startswith("[ERROR]") or (self.module.errors and re.match(r"\s+(symbol|location|required|found|reason):", line))):
            if len(self.module.errors) < 400:
                self.module.errors.append(line)
        failed = FAILED_GOAL.match(line)
        if failed:
            module = next((m for m in self.modules if m.name == (failed[1] or failed[3])), None)
            if module is not None and not module.failed:
                module.failed = "%s: %s" % (failed[2] or "resolution of dependencies", failed[4])

    def ended(self, name, bad, skipped):
        """A class has come to its end: its report is there. Maven has counted how many of its tests failed, and were skipped."""
        self.running.pop(name, None)
        fresh = [row for row in self.reports_of(name) if (row[1], row[0]) not in self.told]
        module = fresh[0][2] if fresh else self.module
        if module is None:
            return
        group, suite = group_at(module, name), read_report(fresh[0][1]) if fresh else None
        self.told.update((path, mark) for mark, path, _ in fresh)
        self.done.add(group)
        cases = suite.findall("testcase") if suite is not None else []
        outcomes = collections.Counter(outcome_of(case)[0] for case in cases)
        if suite is None or outcomes["failed"] < bad or outcomes["skipped"] < skipped:  # no report, or one that hides what Maven has counted
            self.lose(group)
            return
        for case in cases:
            self.case(module, case, name)
        self.send({"k": "collected", "file": group})

    def lose(self, group):
        """A class whose results are not to be had."""
        self.failed += 1
        self.send({"k": "died", "file": group})

    def lose_running(self):
        """Classes that have begun and not ended when the machine that they were in is gone."""
        for name in self.running if self.module is not None else ():
            self.dead = True
            self.done.add(group_at(self.module, name))
            self.lose(group_at(self.module, name))
        self.running = {}

    def lost(self):
        """Whether a Java machine died since this was asked last: the classes behind that never began."""
        dead, self.dead = self.dead, False
        return dead

    # the end of a run

    def close(self):
        """Modules that did not come to their tests."""
        broken = next((m for m in self.modules if m.failed and ":compile" in m.failed), None)
        for module in self.selected():
            tests = [group for group in self.files if self.module_of(group) is module]
            asked = self.groups()
            if asked is not None:
                tests = [group for group in tests if group in asked]
            tests = [group for group in tests if group not in self.done]
            if module.tested and not module.failed:
                continue
            if not module.failed and (module.seen and self.payload["collect"]):
                for group in tests:
                    self.send({"k": "collected", "file": group})
                    self.item(group, group + "#(class)")
                continue
            if self.cut or not tests:
                continue
            self.failed += 1
            for group in tests:
                self.send({"k": "uncollected", "file": group, "message": cut(self.reason(module, broken, group))})

    def reason(self, module, broken, group):
        """Why a module has no tests; what the compiler says of the class's own file first."""
        if not module.failed:
            inner = "\n".join(broken.errors) if broken else "a module that it needs can't be built"
            return ("the module itself does not compile: %s\n%s" % (broken.name, inner)) if broken else inner
        text = blocks(module.errors, os.path.join(self.root, self.files.get(group, "?")))
        if ":compile" in module.failed and ("compiler" in module.failed or "kotlin" in module.failed):
            return "the module itself does not compile\n" + text
        return "%s\n%s" % (module.failed, text)

    # time

    def hanging(self):
        """(a class that has had the time of a test, since when it runs), or None."""
        limit = self.payload["test_seconds"]
        if not self.running or not limit:
            return None
        name, since = list(self.running.items())[-1]
        return (name, since) if time.monotonic() - since > limit else None


def group_of(name):
    """The class that a file is named for, below its module's folder."""
    return re.match(r"[^#$]*", name)[0]


def group_at(module, name):
    return group_of((module.folder + "/" if module.folder else "") + name)


def plain_method(head, last):
    """A method that -Dtest can name; None for what must be chosen by its class."""
    method = re.match(r"[\w]+", last)
    if "$" in head or not method or not re.fullmatch(r"\w+([(\[{].*)?( #\d+)?", last, re.DOTALL):
        return None
    return method[0]


def outcome_of(case):
    """(outcome, the phase's other words) of a testcase element."""
    for kind in ("failure", "error"):
        bad = case.find(kind)
        if bad is not None:
            trace = bad.text or ""
            exception, message = bad.get("type") or "", bad.get("message") or ""
            words = re.sub(r"@[0-9a-f]{5,8}\b", "@0", message or (trace.strip().splitlines() or [""])[0])  # another one on each run
            short = cut("%s: %s" % (exception.rpartition(".")[2], words), 2000)
            return "failed", {"message": cut(trace.strip() or message), "exception": exception, "short": short, "trace": trace}
    skipped = case.find("skipped")
    if skipped is not None:
        return "skipped", {"message": cut(skipped.get("message") or "", 500)}
    return "passed", {}


def read_report(path):
    """The root of a report; None for what can't be read, even without what XML does not allow."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError:
        return None
    try:
        return ElementTree.fromstring(data)
    except ElementTree.ParseError:
        pass
    text = re.sub(r"&#x?[0-9A-Fa-f]+;|[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "?", data.decode("utf-8", "replace"))
    try:
        return ElementTree.fromstring(re.sub(r"^\s*<\?xml[^>]*\?>", "", text))
    except ElementTree.ParseError:
        return None


def blocks(lines, own):
    """A compiler's errors, each with the lines that belong to it: those of a file first."""
    rows = []
    for line in lines:
        if PLACE.match(line) or not rows:
            rows.append([line])
        else:
            rows[-1].append(line)
    seen = list(dict.fromkeys("\n".join(row) for row in rows if PLACE.match(row[0])))
    mine = [row for row in seen if own in row.split("\n")[0]]
    rest = [row for row in seen if row not in mine] if seen else ["\n".join(row) for row in rows]
    return "\n".join(mine + rest).replace("[ERROR] ", "")


def test_machines():
    """Process ids of the Java machines that surefire started."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/cmdline" % pid, "rb") as file:
                words = file.read().split(b"\0")
        except OSError:
            continue
        if words and words[0].endswith(b"java") and any(b"surefire" in word or b"failsafe" in word for word in words[1:]):
            found.append(int(pid))
    return found


def method_now(pid, kind):
    """(method, line) of a class that a Java machine is in now, as its own tool says."""
    try:
        said = subprocess.run(["jstack", str(pid)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=20).stdout.decode("utf-8", "replace")
    except (OSError, subprocess.TimeoutExpired):
        return None
    for thread in said.split("\n\n"):
        rows = [m for m in map(FRAME.match, thread.splitlines()) if m and (m[1] == kind or m[1].startswith(kind + "$"))]
        if rows:
            return rows[-1][2].replace("lambda$", "").split("$")[0], int(rows[-1][4])
    return None


def end_hang(run, seen):
    """Look at what a class that takes long is doing; end its machine once one method had all the time of a test."""
    with run.lock:
        found = run.hanging()
    machines = test_machines() if found else []
    if not machines:
        return
    kind, since = found
    method = method_now(machines[0], kind)
    key, now = (kind, method[0] if method else None), time.monotonic()
    # What is seen at the first look may have been there all the time: the class is as old as a test may be.
    first = seen.setdefault(key, now if seen else since)
    for other in [one for one in seen if one != key]:
        del seen[other]
    if now - first < run.payload["test_seconds"] + SAMPLE_S:
        return
    seen.clear()
    with run.lock:
        if kind in run.running:
            run.hung = (kind, method)
    signal_all(machines)


def signal_all(pids):
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            pass


def watch(run, process, ended, stop_at):
    """Ends what hangs, and the whole when its time is spent; says that it is alive."""
    said, looked, seen = time.monotonic(), 0.0, {}
    while not ended.wait(0.5):
        now = time.monotonic()
        if now - said > ALIVE_S:
            run.send({"k": "alive"})
            said = now
        if now - looked > SAMPLE_S:
            looked = now
            end_hang(run, seen)
        if stop_at is not None and now > stop_at and not run.cut:
            run.cut = True
            run.send({"k": "cut"})
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except OSError:
                pass


def say_hang(run):
    """The test that was ended for its time."""
    if run.hung is None:
        return None
    kind, method = run.hung
    run.hung = None
    module = run.module or run.modules[0]
    group = group_at(module, kind)
    known = "%s%s#%s" % (module.folder + "/" if module.folder else "", kind, method[0] if method else "(class)")
    place = run.item(group, known)
    if place is not None:
        run.send({"k": "start", "i": place})
        run.send({"k": "slow", "i": place, "frame": [os.path.join(run.root, run.source_of(group)), method[1] if method else 1, method[0] if method else kind]})
    return (group, method[0]) if method and "$" not in kind else None


def lay_build(run):
    """Folders that the modules' `target` links lead to, empty, each with links to what stands beside it in the tree."""
    build = run.settings["build"]
    for module in run.modules:
        os.makedirs(os.path.normpath(os.path.join(build, module.folder, "target")), exist_ok=True)
    for module in run.modules:
        mine, folder = os.path.normpath(os.path.join(build, module.folder)), run.directory_of(module)
        for name in os.listdir(folder) if os.path.isdir(folder) else []:
            place = os.path.join(mine, name)
            if name != "target" and not os.path.lexists(place):
                os.symlink(os.path.join(folder, name), place)


def drop_reports(run):
    """No report of an earlier run, or of the tree's own, is there to be read."""
    for module in run.modules:
        target = os.path.join(run.directory_of(module), "target")
        for folder in os.listdir(target) if os.path.isdir(target) else []:
            for name in os.listdir(os.path.join(target, folder)) if folder.endswith("-reports") else []:
                path = os.path.join(target, folder, name)
                try:
                    os.remove(path)
                except OSError:
                    run.told.add((path, os.stat(path).st_mtime_ns))  # of the tree itself


def command(run, test, goal):
    own, kept = run.settings["repository"]
    argv = ["mvn", "-o", "-B", "-T1", "-fae", "-Dstyle.color=never", "-Dmaven.repo.local=" + own, "-Dmaven.repo.local.tail=" + kept,
            "-Dmaven.test.failure.ignore=true", "-Dmaven.test.redirectTestOutputToFile=true", "-Dsurefire.printSummary=true", "-Dsurefire.useFile=true", "-DtrimStackTrace=false",
            "-Dsurefire.rerunFailingTestsCount=0", "-Dsurefire.skipAfterFailureCount=0", "-DfailIfNoTests=false", "-Dsurefire.failIfNoSpecifiedTests=false",
            "-Dsurefire.failIfNoTests=false"] + run.settings["flags"]
    selected = run.selected()
    if len(selected) < len(run.modules):
        root = run.settings["directory"]
        argv += ["-pl", ",".join(os.path.relpath(m.folder or ".", root or ".") for m in selected), "-am"]
    if test:
        argv.append("-Dtest=" + test)
    return argv + [goal]


def maven(run, test, goal, stop_at):
    """One start of Maven, followed to its end; its exit status."""
    for module in run.modules:
        module.seen = module.tested = False
        module.errors, module.failed = [], ""
    run.module, run.running = None, {}
    ours, theirs = socket.socketpair()  # nobody can open another process's socket by /proc, as they could a pipe
    process = subprocess.Popen(command(run, test, goal), cwd=run.directory, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, start_new_session=True,
                               env=dict(os.environ, **counting(run)))
    theirs.close()
    ended = threading.Event()
    helper = threading.Thread(target=watch, args=(run, process, ended, stop_at), daemon=True)
    helper.start()
    with ours.makefile("rb") as said:
        for raw in said:
            os.write(2, raw)
            with run.lock:
                run.line(raw.decode("utf-8", "replace"))
    ours.close()
    status = process.wait()
    ended.set()
    helper.join(5)
    with run.lock:
        if not run.cut:
            run.lose_running()
    return status


def counting(run):
    """Variables by which every Java machine counts the lines of the traced classes, and of nothing else."""
    agent = os.path.join(run.settings["coverage"], "agent.jar")
    if not run.payload.get("trace") or not os.path.isfile(agent):
        return {}
    kinds = sorted({match[1].replace("/", ".") + "*" for path in run.payload["trace"] if (match := SOURCE.search(path))})
    return {"JAVA_TOOL_OPTIONS": "-javaagent:%s=destfile=%s,append=true,includes=%s" % (agent, COUNTED, ":".join(kinds))} if kinds else {}


def executed(run):
    """Traced lines that ran: {file: [lines]}; None where none of them is known to hold code, or nothing was counted."""
    trace, ran, known = run.payload["trace"], {}, False
    tool = os.path.join(run.settings["coverage"], "cli.jar")
    if not os.path.isfile(COUNTED) or not os.path.isfile(tool):
        return None
    for module in run.modules:
        start = module.folder + "/" if module.folder else ""
        mine = {path: match[1] for path in trace if path.startswith(start) and (match := SOURCE.search(path))}
        classes = os.path.join(run.directory_of(module), "target", "classes")
        if not mine or not os.path.isdir(classes):
            continue
        report = COUNTED + ".xml"
        subprocess.run(["java", "-jar", tool, "report", COUNTED, "--classfiles", os.path.realpath(classes), "--xml", report], stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        lines = counted_lines(report, {name + ".java" for name in mine.values()})
        for path, name in mine.items():
            rows = lines.get(name + ".java", {})
            known = known or any(n in rows for n in trace[path])
            ran[path] = sorted(set(ran.get(path, [])) | {n for n in trace[path] if rows.get(n)})
    return ran if known else None


def counted_lines(report, names):
    """Source files as package/File.java -> {line with code: whether it ran}, of a report of JaCoCo."""
    found = {}
    root = read_report(report)
    for package in root.iter("package") if root is not None else []:
        for source in package.findall("sourcefile"):
            name = "%s/%s" % (package.get("name"), source.get("name")) if package.get("name") else source.get("name")
            if name in names:
                found[name] = {int(line.get("nr")): int(line.get("ci") or 0) > 0 for line in source.findall("line")}
    return found


def left_of(run, hung):
    """-Dtest for what a run that lost its machine had not come to; "" where nothing is left."""
    asked = run.groups()
    tests = [group for group in (asked if asked is not None else run.files) if group not in run.done]
    selected = {m.folder for m in run.selected()}
    tests = [group for group in tests if group.rpartition("/")[0] in selected and (asked is not None or by_default(group))]
    words = [run.patterns(tests)] if tests else []
    if hung and run.knows_methods():
        name = hung[0].rpartition("/")[2]
        words += [name, "!%s#%s" % (name, hung[1])]
    return ",".join(words)


def by_default(group):
    """Whether surefire runs a class where nothing is configured."""
    name = group.rpartition("/")[2].rpartition(".")[2]
    return name.startswith("Test") or name.endswith(("Test", "Tests", "TestCase"))


def run(payload, channel):
    following = MavenRun(channel, payload)
    lay_build(following)
    drop_reports(following)
    groups = following.groups()
    test = following.patterns(groups) if groups is not None else ""
    if len(test) > CHOSEN_LIMIT:
        test = ""
    if groups is not None and not [group for group in groups if following.module_of(group)]:
        channel.send({"k": "ready", "count": 0})
        return 5
    channel.send({"k": "ready", "count": len(following.files)})
    stop_at = time.monotonic() + payload["suite_seconds"] if payload["suite_seconds"] else None
    status = maven(following, test, "test-compile" if payload["collect"] else "test", stop_at)
    for _ in range(RESUMES):
        hung = say_hang(following)
        if following.cut or not (hung or following.lost()):
            break
        test = left_of(following, hung)
        if not test:
            break
        status = max(status, maven(following, test, "test", stop_at))
    following.close()
    if payload.get("trace"):
        channel.send({"k": "lines", "executed": executed(following)})
    if not following.count and not following.failed and not (payload["collect"] and following.places):
        return status or 5
    return status
