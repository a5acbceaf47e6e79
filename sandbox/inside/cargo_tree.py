#!/usr/bin/python3 -IS
"""Keeps a target folder honest: cargo believes the times of files, and every file of a box has the same.

`cargo-tree list ROOT`: remember what the target folder is made from. `cargo-tree ROOT` (as /opt/unpacked, in each box): lay our manifests and lock file
over the tree, then give the time of now to every file that is not as it was remembered, and to folders that lost one. `cargo-tree forget ROOT TARGET`:
where one of those is no Rust file, members are built anew, whatever cargo knows of what they read; `cargo-tree forget-all TARGET`: in any case.
"""

import hashlib
import json
import os
import shutil
import sys
import time

LIST, LAID, MEMBERS, MADE = "/opt/built-from", "/opt/laid", "/opt/env/members", "/opt/env/made"
INSTANT = 1600000000


def files(root):
    for folder, below, names in os.walk(root):
        if folder == root:
            below[:] = [name for name in below if name not in (".git", "target")]
        for name in names:
            yield os.path.relpath(os.path.join(folder, name), root)


def digest(path):
    if os.path.islink(path):
        return "link " + os.readlink(path)
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def listing(root):
    return {name: digest(os.path.join(root, name)) for name in files(root)}


def remember(root):
    with open(LIST, "w", encoding="utf-8", errors="surrogateescape") as out:
        json.dump(listing(root), out)


def lay(root):
    for name in files(LAID) if os.path.isdir(LAID) else ():
        target = os.path.join(root, name)
        if os.path.isdir(os.path.dirname(target)) and not os.path.islink(target):
            if os.path.exists(target):
                os.unlink(target)
            shutil.copyfile(os.path.join(LAID, name), target)
            os.utime(target, (INSTANT, INSTANT))


def changed(root):
    with open(LIST, encoding="utf-8", errors="surrogateescape") as known:
        before = json.load(known)
    now = listing(root)
    return [name for name in now if before.get(name) != now[name]], [name for name in before if name not in now]


def freshen(root):
    """The names of files that differ, and of those that are gone."""
    if not os.path.exists(LIST):
        return [], []
    differ, gone = changed(root)
    now = newest()
    for name in differ:
        os.utime(os.path.join(root, name), (now, now), follow_symlinks=False)
    for name in gone:
        folder = os.path.dirname(os.path.join(root, name))
        if os.path.isdir(folder):
            os.utime(folder, (now, now))
    return differ, gone


def newest():
    """Later than anything in the target folder, whatever the clock says."""
    try:
        with open(MADE, encoding="ascii") as made:
            return max(time.time(), float(made.read()) + 2)
    except (OSError, ValueError):
        return time.time()


def forget(root, target):
    differ, gone = changed(root)
    if not all(name.endswith(".rs") for name in differ + gone):
        forget_all(target)


def forget_all(target):
    with open(MEMBERS, encoding="utf-8") as file:
        members = set(file.read().split())
    for folder, below, _ in os.walk(target):
        if os.path.basename(folder) == ".fingerprint":
            for name in list(below):
                if name.rpartition("-")[0] in members:
                    shutil.rmtree(os.path.join(folder, name))
            below.clear()


def main(words):
    if words[0] == "list":
        remember(words[1])
    elif words[0] == "forget":
        forget(words[1], words[2])
    elif words[0] == "forget-all":
        forget_all(words[1])
    else:
        lay(words[0])
        freshen(words[0])


if __name__ == "__main__":
    main(sys.argv[1:])
