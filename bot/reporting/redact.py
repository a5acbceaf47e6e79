"""The one redactor of every outbound string: what looks like a secret, and the secrets that this process holds.

Every pattern is a fixed prefix and one run of characters, or bounded, or possessive: time grows with the text, whatever the text is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

REDACTED = "[redacted]"
SHORTEST = 6  # a shorter secret would take ordinary words out of every text
SHORTEST_LINE = 16  # of a secret of several lines, such as a key
START = r"(?<![A-Za-z0-9])"

PATTERNS: tuple[tuple[re.Pattern[str], str], ...] = tuple((re.compile(pattern), to) for pattern, to in (
    # a PEM block ends at its END line, or where its alphabet ends: text of others must not hide what follows
    (r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:[A-Za-z0-9+/=\s\\,:]|-(?!----))*+(?:-----END [A-Z0-9 ]{0,60}-----)?", REDACTED),
    (r"gh[pousr]_[A-Za-z0-9._-]{20,}", REDACTED),  # ghs_<APPID>_<JWT> is some 520 characters, with dots
    (r"github_pat_[A-Za-z0-9_]{20,}", REDACTED),
    (START + r"sk-(?:ant|proj|svcacct|admin|or)-[A-Za-z0-9_-]{16,}", REDACTED),
    (START + r"sk-[A-Za-z0-9]{20,}", REDACTED),
    (START + r"A[KS]IA[A-Z0-9]{16}(?![A-Za-z0-9])", REDACTED),
    (START + r"AIza[A-Za-z0-9_-]{30,}", REDACTED),
    (START + r"xox[abeprs]-[A-Za-z0-9-]{10,}", REDACTED),
    (START + r"glpat-[A-Za-z0-9_.-]{20,}", REDACTED),
    (START + r"npm_[A-Za-z0-9]{30,}", REDACTED),
    (START + r"pypi-[A-Za-z0-9_-]{32,}", REDACTED),
    (START + r"hf_[A-Za-z0-9]{30,}", REDACTED),
    (r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]{0,2000})?", REDACTED),
    (r"""(?i)(authorization["']?[ \t]{0,4}[:=][ \t]{0,4}["']?)(?:(?:basic|bearer|digest|token)[ \t]{1,4})[^\s"'`<>|]+""", r"\1" + REDACTED),
    (r"""(?i)(authorization["']?[ \t]{0,4}[:=][ \t]{0,4}["']?)[^\s"'`<>|\[]{8,}""", r"\1" + REDACTED),
    (r"([A-Za-z][A-Za-z0-9+.-]{0,20}://)[^\s/@:]{0,256}:[^\s/]{1,512}@", r"\1" + REDACTED + "@"),
    (r"([A-Za-z][A-Za-z0-9+.-]{0,20}://)[^\s/@:]{20,512}@", r"\1" + REDACTED + "@"),
))


class Redactor:
    """Takes secrets out of text: the known shapes, and these very strings; of one with several lines each long line too."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._secrets: set[str] = set()
        self._exact: re.Pattern[str] | None = None
        self.register(secrets)

    def register(self, secrets: Iterable[str]) -> None:
        """Secrets that are taken out from now on. Those of fewer than six characters are ignored."""
        for secret in secrets:
            lines = [line.strip() for line in secret.splitlines()]
            self._secrets |= {secret.strip()} if len(secret.strip()) >= SHORTEST else set()
            self._secrets |= {line for line in lines if len(line) >= SHORTEST_LINE and not line.startswith("-----")}
        longest_first = sorted(self._secrets, key=lambda one: (-len(one), one))
        self._exact = re.compile("|".join(map(re.escape, longest_first))) if longest_first else None

    def __call__(self, text: str) -> str:
        """The text without secrets. Time is linear in its length."""
        if self._exact is not None:
            text = self._exact.sub(REDACTED, text)
        for pattern, to in PATTERNS:
            text = pattern.sub(to, text)
        return text


_process = Redactor()


def register(*secrets: str) -> None:
    """Secrets of this process, which `redact` takes out of every text from now on."""
    _process.register(secrets)


def redact(text: str) -> str:
    """The text without anything that looks like a secret, and without the secrets of this process."""
    return _process(text)
