"""The change under judgement: base tree, source patch, test patch, and what is wrong with it before anything runs."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bot.changes.diff import ChangedLines
from bot.findings import Finding, Severity
from sandbox.toolchains.protocol import Changes, Rules
from sandbox.toolchains.registry import JointRules
from sandbox.workspace import Tree, is_bytecode


@dataclass(frozen=True)
class Change:
    """Everything that the runs and the gate need to know of a change. Trees hold no unsafe entry."""

    repository: str
    base: str
    head: str | None
    commit_date: datetime.datetime
    version: str | None
    base_tree: Tree
    source: Changes = field(default_factory=dict)
    tests: Changes = field(default_factory=dict)
    frozen: Changes = field(default_factory=dict)  # harness files and manifests, in the change's version
    whole: Changes = field(default_factory=dict)  # files that hold source and tests, with both of the change: its patched side
    given: Changes | None = None
    merged: Changes = field(default_factory=dict)  # files that both the change and the given tests edit, patched side
    lines: Mapping[str, ChangedLines] = field(default_factory=dict)
    diff: bytes = b""
    patch_sha256: str = ""
    findings: tuple[Finding, ...] = ()
    git_files: Mapping[str, bytes] = field(default_factory=dict)
    rules: Rules = field(default_factory=lambda: JointRules(Tree(), Tree(), ()))

    @property
    def stopped(self) -> bool:
        """Whether a finding forbids any run."""
        return any(f.severity is Severity.BLOCKER and f.code in ("forbidden_path", "patch_does_not_apply", "tampered") for f in self.findings)

    @property
    def patched_tree(self) -> Tree:
        """Base's tests and harness files with the source patch, without anything given."""
        return self.base_tree.with_changes(self.source)

    def with_tests(self, patched: bool, harness: bool = False) -> Tree:
        """One side with the change's own tests and, over them, the given ones; `harness`: its harness files too."""
        tree = (self.patched_tree if patched else self.base_tree).with_changes({**self.tests, **(self.whole if patched else {})})
        if harness:
            tree = tree.with_changes({path: file for path, file in self.frozen.items() if not self.rules.is_manifest(path) and not is_bytecode(path)})
        return tree.with_changes({**(self.given or {}), **(self.merged if patched else {})})

    @property
    def only_prose(self) -> bool:
        """Whether no plan reads anything of it."""
        return not self.tests and not self.given and not self.frozen and all(self.rules.is_prose(path) for path in self.source)

    @property
    def build_inputs(self) -> tuple[str, ...]:
        """Changed files that an installation may generate others from: extension sources, data, templates; Python and prose are not."""
        return tuple(path for path in self.source if not path.endswith(".py") and not self.rules.is_prose(path))


@dataclass(frozen=True)
class Request:
    """The caller's words: exactly one of head and patch."""

    base: str
    head: str | None = None
    patch: Path | None = None
    test_patch: Path | None = None
