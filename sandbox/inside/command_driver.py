"""A repository's own test command -> the records of a run. Runs beside the tests, under the image's Python, and holds the channel.

args: test files where each is a program of its own, none for the whole; settings: build [shell commands], test, form (tap-files, junit, automake, output),
reports [patterns], group, whole (name of the command's own test), place (a file for people), directory, script ([path, name] or null).
The tree is copied to where it can be written, so that a build finds what it is used to.
"""

import glob
import os
import re
import shutil
import signal
import subprocess
import threading
import time
import xml.etree.ElementTree as ElementTree

MESSAGE_LIMIT = 6000
OUTPUT_LIMIT = 4 * 1024 * 1024
REPORT_LIMIT = 64 * 1024 * 1024
ALIVE_S = 20.0
OWN = "/tmp/dualgate/tree"
PLACE = re.compile(r"(?:^|[\s(])((?:[\w.+-]+/)*[\w.+-]+\.\w{1,4}):(\d+)(?::\d+)?")
PERL_PLACE = re.compile(r"at ((?:[\w.+-]+/)*[\w.+-]+) line (\d+)")
TAP_PLAN = re.compile(r"^1\.\.(\d+)(?:\s*#\s*(skip\S*)\s*(.*))?", re.IGNORECASE)
TAP_LINE = re.compile(r"^(not )?ok\b(?:\s+(\d+))?(?:\s*-?\s*(.*?))?(?:\s+#\s*(skip|todo)\S*\s*(.*))?$", re.IGNORECASE)


