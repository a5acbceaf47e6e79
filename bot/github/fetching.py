"""A pull request's commits into a bare repository of ours, over HTTP, with a token of that repository that is on no command line."""

from __future__ import annotations

import base64
import fcntl
import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from bot.embedded_store import dies_with_parent
from bot.github.errors import GitHubError, Later
from bot.reporting.redact import redact

CONFIG = {"protocol.allow": "never", "protocol.http.allow": "always", "protocol.https.allow": "always", "core.hooksPath": "/dev/null", "gc.auto": "0",
          "http.followRedirects": "false", "fetch.fsckObjects": "false", "transfer.fsckObjects": "false", "credential.helper": "",
          "safe.directory": "*", "core.fsmonitor": "false", "submodule.recurse": "false", "fetch.writeCommitGraph": "false", "http.lowSpeedLimit": "1000",
          "http.lowSpeedTime": "60"}
SETTLE_S = (1, 2, 4, 8, 15)  # a webhook may come before Git shows the commit


@dataclass(frozen=True)
class Wanted:
    """`head_ref`: `refs/pull/N/head` or a branch; `head_sha`, `base_sha`: commits that must be there afterwards."""

    repository: str
    head_ref: str
    head_sha: str
    base_ref: str
    base_sha: str


class Mirrors:
    """One bare repository each, below the data folder; one fetch at a time in each."""

    def __init__(self, folder: Path, server_url: str, ca_bundle: Path | None, stopped: threading.Event) -> None:
        self._folder, self._server_url, self._ca_bundle, self._stopped = folder, server_url, ca_bundle, stopped

    def fetch(self, repository_id: int, wanted: Wanted, token: Callable[[bool], str], timeout_s: float) -> Path:
        """The path of the bare repository, with both commits and the tags in it. Raises GitHubError, Later."""
        path = self._folder / f"{repository_id}.git"
        self._folder.mkdir(parents=True, exist_ok=True)
        deadline = time.monotonic() + timeout_s
        with (self._folder / f"{repository_id}.lock").open("a") as lock:
            self._wait_for(lock, deadline)
            os.utime(lock.fileno())  # when the clone was last asked for
            if not (path / "HEAD").exists() or (path / "config.lock").exists() or (path / "shallow.lock").exists():
                shutil.rmtree(path, ignore_errors=True)  # new, or left in the middle by a process that died
                self._git(["init", "-q", "--bare", str(path)], {}, deadline)
            url = f"{self._server_url}/{wanted.repository}.git"
            for wait in (*SETTLE_S, None):
                fault = self._fetch(path, url, wanted, token, deadline)
                if all(self._has(path, sha, deadline) for sha in (wanted.head_sha, wanted.base_sha)):
                    return path
                if wait is None or self._stopped.wait(wait):
                    break
        raise GitHubError(f"{wanted.repository} does not have {wanted.head_sha[:12]} at {wanted.head_ref}, or lacks {wanted.base_sha[:12]}"
                          + (f": {fault}" if fault else "; was it force-pushed away?"))

    def _wait_for(self, lock: IO[str], deadline: float) -> None:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                if self._stopped.wait(0.5) or time.monotonic() > deadline:
                    raise Later("another run fetches this repository", 60.0) from None

    def _fetch(self, path: Path, url: str, wanted: Wanted, token: Callable[[bool], str], deadline: float) -> str:
        """Fetch by name, then by id what the names no longer reach; the fault, if any."""
        fault = ""
        specs = [[f"+{wanted.head_ref}:refs/dualgate/head", f"+refs/heads/{wanted.base_ref}:refs/dualgate/base"]]
        specs += [[sha] for sha in (wanted.head_sha, wanted.base_sha)]
        for refs in specs:
            if len(refs) == 1 and self._has(path, refs[0], deadline):
                continue
            for fresh in (False, True):
                try:
                    self._git(["--git-dir", str(path), "fetch", "-q", "--force", "--tags", "--no-recurse-submodules", "--no-auto-maintenance",
                               "--no-write-fetch-head", "--end-of-options", url, *refs], self._authorisation(token(fresh)), deadline)
                    break
                except Later:
                    raise
                except GitHubError as error:
                    fault = str(error)
                    if "Authentication failed" not in fault and "401" not in fault and "could not read Username" not in fault:
                        break
        return fault

    def _has(self, path: Path, sha: str, deadline: float) -> bool:
        try:
            self._git(["--git-dir", str(path), "cat-file", "-e", f"{sha}^{{commit}}"], {}, deadline)
        except GitHubError:
            return False
        return True

    def _authorisation(self, token: str) -> dict[str, str]:
        word = base64.b64encode(f"x-access-token:{token}".encode()).decode()
        return {f"http.{self._server_url}/.extraHeader": f"Authorization: Basic {word}"}

    def _git(self, words: list[str], more: dict[str, str], deadline: float) -> None:
        process = subprocess.Popen(["git", *words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                   env=self._environment({**CONFIG, **more}), preexec_fn=dies_with_parent)
        while True:
            try:
                _, errors = process.communicate(timeout=0.25)
                break
            except subprocess.TimeoutExpired:
                if self._stopped.is_set() or time.monotonic() > deadline:
                    process.send_signal(signal.SIGTERM)
                    process.wait(10)
                    raise Later("git fetch was stopped" if self._stopped.is_set() else "git fetch took too long", 60.0) from None
        if process.returncode != 0:
            lines = errors.decode("utf-8", "replace").strip().splitlines()
            raise GitHubError(redact(f"git: {lines[-1][:300] if lines else process.returncode}"))

    def _environment(self, config: dict[str, str]) -> dict[str, str]:
        words = {"PATH": os.environ.get("PATH", os.defpath), "HOME": "/nonexistent", "LC_ALL": "C", "GIT_CONFIG_NOSYSTEM": "1",
                 "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_TERMINAL_PROMPT": "0", "GIT_CONFIG_COUNT": str(len(config))}
        for number, (name, value) in enumerate(config.items()):
            words |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
        for name in ("https_proxy", "HTTPS_PROXY", "no_proxy", "NO_PROXY", "http_proxy"):
            if name in os.environ:
                words[name] = os.environ[name]
        return words | ({"GIT_SSL_CAINFO": str(self._ca_bundle)} if self._ca_bundle else {})
