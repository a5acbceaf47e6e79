"""How the drivers of Python's runners put a failure into words. Its text stands before theirs (sandbox/inside/__init__.py)."""

MESSAGE_LIMIT = 6000


def cut(text, limit=MESSAGE_LIMIT):
    text = str(text)
    return text if len(text) <= limit else text[:limit // 3] + "\n[...]\n" + text[-(limit * 2 // 3):]


def nearest_names(error):
    """For a name that an installed module or class does not have: [owner, version, names like it]."""
    owner, name = getattr(error, "obj", None), getattr(error, "name", None)
    if not isinstance(error, AttributeError) or owner is None or not name:
        return None
    import difflib

    kind = owner if isinstance(owner, type) or hasattr(owner, "__spec__") else type(owner)
    label = getattr(kind, "__module__", None) or getattr(kind, "__name__", "")
    package = (getattr(kind, "__name__", "") if hasattr(owner, "__spec__") else label).split(".")[0]
    try:
        from importlib.metadata import version
        release = version(package)
    except Exception:
        release = None
    return [package, release, name, difflib.get_close_matches(name, dir(kind), 3)]


def numbered(names):
    """Each name, made different from an equal one before it by an ordinal: ` #2`."""
    seen, rows = {}, []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        rows.append(name if seen[name] == 1 else "%s #%d" % (name, seen[name]))
    return rows
