"""How failures of compilers read, and what on an added line makes a reader doubt, in any language."""

from __future__ import annotations

import re

from sandbox.toolchains.faults import Faults, Signs

FAULTS = Faults(
    missing=(
        re.compile(r"implicit declaration of function [‘'](\w+)"), re.compile(r"[‘'](\w+)[’'] (?:undeclared|was not declared)"),
        re.compile(r"undefined reference to [`‘'](\w+)"), re.compile(r"has no member named [‘'](\w+)"), re.compile(r"Undefined subroutine &?([\w:]+)"),
        re.compile(r"(\w+): command not found"),
    ),
    compiled=True,
    source_place=re.compile(r"^(?!(?:.*/)?(?:tests?|t)/)[^\s:]+\.(?:c|cc|cpp|cxx|h|hh|hpp|m|mm):\d+:\d+: (?:fatal )?error:", re.MULTILINE),
)
SIGNS = Signs(
    strong={
        "speaks like a test runner": re.compile(r"[\"'](not )?ok \d|1\.\.\d+[\\\"']|<testsuite|:test-result:"),
        "looks for a test runner": re.compile(r"\b(HARNESS_ACTIVE|BATS_TEST_\w+|CTEST_\w+|MESON_TEST_\w+|TEST_ACTIVE)\b"),
    },
    weak={"reads the environment": re.compile(r"\bgetenv\(|\$ENV\{")},
    comment=re.compile(r"(^|\s)(//|#(?!include|define|if|end|else)).*"),
)
