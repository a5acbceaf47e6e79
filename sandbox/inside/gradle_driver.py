"""`gradle --offline test` -> the records of a run. Runs beside the tests, under the image's Python, and holds the channel: no test has it.

args: groups (classes below their module's folder), none for all; wanted: exact ids. settings: directory (of the build, from the root), modules [[folder, name,
[folders of tests]], ...], tests [[group, file], ...], flags, home [the run's own Gradle home, the environment's], build (where build folders are put), notes
(names of links beside sources), added (a file of dependencies that a change adds, or nothing), script (for Gradle's own process, to be read from the folder
WHERE).

A script of ours in Gradle's own process tells of each test as it ends, in lines that begin with a word which is in no file any more when the first test starts.
"""

import collections
import json
import os
import re
import secrets
import shutil
import signal
import subprocess
import threading
import time

MESSAGE_LIMIT = 6000
ALIVE_S = 20.0
WHERE = "/tmp/dualgate-gradle"
SUFFIXES = (".java", ".kt", ".groovy", ".scala")
FRAME = re.compile(r"^\s*at (?:[\w.$-]*/)*([\w.$]+)\.([\w$<>]+)\(([\w$-]+\.\w+):(\d+)\)")
PLACE = re.compile(r"^(?:e: )?(?:file://)?(/\S+?\.(?:java|kt|groovy|scala)):(?: \(|)?(\d+)")


