"""What a plan for Go holds beside the common part."""

from __future__ import annotations

from dataclasses import dataclass

from sandbox.plan import Plan


@dataclass(frozen=True)
class GoPlan(Plan):
    """One module. `packages`: (folder from the root, import path, group) of each of its packages; `workspace`: it is part of a go.work;
    `vendored`: its dependencies are in the tree; `extra`: modules to be fetched beside those of go.mod."""

    module: str = ""
    packages: tuple[tuple[str, str, str], ...] = ()
    workspace: bool = False
    vendored: bool = False
    extra: tuple[str, ...] = ()


def of_go(plan: Plan) -> GoPlan:
    """The plan as this toolchain's own. Raises TypeError for another's."""
    if not isinstance(plan, GoPlan):
        raise TypeError(f"not a plan for Go: {plan.toolchain}")
    return plan


def folder_of(plan: Plan, group: str) -> str | None:
    """The folder of a group."""
    return next((folder for folder, _, name in of_go(plan).packages if name == group), None)
