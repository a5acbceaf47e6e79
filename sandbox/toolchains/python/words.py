"""Python's own words: of failures, and of added lines that make a reader doubt."""

from __future__ import annotations

import re

from sandbox.toolchains.faults import Faults, Signs

FAULTS = Faults(
    missing=(
        re.compile(r"cannot import name '?(\w+)'?"), re.compile(r"No module named '?([\w.]+)'?"), re.compile(r"module '[\w.]+' has no attribute '(\w+)'"),
        re.compile(r"type object '\w+' has no attribute '(\w+)'"), re.compile(r"'\w+' object has no attribute '(\w+)'"),
        re.compile(r"got an unexpected keyword argument '(\w+)'"), re.compile(r"name '(\w+)' is not defined"), re.compile(r"has no attribute '(\w+)'"),
    ),
    own=frozenset({"NameError", "SyntaxError", "IndentationError", "TabError", "UnboundLocalError"}),
    names=frozenset({"ImportError", "ModuleNotFoundError", "AttributeError"}),
    imports=frozenset({"ImportError", "ModuleNotFoundError"}),
    keyword=re.compile(r"^TypeError: (?s:.*)unexpected keyword"),
    foreign=re.compile(r"(module|type object) '"),
    fixture=re.compile(r"fixture '\w+' not found"),
)

SIGNS = Signs(
    strong={
        "names the test runner": re.compile(
            r"\b_pytest\b|\bimport pytest\b|\bfrom pytest\b|\bpytest\.(skip|exit|xfail|importorskip|fail)\b|^\s*(import|from)\s+unittest\b"
            r"|\bfrom django import test\b|\bdjango\.test\b(?!\.(signals|client|html)\b| import (RequestFactory|Client)\b)|\brest_framework\.test\b"
            r"|\bmanagement\.commands\.test\b|\bimport_module\(\s*[\"'](unittest|pytest|_pytest)\b|\b__import__\(\s*[\"'](unittest|_?pytest)\b"),
        "steers what is collected": re.compile(r"\bdef load_tests\b|^\s*load_tests\s*=|\b__test__\s*=|\bpytest_plugins\b|\bdef pytest_\w+\("),
        "reads the test runner's environment": re.compile(r"PYTEST_CURRENT_TEST|PYTEST_VERSION|PYTEST_XDIST|TOX_ENV|DUALGATE"),
        "asks whether a test runner is loaded": re.compile(
            r"""["'](pytest|unittest|_pytest|nose)["']\s+(not\s+)?in\s+(sys\.)?modules|modules\s*(\.get\(|\[)\s*["'](_?pytest|unittest)"""),
        "reads its callers' frames": re.compile(
            r"\bsys\._getframe|\bsys\._current_frames|\binspect\.(stack|currentframe|getouterframes|trace)\b|\.f_back\b|\btb_frame\b"),
        "searches the interpreter's objects": re.compile(r"\bgc\.(get_objects|get_referrers|get_referents)\b"),
        "ends the process without its clean-up": re.compile(r"\bos\._exit\b|\bos\.(kill|abort|execv\w*)\(|\bsignal\.raise_signal\b|\bSIGKILL\b"),
        "loads code of the tests": re.compile(
            r"^\s*(from|import)\s+(?!django\.test\b)(\w+\.)*(tests?|conftest|unittests|testsuite)\b|import_module\(\s*[\"'](\w+\.)*(tests?|conftest)\b"),
        "chooses the test runner": re.compile(r"\bTEST_RUNNER\b|\bDiscoverRunner\b"),
        "skips tests": re.compile(r"\bSkipTest\b|\bunittest\.skip\b|\boutcomes\.Skipped\b"),
        "replaces assertion methods": re.compile(
            r"\.(assert[A-Z]\w*|failUnless\w*|_callTestMethod|_callSetUp)\s*=[^=]|TestCase\.(fail|run|__call__)\s*=|setattr\([^\n]*([\"']assert|TestCase)"
            r"|\bAssertionError\s*=|builtins\.AssertionError"),
        "answers every comparison": re.compile(
            r"def __(eq|instancecheck|subclasscheck)__\([^)]*\)[^:]*:\s*return True\b|__(eq|instancecheck)__\s*=\s*lambda[^:]*:\s*True\b|\bmock\.ANY\b"),
    },
    weak={
        "registers an exit handler": re.compile(r"\batexit\b"),
        "reads the environment": re.compile(r"\bos\.environ\b|\bos\.getenv\b|\bgetenv\("),
        "changes the interpreter's modules": re.compile(r"\bsys\.modules\[|\bsys\.(meta_path|path_hooks|settrace|setprofile)\b|\bctypes\b"),
    },
    comment=re.compile(r"(^|\s)#.*"),
    blocks={
        "answers every comparison": re.compile(r"def __(eq|instancecheck|subclasscheck)__\([^)]*\)[^:\n]*:\s*\n\s*return (True|not False|1)\s*$", re.MULTILINE),
        "answers no inequality": re.compile(r"def __ne__\([^)]*\)[^:\n]*:\s*return (False|0)\s*$", re.MULTILINE),
    },
)
