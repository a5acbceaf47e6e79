"""Debian's Chromium without a window, over its debugging pipe: no driver, nothing is downloaded."""

from __future__ import annotations

import base64
import contextlib
import fcntl
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any

INSTALL = "there is no Chromium on this machine; install it with: apt-get install -y chromium"
FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars", "--remote-debugging-pipe",
         "--disable-background-networking", "--disable-component-update", "--disable-sync", "about:blank")


class Browser:
    """One page. `errors`: what its console and its security policy complained of."""

    def __enter__(self) -> Browser:
        program = shutil.which("chromium")
        assert program, INSTALL
        self._profile = tempfile.mkdtemp(prefix="dualgate-chromium-")
        down, up = os.pipe(), os.pipe()
        read_end, write_end = (fcntl.fcntl(fd, fcntl.F_DUPFD, 10) for fd in (down[0], up[1]))  # 3 and 4 are what Chromium reads and writes
        self._process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{read_end} 4>&{write_end}', "bash", program, f"--user-data-dir={self._profile}", *FLAGS],
            pass_fds=(read_end, write_end), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        for fd in (down[0], up[1], read_end, write_end):
            os.close(fd)
        self._out, self._in = down[1], os.fdopen(up[0], "rb")
        self._rest, self._number, self.errors = b"", 0, list[str]()
        self._session: str | None = None
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        os.close(self._out)
        self._in.close()
        for _ in range(50):  # its other processes may still write while they die
            shutil.rmtree(self._profile, ignore_errors=True)
            if not Path(self._profile).exists():
                break
            time.sleep(0.1)

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """One command of the DevTools protocol and its answer."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters, **({"sessionId": self._session} if self._session else {})}
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._out, data):]
        while True:
            heard = self._hear()
            if heard.get("id") == self._number:
                assert "error" not in heard, heard
                answer: dict[str, Any] = heard["result"]
                return answer

    def _hear(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            data = os.read(self._in.fileno(), 1 << 20)
            assert data, "Chromium has ended"
            self._rest += data
        text, _, self._rest = self._rest.partition(b"\0")
        heard: dict[str, Any] = json.loads(text)
        if heard.get("method") == "Log.entryAdded" and heard["params"]["entry"]["level"] == "error":
            self.errors.append(heard["params"]["entry"]["text"])
        if heard.get("method") == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(heard["params"]))
        return heard

    def open(self, url: str, width: int = 1280, dark: bool = False, scripts: bool = True) -> None:
        """Load a page, wholly."""
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600)
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.ask("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.ask("Page.navigate", url=url)
        self.wait("document.readyState === 'complete' && location.href !== 'about:blank'")

    def run(self, script: str) -> Any:
        """The value of an expression in the page."""
        answer = self.ask("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def wait(self, condition: str, seconds: float = 20.0) -> None:
        """Until an expression is true."""
        for _ in range(int(seconds * 20)):
            if self.run(condition):
                return
            time.sleep(0.05)
        raise AssertionError(f"not true within {seconds:.0f} s: {condition}")

    def picture(self, path: Path) -> None:
        """The whole page as a PNG."""
        answer = self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(answer["data"]))
