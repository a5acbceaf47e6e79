"""JavaScript's own words: of failures, and of added lines that make a reader doubt."""

from __future__ import annotations

import re

from sandbox.toolchains.faults import Faults, Loan, Signs

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

ASSERT = r"['\"](?:node:)?assert(?:/strict)?['\"]"
GLOBALS = "jest|vi|mocha|jasmine|QUnit|describe|it|test|specify|expect|beforeEach|afterEach|beforeAll|afterAll|before|after|xit|fit|spyOn"
NAME = r"(?<![\w$]){name}(?![\w$])"
DECLARED = (rf"\b(?:function\*?|class|const|let|var|import|enum|namespace)\b[^;\n]*{NAME}|{NAME}\s*=>|[(,{{]\s*(?:\.\.\.)?{NAME}\s*(?:\?|[,)=:}}])"
            rf"|^\s*(?:\.\.\.)?{NAME}\s*,?$")

SIGNS = Signs(
    strong={
        "names the test runner": re.compile(
            r"\b(JEST_WORKER_ID|VITEST(_\w+)?|VITEST_POOL_ID|NODE_TEST_CONTEXT|AVA_PATH|TAP_CHILD_ID|__TAP\w*|DUALGATE\w*|__dualgate\w*)\b"
            r"|\bimport\.meta\.vitest\b"
            r"|['\"](node:test(/\w+)?|@?vitest(/[\w/-]*)?|@jest/[\w/-]+|jest[\w/-]*|mocha[\w/-]*|ava|tape|tap|uvu[\w/-]*|jasmine[\w/-]*|qunit"
            r"|chai[\w/-]*|expect|should|expect\.js|unexpected|power-assert|sinon[\w/-]*)['\"]"),
        "asks whether it is tested": re.compile(
            rf"typeof\s+\(?({GLOBALS})\b|\b(globalThis|global|window|self)(\.|\[\s*['\"`])({GLOBALS}|assert|chai|sinon)\b"
            r"|NODE_ENV['\"\]]*\s*[!=]==?\s*['\"]test['\"]"
            r"|process\.(argv|execArgv)[^\n]*\b(test|mocha|jest|vitest|tape|ava|uvu)\b|require\.main\.filename"),
        "reaches into a test library": re.compile(r"Symbol\.for\(\s*['\"`]\$*(jest|vitest|expect|chai)|\basymmetricMatch\b"),
        "reads its callers' frames": re.compile(r"\bprepareStackTrace\b|\bcaptureStackTrace\b[^\n]*\.stack|new Error\([^)]*\)\.stack"
                                                r"|\bgetCallSites?\b"),
        "ends the process without its clean-up": re.compile(
            r"\bprocess\.(reallyExit|abort|kill)\b|\bprocess\.exit\(\s*0?\s*\)|\bprocess\.exitCode\s*=\s*(0|undefined|null|void)\b"),
        "reaches into the module loader": re.compile(
            r"\brequire\.cache\b|\bModule\._(load|cache|resolveFilename|extensions)\b|\bregisterHooks?\b|process\.binding\b|process\._linkedBinding\b"
            r"|\b(module\.parent|process\.mainModule|require\.main)\.(require|children|exports|constructor|paths|_\w+)\b"),
        "reaches for another realm": re.compile(r"\.constructor\(\s*['\"`]|\bconstructor\.constructor\b"),
        "writes to a descriptor of the process": re.compile(r"['\"`]/dev/(std\w+|fd\b)|/proc/(self|\d+)\b|['\"`]/proc/|\bfs\.writeSync\(\s*\d"),
        "takes the place of an output": re.compile(r"\b(process\.(stdout|stderr)|console)\.\w+\s*=[^=]"),
        "speaks like a test runner": re.compile(r"['\"`]ok \d|\bnot ok\b|\bTAP version\b"),
        "changes what the language brings": re.compile(
            r"\b(Object|Array|String|Function|Promise|Error|Number|JSON|Reflect|Math|Symbol|Map|Set)(\.prototype)?\.\w+\s*=[^=>]"
            r"|\bObject\.(assign|defineProperty|defineProperties)\(\s*(Object|Array|String|Function|Promise|Error|Number|JSON|Reflect|Map|Set|globalThis|global)\b"),
        "puts a file where packages are installed": re.compile(r"(write|append|mkdir|symlink|link|copy|rename|cp)\w*\([^\n]*node_modules"),
    },
    weak={
        "ends the process": re.compile(r"\bprocess\.exit\b|\bprocess\.exitCode\b|\bprocess\.\w+\(\s*['\"](beforeE|e)xit['\"]"),
        "reads the environment": re.compile(r"\bprocess\.env\b"),
        "changes what others share": re.compile(r"\b(globalThis|global)\.\w+\s*=[^=]|\b(globalThis|global)\[\s*[^'\"\s]"),
        "runs text as code": re.compile(r"\beval\(|\bnew Function\("),
        "loads a module by a computed name": re.compile(r"\brequire\(\s*([^'\"`\s)]|['\"`][^'\"`]*['\"`]\s*\+)|\bgetBuiltinModule\b"),
    },
    comment=re.compile(r"(^|\s)//.*|^\s*\*.*|/\*.*?\*/"),
    loans={
        "reaches into the module loader": Loan(
            NAME + r"(?:\.prototype)?\.(_\w+|register\w*|runMain)\b",
            re.compile(r"\b(\w+)\s*=\s*require\(\s*['\"](?:node:)?module['\"]|\bimport\s+(?:\*\s+as\s+)?(\w+)[^;\n]*\bfrom\s*['\"](?:node:)?module['\"]")),
        "replaces assertions": Loan(
            NAME + r"(?:\.\w+|\[[^\]]*\])+\s*=[^=>]|\b(?:Object|Reflect)\.(?:assign|define\w+|set)\(\s*" + NAME,
            re.compile(rf"\b(\w+)\s*=\s*(?:await\s+)?(?:\w+\()*(?:require|import)\(\s*{ASSERT}|\bimport\s+(?:\*\s+as\s+)?(\w+)[^;\n]*\bfrom\s*{ASSERT}"
                       rf"|(\brequire\(\s*{ASSERT}\s*\))")),
        "uses what only a test runner has": Loan(
            rf"(?<![.\w$#@])(?!\w+\s*\([^()]*\)\s*[:{{])({GLOBALS})\s*(?:[(\[]|\.\w|=[^=>])", declared=DECLARED),
    },
    text=re.compile(r"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"|`(?:[^`\\\n]|\\.)*`"),
)
