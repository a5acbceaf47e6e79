"""Test runners as they stand in a command: which one, what it is told to run, which of its options are kept."""

from __future__ import annotations

import posixpath
import re
import shlex
from dataclasses import dataclass

from sandbox.toolchains.node.scripts import Command

RUNNERS = {
    "jest": "jest", "vitest": "vitest", "mocha": "mocha", "_mocha": "mocha", "ts-mocha": "mocha", "ava": "ava", "tape": "tape", "borp": "node_test",
    "tap": "tap", "uvu": "uvu", "jasmine": "jasmine", "jasmine-ts": "jasmine", "qunit": "qunit",
    "karma": "karma",
}
# Options that choose how results are shown or counted, that watch, or that stop early: ours stand for them. With a word of their own, and alone.
DROPPED = re.compile(
    r"--?(reporters?|reporter-options?|R|O|coverage\S*|collectCoverage\S*|cov\S*|no-cov\S*|watch\S*|w|bail|b|silent|json|outputFile|u|update\S*|ci"
    r"|i|runInBand|maxWorkers"
    r"|onlyChanged|o|changedSince|notify|typecheck\S*|verbose|v|tap|t|fail-fast|forceExit|detectOpenHandles|run|ui|colou?rs?|no-colou?rs?|C"
    r"|exit-on-fail|parallel|p|jobs|j"
    r"|passWithNoTests|logHeapUsage|check-leaks|forbid-only|forbidOnly|allowOnly|cache|no-cache|inspect\S*|hideSkippedTests|errorOnDeprecated|test"
    r"|test-reporter\S*"
    r"|experimental-test-coverage|test-coverage\S*|disable-coverage|100|statements|branches|lines|functions|check-coverage|no-check-coverage"
    r"|no-typecheck|c8\S*|single-run|no-single-run|auto-watch|no-auto-watch|browsers)(=.*)?")
DROPPED_WITH_WORD = {
    "--reporter", "-R", "-O", "--reporter-options", "--reporter-option", "--reporters", "--outputFile", "--maxWorkers", "-w", "--coverageReporters",
    "--jobs", "-j",
    "--coverageDirectory", "--changedSince", "--test-reporter", "--test-reporter-destination", "--coverage-report", "-c8", "--watch-files",
    "--browsers",
}
NODE_WITH_WORD = {"-r", "--require", "--import", "--loader", "--experimental-loader", "-C", "--conditions", "--env-file", "--max-old-space-size"}
WITH_WORD: dict[str, set[str]] = {
    "mocha": {"-r", "--require", "-t", "--timeout", "-s", "--slow", "-u", "--ui", "--file", "--config", "--extension", "--opts", "--package",
              "--ignore", "--exclude",
              "-g", "--grep", "-f", "--fgrep", "--retries", "--compilers", "--globals", "--watch-extensions", "-n", "--node-option", "--spec", "-p",
              "--project"},
    "jest": {"-c", "--config", "--env", "--testEnvironment", "--projects", "--selectProjects", "--testTimeout", "--rootDir", "--roots",
             "--testMatch", "--testRegex",
             "--testPathPattern", "--testPathIgnorePatterns", "-t", "--testNamePattern", "--setupFilesAfterEnv", "--globals", "--preset",
             "--transform"},
    "vitest": {"-c", "--config", "-r", "--root", "--dir", "--environment", "--project", "--pool", "-t", "--testNamePattern", "--mode",
               "--testTimeout", "--workspace"},
    "ava": {"--config", "-c", "--concurrency", "-T", "--timeout", "-m", "--match", "--node-arguments"},
    "uvu": {"-r", "--require", "-i", "--ignore"}, "tape": {"-r", "--require", "-i", "--ignore"},
    "tap": {"-r", "--node-arg", "--timeout", "--ts", "-T", "--test-arg"},
    "node_test": {"--concurrency", "--timeout", "-p", "--pattern", "-i", "--ignore", "-T", "--coverage-exclude", "-X"},
    "jasmine": {"--config", "--helper", "--filter"}, "qunit": {"--require", "-r"}, "karma": {"--log-level", "--port"},
}
OWN = {"mocha": {"-t", "--parallel", "-u", "-p"}, "ava": {"-c", "-T"}, "vitest": {"-r", "-t", "-u"}, "jest": {"-t"}, "tap": set[str](),
       "tape": set[str](), "uvu": set[str](),
       "node_test": {"-p"}, "jasmine": set[str](), "qunit": set[str](), "karma": set[str]()}


