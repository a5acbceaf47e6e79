"""Run `dualgate verify` over real bug-fix commits and tabulate: id, verdict, F2P, P2P, cold and warm seconds.

    python benchmarks/real_cases.py CASES.jsonl --mirrors FOLDER --out FOLDER [--only ID ...] [--language NAME ...] [--warm] [--twin]

CASES: one JSON object a line, either with base_commit/fix_commit (verified with --head) or in SWE-bench's form (--patch, --test-patch).
FOLDER of mirrors: `owner+name/repo`, bare or not. `--twin` also verifies the same commit without its source changes: never `verified`.
"""

from __future__ import annotations

import argparse
import difflib
import json
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from sandbox.toolchains.registry import divide
from sandbox.workspace import REGULAR, File

DUALGATE = Path(sys.executable).parent / "dualgate"


def ids(value: Any) -> list[str]:
    return list(json.loads(value)) if isinstance(value, str) else list(value or [])


def verify(args: list[str], out: Path) -> tuple[int, dict[str, Any], float]:
    out.unlink(missing_ok=True)
    started = time.monotonic()
    with open(out.with_suffix(".txt"), "w", encoding="utf-8") as log:
        status = subprocess.run([str(DUALGATE), "verify", *args, "--timeout", "2400", "--json", str(out)], stdout=log, stderr=log, check=False).returncode
    return status, json.loads(out.read_text(encoding="utf-8")) if out.exists() else {}, time.monotonic() - started


def program_patch(case: dict[str, Any], repo: Path, folder: Path) -> list[str]:
    """A fix that no commit holds: the correct program's text in place of the other (`programs/x.py -> correct_programs/x.py`)."""
    path, _, right = case["source_files_changed"][0].partition(" -> ")
    names = [f"{case['base_commit']}:{name}" for name in (path, right)]
    old, new = (subprocess.run(["git", "-C", str(repo), "show", name], capture_output=True, check=True).stdout for name in names)
    lines = difflib.diff_bytes(difflib.unified_diff, old.splitlines(True), new.splitlines(True), b"a/" + path.encode(), b"b/" + path.encode())
    ended = [line if line.endswith(b"\n") else line + b"\n\\ No newline at end of file\n" for line in lines]
    (folder / "patch.diff").write_bytes(b"".join(ended))
    return [str(repo), "--base", case["base_commit"], "--patch", str(folder / "patch.diff")]


def arguments(case: dict[str, Any], repo: Path, folder: Path) -> list[str]:
    if case.get("expect_head", "") is None:
        return program_patch(case, repo, folder)
    if case.get("fix_commit"):
        return [str(repo), "--base", case["base_commit"], "--head", case["fix_commit"]]
    for name in ("patch", "test_patch"):
        (folder / f"{name}.diff").write_text(case[name], encoding="utf-8")
    return [str(repo), "--base", case["base_commit"], "--patch", str(folder / "patch.diff"), "--test-patch", str(folder / "test_patch.diff")]


def without_source(case: dict[str, Any], repo: Path, folder: Path) -> list[str] | None:
    """The fix's tests alone (a commit pair), or a harmless new file in place of the patch."""
    if case.get("expect_head", "") is None:
        return None  # the program as it is: an empty change
    if case.get("fix_commit"):
        files = [f for f in case["test_files_changed"] if re.fullmatch(r"\S+", f)]
        words = ["git", "-C", str(repo), "diff", "--binary", case["base_commit"], case["fix_commit"], "--", *files]
        diff = subprocess.run(words, capture_output=True, check=True).stdout if files else b""
        diff += b"".join(inline_tests(case, repo, f.split(" ")[0]) for f in case["test_files_changed"] if f not in files)
        (folder / "twin.diff").write_bytes(diff)
        return [str(repo), "--base", case["base_commit"], "--patch", str(folder / "twin.diff")] if diff.strip() else None
    text = "diff --git a/dualgate_note.py b/dualgate_note.py\nnew file mode 100644\n--- /dev/null\n+++ b/dualgate_note.py\n@@ -0,0 +1 @@\n+NOTE = 1\n"
    (folder / "twin.diff").write_text(text, encoding="utf-8")
    return [str(repo), "--base", case["base_commit"], "--patch", str(folder / "twin.diff"), "--test-patch", str(folder / "test_patch.diff")]


def inline_tests(case: dict[str, Any], repo: Path, path: str) -> bytes:
    """What a fix does to the tests inside a source file, as a diff."""
    names = [f"{case[name]}:{path}" for name in ("base_commit", "fix_commit")]
    texts = [subprocess.run(["git", "-C", str(repo), "show", name], capture_output=True, check=True).stdout for name in names]
    divided = divide(path, *(File(REGULAR, text) for text in texts))
    after = divided.tests.data if divided else texts[0]
    lines = difflib.diff_bytes(difflib.unified_diff, texts[0].splitlines(True), after.splitlines(True), b"a/" + path.encode(), b"b/" + path.encode())
    return b"".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("cases", type=Path)
    parser.add_argument("--mirrors", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--language", nargs="*", default=["python"])
    parser.add_argument("--warm", action="store_true")
    parser.add_argument("--twin", action="store_true")
    options = parser.parse_args()
    for line in options.cases.read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        name = case.get("id") or case["instance_id"]
        repo = options.mirrors / case["repo"].replace("/", "+") / "repo"
        unwanted = bool(options.only) and name not in options.only
        if unwanted or not repo.exists() or case.get("language", "python") not in options.language:
            continue
        folder = options.out / name
        folder.mkdir(parents=True, exist_ok=True)
        status, verdict, cold = verify(arguments(case, repo, folder), folder / "verdict.json")
        warm = verify(arguments(case, repo, folder), folder / "warm.json")[2] if options.warm else None
        twin = without_source(case, repo, folder) if options.twin else None
        twin_reason = (verify(twin, folder / "twin.json")[1].get("reason") or "?") if twin else "-"
        gates = verdict.get("gates", {})
        proven = gates.get("fail_to_pass", {}).get("passed", [])
        listed = ids(case.get("fail_to_pass") or case.get("FAIL_TO_PASS"))
        found = sum(any(p.endswith(want) for p in proven) for want in listed)
        print(f"{name:<42} {verdict.get('verdict', f'exit {status}'):<13} {verdict.get('reason', ''):<26} F2P {found}/{len(listed)} of {len(proven)}  "
              f"P2P {gates.get('pass_to_pass', {}).get('passed')}  cold {cold:.0f} s  warm {f'{warm:.0f} s' if warm else '-'}  twin {twin_reason}", flush=True)


if __name__ == "__main__":
    main()