def cut(text, limit=MESSAGE_LIMIT):
    return text if len(text) <= limit else text[:limit // 3] + "\n[...]\n" + text[-(limit * 2 // 3):]


def group_of(name):
    """The class that a file is named for, below its module's folder."""
    return re.match(r"[^#$]*", name)[0]


class Module:
    """One project of the build, and how far it has got."""

    def __init__(self, folder, name, roots):
        self.folder, self.name, self.roots = folder, name, roots
        self.failed, self.message, self.tested, self.compiled = "", "", False, False


class GradleRun:
    """Follows one run of Gradle. Everything that is sent goes through here."""

    def __init__(self, channel, payload):
        self.send, self.root, settings = channel.send, payload["root"], payload["settings"]
        self.payload, self.settings = payload, settings
        self.directory = os.path.join(self.root, settings["directory"]) if settings["directory"] else self.root
        self.modules = [Module(*row) for row in settings["modules"]]
        self.files = dict((group, path) for group, path in settings["tests"])
        self.wanted = None if payload["wanted"] is None else set(payload["wanted"])
        self.counts, self.lines, self.sources = collections.Counter(), {}, None
        self.open, self.output, self.lock, self.cut = {}, [], threading.RLock(), False
        self.places = self.count = self.failed = 0
        self.hung = False

    def groups(self):
        """Classes asked for; None for all."""
        if self.wanted is not None:
            return list(dict.fromkeys(group_of(name) for name in self.payload["wanted"]))
        return list(self.payload["args"]) or None

    def module_at(self, folder):
        return next((m for m in self.modules if os.path.relpath(m.folder or ".", self.settings["directory"] or ".") == (folder or ".")), None)

    def module_of(self, group):
        return next((m for m in self.modules if m.folder == group.rpartition("/")[0]), None)

    # places

    def source_of(self, group):
        if group in self.files:
            return self.files[group]
        module, name = self.module_of(group), group.rpartition("/")[2].replace(".", "/")
        places = [root + "/" + name + suffix for root in (module.roots if module else []) for suffix in SUFFIXES]
        return next((path for path in places if os.path.isfile(os.path.join(self.root, path))), "")

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
        if self.sources is None:
            self.sources = collections.defaultdict(list)
            for folder, folders, names in os.walk(self.directory):
                folders[:] = [f for f in folders if f not in ("build", ".git", ".gradle", "node_modules")]
                for one in names:
                    if one.endswith(SUFFIXES):
                        self.sources[one].append(os.path.join(folder, one))
        package = kind.rpartition(".")[0].replace(".", "/")
        return next((path for path in self.sources[name] if os.path.dirname(path).endswith(package)), None)

    def frames(self, trace):
        """Frames of the last cause that has some in the tree, outermost first."""
        found = []
        for part in re.split(r"^Caused by: ", trace, flags=re.MULTILINE):
            rows = [(self.place_of_frame(m[1], m[3]), int(m[4]), m[2]) for m in map(FRAME.match, part.splitlines()) if m]
            found = [list(row) for row in rows if row[0]] or found
        return found[:30][::-1]

    # events

    def event(self, row):
        module = self.module_at(row["folder"])
        if module is None:
            return
        if row["event"] == "task":
            self.of_task(module, row)
            return
        known = (module.folder + "/" if module.folder else "") + row["kind"] + "#" + row["name"]
        if row["event"] == "class":
            self.send({"k": "collected", "file": group_of(known)})
        elif row["event"] == "start":
            self.open.setdefault(known, []).append((self.item(group_of(known), known), time.monotonic()))
        elif row["event"] == "end" and self.open.get(known):
            place, _ = self.open[known].pop(0)
            self.end(place, row)

    def item(self, group, known):
        self.counts[known] += 1
        if self.counts[known] > 1:
            known = "%s #%d" % (known, self.counts[known])
        if self.wanted is not None and known not in self.wanted:
            return None
        path, method = self.source_of(group), re.match(r"[\w$]*", known.partition("#")[2])[0]
        self.send({"k": "items", "items": [[known, os.path.join(self.root, path), self.line_of(path, method) if path else 1]]})
        self.places += 1
        if not self.payload["collect"]:
            self.send({"k": "start", "i": self.places - 1})
        return self.places - 1

    def end(self, place, row):
        outcome = {"SUCCESS": "passed", "FAILURE": "failed", "SKIPPED": "skipped"}.get(row["outcome"], "failed")
        self.count += 1
        self.failed += outcome == "failed"
        if place is None:
            return
        record = {"k": "phase", "i": place, "when": "call", "outcome": outcome, "seconds": row["seconds"]}
        if outcome == "failed":
            error = row["error"] or {"type": "", "message": "", "trace": ""}
            kind, said = error["type"] or "", re.sub(r"@[0-9a-f]{5,8}\b", "@0", error["message"] or "")  # another one on each run
            record.update(message=cut(error["trace"] or said), exception=kind, short=cut("%s: %s" % (kind.rpartition(".")[2], said), 2000),
                          frames=self.frames(error["trace"]))
        self.send(record)
        self.send({"k": "end", "i": place})

    def of_task(self, module, row):
        if row["test"]:
            module.tested = module.tested or not row["skipped"]
        elif row["failed"] and not module.failed:
            module.failed, module.message = row["name"], row["message"]
        if row["name"].startswith("compileTest") or row["name"] == "testClasses":
            module.compiled = not row["failed"]

    # the end of a run

    def close(self):
        """Tests whose program died; modules that did not come to their tests."""
        unfinished = [(known, place) for known, rows in self.open.items() for place, _ in rows]
        for group in dict.fromkeys(group_of(known) for known, _ in unfinished):
            self.failed += 1
            self.send({"k": "died", "file": group})
        asked, broken = self.groups(), next((m for m in self.modules if m.failed and not m.failed.startswith("compileTest")), None)
        for module in self.modules:
            tests = [group for group in self.files if self.module_of(group) is module and (asked is None or group in asked)]
            if self.payload["collect"] and module.compiled and not module.failed:
                for group in tests:
                    self.send({"k": "collected", "file": group})
                    self.item(group, group + "#(class)")
            elif not self.cut and not module.tested and not (self.payload["collect"] and module.compiled):
                for group in tests:
                    self.failed += 1
                    self.send({"k": "uncollected", "file": group, "message": cut(self.reason(module, broken, group))})

    def reason(self, module, broken, group):
        text = "".join(self.output)
        if module.failed.startswith("compileTest"):
            return "%s: %s\n%s" % (module.failed, module.message, blocks(text, os.path.join(self.root, self.files[group])))
        cause = module if module.failed else broken
        if cause is not None and cause.failed.startswith("compile"):
            return "the module itself does not compile: %s\n%s" % (cause.name, blocks(text, "?"))
        wrong = re.search(r"^\* What went wrong:\n(.*?)\n\n", text, re.DOTALL | re.MULTILINE)
        return ("%s: %s\n" % (cause.failed, cause.message) if cause is not None else "") + (wrong[1] if wrong else text[-2000:])


def blocks(text, own):
    """A compiler's errors, each with the lines that belong to it: those of a file first."""
    rows = []
    for line in text.splitlines():
        if PLACE.match(line) and "warning:" not in line:
            rows.append([line])
        elif rows and line.strip() and not line.startswith(("> ", "FAILURE", "* ", "BUILD")):
            rows[-1].append(line)
    found = list(dict.fromkeys("\n".join(row) for row in rows))
    mine = [row for row in found if own in row.split("\n")[0]]
    return "\n".join(mine + [row for row in found if row not in mine])


def lay_home(own, kept):
    """A Gradle home that can be written: the artifacts stay where the image has them."""
    if os.path.isdir(own) or not os.path.isdir(kept):
        return
    apart = {os.path.join(folder, "files-2.1") for folder, _, _ in os.walk(os.path.join(kept, "caches")) if folder.endswith("modules-2")}

    def left_out(folder, names):
        return [name for name in names if os.path.join(folder, name) in apart or name.endswith(".lock") or name in ("daemon", "wrapper")]

    shutil.copytree(kept, own, ignore=left_out)
    for folder in apart:
        os.symlink(folder, os.path.join(own, os.path.relpath(folder, kept)))


def lay_notes(directory, names):
    """The folders that links of these names lead to, for whoever writes beside the sources."""
    for folder, folders, files in os.walk(directory):
        for name in [one for one in folders + files if one in names]:
            path = os.path.join(folder, name)
            if os.path.islink(path):
                os.makedirs(os.readlink(path), exist_ok=True)
        folders[:] = [one for one in folders if one not in (".git", "node_modules")]


def lay_settings(run, word):
    """What the script in Gradle's process reads."""
    os.makedirs(WHERE, exist_ok=True)
    patterns, groups = collections.defaultdict(list), run.groups()
    for group in groups or ():
        module = run.module_of(group)
        if module is not None:
            folder = os.path.relpath(module.folder or ".", run.settings["directory"] or ".")
            name = group.rpartition("/")[2]
            patterns["" if folder == "." else folder] += [name, name + "$*"]
    added = []
    if os.path.isfile(run.settings["added"]):
        with open(run.settings["added"], encoding="utf-8") as file:
            added = json.load(file)
    rows = {"init.gradle": run.settings["script"], "word": word,
            "settings.json": json.dumps({"build": run.settings["build"], "patterns": patterns, "chosen": groups is not None, "added": added})}
    for name, text in rows.items():
        with open(os.path.join(WHERE, name), "w", encoding="utf-8") as file:
            file.write(text)
    events = os.path.join(WHERE, "events")
    if os.path.exists(events):
        os.remove(events)
    os.mkfifo(events, 0o600)
    return events


def follow_events(run, events, word, ended):
    """Until Gradle closes its end; opened without waiting, since it may never open it."""
    descriptor = os.open(events, os.O_RDONLY | os.O_NONBLOCK)
    rest = b""
    while True:
        try:
            data = os.read(descriptor, 65536)
        except BlockingIOError:
            data = b""
        if not data:
            if ended.is_set():
                break
            time.sleep(0.05)
            continue
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            mark, _, body = line.decode("utf-8", "replace").partition(" ")
            if secrets.compare_digest(mark.encode(), word.encode()):
                with run.lock:
                    run.event(json.loads(body))
    os.close(descriptor)


def forward(run, stream):
    for raw in stream:
        os.write(2, raw)
        with run.lock:
            if len(run.output) < 4000:
                run.output.append(raw.decode("utf-8", "replace"))


def watch(run, process, ended, stop_at):
    """Ends a test that hangs together with the run, and the whole when its time is spent; says that it is alive."""
    said, limit = time.monotonic(), run.payload["test_seconds"]
    while not ended.wait(0.5):
        now = time.monotonic()
        with run.lock:
            old = [(known, place) for known, rows in run.open.items() for place, since in rows if limit and now - since > limit]
            for known, place in old if not run.hung else ():
                group = group_of(known)
                if place is not None:
                    run.send({"k": "slow", "i": place, "frame": [os.path.join(run.root, run.source_of(group)), 1, known.partition("#")[2]]})
                run.hung = True
        if now - said > ALIVE_S:
            run.send({"k": "alive"})
            said = now
        if (stop_at is not None and now > stop_at and not run.cut) or run.hung:
            if not run.hung:
                run.cut = True
                run.send({"k": "cut"})
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except OSError:
                pass
            return


def run(payload, channel):
    following = GradleRun(channel, payload)
    own, kept = following.settings["home"]
    lay_home(own, kept)
    lay_notes(following.directory, following.settings["notes"])
    word = secrets.token_hex(16)
    events = lay_settings(following, word)
    channel.send({"k": "ready", "count": len(following.files)})
    goal = "testClasses" if payload["collect"] else "test"
    argv = ["gradle", "--offline", "--no-daemon", "--console=plain", "--continue", "--stacktrace", "--gradle-user-home", own,
            "--project-cache-dir", WHERE + "/project", "-I", WHERE + "/init.gradle"] + following.settings["flags"] + [goal]
    process = subprocess.Popen(argv, cwd=following.directory, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
    ended, over = threading.Event(), threading.Event()
    stop_at = time.monotonic() + payload["suite_seconds"] if payload["suite_seconds"] else None
    helpers = [threading.Thread(target=watch, args=(following, process, ended, stop_at), daemon=True),
               threading.Thread(target=follow_events, args=(following, events, word, over), daemon=True)]
    for helper in helpers:
        helper.start()
    forward(following, process.stdout)
    status = process.wait()
    ended.set()
    over.set()
    for helper in helpers:
        helper.join(10)
    following.close()
    if not following.count and not following.failed and not (payload["collect"] and following.places):
        return status or 5
    return status
