"""Run a repository's build in a build container, and keep what it made. Arguments: the root, steps [{folder, command}] (JSON), what for.

`first`: base's own build beside its installation, as root. `trial`: the same, and nothing of it is kept but the facts. `again`: from the sources at hand,
as the runner's uid, which can change nothing of the image. What is made is laid into /opt/overlay; facts of it go into /opt/env/builds.json: the status of each step, the files, the folders that were new. Exit
status 1: a step fails that did not fail on base.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time

FACTS, OVERLAY = "/opt/env/builds.json", "/opt/overlay"
RUNNER = 1000
STEP_S = 600
WHOLE_S = 780  # what is made by then is kept: those who started this end it a little later
LATE = 124
PASSED_OVER = {"node_modules", ".git"}


def listing(root):
    """(files, folders) from the root; no links."""
    files, folders = set(), set()
    for folder, names, entries in os.walk(root):
        names[:] = [name for name in names if name not in PASSED_OVER and not os.path.islink(os.path.join(folder, name))]
        folders.update(os.path.relpath(os.path.join(folder, name), root) for name in names)
        files.update(os.path.relpath(path, root) for name in entries if not os.path.islink(path := os.path.join(folder, name)))
    return files, folders


def as_runner():
    os.setgroups([])
    os.setgid(RUNNER)
    os.setuid(RUNNER)


def step(root, one, again, until):
    folder = os.path.join(root, one["folder"]) if one["folder"] else root
    path = ":".join([os.path.join(folder, "node_modules/.bin"), os.path.join(root, "node_modules/.bin"), os.environ["PATH"]])
    print("$ " + one["command"], flush=True)
    left = min(STEP_S, until - time.monotonic())
    if left <= 0:
        print("no time is left for it", flush=True)
        return LATE
    process = subprocess.Popen(["/bin/sh", "-c", one["command"]], cwd=folder, env={**os.environ, "PATH": path}, stdin=subprocess.DEVNULL,
                               start_new_session=True, preexec_fn=as_runner if again else None)
    try:
        return process.wait(left)
    except subprocess.TimeoutExpired:
        print("out of time", flush=True)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return LATE


def end_leftovers():
    """Whatever the build has left running."""
    if os.fork() == 0:
        as_runner()
        try:
            os.kill(-1, signal.SIGKILL)
        finally:
            os._exit(0)
    os.wait()


def expected(path, facts):
    """Whether base's build made this file too, or the folder that it is in."""
    if "files" not in facts or path in facts["files"]:
        return True
    parts = path.split("/")
    return any("/".join(parts[:count]) in facts["made"] for count in range(1, len(parts)))


def keep(root, files):
    for path in files:
        source, target = os.path.join(root, path), os.path.join(OVERLAY, path)
        if os.path.realpath(source) == source and os.path.isfile(source):
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copyfile(source, target)
            os.chmod(target, 0o755 if os.stat(source).st_mode & 0o100 else 0o644)


def main():
    root, steps, again = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3] == "again"
    facts = {}
    if os.path.exists(FACTS):
        with open(FACTS, encoding="utf-8") as file:
            facts = json.load(file)
    before = listing(root)
    until = time.monotonic() + WHOLE_S
    statuses = {one["folder"] + "\0" + one["command"]: step(root, one, again, until) for one in steps}
    if again:
        end_leftovers()
    after = listing(root)
    made = sorted(after[0] - before[0])
    if sys.argv[3] == "trial":
        for path in made:
            os.remove(os.path.join(root, path))
    else:
        keep(root, [path for path in made if not again or expected(path, facts)])
    failed = [name for name, status in statuses.items() if status != 0 and facts.get("builds", {}).get(name) == 0 and facts.get("offline")]
    if not facts.get("offline"):
        facts = {"builds": statuses, "files": made, "made": sorted(after[1] - before[1]), "written": sorted({os.path.dirname(path) for path in made}), "offline": again}
        with open(FACTS, "w", encoding="utf-8") as file:
            json.dump(facts, file)
    sys.exit(1 if failed else 0)


main()
