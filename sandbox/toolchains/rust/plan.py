"""What a plan for Rust holds beside the common part."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sandbox.plan import Plan
from sandbox.toolchains.rust.packages import Package


@dataclass(frozen=True)
class RustPlan(Plan):
    """One workspace, or one package that is in none. `packages`: its members; `locked`: the tree holds its lock file; `features`: sets of flags, the
    best first, of which the environment takes the first that most compiles with; `extra`: requirements to be added to a manifest."""

    packages: tuple[Package, ...] = ()
    locked: bool = False
    features: tuple[str, ...] = ("",)
    extra: tuple[str, ...] = ()

    def of_environment(self) -> Plan:
        """Files come and go: what it is built with stays."""
        return replace(self, why=(), test_files=(), packages=tuple(replace(package, roots=()) for package in self.packages))


def of_rust(plan: Plan) -> RustPlan:
    """The plan as this toolchain's own. Raises TypeError for another's."""
    if not isinstance(plan, RustPlan):
        raise TypeError(f"not a plan for Rust: {plan.toolchain}")
    return plan
