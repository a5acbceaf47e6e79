"""Django's own runner and its results, under whatever script starts it (manage.py test, runtests.py): signed records, time limits, selection by file and id.

`settings` of the payload: script (path in the tree, or "-m django"), folder (where it is started), words (its arguments). Django 1.8 to 6. The suite is built
by the repository's DiscoverRunner, then cut down to what is wanted; its tests run in one process, one after the other.
"""

import importlib
import importlib.util
import os
import runpy
import signal
import sys
import threading
import time
import traceback
import types
import unittest

RUNNER = "django.test.runner"
NO_TESTS = 5  # pytest's status for it, which the host knows
HANGS_BEFORE_HASTE = 2


def run(payload, channel):
    settings, root = payload["settings"], payload["root"]
    here = os.path.join(root, settings["folder"]) if settings["folder"] else root
    script = None if settings["script"] == "-m django" else os.path.join(root, settings["script"])
    for folder in (os.path.dirname(script) if script else here, here, root, root + "/src"):
        if folder not in sys.path and os.path.isdir(folder):
            sys.path.append(folder)  # last, so that nothing in the tree can shadow an installed module
    os.chdir(here)
    session = Session(payload, channel)
    sys.meta_path.insert(0, Watch(session))
    sys.argv = [script or "django-admin", *settings["words"]]
    try:
        if script:
            runpy.run_path(script, run_name="__main__")
        else:
            runpy.run_module("django", run_name="__main__", alter_sys=True)
    except SystemExit as error:
        if session.ready:
            return session.status if error.code in (None, 0, 1, True, False) or not isinstance(error.code, int) else error.code
        session.send({"k": "uncollected", "file": settings["script"], "message": "it ended before Django's runner had found the tests: %r" % (error.code,)})
        return error.code if isinstance(error.code, int) else 1
    except BaseException:
        session.send({"k": "uncollected" if not session.ready else "internal", "file": settings["script"], "message": cut(traceback.format_exc())})
        return 2
    if not session.ready:
        session.send({"k": "uncollected", "file": settings["script"], "message": "its test runner is none of Django's"})
        return 2
    return session.status


class Watch:
    """Sees to it that Django's runner is the session's as soon as somebody imports it."""

    def __init__(self, session):
        self.session = session

    def find_spec(self, name, path=None, target=None):
        if name != RUNNER:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None:
            execute = spec.loader.exec_module

            def executed(module):
                execute(module)
                self.session.adopt(module.DiscoverRunner)

            spec.loader.exec_module = executed
        return spec


def flat(suite):
    """The tests of a suite in their order."""
    for one in suite:
        if isinstance(one, unittest.TestSuite):
            for test in flat(one):
                yield test
        else:
            yield one


def function_of(test):
    found = getattr(type(test), getattr(test, "_testMethodName", ""), None)
    for _ in range(20):
        if not hasattr(found, "__wrapped__"):
            break
        found = found.__wrapped__
    return found


def reason_of(test):
    """Why a module could not be loaded, for what the loader puts in its place; None for a test."""
    if type(test).__name__ not in ("_FailedTest", "ModuleImportFailure", "LoadTestsFailure"):
        return None
    error = getattr(test, "_exception", None)
    if error is not None:
        return str(error)
    try:
        getattr(test, test._testMethodName)()
    except BaseException as problem:
        return str(problem)
    return "it could not be loaded"


