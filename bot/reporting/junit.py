"""The verdict's tests as JUnit XML, for tools that read nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from junitparser import Failure, JUnitXml, Skipped, TestCase, TestSuite

from bot.reporting.escape import plain


def write_junit(verdict: dict[str, Any], path: Path) -> None:
    """One suite a gate; a test that broke is a failure with its message, one that was failing before is skipped.

    The gate's own answer is a case of its own, so that a verdict without tests is no green file. Raises OSError.
    """
    gate = TestSuite("dualgate")
    answer = TestCase("verdict", classname="dualgate")
    if verdict["verdict"] != "verified":
        answer.result = [Failure(plain(verdict["summary"]), verdict["reason"])]
    gate.add_testcase(answer)
    suites = {"base": TestSuite("pass-to-pass"), "other": TestSuite("fail-to-pass")}
    for row in verdict["tests"]:
        file, _, name = row["id"].rpartition("::" if "::" in row["id"] else "#")
        case = TestCase(plain(name), classname=plain(file.replace("/", ".")), time=row["seconds"] or 0.0)
        if row["category"] in ("P2F", "GONE") or (row["from"] != "base" and row["patched"] != "passed"):
            case.result = [Failure(plain(row["message"] or "missing"), row["category"])]
        elif row["category"] in ("F2F", "FLAKY") or row["patched"] in ("skipped", "xfailed"):
            case.result = [Skipped(plain(row["message"] or row["category"] or ""))]
        suites["base" if row["from"] == "base" else "other"].add_testcase(case)
    document = JUnitXml("dualgate")
    for suite in (gate, suites["other"], suites["base"]):
        document.add_testsuite(suite)
    document.write(str(path), pretty=True)
