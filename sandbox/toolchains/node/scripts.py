"""The scripts of a package.json -> the commands that run its tests, and those before them. Read as text, never run here."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from sandbox.toolchains.node.package import Package

DEEPEST = 8
ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
SEPARATORS = {"&&", ";", "||", "|", "&"}
MANAGERS = {"npm", "pnpm", "yarn", "bun"}
SHELLS = {"sh", "bash", "dash", "zsh", "source", "."}
# What yarn, pnpm and bun do themselves; any other word that is no script is an installed program.
OF_MANAGERS = re.compile(
    r"add|audit|build|cache|config|create|dedupe|deploy|dlx|env|exec|fetch|import|init|install|i|licenses|link|list|ls|node|npm|outdated|pack|patch|publish|prune"
    r"|rebuild|recursive|remove|rm|root|run|self-update|set|setup|store|test|unlink|up|update|upgrade|version|why|workspaces?|x")
# Programs that start another one, with the options of theirs that take a word.
AROUND = {
    "c8": ("-r", "-o", "-n", "-x", "--reporter", "--include", "--exclude", "--src"),
    "nyc": ("-r", "-n", "-x", "-i", "--require", "--reporter", "--include", "--exclude", "--extension", "--report-dir", "--temp-dir", "--cwd"),
    "cross-env": (), "cross-env-shell": (), "env": (), "npx": ("-p", "--package"), "exec": (), "dotenv": ("-e", "-f"), "time": (), "istanbul": (),
    "env-cmd": ("-f",), "xvfb-run": (), "timeout": (), "dlx": (), "--": (), "aegir": (),
}
SEVERAL = {"npm-run-all", "run-s", "run-p", "npm-run-all2", "concurrently", "wireit"}


@dataclass(frozen=True)
class Command:
    """One command of a script: its words, variables set for it, the scripts that led to it (its own last), its text for a shell."""

    words: tuple[str, ...]
    environment: tuple[tuple[str, str], ...]
    scripts: tuple[str, ...]
    text: str


Variables = tuple[tuple[str, str], ...]


def commands_of(package: Package, script: str, above: tuple[str, ...] = (), environment: Variables = ()) -> Iterator[Command]:
    """Every command that a script comes to, its pre-script's first, scripts that it runs followed."""
    if script not in package.scripts or script in above or len(above) > DEEPEST:
        return
    if f"pre{script}" in package.scripts:
        yield from commands_of(package, f"pre{script}", (*above, script), environment)
    for words in _split(package.scripts[script]):
        yield from _command(package, words, (*above, script), environment)


def _split(text: str) -> Iterator[list[str]]:
    lexer = shlex.shlex(text, posix=True, punctuation_chars="&|;")
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        words = list(lexer)
    except ValueError:
        words = text.split()
    current: list[str] = []
    for word in [*words, ";"]:
        if word in SEPARATORS:
            if current:
                yield current
            current = []
        else:
            current.append(word)


def _command(package: Package, words: list[str], scripts: tuple[str, ...], environment: Variables) -> Iterator[Command]:
    text = " ".join(word if re.fullmatch(r"[^\s'\"()&|;<]+", word) else shlex.quote(word) for word in words)
    words, more = _inner(words, package.scripts)
    environment = (*environment, *more)
    if not words:
        return
    program, rest = words[0], words[1:]
    shell = _shell_script(package, words)
    if shell is not None and shell not in scripts and len(scripts) <= DEEPEST:
        for line in shell_lines(package.shells[shell]):
            for inside in _split(line):
                yield from _command(package, inside, (*scripts, shell), environment)
        return
    if program in SEVERAL:
        for name in _names(package, rest):
            yield from commands_of(package, name, scripts, environment)
        return
    called = _called(package, program, rest)
    if called is not None:
        name, arguments = called
        inner = list(commands_of(package, name, scripts, environment))
        for place, command in enumerate(inner):
            yield replace(command, words=(*command.words, *arguments)) if place == len(inner) - 1 else command
        return
    yield Command(tuple(words), environment, scripts, text)


def _shell_script(package: Package, words: list[str]) -> str | None:
    """The shell script of the repository that a command runs."""
    rest = _after_options(words[1:], ()) if words[0].rsplit("/", 1)[-1] in SHELLS else words
    path = posixpath.normpath(rest[0]) if rest else ""
    return path if path in package.shells else None


def shell_lines(text: str) -> list[str]:
    """The commands of a shell script; those behind a change of the folder are not this package's."""
    lines = [line.strip() for line in text.replace("\\\n", " ").split("\n")]
    kept = [line for line in lines if line and not line.startswith("#")]
    moved = next((place for place, line in enumerate(kept) if re.match(r"(cd|pushd)\s", line) and not re.search(r"dirname|BASH_SOURCE", line)), len(kept))
    return kept[:moved]


def _inner(words: list[str], scripts: Collection[str]) -> tuple[list[str], Variables]:
    """Words without what stands around the program, and the variables among that."""
    environment: list[tuple[str, str]] = []
    while words:
        match = ASSIGNMENT.fullmatch(words[0])
        program = words[0].rsplit("/", 1)[-1]
        if match:
            environment.append((match[1], match[2]))
            words = words[1:]
        elif (program in MANAGERS - {"npm"} and words[1:2] and re.fullmatch(r"[a-z@][\w@/-]*", words[1]) and not OF_MANAGERS.fullmatch(words[1])
              and words[1] not in scripts):
            words = words[1:]
        elif program in AROUND or (program in MANAGERS and words[1:2] and words[1] in ("exec", "dlx")):
            words = _after_options(words[1:] if program in AROUND else words[2:], AROUND.get(program, ()))
        else:
            break
    return words, tuple(environment)


def _after_options(words: list[str], with_value: tuple[str, ...]) -> list[str]:
    while words and words[0].startswith("-"):
        words = words[2:] if words[0] in with_value else words[1:]
    return words


def _called(package: Package, program: str, rest: list[str]) -> tuple[str, list[str]] | None:
    """(script, arguments for it) of a command that runs another script of the same package."""
    if program not in MANAGERS:
        return None
    words = [word for word in rest if word not in ("run", "run-script", "-s", "--silent", "--if-present")] if rest[:1] != ["test"] else rest
    words = _after_options(words, ())
    if words[:1] in (["t"], ["tst"]):
        words = ["test", *words[1:]]
    if not words or words[0] not in package.scripts:
        return None
    arguments = words[1:]
    return words[0], arguments[1:] if arguments[:1] == ["--"] else arguments


def _names(package: Package, words: list[str]) -> Iterator[str]:
    """Scripts that a program which runs several is told of; `test:*` is all of that prefix."""
    for word in words:
        word = re.sub(r"^(npm run |npm:|yarn:|pnpm:|yarn |pnpm )", "", word)
        if word in package.scripts:
            yield word
        elif word.endswith("*"):
            yield from (name for name in package.scripts if name.startswith(word.rstrip("*")))
