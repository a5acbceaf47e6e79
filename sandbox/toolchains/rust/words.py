"""Rust's own words: of failures, and of added lines that make a reader doubt."""

from __future__ import annotations

import re

from sandbox.toolchains.faults import Faults, Signs

FAULTS = Faults(
    missing=(
        re.compile(r"cannot find [^`\n]*`(\w+)!?`"),
        re.compile(r"no (?:method|field|variant|function|associated)[^`\n]*(?:named )?`(\w+)`"),
        re.compile(r"unresolved imports? `(?:[\w:]+::)?(\w+)`"), re.compile(r"no `(\w+)` in `"), re.compile(r"has no field named `(\w+)`"),
        re.compile(r"use of (?:undeclared|unresolved) (?:type|module or unlinked crate|crate or module|module)[^`\n]* `(\w+)`"),
        re.compile(r"(?:function|method|struct|variant)[^`\n]* `(\w+)` (?:is private|takes|has)"), re.compile(r"field `(\w+)` of [^\n]* is private"),
        re.compile(r"associated function defined here[^`]*`(\w+)`"),
        re.compile(r"this (?:function|method)[^\n]*takes \d+ (?:generic )?arguments?(?:.|\n)*?^\s*\d+ \|[^\n]*\bfn (\w+)", re.MULTILINE),
    ),
    own=frozenset({"build"}),
    compiled=True,
    source_place=re.compile(r"\Athe crate itself does not compile"),
    made=re.compile(r"^in code made by a macro of (\S+)$", re.MULTILINE),
)

SIGNS = Signs(
    strong={
        "asks whether it is tested": re.compile(
            r"\bcfg(_attr)?!?\s*\((?:[^\"]|\"[^\"]*\")*?\btest\b(?!\s*=)|\bCARGO_TARGET_TMPDIR|NEXTEST|RUST_TEST_|\"--(exact|test-threads|nocapture)"),
        "speaks like the test runner": re.compile(r"\\?\"event\\?\"\s*:|\\?\"test_count|test result: |\.\.\. ok\b"),
        "reads its callers' frames": re.compile(r"\b(std::)?backtrace::|\bBacktrace::(force_)?capture\b|thread::current\(\)\.name\(\)"),
        "ends the process without its clean-up": re.compile(r"\blibc::_?exit\b|\b_exit\s*\(|\blibc::(kill|raise)\b"),
        "takes over the panics": re.compile(r"\bpanic::(set_hook|take_hook)\b|\bset_hook\s*\("),
        "is run before the program": re.compile(r"#\[(ctor|used|link_section)\b|\.init_array"),
    },
    weak={
        "ends the process": re.compile(r"\bprocess::(exit|abort)\s*\("),
        "reads the environment": re.compile(r"\benv::(var|vars|var_os|args|current_exe)\b"),
        "swallows a panic": re.compile(r"\bcatch_unwind\b"),
    },
    comment=re.compile(r"(^|\s)//.*"),
    harmless=re.compile(r"\s*#\[cfg\(test\)\]\s*\n\s*(pub(\([^)]*\))?\s+)?mod\s+\w+\s*[{;]"),  # a new file's own tests
    blocks={"answers every comparison": re.compile(r"\bfn\s+eq\s*\([^)]*\)\s*->\s*bool\s*\{\s*(return\s+)?true\b")},
)