class Session:
    """What is wanted, what was found, and where it stands."""

    def __init__(self, payload, channel):
        self.send = channel.send
        self.root = payload["root"]
        self.files = [path for path in payload["args"] if path.endswith(".py")]
        self.wanted = None if payload["wanted"] is None else set(payload["wanted"])
        self.limit = payload["test_seconds"]
        self.stop_at = time.monotonic() + payload["suite_seconds"] if payload.get("suite_seconds") else None
        self.collect = payload["collect"]
        self.tests, self.index, self.ready, self.status = [], {}, False, 0

    def adopt(self, runner):
        """Take the place of how a runner builds and runs its suite."""
        session, begin, build = self, runner.__init__, runner.build_suite

        def __init__(own, *args, **named):
            begin(own, *args, **named)
            own.parallel, own.interactive, own.failfast = 1, False, False
            own.run_suite = types.MethodType(run_suite, own)  # a subclass that writes reports of its own has one too

        def build_suite(own, *args, **named):
            return session.chosen(build(own, *args, **named))

        def run_suite(own, suite, **named):
            result = Result(session)
            suite.run(result)
            session.status = 0 if result.wasSuccessful() else 1
            return result

        runner.__init__, runner.build_suite = __init__, build_suite

    def path_of(self, test):
        """The file that a test's class stands in, as the repository names it."""
        found = getattr(getattr(test, "_dt_test", None), "filename", None) or getattr(sys.modules.get(type(test).__module__), "__file__", None) or ""
        if isinstance(test, unittest.FunctionTestCase):
            found = test._testFunc.__code__.co_filename
        return found[len(self.root) + 1:] if found.startswith(self.root + "/") else found

    def name_of(self, test):
        if hasattr(test, "_dt_test"):
            return self.path_of(test) + "::" + test._dt_test.name
        if isinstance(test, unittest.FunctionTestCase):
            return self.path_of(test) + "::" + test._testFunc.__name__
        return "::".join([self.path_of(test)] + type(test).__qualname__.split(".") + [test._testMethodName])

    def chosen(self, suite):
        tests = []
        for test in flat(suite):
            reason = reason_of(test)
            if reason is None:
                tests.append(test)
            else:
                self.send({"k": "uncollected", "file": self.file_named(test._testMethodName), "message": cut(reason)})
        if self.files:
            tests = [test for test in tests if self.path_of(test) in self.files]
            for path in self.files:
                if not any(self.path_of(test) == path for test in tests):
                    tests += self.loaded(path)
        found = list(zip(tests, numbered([self.name_of(test) for test in tests])))
        self.send({"k": "found", "count": len(found)})
        for path in sorted({self.path_of(test) for test in tests}):
            self.send({"k": "collected", "file": path})
        if self.wanted is not None:
            found = [(test, name) for test, name in found if name in self.wanted]
        rows = []
        for place, (test, name) in enumerate(found):
            self.index[id(test)] = place
            code = getattr(test._testFunc if isinstance(test, unittest.FunctionTestCase) else function_of(test), "__code__", None)
            rows.append([name, self.path_of(test), code.co_firstlineno if code else 1])
        for start in range(0, len(rows), 400):
            self.send({"k": "items", "items": rows[start:start + 400]})
        self.send({"k": "ready", "count": len(rows)})
        self.tests, self.ready = [test for test, _ in found], True
        if self.collect:
            raise SystemExit(0 if rows else NO_TESTS)
        return unittest.TestSuite(self.tests)

    def file_named(self, module):
        """The file of a module by its dotted name, where there is one."""
        for folder in sys.path:
            base = os.path.join(folder, *module.split("."))
            for path in (base + ".py", os.path.join(base, "__init__.py")):
                if path.startswith(self.root + "/") and os.path.isfile(path):
                    return path[len(self.root) + 1:]
        return module

    def loaded(self, path):
        """The tests of a file that discovery does not look into."""
        whole = os.path.join(self.root, path)
        if not os.path.isfile(whole):
            return []
        try:
            module = self.imported(whole)
        except unittest.SkipTest as skip:
            self.send({"k": "skipped_file", "file": path, "message": str(skip)})
            return []
        except BaseException:
            self.send({"k": "uncollected", "file": path, "message": cut(traceback.format_exc())})
            return []
        functions = [one for name, one in sorted(vars(module).items()) if name.startswith("test") and isinstance(one, types.FunctionType)
                     and one.__module__ == module.__name__ and not one.__code__.co_argcount]
        return list(flat(unittest.defaultTestLoader.loadTestsFromModule(module))) + [unittest.FunctionTestCase(one) for one in functions]

    def imported(self, whole):
        for folder in sys.path:
            parts = whole[len(folder) + 1:-3].split(os.sep) if folder and whole.startswith(folder + os.sep) else []
            packages = [os.path.join(folder, *parts[:depth], "__init__.py") for depth in range(1, len(parts))]
            if packages and all(os.path.isfile(one) for one in packages):
                return importlib.import_module(".".join(parts))
        name = "dualgate_file_" + os.path.basename(whole)[:-3]
        spec = importlib.util.spec_from_file_location(name, whole)
        module = sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module


