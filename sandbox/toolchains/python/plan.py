"""What a plan for Python holds beside the common part."""

from __future__ import annotations

from dataclasses import dataclass

from sandbox.plan import Plan
from sandbox.toolchains.python.django import DjangoRun


@dataclass(frozen=True)
class Requirements:
    """One stage of an installation: requirement strings (PEP 508), and where they stand."""

    origin: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class PythonPlan(Plan):
    """A project to be installed editable or not, its stages of requirements, and every distribution that its files name."""

    project: bool = False
    extras: tuple[str, ...] = ()
    build_requires: tuple[str, ...] = ()
    stages: tuple[Requirements, ...] = ()
    constraints: tuple[str, ...] = ()
    known_names: tuple[str, ...] = ()
    django: DjangoRun | None = None  # where the framework is Django's own


def of_python(plan: Plan) -> PythonPlan:
    """The plan as this toolchain's own. Raises TypeError for another's."""
    if not isinstance(plan, PythonPlan):
        raise TypeError(f"not a plan for Python: {plan.toolchain}")
    return plan
