"""Java's own words: of failures, and of added lines that make a reader doubt."""

from __future__ import annotations

import re

from sandbox.toolchains.faults import Faults, Signs

FAULTS = Faults(
    missing=(
        re.compile(r"symbol:\s+(?:class|method|variable|static \w+|interface|@?\w+)\s+(\w+)"),
        re.compile(r"(?:method|constructor|record|class|enum) (\w+)(?:<[^\n]*>)? in (?:class|interface|record|enum) \S+ cannot be applied"),
        re.compile(r"no suitable (?:method|constructor) found for (\w+)"), re.compile(r"package (?:[\w.]+\.)?(\w+) does not exist"),
        re.compile(r"\b(\w+)(?:\([^)\n]*\))? (?:has (?:private|protected) access|is not public) in"),
        re.compile(r"does not override abstract method (\w+)"), re.compile(r"(?:NoSuchMethodError|NoSuchFieldError)\W+(?:[^\n(]*[. ])?(\w+)"),
        re.compile(r"(?:NoClassDefFoundError|ClassNotFoundException)\W+(?:[\w$]+[./])*([\w$]+)"),
    ),
    own=frozenset({"build"}),
    names=frozenset({"NoSuchMethodError", "NoSuchFieldError", "NoClassDefFoundError", "ClassNotFoundException", "NoSuchMethodException"}),
    imports=frozenset({"NoClassDefFoundError", "ClassNotFoundException"}),
    compiled=True,
    source_place=re.compile(r"\Athe module itself does not compile"),
)

SIGNS = Signs(
    strong={
        "names the test runner": re.compile(
            r"\borg\.(junit|testng|apache\.maven\.surefire|opentest4j|hamcrest|mockito|assertj|awaitility|spockframework)\b|\bcom\.google\.common\.truth\b|\bjunit\.framework\b|\bsurefire\b|junit\.platform"),
        "speaks like the test runner": re.compile(
            r"TEST-[^\"\n]*\.xml|surefire-reports|test-results|<testcase|<testsuite|Tests run:|:maven-surefire|BUILD SUCCESS"),
        "reads its callers' frames": re.compile(
            r"\bgetStackTrace\s*\(|\bStackWalker\b|\bThread\.(currentThread\(\)\.getName|getAllStackTraces|dumpStack)\b|\bsun\.reflect\.Reflection\b"),
        "ends the process without its clean-up": re.compile(r"\bRuntime\.getRuntime\(\)\.halt\b|\.halt\(\s*-?\d|\bProcessHandle\b"),
        "takes over the classes that are loaded": re.compile(
            r"\bsun\.misc\.Unsafe\b|\bjava\.lang\.instrument\b|\bClassFileTransformer\b|\bpremain\b|\bagentmain\b|\bVirtualMachine\.attach\b|\.defineClass\("),
    },
    weak={
        "ends the process": re.compile(r"\bSystem\.exit\(|\.addShutdownHook\("),
        "reads the environment": re.compile(r"\bSystem\.(getenv|getProperty|getProperties)\("),
        "works around the access rules": re.compile(r"\bsetAccessible\(|\bgetDeclared(Field|Method|Constructor)s?\("),
        "swallows every fault": re.compile(r"\bcatch\s*\(\s*(final\s+)?Throwable\b|setDefaultUncaughtExceptionHandler"),
    },
    comment=re.compile(r"(^|\s)//.*|^\s*\*.*|/\*.*"),
    blocks={
        "answers every comparison": re.compile(
            r"\bboolean\s+equals\s*\([^)]*\)\s*\{\s*return\s+true\s*;|\bfun\s+equals\s*\([^)]*\)[^={]*(=\s*true\b|\{\s*return\s+true\b)"
            r"|\bdef\s+equals\s*\([^)]*\)[^={]*=\s*true\b|\bint\s+compareTo\s*\([^)]*\)\s*\{\s*return\s+0\s*;"),
    },
)