def cut(text, limit=MESSAGE_LIMIT):
    return text if len(text) <= limit else text[:limit // 3] + "\n[...]\n" + text[-(limit * 2 // 3):]


class Run:
    """One run: where it stands, what it may take, what it has told."""

    def __init__(self, payload, channel):
        self.channel, self.settings, self.root = channel, payload["settings"], payload["root"]
        self.wanted = None if payload["wanted"] is None else set(payload["wanted"])
        self.test_seconds = payload["test_seconds"]
        self.stop_at = time.monotonic() + payload["suite_seconds"] if payload["suite_seconds"] else None
        self.directory = os.path.normpath(os.path.join(OWN, self.settings["directory"] or "."))
        self.count, self.names, self.failed = 0, {}, 0

    def copy(self):
        if not os.path.isdir(OWN):
            os.makedirs(os.path.dirname(OWN), exist_ok=True)
            shutil.copytree(self.root, OWN, symlinks=True)
            for folder, _, names in os.walk(OWN):
                os.chmod(folder, 0o755)
                for name in names:
                    path = os.path.join(folder, name)
                    if not os.path.islink(path):
                        os.chmod(path, 0o755 if os.access(path, os.X_OK) else 0o644)

    def shell(self, command, seconds):
        """(status or None for one that had no end, output, seconds). The whole group of processes ends with it."""
        began = time.monotonic()
        until = min([began + seconds] + ([self.stop_at] if self.stop_at else []))
        process = subprocess.Popen(["/bin/bash", "-c", command], cwd=self.directory, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   start_new_session=True)
        kept, ended = bytearray(), threading.Event()
        reader = threading.Thread(target=self.read, args=(process.stdout, kept, ended), daemon=True)
        reader.start()
        said, late = time.monotonic(), False
        while process.poll() is None:
            time.sleep(0.02)
            now = time.monotonic()
            if now - said > ALIVE_S:
                self.channel.send({"k": "alive"})
                said = now
            if now > until:
                late = True
                break
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except OSError:
            pass
        process.wait()
        ended.wait(5)
        return (None if late else process.returncode), bytes(kept).decode("utf-8", "replace"), time.monotonic() - began

    def read(self, stream, kept, ended):
        while True:
            data = os.read(stream.fileno(), 65536)
            if not data:
                break
            os.write(2, data)
            kept.extend(data)
            if len(kept) > OUTPUT_LIMIT:
                del kept[OUTPUT_LIMIT // 2:-OUTPUT_LIMIT // 4]
        ended.set()

    def name_of(self, group, name):
        """An id; of equals each gets its number."""
        whole = "%s::%s" % (group, name.replace("\n", " ")[:300])
        self.names[whole] = self.names.get(whole, 0) + 1
        return whole if self.names[whole] == 1 else "%s #%d" % (whole, self.names[whole])

    def begin(self, test_id, path):
        """The place of a test among the items."""
        place = self.count
        self.count += 1
        self.channel.send({"k": "items", "items": [[test_id, os.path.join(self.root, path or ""), 1]]})
        return place

    def tell(self, group, name, path, outcome, message, seconds):
        test_id = self.name_of(group, name)
        if self.wanted is not None and test_id not in self.wanted:
            return
        place = self.begin(test_id, path)
        self.channel.send({"k": "start", "i": place})
        record = {"k": "phase", "i": place, "when": "call", "outcome": outcome, "seconds": round(seconds, 4)}
        if outcome == "failed":
            self.failed += 1
            record.update(message=cut(message), short=cut(first_words(message), 2000), exception=None, frames=self.frames(message))
        elif outcome == "skipped":
            record["message"] = cut(message, 500)
        self.channel.send(record)
        self.channel.send({"k": "end", "i": place})

    def endless(self, group, name, path):
        test_id = self.name_of(group, name)
        if self.wanted is not None and test_id not in self.wanted:
            return
        place = self.begin(test_id, path)
        self.channel.send({"k": "start", "i": place})
        self.channel.send({"k": "slow", "i": place, "frame": [os.path.join(self.root, path or ""), 1, name]})
        self.failed += 1

    def frames(self, text):
        found = []
        for file, line in PLACE.findall(text) + PERL_PLACE.findall(text):
            if os.path.isfile(os.path.join(OWN, file)):
                found.append([os.path.join(self.root, file), int(line), ""])
        return found[-20:]

    def build(self):
        """Whether everything was built; a failure is told of all groups."""
        for command in self.settings["build"]:
            status, output, _ = self.shell(command, 3600.0)
            if status != 0:
                words = "%s: %s\n%s" % (command, "no end in time" if status is None else "exit status %d" % status, "\n".join(output.strip().splitlines()[-60:]))
                return words.replace(OWN + "/", "")
        return None


def first_words(text):
    lines = [line for line in text.strip().splitlines() if line.strip()]
    marked = [line for line in lines if re.search(r"\b(error|fail|failed|failure|assert\w*|expected|not ok)\b", line, re.IGNORECASE)]
    return "\n".join((marked or lines[-6:])[:6])


def tap(text):
    """([(name, outcome, message)], what is wrong with the whole or ""). Lines of subtests are part of their test's message."""
    found, planned, between, bailed = [], None, [], ""
    for line in text.splitlines():
        plan, result = TAP_PLAN.match(line), TAP_LINE.match(line)
        if plan:
            planned = int(plan.group(1))
            if plan.group(2):
                found.append(("(all)", "skipped", plan.group(3) or ""))
        elif line.startswith("Bail out!"):
            bailed = line
        elif result:
            bad, number, name, word, reason = result.groups()
            outcome = "failed" if bad and (word or "").lower() != "todo" else "skipped" if word else "passed"
            found.append([name or "number %s" % (number or len(found) + 1), outcome, reason or ""])
            if between and found[-1][1] == "failed":
                found[-1][2] = "\n".join(between)
            between = []
        elif found and line.startswith("#") and isinstance(found[-1], list) and found[-1][1] == "failed":
            found[-1][2] += "\n" + line
        else:
            between.append(line)
    results = [row for row in found if row[0] != "(all)"]
    if bailed:
        return found, bailed
    if planned is None and results:
        return found, "the plan of the tests (1..N) is missing"
    if planned is not None and planned != len(results) and not (planned == 0 and found):
        return found, "%d tests were planned, %d came" % (planned, len(results))
    return found, ""


def is_tap(text):
    return bool(re.search(r"^1\.\.\d+", text, re.MULTILINE) and re.search(r"^(not )?ok\b", text, re.MULTILINE))


def run_files(run, files):
    """Each test file as a program."""
    for path in files:
        if run.stop_at and time.monotonic() > run.stop_at:
            run.channel.send({"k": "cut"})
            return
        if not os.path.exists(os.path.join(OWN, path)):
            run.channel.send({"k": "uncollected", "file": path, "message": "there is no such file"})
            continue
        status, output, seconds = run.shell("%s %s" % (run.settings["test"], quoted(path)), run.test_seconds)
        rows, fault = tap(output)
        run.channel.send({"k": "collected", "file": path})
        for name, outcome, message in rows:
            if name != "(all)":
                run.tell(path, name, path, outcome, message, seconds / max(1, len(rows)))
        if status is None:
            run.endless(path, run.settings["whole"], path)
            continue
        skipped = rows and rows[0][0] == "(all)" and status == 0
        bad = status != 0 or fault or not rows
        words = fault or ("it prints no test" if not rows else "exit status %d" % status)
        outcome = "skipped" if skipped else "failed" if bad else "passed"
        run.tell(path, run.settings["whole"], path, outcome, "%s\n%s" % (words, "\n".join(output.splitlines()[-40:])) if bad else "", seconds)


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def junit(path):
    """[(name, outcome, message, seconds)] of a file in JUnit's form."""
    if os.path.getsize(path) > REPORT_LIMIT:
        raise ValueError("the report is too large")
    rows = []
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        group = case.get("classname") or ""
        name = case.get("name") or ""
        bad = [child for child in case if child.tag in ("failure", "error")]
        skipped = [child for child in case if child.tag == "skipped"] or case.get("status") in ("disabled", "notrun")
        words = "\n".join(filter(None, [part for child in (bad or []) for part in (child.get("message"), child.text)] + [child.text for child in case if child.tag == "system-out"]))
        outcome = "failed" if bad or case.get("status") == "fail" else "skipped" if skipped else "passed"
        try:
            seconds = float(case.get("time") or 0)
        except ValueError:
            seconds = 0.0
        rows.append((name if not group or group == name else "%s.%s" % (group, name), outcome, words, seconds))
    return rows


def automake(path):
    """The same of one .trs file (Automake manual, "Parallel Test Harness"); its log tells the rest."""
    with open(path, encoding="utf-8", errors="replace") as stream:
        text = stream.read(REPORT_LIMIT)
    name = os.path.relpath(path, OWN)[:-4]
    log = ""
    if os.path.exists(path[:-4] + ".log"):
        with open(path[:-4] + ".log", encoding="utf-8", errors="replace") as stream:
            log = stream.read(MESSAGE_LIMIT)
    rows = []
    for word, rest in re.findall(r"^:test-result:\s*(\w+)[ \t]*(.*)$", text, re.MULTILINE):
        outcome = "passed" if word == "PASS" else "skipped" if word in ("SKIP", "XFAIL") else "failed"
        rows.append((name + (": " + rest if rest else ""), outcome, log, 0.0))
    return rows


def read_reports(run, form):
    rows, faults = [], []
    for pattern in run.settings["reports"]:
        for path in sorted(glob.glob(os.path.join(run.directory, pattern), recursive=True)):
            try:
                rows += junit(path) if form == "junit" else automake(path)
            except (ValueError, OSError, ElementTree.ParseError) as error:
                faults.append("%s: %s" % (os.path.basename(path), error))
    return rows, faults


def forget_reports(run):
    """What a tree brings of old results is not read."""
    for pattern in run.settings["reports"]:
        for path in glob.glob(os.path.join(run.directory, pattern), recursive=True):
            os.unlink(path)


def run_whole(run):
    """The command, its reports, and its exit status as a test of its own: no list of passes outweighs that."""
    group, place, form = run.settings["group"], run.settings["place"], run.settings["form"]
    forget_reports(run)
    status, output, seconds = run.shell(run.settings["test"], run.test_seconds)
    output = output.replace(OWN + "/", "")
    rows, faults = ([], []) if form == "output" else read_reports(run, form)
    if form == "output" and is_tap(output):
        found, fault = tap(output)
        rows, faults = [(name, outcome, message, 0.0) for name, outcome, message in found if name != "(all)"], [fault] if fault else []
    run.channel.send({"k": "collected", "file": group})
    for name, outcome, message, taken in rows:
        run.tell(group, name, place, outcome, message.replace(OWN + "/", ""), taken)
    if status is None:
        run.endless(group, run.settings["whole"], place)
        return
    if form != "output" and not rows:
        faults.append("it leaves no report of any test")
    words = "; ".join(faults) or "exit status %d" % status
    bad = status != 0 or faults
    run.tell(group, run.settings["whole"], place, "failed" if bad else "passed", "%s\n%s" % (words, "\n".join(output.splitlines()[-60:])) if bad else "", seconds)


def run_script(run):
    """A program of its own: exit status 0 passes."""
    path, name = run.settings["script"]
    with open(os.path.join(OWN, path), encoding="utf-8", errors="replace") as stream:
        first = stream.readline()
    program = first[2:].strip() if first.startswith("#!") else "perl" if path.endswith(".pl") else "bash"
    status, output, seconds = run.shell("%s %s" % (program, quoted(path)), run.test_seconds)
    run.wanted = None
    place = run.begin(name, path)
    run.channel.send({"k": "start", "i": place})
    record = {"k": "phase", "i": place, "when": "call", "outcome": "passed" if status == 0 else "failed", "seconds": round(seconds, 4)}
    if status is None:
        run.channel.send({"k": "slow", "i": place, "frame": [os.path.join(run.root, path), 1, "main"]})
    elif status != 0:
        text = "%s\nexit status %d" % (output.replace(OWN + "/", ""), status)
        record.update(message=cut(text), short=cut(first_words(text), 2000), exception=None, frames=run.frames(text))
        run.failed += 1
    run.channel.send(record)
    run.channel.send({"k": "end", "i": place})


def run(payload, channel):
    following = Run(payload, channel)
    settings = payload["settings"]
    following.copy()
    fault = following.build()
    files = payload["args"] if settings["form"] == "tap-files" else None
    if files and payload["order"]:
        rank = {path: place for place, path in enumerate(payload["order"])}
        files = sorted(files, key=lambda path: rank.get(path, len(rank)))
    if fault is not None:
        for group in (files if files is not None else [settings["group"]]):
            channel.send({"k": "uncollected", "file": group, "message": fault})
        channel.send({"k": "ready", "count": 0})
        return 2
    if payload["collect"]:
        rows = [["%s::%s" % (group, settings["whole"]), os.path.join(payload["root"], group if files is not None else settings["place"]), 1]
                for group in (files if files is not None else [settings["group"]])]
        channel.send({"k": "items", "items": rows})
        channel.send({"k": "ready", "count": len(rows)})
        return 0
    channel.send({"k": "ready", "count": len(files) if files is not None else 1})
    if settings.get("script"):
        run_script(following)
    elif files is not None:
        run_files(following, files)
    else:
        run_whole(following)
    if following.count == 0:
        return 5
    return 1 if following.failed else 0