class Late(AssertionError):
    """A test that has no end within its time."""


class Result(unittest.TestResult):
    """Sends what becomes of each test."""

    def __init__(self, session):
        super().__init__()
        self.session, self.send = session, session.send
        self.limit, self.hung, self.longest = session.limit, 0, 0.0
        self.begun, self.now, self.ending, self.previous, self.since, self.last = set(), None, None, None, 0.0, None

    def startTest(self, test):
        super().startTest(test)
        self.now = self.session.index.get(id(test))
        if self.session.stop_at is not None and time.monotonic() > self.session.stop_at:
            self.stop()
        self.begun.add(self.now)
        self.ending, self.since = None, time.monotonic()
        self.send({"k": "start", "i": self.now})
        if self.limit and threading.current_thread() is threading.main_thread():
            self.previous = signal.signal(signal.SIGALRM, self.on_alarm)
            signal.setitimer(signal.ITIMER_REAL, self.limit, self.limit)

    def stopTest(self, test):
        if self.previous is not None:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, self.previous)
            self.previous = None
        seconds = time.monotonic() - self.since
        record = self.ending or {"outcome": "failed", "message": "the test told of no outcome"}
        if record["outcome"] == "passed":
            self.longest = max(self.longest, seconds)
        self.send(dict(record, k="phase", i=self.now, when="call", seconds=round(seconds, 4)))
        self.send({"k": "end", "i": self.now})
        self.last, self.now = self.now, None
        super().stopTest(test)

    def on_alarm(self, number, frame):
        self.hung += 1
        self.send({"k": "slow", "i": self.now, "frame": [frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name]})
        spent = self.limit
        if self.hung >= HANGS_BEFORE_HASTE:
            self.limit = min(self.limit, max(5.0, 10 * self.longest))
        raise Late("dualgate: no end after %g s" % spent)

    def told(self, test, **record):
        """An outcome of the running test; of what stands in for a class or a module, of all its tests that have not begun."""
        if self.now is not None:
            if self.ending is None or (record["outcome"] == "failed" and self.ending["outcome"] != "failed"):
                self.ending = record
            return
        if id(test) in self.session.index:  # Django's own preparation of a test failed, before it began
            self.instead([test], record)
            return
        words = test.id() if hasattr(test, "id") else str(test)
        what, _, owner = words.partition(" (")
        owner = owner.rstrip(")")
        if what.startswith("tearDown"):
            if self.last is not None:
                self.send(dict(record, k="phase", i=self.last, when="teardown", seconds=0.0))
            return
        self.instead([one for one in self.session.tests if owner in (type(one).__module__, type(one).__module__ + "." + type(one).__qualname__)], record)

    def instead(self, tests, record):
        """The outcome of tests that have not begun and will not."""
        for one in tests:
            place = self.session.index[id(one)]
            if place not in self.begun:
                self.begun.add(place)
                self.send({"k": "start", "i": place})
                self.send(dict(record, k="phase", i=place, when="setup", seconds=0.0))
                self.send({"k": "end", "i": place})

    def failed(self, test, error):
        kind, value, trace = error
        short = "".join(traceback.format_exception_only(kind, value)).strip()
        frames = [[one.filename, one.lineno, one.name] for one in traceback.extract_tb(trace)][-30:]
        self.told(test, outcome="failed", message=cut("".join(traceback.format_exception(kind, value, trace))), exception=kind.__name__,
                  short=cut(short, 2000), frames=frames, nearest=nearest_names(value))

    def addSuccess(self, test):
        super().addSuccess(test)
        self.told(test, outcome="passed")

    def addError(self, test, err):
        super().addError(test, err)
        self.failed(test, err)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.failed(test, err)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.failed(test, err)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.told(test, outcome="skipped", message=cut(reason, 500))

    def addExpectedFailure(self, test, err):
        super().addExpectedFailure(test, err)
        self.told(test, outcome="skipped", wasxfail="expected failure")

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self.told(test, outcome="failed", message="a failure was expected, and there was none", short="unexpected success")
