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
        "speaks like a test runner": re.compile(r"[\"'](not )?ok \d|\bnot ok\b|1\.\.\d+[\\\"']|<testsuite|:test-result:"),
        "looks for a test runner": re.compile(r"\b(HARNESS_ACTIVE|BATS_\w+|CTEST_\w+|MESON_TEST_\w+|TEST_ACTIVE)\b"),
        "names a test library": re.compile(
            r"\bTest::(More|Builder|Simple|Most|Deep|Exception|Harness)\b|\bTest2::|require\s*\(?[\"'](minitest|test/unit|rspec|busted|luassert|luaunit)"
            r"|\b(Minitest|RSpec|PHPUnit|ExUnit|EUnit|Catch|doctest)(::|\\|\.)|#\s*include\s*[<\"](gtest|gmock|catch2?|doctest|cmocka|check|unity|criterion)\b"),
        "ends the process as if all were well": re.compile(
            r"(?<![\w.])(_exit|_Exit|quick_exit)\s*\(|\bexit!|(?<![\w.:$])(exit|EXIT)\s*\(\s*(0|EXIT_SUCCESS)\s*\)\s*;|\bPOSIX::_exit\b"
            r"|\bos\.exit\s*\(\s*(0|true)?\s*\)|\bKernel\.exit!|\bpkill\b|\bkillall\b|\bkill\s+(-\w+\s+)?(\$PPID|-1|0)\b"),
        "is run before or behind the program": re.compile(
            r"\b__attribute__\s*\(\(\s*\(?_*(con|de)structor|\[\[gnu::(con|de)structor|\b(std::)?at_?(quick_)?exit\s*[({]"
            r"|\bat_exit\b|^\s*END\s*\{|\btrap\b[^\n]*\b(EXIT|0)\b|\.init_array|\bregister_shutdown_function\b"),
        "takes the assertions away": re.compile(
            r"#\s*(define|undef)\s+(NDEBUG|assert\w*|ASSERT\w*|EXPECT\w*|CHECK\w*|REQUIRE\w*|TEST\w*|abort|exit|main|strn?cmp|memcmp)\b|\b__assert(_fail|_rtn)?\s*\("
            r"|^\s*(function\s+)?(exit|assert\w*|fail|test|command|return|diff|cmp|grep|run)\s*\(\)\s*\{|\balias\s+\w+="
            r"|\bset \+e\b|\bassert\w*\s*=\s*(function|->|lambda|sub\b)"
            r"|\*\{?[\w:'\"]*(ok|is|is_deeply|like)\}?\s*=\s*sub\b|\bno warnings\s+['\"]redefine"),
        "catches what ends a program": re.compile(r"\b(signal|sigaction)\s*\(\s*SIG(ABRT|SEGV|TERM|FPE|ILL|BUS)\b|\bset_terminate\s*\(|\bLD_PRELOAD\b"),
    },
    weak={"reads the environment": re.compile(r"\bgetenv\(|\$ENV\{|\bos\.getenv\b|\bENV\[")},
    comment=re.compile(r"(^|\s)(//|#(?!\s*(include|define|undef|if|end|else))).*"),
    blocks={
        "answers every comparison": re.compile(
            r"\boperator\s*==\s*\([^)]*\)[\w\s]*\{\s*return\s+(true|1)\s*;|\bdef\s+==\s*\(?[^)\n]*\)?\s*[;\n]\s*true\b|\b__eq\s*=\s*function\s*\([^)]*\)\s*return\s+true\b"),
    },
)
