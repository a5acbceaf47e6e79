"""Why there is no plan for a tree of npm packages: what its test script starts, none of which is a runner that is known."""

from __future__ import annotations

import posixpath

from sandbox.toolchains.node.package import read_package
from sandbox.toolchains.node.scripts import commands_of
from sandbox.workspace import Tree

IN_BROWSERS = {"cypress", "playwright", "wdio", "testem", "web-test-runner", "wtr", "nightwatch", "airtap"}


def unknown_runner(tree: Tree) -> str | None:
    """A sentence with the script's place; None where there is no test script."""
    package = read_package(tree, "")
    if package is None or "test" not in package.scripts:
        return None
    programs = list(dict.fromkeys(posixpath.basename(command.words[0]) for command in commands_of(package, "test")))
    browsers = [name for name in programs if name in IN_BROWSERS]
    if browsers:
        return f"{package.path}:{package.line('test')} tests in browsers ({', '.join(browsers)}), which a box does not have"
    return f"{package.path}:{package.line('test')} tests by {', '.join(programs[:6]) or 'nothing'}, none of which is a test runner known here"
