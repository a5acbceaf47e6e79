"""`cargo build` and the programs that it makes -> the records of a run. Runs beside the tests, under the image's Python, and holds the channel.

args: groups (crate roots, `PATH (doc)` for doc tests), none for all. settings: directory (of the workspace, from the root), flags, target [the environment's,
the run's own], script ([path, name] or null).
"""

import collections
import json
import os
import re
import shutil
import signal
import subprocess
import threading
import time
import tomllib

MESSAGE_LIMIT = 6000
OUTPUT_LIMIT = 64000
LINE_LIMIT = 4 * 1024 * 1024
CHOSEN_MOST = 2000  # names beyond which a program runs all of its tests and the rest is left out of the report
ALIVE_S = 20.0
LIST_S = 60.0
LINKED = (".rlib", ".rmeta")  # read by the compiler alone; programs are copied, since tests look for others beside their own
DOC = " (doc)"
TREE_TOOL = "/opt/env/bin/cargo-tree"
BOOTSTRAP = {"RUSTC_BOOTSTRAP": "1"}  # for the test programs alone: build scripts read it
JSON_WORDS = ["-Z", "unstable-options", "--format", "json"]
PANIC = re.compile(r"panicked at (?:'(?P<old>.*?)', )?(?P<file>[^\s:']+\.rs):(?P<line>\d+):\d+:?\n?(?P<new>.*)", re.DOTALL)
EVENT = re.compile(r'\{ ?"type": ?"(?:test|suite|report|bench)".*\}\s*$', re.DOTALL)
DOC_NAME = re.compile(r"(?P<file>.+?\.(?:rs|md)) - (?P<item>.*?)\s*\(line (?P<line>\d+)\)(?P<rest>.*)$")


