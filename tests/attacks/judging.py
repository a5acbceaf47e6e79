"""The real command, what it answered, and what it may have left on this machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from calc_repository import Repository

HUNG_S = 200
DUALGATE = Path(sys.executable).with_name("dualgate")


@dataclass
class Judged:
    """What the command said: its exit status and, where it wrote one, the verdict."""

    status: int
    verdict: dict[str, Any]
    stderr: str
    pid: int

    @property
    def answer(self) -> tuple[str, str]:
        """(verdict, reason)."""
        assert self.verdict, f"exit status {self.status} without a verdict: {self.stderr}"
        return self.verdict["verdict"], self.verdict["reason"]

    def codes(self, severity: str | None = None) -> set[str]:
        """Codes of the findings, of one severity or of all."""
        return {f["code"] for f in self.verdict["findings"] if severity in (None, f["severity"])}

    def details(self) -> str:
        """Every finding's words."""
        return "\n".join(f["detail"] for f in self.verdict["findings"])

    @property
    def proven(self) -> list[str]:
        """Tests that count as proof."""
        passed: list[str] = self.verdict["gates"]["fail_to_pass"]["passed"]
        return passed

    @property
    def guard(self) -> dict[str, Any]:
        """The pass-to-pass gate."""
        gate: dict[str, Any] = self.verdict["gates"]["pass_to_pass"]
        return gate


@dataclass
class Command:
    """`dualgate verify` as a person starts it."""

    data_dir: Path
    folder: Path
    pids: list[int] = field(default_factory=list)

    def __call__(
        self, repo: Repository, *args: str, head: str | None = None, patch: str | bytes | None = None, base: str | None = None, config: str | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> Judged:
        """Judge a change of `repo`. `config`: text of a dualgate.yml; `environment`: over the caller's own."""
        words = [str(DUALGATE), "verify", str(repo.path), "--base", base or repo.base, "--repeat", "2", "--quiet", "--json", str(self.folder / "verdict.json")]
        words += ["--head", head] if head is not None else []
        words += ["--patch", str(repo.patch(patch))] if patch is not None else []
        if config is not None:
            (self.folder / "dualgate.yml").write_text(config, encoding="utf-8")
            words += ["--config", str(self.folder / "dualgate.yml")]
        started = subprocess.Popen(
            [*words, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
            env={**os.environ, "DUALGATE_DATA_DIR": str(self.data_dir), **(environment or {})})
        self.pids.append(started.pid)
        try:
            _, stderr = started.communicate(timeout=HUNG_S)
        finally:
            started.terminate()  # where it hangs, its boxes go with it
            started.wait()
        written = self.folder / "verdict.json"
        verdict = json.loads(written.read_text(encoding="utf-8")) if written.exists() else {}
        return Judged(started.returncode, verdict, stderr, started.pid)


def boxes_of(pids: list[int]) -> list[str]:
    """Owners of containers that one of these processes made."""
    listing = ["docker", "ps", "--all", "--filter", "label=dualgate.run", "--format", '{{.Label "dualgate.owner"}}']
    owners = subprocess.run(listing, capture_output=True, text=True, check=True).stdout.split()
    return [owner for owner in owners if int(owner.split(":")[0]) in pids]


def processes_named(word: str) -> list[str]:
    """Command lines on this machine (boxes share its kernel) that hold a word."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            text = path.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
        except OSError:
            continue
        if word in text:
            found.append(text)
    return found
