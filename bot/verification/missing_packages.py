"""Packages that the change's runs miss and base's do not: whether their registry has them at all."""

from __future__ import annotations

from collections.abc import Iterator

from bot.changes.change import Change
from bot.findings import Finding, warning
from bot.settings import Settings
from bot.verification.evidence import Evidence
from sandbox.plan import Plan
from sandbox.registries.imports import missing_imports
from sandbox.registries.lookup import TITLES, Known, Lookup, RegistryUnavailable
from sandbox.results.report import TestReport

MOST = 5


def texts_of(report: TestReport | None) -> Iterator[str]:
    """What went wrong in a report."""
    if report is not None:
        yield from (result.message for result in report.results.values() if result.failed)
        yield from report.uncollected.values()
        yield report.internal


def missing_in(evidence: Evidence, toolchain: str) -> tuple[tuple[str, str], ...]:
    """(registry, name) of packages that the patched side alone asks for in vain."""
    proof = evidence.reproducer
    base = "\n".join(text for report in (evidence.base,) for text in texts_of(report))
    patched = "\n".join(text for report in (evidence.patched, *(proof.patched[-1:] if proof else ())) for text in texts_of(report))
    known = set(missing_imports(toolchain, base))
    return tuple(name for name in missing_imports(toolchain, patched) if name not in known)


def describe(known: Known) -> str:
    """For a person or an agent that has imported it."""
    title, words = TITLES[known.registry], f"{known.name} is imported and not installed"
    if known.exists is None:
        return words
    return f"{words}: {title} has it, but the repository does not declare it" if known.exists else f"{words}: {title} has no such project"


def missing_package_findings(evidence: Evidence, plan: Plan, change: Change, settings: Settings) -> tuple[Finding, ...]:
    """A warning a package. A registry that does not answer takes nothing from the verdict."""
    own = {path.split("/")[0].removesuffix(".py") for path in (*change.patched_tree, *change.base_tree)}
    own |= {path.split("/")[1].removesuffix(".py") for path in change.patched_tree if path.startswith(("src/", "lib/")) and path.count("/") >= 1}
    lookup, found = Lookup(settings.trusted_ca()), []
    for registry, name in [row for row in missing_in(evidence, plan.toolchain) if row[1] not in own][:MOST]:
        try:
            known = lookup.ask(registry, name)
        except RegistryUnavailable:
            known = Known(registry, name, None)
        found.append(warning("missing_package", describe(known)))
    return tuple(found)
