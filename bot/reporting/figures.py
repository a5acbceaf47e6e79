"""Numbers as people say them: counts, seconds, dollars, tokens."""

from __future__ import annotations

from typing import Any


def count(number: int, one: str, many: str = "") -> str:
    """`1 test`, `2,314 tests`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def seconds(value: float | None) -> str:
    """`0.3 s`, `42 s`, `2 min 5 s`, `1 h 3 min`; a dash for what is unknown."""
    if value is None:
        return "-"
    if value < 10:
        return f"{value:.1f} s"
    whole = round(value)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s" if whole % 60 else f"{whole // 60} min"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def dollars(usd: float) -> str:
    """`$0.00`, `$1,204.50`; what is less than a cent and not nothing says so."""
    return "less than $0.01" if 0 < usd < 0.01 else f"${usd:,.2f}"


def cost(bill: dict[str, Any]) -> str:
    """Dollars and, where a model was asked, its tokens."""
    sent, got, cached = (int(bill.get(name) or 0) for name in ("input_tokens", "output_tokens", "cached_tokens"))
    words = dollars(float(bill.get("usd") or 0))
    if not (sent or got or bill.get("requests")):
        return f"{words} (no model was asked)"
    known = f", {cached:,} of them cached" if cached else ""
    return f"{words} ({count(sent, 'token')} in{known}; {got:,} out)"