@dataclass(frozen=True)
class Use:
    """A runner as a command uses it. `named`: files, folders and globs; `words`: the options that are kept; `node`: options of Node itself."""

    runner: str
    named: tuple[str, ...]
    words: tuple[str, ...]
    node: tuple[str, ...]
    environment: tuple[tuple[str, str], ...]
    script: str
    text: str


def use_of(command: Command) -> Use | None:
    """What a command runs; None where it is no test runner."""
    words = list(command.words)
    node: list[str] = []
    program = posixpath.basename(words[0])
    if program in ("node", "tsx", "ts-node", "ts-node-esm", "esno", "babel-node"):
        found = _of_node(program, words[1:])
        if found is None:
            return None
        program, words, node = found
    else:
        words = words[1:]
    runner = RUNNERS.get(program.removesuffix(".js").removesuffix(".mjs").removesuffix(".cjs"))
    if runner is None:
        return None
    if program == "ts-mocha":
        words = ["-r", "ts-node/register", *words]
    environment, more = _node_options(command.environment)
    named, kept = _sorted(runner, words)
    return Use(runner, tuple(named), tuple(kept), (*more, *node), environment, command.scripts[-1], command.text)


def _of_node(program: str, words: list[str]) -> tuple[str, list[str], list[str]] | None:
    """(runner, its words, options of Node) of `node [options] path/to/runner ...` or `node --test ...`."""
    node = {"tsx": ["--import", "tsx"], "ts-node": ["-r", "ts-node/register"], "ts-node-esm": ["--loader", "ts-node/esm"],
            "esno": ["--import", "tsx"],
            "babel-node": ["-r", "@babel/register"]}.get(program, [])
    tests, rest = "--test" in words, list(words)
    while rest and rest[0].startswith("-"):
        taken = 2 if rest[0] in NODE_WITH_WORD and len(rest) > 1 else 1
        if not DROPPED.fullmatch(rest[0]) and not rest[0].startswith("--test-"):
            node += rest[:taken]
        rest = rest[taken:]
    if tests:
        return "borp", rest, node
    if not rest:
        return None
    # Installed, or its own repository's: `node bin/mocha.js`.
    name = re.search(r"node_modules/(?:\.bin/)?(jest|vitest|mocha|_mocha|ava|tape|tap|uvu|jasmine|qunit)\b", rest[0]) or re.search(
        r"(?:^|/)bin/(jest|vitest|mocha|_mocha|ava|tape|tap|uvu|jasmine|qunit)(?:\.[cm]?js)?$", rest[0])
    if name:
        return name[1], rest[1:], node
    if re.search(r"\.[cm]?[jt]sx?$", rest[0]) or "/" in rest[0] or rest[0] in ("test", "tests"):
        return "script", rest, node  # a program: which runner it loads, its text says
    return None


def program_of(command: Command) -> Use | None:
    """`node path/to/file` as one that may load a runner by itself."""
    program = posixpath.basename(command.words[0])
    if program not in ("node", "tsx", "ts-node", "esno", "babel-node"):
        return None
    found = _of_node(program, list(command.words[1:]))
    if found is None or found[0] != "script":
        return None
    environment, more = _node_options(command.environment)
    return Use("script", (found[1][0],), (), (*more, *found[2]), environment, command.scripts[-1], command.text)


def _node_options(environment: tuple[tuple[str, str], ...]) -> tuple[tuple[tuple[str, str], ...], tuple[str, ...]]:
    """NODE_OPTIONS as options of Node: a variable would reach the programs under test as well."""
    rest = tuple((name, value) for name, value in environment if name not in ("NODE_OPTIONS", "CI", "FORCE_COLOR"))
    try:
        return rest, tuple(word for name, value in environment if name == "NODE_OPTIONS" for word in shlex.split(value))
    except ValueError:
        return rest, ()


def _sorted(runner: str, words: list[str]) -> tuple[list[str], list[str]]:
    """(what it is told to run, options that are kept)."""
    named: list[str] = []
    kept: list[str] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if not word.startswith("-") or word == "-":
            named.append(word)
        elif word in WITH_WORD[runner] and (word in OWN[runner] or not DROPPED.fullmatch(word)):
            kept += [word, *rest[:1]]
            rest = rest[1:]
        elif word in DROPPED_WITH_WORD:
            rest = rest[1:]
        elif word == "--":
            named += rest
            rest = []
        elif not DROPPED.fullmatch(word):
            kept.append(word)
    if runner == "vitest":
        named = [word for word in named if word not in ("run", "watch", "dev", "related", "bench")]
    return named, kept
