"""Small repositories made on the spot, and the real command run on them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DUALGATE = Path(sys.executable).parent / "dualgate"
PYPROJECT = '[project]\nname = "stats"\nversion = "1"\n[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n[tool.setuptools]\npy-modules = ["stats"]\n'
DEFECT = "def mean(values):\n    return sum(values) / (len(values) + 1)\n\n\ndef span(values):\n    return max(values) - min(values)\n"
FIX = DEFECT.replace("(len(values) + 1)", "len(values)")
TESTS = "from stats import mean, span\n\n\ndef test_span():\n    assert span([2, 9]) == 7\n\n\ndef test_span_of_one():\n    assert span([4]) == 0\n"
NEW_TEST = TESTS + "\n\ndef test_mean():\n    assert mean([1, 2, 3]) == 2\n"
BASE = {"stats.py": DEFECT, "test_stats.py": TESTS, "pyproject.toml": PYPROJECT}


@dataclass(frozen=True)
class Answer:
    """How a command ended."""

    status: int
    verdict: dict[str, Any]
    output: str
    errors: str

    @property
    def reason(self) -> str:
        return str(self.verdict.get("reason"))

    def codes(self) -> set[str]:
        return {finding["code"] for finding in self.verdict["findings"]}


def git(path: Path, *args: str) -> str:
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    words = ["git", "-C", str(path), "-c", "user.name=t", "-c", "user.email=t@example.org", *args]
    return subprocess.run(words, check=True, capture_output=True, text=True, env=environment).stdout


def commit(path: Path, files: dict[str, str | None]) -> str:
    """Write (None removes) and commit; the commit's id."""
    for name, text in files.items():
        file = path / name
        if text is None:
            file.unlink()
        else:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
    git(path, "add", "-A")
    git(path, "commit", "-q", "--allow-empty", "-m", "change")
    return git(path, "rev-parse", "HEAD").strip()


def make(path: Path, files: dict[str, str | None] | None = None) -> str:
    """A new repository with one commit; its id."""
    path.mkdir(parents=True)
    git(path, "init", "-q", "-b", "main")
    return commit(path, dict(BASE) if files is None else files)


def run(*args: str | Path, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """The real command."""
    return subprocess.run([str(DUALGATE), *map(str, args)], capture_output=True, text=True, check=False, env={**os.environ, **(env or {})})


def verify(repo: Path, *args: str | Path, out: Path | None = None, env: dict[str, str] | None = None) -> Answer:
    """`dualgate verify REPO ... --json OUT`."""
    target = out or repo.parent / "verdict.json"
    target.unlink(missing_ok=True)
    done = run("verify", repo, *args, "--json", target, env=env)
    verdict = json.loads(target.read_text(encoding="utf-8")) if target.exists() else {}
    return Answer(done.returncode, verdict, done.stdout, done.stderr)
