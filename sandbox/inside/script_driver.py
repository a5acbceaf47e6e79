"""Runs one plain script of Python in the environment's interpreter."""

import os
import sys
import traceback

TEXT_LIMIT = 6000


def import_the_tree(root):
    """Last on the path, so that nothing in the tree can shadow an installed module."""
    for folder in (root + "/src", root):
        if folder not in sys.path and os.path.isdir(folder):
            sys.path.append(folder)


def run(payload, channel):
    """Exit status 0 passes, but only as the script's own end: an exit from the code under test is a failure."""
    import runpy

    import_the_tree(payload["root"])
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
