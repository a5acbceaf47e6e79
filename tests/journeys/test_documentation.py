"""Every command in the documents is one that the program has, with its options; the short ones are run."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest
import yaml

from bot.cli import main
from bot.demo.stage import EVENTS, PERMISSIONS
from bot.policy import read_policy
from tests.repository import FIX, NEW_TEST, commit, git, make, run

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def commands() -> list[str]:
    lines = [line for page in PAGES for line in re.findall(r"^(?: {4})?(?:\.venv/bin/)?(dualgate .*)$", page.read_text(encoding="utf-8"), re.MULTILINE)]
    inline = [word for page in PAGES for word in re.findall(r"`(dualgate [^`]+)`", page.read_text(encoding="utf-8"))]
    return sorted({line.split("  #")[0].strip() for line in (*lines, *inline)})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout called PATH, with the patches that the pages name, and a first RUN whose verdict is FILE."""
    place = tmp_path_factory.mktemp("documents")
    repo = place / "PATH"
    make(repo)
    git(repo, "checkout", "-q", "-b", "work")
    commit(repo, {"stats.py": FIX, "test_stats.py": NEW_TEST})
    (place / "fix.patch").write_text(git(repo, "diff", "main", "work", "--", "stats.py"), encoding="utf-8")
    (place / "tests.patch").write_text(git(repo, "diff", "main", "work", "--", "test_stats.py"), encoding="utf-8")
    (place / "test_bug.py").write_text("from stats import mean\n\n\ndef test_bug():\n    assert mean([2, 4]) == 3\n", encoding="utf-8")
    assert run("verify", repo, "--base", "main", "--head", "work", "--json", place / "FILE").returncode == 0
    return place


@pytest.mark.docker
@pytest.mark.parametrize("command", commands())
def test_a_documented_command_works(folder: Path, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    words = shlex.split(command)[1:]
    if words[0] in ("serve", "worker"):  # as the reader's first try; tests/journeys/app starts them with their secrets
        done = run(*words)
        assert (done.returncode, "GITHUB_PRIVATE_KEY" in done.stderr) == (2, True), done.stderr
        return
    if "RUN" in words:
        words[words.index("RUN")] = run("runs", "list").stdout.split()[0]
    done = run(*words)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("command", commands())
def test_a_documented_command_exists_with_its_options(command: str) -> None:
    context, group = click.Context(main), main
    words = shlex.split(command)[1:]
    found: click.Command = group
    while words and isinstance(found, click.Group) and words[0] in found.commands:
        found = found.commands[words.pop(0)]
    options = {name for parameter in found.params for name in parameter.opts} | {"--help"}
    assert not isinstance(found, click.Group)
    assert {word for word in words if word.startswith("--")} <= options, context


def test_the_configuration_in_the_documents_is_valid() -> None:
    blocks = [block for page in PAGES for block in re.findall(r"```yaml\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)]
    assert blocks
    assert all(read_policy(block) for block in blocks)


def test_the_manifest_of_the_app_asks_for_no_workflows() -> None:
    manifest = yaml.safe_load((ROOT / "app.yml").read_text(encoding="utf-8"))
    assert "workflows" not in manifest["default_permissions"]
    assert (manifest["default_permissions"], manifest["default_events"]) == (PERMISSIONS, list(EVENTS)), "what the demonstration installs is what people do"
