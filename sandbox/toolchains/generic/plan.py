"""What a plan for a test command holds beside the common part."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from sandbox.plan import Plan

WHOLE = "exit status"  # the one test that every command has


class Form(StrEnum):
    """How results are told: a program a test file that prints TAP, JUnit or automake's files beside a command, TAP among a command's output, if any."""

    TAP_FILES = "tap-files"
    JUNIT = "junit"
    AUTOMAKE = "automake"
    OUTPUT = "output"


@dataclass(frozen=True)
class CommandPlan(Plan):
    """`build`: shell commands before the tests; `test`: the command, to which a test file's path is added where the form says so; `reports`: patterns of
    the files that hold results; `packages`: Debian's, beside the toolchain's own."""

    build: tuple[str, ...] = ()
    test: str = ""
    form: Form = Form.OUTPUT
    reports: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()

    @property
    def group(self) -> str:
        """What a command's tests are collected as."""
        return self.test.split(" --")[0].replace("::", ":")[:80]


def of_command(plan: Plan) -> CommandPlan:
    """The plan as this toolchain's own. Raises TypeError for another's."""
    if not isinstance(plan, CommandPlan):
        raise TypeError(f"not a plan for a test command: {plan.toolchain}")
    return plan
