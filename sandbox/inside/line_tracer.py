"""Which of the named lines ran: by `sys.monitoring` where there is one (3.12), else by `sys.settrace`."""

import os
import sys
import threading


class LineTracer:
    """`lines` maps a path relative to `root` to the line numbers asked about."""

    def __init__(self, root, lines):
        self.wanted = {os.path.join(root, path): set(numbers) for path, numbers in lines.items()}
        self.names = {os.path.join(root, path): path for path in lines}
        self.seen = {path: set() for path in self.wanted}
        self.real = {}

    def start(self):
        if hasattr(sys, "monitoring"):
            self._start_monitoring()
        else:
            threading.settrace(self._enter)
            sys.settrace(self._enter)

    def _path(self, code):
        name = code.co_filename
        if name not in self.real:
            self.real[name] = os.path.realpath(name) if os.path.isabs(name) else name
        return self.real[name]

    def _start_monitoring(self):
        monitoring = sys.monitoring
        self.tool = next(i for i in (4, 3, 5, 2) if monitoring.get_tool(i) is None)
        monitoring.use_tool_id(self.tool, "dualgate")

        def line(code, number):
            path = self._path(code)
            if path in self.wanted:
                self.seen[path].add(number)
            return monitoring.DISABLE

        monitoring.register_callback(self.tool, monitoring.events.LINE, line)
        monitoring.set_events(self.tool, monitoring.events.LINE)

    def _enter(self, frame, event, argument):
        path = self._path(frame.f_code)
        if path not in self.wanted:
            return None
        self.seen[path].add(frame.f_lineno)
        return self._line

    def _line(self, frame, event, argument):
        if event == "line":
            self.seen[self._path(frame.f_code)].add(frame.f_lineno)
        return self._line

    def stop(self):
        """{path relative to the root: lines that were asked about and ran, ascending}."""
        if hasattr(sys, "monitoring"):
            sys.monitoring.set_events(self.tool, 0)
            sys.monitoring.free_tool_id(self.tool)
        else:
            sys.settrace(None)
            threading.settrace(None)
        return {self.names[p]: sorted(self.seen[p] & self.wanted[p]) for p in self.wanted}
