"""A language's words: how a failure names what is missing, and which added lines make a reader doubt. Plain data."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Faults:
    """How failures of a language read.

    `missing`: patterns whose first group is a name that is not there; `own`: exceptions that are a fault of the test itself; `names`: exceptions of a
    missing name; `keyword`: text of a refused argument; `foreign`: a missing name of a module or type, which only the change may excuse; `fixture`: a
    fixture of the test's own is missing. `compiled`: a group that does not compile runs none of its tests; `source_place`: a compiler's
    words name a file that is no test; `made`: they say that the code was made by a macro, and of which file or folder of the repository.
    """

    missing: tuple[re.Pattern[str], ...] = ()
    own: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    imports: frozenset[str] = frozenset()
    keyword: re.Pattern[str] = re.compile(r"(?!)")
    foreign: re.Pattern[str] = re.compile(r"(?!)")
    fixture: re.Pattern[str] = re.compile(r"(?!)")
    compiled: bool = False
    source_place: re.Pattern[str] = re.compile(r"(?!)")
    made: re.Pattern[str] = re.compile(r"(?!)")

    def missing_name(self, text: str) -> str | None:
        """The name that a failure's text says is not there."""
        return next((match[1] for pattern in self.missing if (match := pattern.search(text))), None)


@dataclass(frozen=True)
class Loan:
    """Names that a file has from others and must not write to or, where `bound` is None, must not use unless it declares them itself.

    `bound`: what binds a name to them (any group); `used`: with `{name}`, or with the name as group 1; `declared`: with `{name}`, a
    declaration of the file's own.
    """

    used: str
    bound: re.Pattern[str] | None = None
    declared: str = r"(?!)"

    def shows(self, line: str, text: str) -> bool:
        """Whether a line of a file does what it must not. `text`: the file, as far as it is known."""
        if self.bound is None:
            return any(not re.search(_with(self.declared, match[1]), text, re.MULTILINE) for match in re.finditer(self.used, line))
        names = {name for match in self.bound.finditer(text) for name in match.groups() if name}
        return any(re.search(_with(self.used, name), line) for name in names)


def _with(pattern: str, name: str) -> str:
    return pattern.replace("{name}", re.escape(name))


@dataclass(frozen=True)
class Signs:
    """Words on an added source line -> pattern. Strong ones lower a verdict by themselves, weak ones are notes. `comment`: what is no code on a line.

    `harmless`: over a line and the next one, no sign; `blocks`: strong ones of several added lines that stand together; `loans`: strong ones that need the
    whole file, where `text` is no code either.
    """

    strong: Mapping[str, re.Pattern[str]] = field(default_factory=dict)
    weak: Mapping[str, re.Pattern[str]] = field(default_factory=dict)
    comment: re.Pattern[str] = re.compile(r"(?!)")
    harmless: re.Pattern[str] = re.compile(r"(?!)")
    blocks: Mapping[str, re.Pattern[str]] = field(default_factory=dict)
    loans: Mapping[str, Loan] = field(default_factory=dict)
    text: re.Pattern[str] = re.compile(r"(?!)")
