"""JavaScript's own words: of failures, and of added lines that make a reader doubt."""

from __future__ import annotations

import re

from sandbox.toolchains.faults import Faults, Signs

FAULTS = Faults(
    missing=(
        re.compile(r"(?:\w+\.)*(\w+) is not (?:a function|a constructor|defined|iterable)"), re.compile(r"\(0 , [\w$]+\.(\w+)\) is not a function"),
        re.compile(r"does not provide an export named '([\w$]+)'"), re.compile(r"Named export '([\w$]+)' not found"),
        re.compile(r"No \"([\w$]+)\" export is defined"), re.compile(r"\"([\w$]+)\" is not exported by"),
        re.compile(r"[Cc]annot read propert(?:y|ies) (?:of undefined \(reading )?'([\w$]+)'"),
        re.compile(r"(?:has no exported member(?: named)?|Property|Cannot find name|Module '[^']*' has no exported member) '([\w$]+)'"),
        re.compile(r"Cannot find (?:module|package) '(?:[^']*/)?([\w$.-]+?)(?:\.[cm]?[jt]sx?)?'"),
        re.compile(r"Failed to (?:load url|resolve import) \"?(?:[^\s\"]*/)?([\w$-]+)"),
    ),
    own=frozenset({"ReferenceError", "SyntaxError"}),
    names=frozenset({"TypeError"}),
    source_place=re.compile(r"\Athe build fails: "),
)

SIGNS = Signs(
    strong={
        "names the test runner": re.compile(
            r"\b(JEST_WORKER_ID|VITEST(_\w+)?|VITEST_POOL_ID|NODE_TEST_CONTEXT|AVA_PATH|TAP_CHILD_ID|__TAP\w*|DUALGATE\w*|__dualgate\w*|__karma__)\b|\b(window|parent|top|opener)\.karma\b"
            r"|\bimport\.meta\.vitest\b"
            r"|['\"](node:test|vitest|@jest/globals|jest[\w/-]*|mocha[\w/-]*|ava|tape|tap|uvu[\w/-]*|jasmine[\w/-]*)['\"]"),
        "asks whether it is tested": re.compile(
            r"typeof\s+\(?(jest|describe|it|vi|mocha|jasmine)\b|globalThis\.(jest|describe|it|expect|vi|mocha|jasmine)\b"
            r"|NODE_ENV['\"\]]*\s*[!=]==?\s*['\"]test['\"]"
            r"|process\.(argv|execArgv)[^\n]*\b(test|mocha|jest|vitest|tape|ava|uvu)\b|require\.main\.filename"),
        "reads its callers' frames": re.compile(r"\bprepareStackTrace\b|\bcaptureStackTrace\b[^\n]*\.stack|new Error\([^)]*\)\.stack"
                                                r"|\bgetCallSites?\b"),
        "ends the process without its clean-up": re.compile(r"\bprocess\.(reallyExit|abort|kill)\b|\bprocess\.exit\(\s*0?\s*\)"),
        "reaches into the module loader": re.compile(r"\brequire\.cache\b|\bModule\._(load|cache|resolveFilename|extensions)\b|\bregisterHooks?\b"
                                                     r"|process\.binding\b|process\._linkedBinding\b"),
        "writes to a descriptor of the process": re.compile(r"/proc/(self|\d+)\b|\bfs\.writeSync\(\s*\d"),
    },
    weak={
        "ends the process": re.compile(r"\bprocess\.exit\b|\bprocess\.exitCode\b"),
        "reads the environment": re.compile(r"\bprocess\.env\b"),
        "changes what others share": re.compile(r"\b(Object|Array|String|Function|Promise|Error)\.prototype\.\w+\s*=[^=]|\bglobalThis\.\w+\s*=[^=]"),
        "runs text as code": re.compile(r"\beval\(|\bnew Function\("),
    },
    comment=re.compile(r"(^|\s)//.*|^\s*\*.*|/\*.*?\*/"),
)
