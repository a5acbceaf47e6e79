"""Development dependencies that no test needs: they are most of what an installation without a lock file would fetch."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping

from sandbox.toolchains.node.package import Package
from sandbox.workspace import Tree

NEVER_TESTED_WITH = re.compile(
    r"(@[\w-]+/)?eslint(-.*)?|@eslint/.*|@typescript-eslint/.*|typescript-eslint|prettier(-.*)?|standard|semistandard|xo|xo-.*|tslint(-.*)?|tsd"
    r"|dtslint|jshint|jscs|eclint|evalmd"
    r"|husky|lint-staged|@commitlint/.*|commitizen|cz-.*|semantic-release|@semantic-release/.*|release-it|np|auto-changelog|changelogen"
    r"|standard-version|conventional-.*"
    r"|safe-publish-latest|in-publish|npmignore|coveralls|codecov|nyc|c8|size-limit|@size-limit/.*|bundlesize|typedoc(-.*)?|jsdoc(-.*)?"
    r"|markdownlint.*|remark.*|stylelint.*|cspell"
    r"|karma(-.*)?|puppeteer|playwright|@playwright/.*|webdriverio|selenium-webdriver|@wdio/.*|snazzy|publint|@arethetypeswrong/.*|@changesets/.*"
    r"|pre-commit|benchmark|tinybench|bencho"
    r"|@biomejs/.*|oxlint|oxfmt|@typescript/native-preview|dox|docdash|gh-pages|doctoc|nsp|snyk|license-checker|@microsoft/api-.*|hereby"
    r"|@stryker-mutator/.*|automd")
SOURCE = re.compile(r"\.(?:[cm]?[jt]sx?|json|ya?ml|vue|svelte)$")


def left_out(tree: Tree, packages: Mapping[str, Package], in_browser: bool = False) -> tuple[str, ...]:
    """Names that only the linters' own configuration and scripts for people mention; `in_browser`: karma runs some tests."""
    names = {name for package in packages.values() for name in package.table("devDependencies") if NEVER_TESTED_WITH.fullmatch(name)
             and not (in_browser and name.startswith("karma"))}
    if not names:
        return ()
    used: set[str] = set()
    for path in tree:
        if SOURCE.search(path) and (not _is_for_people(path) or (in_browser and "karma" in path)) and (text := tree.text(path)):
            used |= {name for name in names - used if name in text and re.search(rf"['\"`]{re.escape(name)}(?:/[^'\"`]*)?['\"`]", text)}
    return tuple(sorted(names - used))


def _is_for_people(path: str) -> bool:
    name = posixpath.basename(path)
    return name == "package.json" or bool(re.search(r"eslint|prettier|stylelint|commitlint|xo\.config|release|lint-?staged|size-limit|oxlint|karma"
                                                    r"|bench|hereby|stryker", path, re.IGNORECASE))