def cut(text, limit=MESSAGE_LIMIT):
    return text if len(text) <= limit else text[:limit // 3] + "\n[...]\n" + text[-(limit * 2 // 3):]


# the target folder


def restore(kept, own):
    """The environment's target folder where this run may write; whether it had to be laid there. Libraries are links, programs and notes are copies with their times."""
    if os.path.isdir(own) or not os.path.isdir(kept):
        return False
    part, known = own + ".part", {}
    for folder, _, names in os.walk(kept):
        mine = os.path.normpath(os.path.join(part, os.path.relpath(folder, kept)))
        os.makedirs(mine, exist_ok=True)
        for name in names:
            place(os.path.join(folder, name), os.path.join(mine, name), known)
    os.rename(part, own)
    return True


def place(source, target, known):
    facts = os.lstat(source)
    if facts.st_ino in known:
        os.link(known[facts.st_ino], target, follow_symlinks=False)
        return
    if source.endswith(LINKED):
        os.symlink(source, target)
    else:
        shutil.copy2(source, target, follow_symlinks=False)
    if facts.st_nlink > 1:
        known[facts.st_ino] = target


def drop_programs(own):
    """No program that a run does not build is left for its tests to find: it may be of other sources."""
    for folder in (os.path.join(own, "debug"), os.path.join(own, "debug", "examples")):
        for name in os.listdir(folder) if os.path.isdir(folder) else []:
            path = os.path.join(folder, name)
            if os.path.isfile(path) and os.access(path, os.X_OK):
                os.unlink(path)


# what there is to build


class Target:
    """One crate that can hold tests: `kind` is lib, bin, test, example or proc-macro."""

    def __init__(self, package, target, harness):
        self.package, self.manifest, self.folder = package["name"], package["manifest_path"], os.path.dirname(package["manifest_path"])
        self.name, self.path, self.kind = target["name"], target["src_path"], target["kind"][0]
        self.tested, self.documented, self.harness = target.get("test", True), target.get("doctest", False), harness
        self.required = set(target.get("required-features") or [])
        self.group = ""

    def key(self):
        return self.manifest, self.kind, self.name


def default_features(package):
    found, waiting = set(), ["default"]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += package["features"].get(name, [])
    return found


def harnesses(manifest):
    """(kind, name) of targets with a harness of their own."""
    try:
        with open(manifest, "rb") as file:
            data = tomllib.load(file)
    except (OSError, ValueError):
        return set()
    rows = [("test", row) for row in data.get("test", [])] + [("bin", row) for row in data.get("bin", [])] + [("lib", data.get("lib", {}))]
    return {(kind, row.get("name")) for kind, row in rows if isinstance(row, dict) and row.get("harness") is False}


def read_targets(metadata, root, flags):
    """Every target of every member, with the group that its tests bear."""
    found, taken = [], collections.Counter()
    for package in metadata["packages"]:
        own = harnesses(package["manifest_path"])
        everything = "--all-features" in flags
        have = default_features(package)
        for row in package["targets"]:
            if row["kind"][0] in ("custom-build", "bench"):
                continue
            kind = "lib" if row["kind"][0] not in ("bin", "test", "example") else row["kind"][0]
            target = Target(package, row, (kind, row["name"]) not in own and (kind, None) not in own)
            target.kind = kind
            if everything or target.required <= have:
                found.append(target)
    for target in found:
        path = target.path[len(root) + 1:] if target.path.startswith(root + "/") else target.path
        taken[path] += 1
        target.group = path if taken[path] == 1 else "%s (%s)" % (path, target.name)
    return found


# a run


class CargoRun:
    """Builds, starts the programs one after the other and follows them. Everything that is sent goes through here."""

    def __init__(self, channel, payload):
        self.send, self.root, self.payload = channel.send, payload["root"], payload
        settings = payload["settings"]
        self.directory = os.path.join(self.root, settings["directory"]) if settings["directory"] else self.root
        self.flags = os.environ.get("DUALGATE_CARGO_FLAGS", "").split() + settings["flags"]
        self.wanted = None if payload["wanted"] is None else set(payload["wanted"])
        self.limit, self.collect = payload["test_seconds"], payload["collect"]
        self.groups = set(payload["args"])
        self.places = {}
        self.count = self.failed = self.bad_ends = 0
        self.stop_at = time.monotonic() + payload["suite_seconds"] if payload["suite_seconds"] else None
        self.cut = False
        self.metadata, self.targets, self.errors, self.programs, self.built, self.made, self.variables = {}, [], {}, {}, set(), {}, {}

    def is_asked(self, group):
        return not self.groups or group in self.groups

    def is_spent(self):
        return self.stop_at is not None and time.monotonic() > self.stop_at

    def item(self, known, file, line):
        """The number of a test among the items; None for one that was not asked for."""
        if self.wanted is not None and known not in self.wanted:
            return None
        if known not in self.places:
            self.places[known] = len(self.places)
            self.send({"k": "items", "items": [[known, file, line]]})
        return self.places[known]

    def ended(self, place, record):
        """One whole test."""
        self.count += 1
        self.failed += record["outcome"] == "failed"
        if place is not None:
            self.send({"k": "phase", "i": place, "when": "call", **record})
            self.send({"k": "end", "i": place})

    # building

    def read(self):
        """The members and their targets. An answer of None is a fault of the manifests."""
        argv = ["cargo", "metadata", "--offline", "--no-deps", "--format-version", "1"]
        done = subprocess.run(argv, cwd=self.directory, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if done.returncode != 0:
            return done.stderr.decode("utf-8", "replace")
        self.metadata = json.loads(done.stdout)
        self.targets = read_targets(self.metadata, self.root, self.flags)
        return None

    def build(self):
        """Everything that `cargo test` would build, whatever of it does not compile. The exit status."""
        kinds = {t.kind for t in self.targets}
        argv = ["cargo", "build", "--offline", "--workspace", "--tests", "--keep-going", "--message-format=json"] + self.flags
        argv += (["--lib"] if "lib" in kinds else []) + (["--bins"] if "bin" in kinds else []) + (["--examples"] if "example" in kinds else [])
        if len(self.groups) == 1 and any(t.kind == "lib" and t.group in self.groups for t in self.targets):
            argv = ["cargo", "test", "--no-run", "--offline", "--workspace", "--lib", "--message-format=json"] + self.flags
            drop_programs(self.payload["settings"]["target"][1])
        self.shown = []
        process = subprocess.Popen(argv, cwd=self.directory, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        with Watch(self, process, lambda now: None), Errors(process.stderr, self.shown):
            for raw in process.stdout:
                try:
                    self.message(json.loads(raw))
                except ValueError:
                    os.write(2, raw)
            return process.wait()

    def message(self, message):
        reason = message.get("reason")
        if reason == "build-script-executed":
            self.variables[message["package_id"]] = dict(message.get("env") or [], OUT_DIR=message.get("out_dir", ""))
        if reason not in ("compiler-artifact", "compiler-message"):
            return
        kind = message["target"]["kind"][0]
        key = message["manifest_path"], kind if kind in ("bin", "test", "example") else "lib", message["target"]["name"]
        if kind == "custom-build":
            key = message["manifest_path"], "lib", "build script"
        if reason == "compiler-artifact":
            if message["profile"]["test"] and message.get("executable"):
                self.programs[key] = message["executable"], message["package_id"]
            elif not message["profile"]["test"]:
                self.built.add(key)
        elif message["message"]["level"].startswith("error"):
            told = self.errors.setdefault(key, [])
            if message["message"]["rendered"] not in told:
                told.append(message["message"]["rendered"])
                self.made.setdefault(key, []).append(self.makers(message["message"]))
            os.write(2, message["message"]["rendered"].encode("utf-8", "replace"))

    def makers(self, message):
        """Where the repository's macros stand that made the code of an error; empty where a person wrote it."""
        found = []
        for span in message.get("spans") or []:
            while span and span.get("expansion"):
                place = (span["expansion"].get("def_site_span") or {}).get("file_name", "")
                path = os.path.normpath(os.path.join(self.directory, place))
                if span.get("is_primary", True) and path.startswith(self.root + "/"):
                    found.append(self.crate_of(path))
                span = span["expansion"].get("span")
        return found

    def crate_of(self, path):
        """The folder of a proc-macro crate, any other file itself."""
        for package in self.metadata["packages"]:
            folder = os.path.dirname(package["manifest_path"])
            if path.startswith(folder + "/") and any("proc-macro" in t["kind"] for t in package["targets"]):
                return os.path.join(folder, "src")[len(self.root) + 1:] + "/"
        return path[len(self.root) + 1:]

    def tell_uncompiled(self, status):
        """Test programs that there should be and are not."""
        everything = [text for rows in self.errors.values() for text in rows]
        for target in self.targets:
            if target.kind == "example" or not target.tested or target.key() in self.programs or not self.is_asked(target.group):
                continue
            if status == 0 and not everything:
                continue
            self.failed += 1
            self.send({"k": "uncollected", "file": target.group, "message": cut(self.why(target, everything))})

    def why(self, target, everything):
        """The compiler's words, its own first, under a line that says whether it is the crate or its tests that do not compile."""
        library = next((t for t in self.targets if t.manifest == target.manifest and t.kind == "lib"), None)
        broken = [t for t in self.targets if t.key() in self.errors and t.kind in ("lib", "bin") and t.key() not in self.built]
        own = self.errors.get(target.key())
        if target.key() in self.built or (target.kind == "test" and own and (library is None or library.key() in self.built)):
            words = "its tests do not compile"
        elif broken or not own:
            words = "the crate itself does not compile" if everything else "cargo could not build it\n" + "".join(self.shown[-12:])
        else:
            words = "the crate itself does not compile"
        made = self.made.get(target.key()) or []
        if own and all(made):
            words += "\nin code made by a macro of " + made[0][0]
        return words + "\n" + "\n".join(own or everything[:4])

    # programs

    def run_programs(self):
        order = {group: place for place, group in enumerate(self.payload["order"] or [])}
        for target in sorted(self.targets, key=lambda t: order.get(t.group, len(order))):
            if target.key() not in self.programs or not self.is_asked(target.group):
                continue
            if self.is_spent() or self.cut:
                self.spent()
                return
            executable, package = self.programs[target.key()]
            Program(self, target, executable, self.environment(target, package)).run()
        self.run_docs()

    def spent(self):
        if not self.cut:
            self.cut = True
            self.send({"k": "cut"})

    def environment(self, target, package_id):
        """What cargo gives to a test program."""
        package = next(p for p in self.metadata["packages"] if p["id"] == package_id)
        version = re.match(r"(\d+)\.(\d+)\.(\d+)(?:-([^+]*))?", package["version"])
        values = {
            "CARGO": shutil.which("cargo") or "cargo", "CARGO_MANIFEST_DIR": target.folder, "CARGO_MANIFEST_PATH": target.manifest, "CARGO_PKG_NAME": package["name"],
            "CARGO_PKG_VERSION": package["version"], "CARGO_PKG_AUTHORS": ":".join(package.get("authors") or []),
            "CARGO_PKG_DESCRIPTION": package.get("description") or "", "CARGO_PKG_HOMEPAGE": package.get("homepage") or "",
            "CARGO_PKG_REPOSITORY": package.get("repository") or "", "CARGO_PKG_LICENSE": package.get("license") or "",
            "CARGO_PKG_LICENSE_FILE": package.get("license_file") or "", "CARGO_PKG_RUST_VERSION": package.get("rust_version") or "",
            "CARGO_PKG_README": package.get("readme") or "",
        }
        for name, place in (("MAJOR", 1), ("MINOR", 2), ("PATCH", 3), ("PRE", 4)):
            values["CARGO_PKG_VERSION_" + name] = (version and version[place]) or ""
        for other in self.targets:
            if other.kind == "bin" and other.manifest == target.manifest and target.kind == "test":
                values["CARGO_BIN_EXE_" + other.name] = os.path.join(self.payload["settings"]["target"][1], "debug", other.name)
        executable = self.programs[target.key()][0]
        folders = [os.path.dirname(os.path.dirname(executable)), os.path.dirname(executable), self.library_folder()]
        return {**os.environ, **self.configured(), **self.variables.get(package_id, {}), **values, "LD_LIBRARY_PATH": ":".join(folders)}

    def library_folder(self):
        if not hasattr(self, "_library"):
            done = subprocess.run(["rustc", "--print", "target-libdir"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            self._library = done.stdout.decode().strip()
        return self._library

    def configured(self):
        """[env] of .cargo/config.toml."""
        found = {}
        for name in (".cargo/config", ".cargo/config.toml"):
            try:
                with open(os.path.join(self.directory, name), "rb") as file:
                    table = tomllib.load(file).get("env", {})
            except (OSError, ValueError):
                continue
            for key, value in table.items():
                text = value.get("value", "") if isinstance(value, dict) else value
                found[key] = os.path.join(self.directory, text) if isinstance(value, dict) and value.get("relative") else str(text)
        return found

    # doc tests

    def run_docs(self):
        """Every member's doc tests, in one go: the names say whose they are."""
        libraries = [t for t in self.targets if t.kind == "lib" and t.documented]
        asked = [t for t in libraries if self.is_asked(t.group + DOC)]
        if self.wanted is not None:
            asked = [t for t in asked if any(name.startswith(t.group + DOC + "::") for name in self.wanted)]
        able = [t for t in asked if t.key() in self.built]
        for target in asked:
            if target not in able and self.errors:
                self.failed += 1
                everything = [text for rows in self.errors.values() for text in rows]
                self.send({"k": "uncollected", "file": target.group + DOC, "message": cut(self.why(target, everything))})
        if able and not self.is_spent():
            Docs(self, able, libraries).run()

    # failures

    def failure(self, text, name, message=""):
        said = text.strip()
        match = PANIC.search(text)
        frames = []
        if match:
            file = os.path.normpath(os.path.join(self.directory, match["file"]))
            frames = [[file, int(match["line"]), name]]
            words = (match["old"] or match["new"].split("\nnote: ")[0].split("\nstack backtrace:")[0]).strip()
            return {"message": cut(said), "exception": "panic", "short": cut(words, 2000), "frames": frames}
        return {"message": cut("\n".join(filter(None, [message.strip(), said]))) or "it failed", "exception": "Failed",
                "short": cut(message.strip() or (said.splitlines() or ["it failed"])[-1], 2000), "frames": frames}


class Errors:
    """The tool's own words, into the log and into a list."""

    def __init__(self, stream, kept=None):
        self.stream, self.kept = stream, kept if kept is not None else []

    def __enter__(self):
        self.thread = threading.Thread(target=self.forward, daemon=True)
        self.thread.start()
        return self

    def forward(self):
        for raw in self.stream:
            os.write(2, raw)
            if len(self.kept) < 2000:
                self.kept.append(raw.decode("utf-8", "replace"))

    def __exit__(self, *_):
        self.thread.join(3)


class Watch:
    """Says that a run is alive, ends it when its time is spent, and asks `look(now)` whether to end it before."""

    def __init__(self, run, process, look):
        self.run, self.process, self.look, self.done = run, process, look, threading.Event()
        self.lock = threading.RLock()

    def __enter__(self):
        self.thread = threading.Thread(target=self.follow, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.done.set()
        self.thread.join(5)

    def follow(self):
        said = time.monotonic()
        while not self.done.wait(0.2):
            now = time.monotonic()
            with self.lock:
                if self.look(now):
                    end_group(self.process)
                    return
                if now - said > ALIVE_S:
                    self.run.send({"k": "alive"})
                    said = now
                if self.run.is_spent():
                    self.run.spent()
                    end_group(self.process)
                    return


def end_group(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except OSError:
        pass


def events(stream):
    """(event or None, text before it) of each line. A program's own words can stand before the brace."""
    for raw in iter(lambda: stream.readline(LINE_LIMIT), b""):
        line = raw.decode("utf-8", "replace")
        at = line.rfind('{ "type":') if '{ "type":' in line else line.find('{"type":')
        if at >= 0 and EVENT.match(line[at:]):
            try:
                yield json.loads(line[at:]), line[:at]
                continue
            except ValueError:
                pass
        yield None, line


class Program:
    """One test program of one target."""

    def __init__(self, run, target, executable, environment):
        self.all, self.target, self.executable, self.environment = run, target, executable, environment
        self.known = {}  # name -> (file, line)
        self.ended, self.running, self.since, self.hung, self.finished = set(), None, 0.0, False, None
        self.loose = []

    def run(self):
        listed = self.list()
        if listed is None:
            self.run_whole() if not self.target.harness else self.broken()
            return
        names = [name for name in self.known if self.all.wanted is None or self.id_of(name) in self.all.wanted]
        if self.all.wanted is not None and not names:
            return
        self.all.send({"k": "collected", "file": self.target.group})
        if self.all.collect:
            for name in names:
                self.place(name)
        elif names:
            self.start(names)

    def id_of(self, name):
        return self.target.group + "::" + name

    def place(self, name):
        file, line = self.known[name]
        return self.all.item(self.id_of(name), file, line)

    def list(self):
        """The names of its tests, with the places that the compiler knows; None where it does not speak of them."""
        for words in (JSON_WORDS, ["--format", "terse"]) if self.target.harness else (["--format", "terse"],):
            try:
                done = subprocess.run([self.executable, "--list", *words], cwd=self.target.folder, env={**self.environment, **BOOTSTRAP}, timeout=LIST_S,
                                      stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
            except subprocess.TimeoutExpired:
                continue
            lines = done.stdout.decode("utf-8", "replace").splitlines()
            if done.returncode == 0 and self.read_list(lines, words is JSON_WORDS):
                return True
        return None

    def read_list(self, lines, as_json):
        here = self.target.path
        if not as_json:
            rows = [re.fullmatch(r"(.+): (test|benchmark)", line) for line in lines if line.strip() and not re.match(r"\d+ tests?, ", line)]
            if not all(rows) or (not rows and not self.target.harness):
                return False
            self.known = {row[1]: (here, 0) for row in rows if row[2] == "test"}
            return True
        whole = False
        for line in lines:
            try:
                event = json.loads(line)
            except ValueError:
                continue
            if event.get("event") == "discovered" and event.get("type") == "test":
                file = os.path.normpath(os.path.join(self.all.directory, event.get("source_path") or here))
                self.known[event["name"]] = (file, event.get("start_line") or 0)
            whole = whole or event.get("event") == "completed"
        return whole

    def broken(self):
        self.all.failed += 1
        self.all.send({"k": "uncollected", "file": self.target.group, "message": "its program ended before it had told its tests"})

    def start(self, names):
        chosen = ["--exact", *names] if len(names) < len(self.known) and len(names) <= CHOSEN_MOST else []
        argv = [self.executable, *JSON_WORDS, "--report-time", "--test-threads=1", *chosen]
        if not self.target.harness:
            argv = [self.executable, "--format", "json", "--test-threads=1", *chosen]
        self.since = time.monotonic()
        process = subprocess.Popen(argv, cwd=self.target.folder, env={**self.environment, **BOOTSTRAP}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, start_new_session=True)
        with Errors(process.stderr) as errors, Watch(self.all, process, self.hangs) as watch:
            for event, text in events(process.stdout):
                with watch.lock:
                    self.hear(event, text)
            status = process.wait()
            end_group(process)
        with watch.lock:
            self.close(status, names if chosen else list(self.known), "".join(errors.kept))

    def hangs(self, now):
        """A test without an end, or a program that is silent between two."""
        room = self.all.limit if self.running else 2 * self.all.limit
        self.hung = bool(self.all.limit and now - self.since > room)
        return self.hung

    def hear(self, event, text):
        if text.strip():
            os.write(2, text.encode("utf-8", "replace"))
            self.loose.append(text[:2000])
            del self.loose[:-40]
        if event is None:
            return
        if event["type"] == "suite" and event.get("event") in ("ok", "failed"):
            self.finished = event
        elif event["type"] == "test" and event.get("name") in self.known:
            self.of_test(event["name"], event)

    def of_test(self, name, event):
        kind = event.get("event")
        if kind == "started" and name not in self.ended and self.running is None:
            self.running, self.since = name, time.monotonic()
            place = self.place(name)
            if place is not None:
                self.all.send({"k": "start", "i": place})
        elif kind in ("ok", "failed", "ignored") and name == self.running:
            self.running, self.since = None, time.monotonic()
            self.ended.add(name)
            self.tell(name, kind, event)
        elif kind in ("ok", "failed", "ignored"):  # of a test that has not begun, or that had ended: it is the program's own writing
            self.doubt(name)

    def doubt(self, name):
        """Two results of one test, or one of a test that has not begun: none of it is believed."""
        self.ended.add(name)
        place = self.place(name)
        if place is not None:
            self.all.send({"k": "start", "i": place})
        self.all.ended(place, {"outcome": "failed", "seconds": 0.0, "message": "the program wrote a result for this test that its runner did not give",
                               "exception": "forged", "short": "a result that the runner did not give", "frames": []})

    def tell(self, name, kind, event):
        record = {"outcome": {"ok": "passed", "failed": "failed", "ignored": "skipped"}[kind], "seconds": round(event.get("exec_time") or 0.0, 4)}
        if kind == "failed":
            record.update(self.all.failure(event.get("stdout") or "".join(self.loose[-10:]), name, event.get("message") or ""))
        elif kind == "ignored":
            record["message"] = cut(event.get("message") or "ignored", 500)
        self.all.ended(self.place(name), record)

    def close(self, status, names, errors):
        """Its own end: whole only with the runner's last word, the counts that it names, and the exit status that goes with them."""
        whole = self.finished is not None and status in (0, 101) and all(name in self.ended for name in names)
        if whole and (status == 0) != (self.finished["event"] == "ok"):
            whole = False
        if whole or self.all.cut:
            return
        self.all.bad_ends += 1
        self.all.send({"k": "died", "file": self.target.group})
        if self.running is not None and (place := self.place(self.running)) is not None:
            file, line = self.known[self.running]
            if self.hung:
                self.all.send({"k": "slow", "i": place, "frame": [file, line, self.running]})
            else:
                self.crashed(place, status, errors)
        lost = [place for name in names if name not in self.ended and name != self.running and (place := self.place(name)) is not None]
        if lost:
            self.all.send({"k": "lost", "i": lost})

    def crashed(self, place, status, errors):
        self.all.failed += 1
        words = "the program died of %s" % signal.Signals(-status).name if status < 0 else "the program ended with %d" % status
        os.write(2, ("%s: %s in %s\n%s\n" % (self.target.group, words, self.running, errors[-2000:])).encode("utf-8", "replace"))

    def run_whole(self):
        """A harness of its own that speaks no known words: one test, by its exit status."""
        self.known = {"main": (self.target.path, 1)}
        place = self.place("main")
        if place is None:
            return
        self.all.send({"k": "collected", "file": self.target.group})
        if self.all.collect:
            return
        self.all.send({"k": "start", "i": place})
        began, self.running, self.since = time.monotonic(), "main", time.monotonic()
        process = subprocess.Popen([self.executable], cwd=self.target.folder, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, start_new_session=True)
        kept = []
        with Errors(process.stdout, kept), Watch(self.all, process, self.hangs):
            status = process.wait()
            end_group(process)
        if self.hung:
            self.all.send({"k": "slow", "i": place, "frame": [self.target.path, 1, "main"]})
            self.all.failed += 1
            return
        record = {"outcome": "passed" if status == 0 else "failed", "seconds": round(time.monotonic() - began, 4)}
        if status != 0:
            record.update(self.all.failure("".join(kept)[-OUTPUT_LIMIT:] + "\nexit status %d" % status, "main"))
        self.all.ended(place, record)


class Docs:
    """`cargo test --doc`: named by line, told by file, item and ordinal, which are known at the end."""

    def __init__(self, run, able, libraries):
        self.all, self.able, self.libraries = run, able, libraries
        self.results, self.running, self.since, self.hung, self.suites = {}, None, 0.0, None, 0

    def run(self):
        run = self.all
        packages = [word for t in self.able for word in ("-p", t.package)]
        others = [word for t in self.libraries if t not in self.able for word in ("--exclude", t.package)]
        words = ["--workspace", *others] if len(self.able) > 1 or not run.groups else packages
        argv = ["cargo", "test", "--offline", "--doc", "--no-fail-fast", "--quiet", *words, *run.flags, "--", *JSON_WORDS]
        argv += ["--list"] if run.collect else ["--report-time", "--test-threads=1", *self.filters()]
        process = subprocess.Popen(argv, cwd=run.directory, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        kept = []
        with Errors(process.stderr, kept), Watch(run, process, self.hangs) as watch:
            for event, _ in events(process.stdout):
                with watch.lock:
                    self.hear(event)
            status = process.wait()
            end_group(process)
        self.tell(status, "".join(kept))

    def filters(self):
        """Items of wanted doc tests; the names are told apart afterwards."""
        if self.all.wanted is None:
            return []
        names = [name.partition("::")[2] for name in self.all.wanted if DOC + "::" in name]
        return sorted({re.sub(r" \(\d+\)[^()]*$", "", name) for name in names})

    def hangs(self, now):
        if self.running and self.all.limit and now - self.since > self.all.limit:
            self.hung = self.running
        return self.hung is not None

    def hear(self, event):
        if event is None or event["type"] not in ("test", "suite"):
            return
        kind, name = event.get("event"), event.get("name")
        if event["type"] == "suite":
            self.suites += kind in ("ok", "failed", "completed")
        elif kind == "started":
            self.running, self.since = name, time.monotonic()
        elif kind in ("ok", "failed", "ignored", "discovered"):
            self.results.setdefault(name, []).append(event)
            self.running = None

    def tell(self, status, errors):
        whole = self.suites > 0 and status in (0, 101) and self.hung is None
        if not whole and not self.all.cut:
            self.all.bad_ends += 1
            for target in self.able:
                if self.hung is None and not self.results:
                    self.all.failed += 1
                    self.all.send({"k": "uncollected", "file": target.group + DOC, "message": cut(errors.strip() or "its doc tests could not be run")})
                else:
                    self.all.send({"k": "died", "file": target.group + DOC})
        if self.hung is not None:
            self.results.setdefault(self.hung, [{"event": "hung"}])
        rows = numbered(self.results)
        for target in self.able:
            if any(self.owner(file) is target for _, file, *_ in rows) and (whole or self.results):
                self.all.send({"k": "collected", "file": target.group + DOC})
        for known, file, line, heard in rows:
            owner = self.owner(file)
            if owner in self.able:
                self.of_test(owner, known, file, line, heard)

    def owner(self, file):
        """The library of the innermost member around a file."""
        path = os.path.normpath(os.path.join(self.all.directory, file))
        around = [t for t in self.libraries if path.startswith(t.folder + "/")]
        return max(around, key=lambda t: len(t.folder), default=None)

    def of_test(self, owner, known, file, line, heard):
        path = os.path.normpath(os.path.join(self.all.directory, file))
        place = self.all.item(owner.group + DOC + "::" + known, path, line)
        if self.all.collect:
            return
        if place is not None:
            self.all.send({"k": "start", "i": place})
        kind = heard[0]["event"] if len({e["event"] for e in heard}) == 1 else "failed"
        if kind == "hung":
            self.all.failed += 1
            if place is not None:
                self.all.send({"k": "slow", "i": place, "frame": [path, line, known]})
            return
        record = {"outcome": {"ok": "passed", "failed": "failed", "ignored": "skipped"}[kind], "seconds": round(heard[-1].get("exec_time") or 0.0, 4)}
        if kind == "failed":
            text = heard[-1].get("stdout") or ""
            record.update(self.all.failure(text, known))
            record["frames"] = [[path, line, known]]
        elif kind == "ignored":
            record["message"] = "ignored"
        self.all.ended(place, record)


def numbered(results):
    """[(name without its line and with its ordinal among those of its item, file, line, events)], in the order of files and lines."""
    rows = []
    for name, heard in results.items():
        match = DOC_NAME.match(name)
        if match:
            rows.append((match["file"], int(match["line"]), match["item"], match["rest"], heard))
    rows.sort(key=lambda row: (row[0], row[1]))
    counts, found = collections.Counter(), []
    for file, line, item, rest, heard in rows:
        base = ("%s - %s" % (file, item)).rstrip(" -")
        counts[base] += 1
        found.append(("%s (%d)%s" % (base, counts[base], rest), file, line, heard))
    return found


def cargo_script(run):
    """An example of its own: exit status 0 passes."""
    path, name = run.payload["settings"]["script"]
    place = run.item(name, os.path.join(run.root, path), 1)
    run.send({"k": "ready", "count": 1})
    run.send({"k": "start", "i": place})
    began = time.monotonic()
    example = os.path.splitext(os.path.basename(path))[0]
    argv = ["cargo", "run", "--offline", "--quiet", "--example", example, *run.flags]
    folder = os.path.dirname(os.path.dirname(os.path.join(run.root, path)))
    process = subprocess.Popen(argv, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
    kept = []
    with Errors(process.stdout, kept), Watch(run, process, lambda now: bool(run.limit and now - began > run.limit + 600)):
        status = process.wait()
        end_group(process)
    record = {"outcome": "passed" if status == 0 else "failed", "seconds": round(time.monotonic() - began, 4)}
    text = "".join(kept)[-OUTPUT_LIMIT:]
    if status != 0:
        record.update(run.failure(text + "\nexit status %d" % status, "main"))
        if "could not compile" in text:
            record["exception"] = "build"
    run.ended(place, record)
    return 0 if status == 0 else 1


def run(payload, channel):
    settings = payload["settings"]
    if restore(*settings["target"]):
        subprocess.run([TREE_TOOL, "forget", payload["root"], settings["target"][1]], stdin=subprocess.DEVNULL, check=True)
    following = CargoRun(channel, payload)
    fault = following.read()
    if fault is not None:
        channel.send({"k": "internal", "message": cut(fault)})
        return 2
    if settings.get("script"):
        return cargo_script(following)
    channel.send({"k": "ready", "count": len(following.targets)})
    status = following.build()
    if following.cut:
        return 1
    following.tell_uncompiled(status)
    following.run_programs()
    if payload["collect"]:
        return 0 if following.places and not following.failed else 1 if following.failed else 5
    if not following.count and not following.failed and not following.bad_ends:
        return 5
    return 1 if following.failed or following.bad_ends else 0
