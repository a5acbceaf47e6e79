"""A verdict once more: the order that gave it, read from the verdict itself, and what came out otherwise."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bot.changes.change import Request
from bot.errors import BadInput
from bot.verification.verdict import SCHEMA
from bot.verification.verify import Order

MOST_NAMED = 20
OPTIONS = ("--base", "--head", "--patch", "--test-patch", "--reproducer", "--config", "--repeat")


def read_verdict(file: Path) -> dict[str, Any]:
    """A verdict that `--json` wrote. Raises BadInput."""
    try:
        verdict = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadInput(f"can't read {file}: {error}") from error
    if not isinstance(verdict, dict) or verdict.get("schema") != SCHEMA:
        raise BadInput(f"{file} is no verdict: its schema is not {SCHEMA}")
    return verdict


def order_of(verdict: Mapping[str, Any], repository: Path | None, timeout_s: float) -> Order:
    """The order behind a verdict, at the commits that it names, whatever branches have moved to since. Raises BadInput."""
    words = shlex.split(str((verdict.get("evidence") or {}).get("replay") or ""))
    if words[:2] != ["dualgate", "verify"] or len(words) < 5 or len(words) % 2 == 0:
        raise BadInput("the verdict does not say how it came about (evidence.replay)")
    pairs = list(zip(words[3::2], words[4::2], strict=True))
    if unknown := [name for name, _ in pairs if name not in OPTIONS]:
        raise BadInput(f"the verdict names an option that is unknown here: {unknown[0]}")
    said = dict(pairs)
    request = Request(str(verdict["base"]), str(verdict["head"]) if "--head" in said else None, *(
        Path(said[name]) if name in said else None for name in ("--patch", "--test-patch")))
    return Order(repository or Path(words[2]), request, tuple(Path(value) for name, value in pairs if name == "--reproducer"),
                 config=Path(said["--config"]) if "--config" in said else None, repeat=int(said.get("--repeat", "5")), timeout_s=timeout_s)


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """A line for each thing that came out otherwise; none where the verdict is the same for the same reasons."""
    lines = [f"{name}: {before.get(name)}, now {after.get(name)}" for name in ("patch_sha256", "verdict", "reason") if before.get(name) != after.get(name)]
    old, new = ([plan.get("environment_key") for plan in verdict.get("plans") or ()] for verdict in (before, after))
    if old != new:
        lines.append(f"environment: {_named(old)}, now {_named(new)}")
    old_tests, new_tests = _outcomes(before), _outcomes(after)
    differ = [name for name in dict.fromkeys([*old_tests, *new_tests]) if old_tests.get(name) != new_tests.get(name)]
    lines += [f"test {name[1]}: {_pair(old_tests.get(name))}, now {_pair(new_tests.get(name))}" for name in differ[:MOST_NAMED]]
    return lines + ([f"and {len(differ) - MOST_NAMED} more tests"] if len(differ) > MOST_NAMED else [])


def _named(keys: list[Any]) -> str:
    return ", ".join(str(key) for key in keys) or "none"


def _outcomes(verdict: Mapping[str, Any]) -> dict[tuple[Any, ...], tuple[Any, Any]]:
    return {(row.get("plan"), row["id"], row.get("from")): (row.get("base"), row.get("patched")) for row in verdict.get("tests") or ()}


def _pair(sides: tuple[Any, Any] | None) -> str:
    return f"{sides[0]} on base and {sides[1]} with the change" if sides else "not there"
