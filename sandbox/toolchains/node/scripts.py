"""The scripts of a package.json -> the commands that run its tests, and those before them. Read as text, never run here."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, replace

from sandbox.toolchains.node.package import Package

DEEPEST = 8
ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
SEPARATORS = {"&&", ";", "||", "|", "&"}
MANAGERS = {"npm", "pnpm", "yarn", "bun"}
# Programs that start another one, with the options of theirs that take a word.
AROUND = {
    "c8": ("-r", "-o", "-n", "-x", "--reporter", "--include", "--exclude", "--src"), "nyc": ("-r", "-n", "-x", "-i", "--require"), "cross-env": (),
    "cross-env-shell": (), "env": (), "npx": ("-p", "--package"), "exec": (), "dotenv": ("-e", "-f"), "time": (), "istanbul": (), "env-cmd": ("-f",),
    "xvfb-run": (), "timeout": (), "dlx": (), "--": (), "aegir": (),
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
    words, more = _inner(words)
    environment = (*environment, *more)
    if not words:
        return
    program, rest = words[0], words[1:]
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


def _inner(words: list[str]) -> tuple[list[str], Variables]:
    """Words without what stands around the program, and the variables among that."""
    environment: list[tuple[str, str]] = []
    while words:
        match = ASSIGNMENT.fullmatch(words[0])
        program = words[0].rsplit("/", 1)[-1]
        if match:
            environment.append((match[1], match[2]))
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
        word = re.sub(r"^(npm run |npm:|yarn |pnpm )", "", word)
        if word in package.scripts:
            yield word
        elif word.endswith("*"):
            yield from (name for name in package.scripts if name.startswith(word.rstrip("*")))
