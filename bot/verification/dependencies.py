"""Dependencies that a change adds, looked up before anything is installed; and what it does to lock files."""

from __future__ import annotations

import datetime
from collections.abc import Iterable

from bot.changes.change import Change
from bot.findings import Finding, blocker, note
from bot.settings import Settings
from sandbox.egress import DEFAULT_HOSTS
from sandbox.plan import Plan
from sandbox.registries.likeness import mistaken_for
from sandbox.registries.locks import compare, is_lock
from sandbox.registries.lookup import TITLES, Known, Lookup
from sandbox.registries.names import package_of

YOUNG_DAYS = 90
CODE_HOSTS = ("github.com", "codeload.github.com", "gitlab.com", "bitbucket.org")


def judge_dependency(known: Known, today: datetime.date, elsewhere: bool) -> Finding | None:
    """What a registry's word on one added name means; None for a name that is fine. `elsewhere`: the operator let installations ask other hosts too."""
    title = TITLES[known.registry]
    if known.exists is False:
        if elsewhere:
            return note("dependency_not_public", f"{title} has no {known.name}: whether another registry has it, the installation shows")
        return blocker("hallucinated_dependency", f"the change adds a dependency on {known.name}, which {title} does not have")
    other = mistaken_for(known.registry, known.name)
    if other is None or known.exists is None:
        return None
    if known.first is None:
        return note("dependency_near_name", f"the change adds {known.name}, one letter from the popular {other}; how old it is can't be told here")
    age = (today - known.first).days
    if age < YOUNG_DAYS:
        return blocker("hallucinated_dependency", f"the change adds a dependency on {known.name}, one letter from the popular {other} and {age} days old")
    return None


def look_up(added: Iterable[str], plan: Plan, settings: Settings, today: datetime.date) -> list[Finding]:
    """A finding for each added requirement that is not as it should be. Raises RegistryUnavailable (an EngineUnavailable: nobody's fault)."""
    lookup = Lookup(settings.trusted_ca())
    names = dict.fromkeys(name for requirement in added if (name := package_of(plan.toolchain, requirement)))
    found = [judge_dependency(lookup.ask(*name), today, bool(settings.install_hosts)) for name in names]
    return [finding for finding in found if finding is not None]


def lock_findings(change: Change, settings: Settings) -> list[Finding]:
    """Lock files are base's in every run, so that only a look at them shows what a merge would install."""
    hosts = frozenset((*DEFAULT_HOSTS, *settings.install_hosts, *CODE_HOSTS))
    found: list[Finding] = []
    for path, file in {**change.source, **change.frozen}.items():
        if file is not None and is_lock(path):
            after = change.base_tree.with_changes({path: file}).text(path) or ""
            found += [blocker("needs_review", fault.detail, (path,)) for fault in compare(path, change.base_tree.text(path) or "", after, hosts)[:10]]
    return found
