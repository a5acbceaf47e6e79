"""What test programs say -> records -> report. The programs are scripts that speak like libtest, or against it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from sandbox.box import RawRun, RunRequest
from sandbox.inside import cargo_driver, cargo_tree
from sandbox.inside.cargo_driver import CargoRun, Docs, Program, Target, numbered
from sandbox.results.events import build_report
from sandbox.results.report import TestReport

SAY = "import json, os, sys, time\nif '--list' in sys.argv:\n    for n in NAMES: print(json.dumps({'type': 'test', 'event': 'discovered', 'name': n, 'source_path': 'src/lib.rs', 'start_line': 3}))\n" \
      "    print(json.dumps({'type': 'suite', 'event': 'completed'})); sys.exit(0)\n" \
      "def say(**e): print(json.dumps(e).replace('{', '{ ', 1), flush=True)\n" \
      "def begin(n): say(type='test', event='started', name=n)\n" \
      "def end(n, event='ok', **m): say(type='test', name=n, event=event, exec_time=0.5, **m)\n" \
      "def whole(event='ok'): say(type='suite', event=event); sys.exit(0 if event == 'ok' else 101)\n"


class Channel:
    def __init__(self) -> None:
        self.records: list[dict[str, Any]] = []

    def send(self, record: dict[str, Any]) -> None:
        self.records.append(record)


def cargo_run(root: Path, channel: Channel, **more: Any) -> CargoRun:
    payload = {"root": str(root), "wanted": None, "args": [], "order": None, "test_seconds": 2, "suite_seconds": None, "collect": False,
               "settings": {"directory": "", "flags": [], "target": ["/none", str(root / "target")]}, **more}
    return CargoRun(channel, payload)


def target(root: Path, kind: str = "lib", path: str = "src/lib.rs", harness: bool = True) -> Target:
    made = Target({"name": "calc", "manifest_path": str(root / "Cargo.toml")}, {"name": "calc", "src_path": str(root / path), "kind": [kind], "doctest": True}, harness)
    made.group = path
    return made


def follow(root: Path, body: str, names: tuple[str, ...] = ("a", "b", "c"), harness: bool = True, **more: Any) -> TestReport:
    script = root / "program"
    script.write_text(f"#!{sys.executable}\nNAMES = {names!r}\n{SAY}{body}\n", encoding="utf-8")
    script.chmod(0o755)
    channel = Channel()
    run = cargo_run(root, channel, **more)
    Program(run, target(root, harness=harness), str(script), {}).run()
    channel.send({"k": "exit", "status": 1 if run.failed or run.bad_ends else 0})
    return build_report(RawRun(records=channel.records, status=channel.records[-1]["status"], request=RunRequest(mode="cargo")), str(root))


def outcomes(report: TestReport) -> dict[str, str]:
    return {name.removeprefix("src/lib.rs::"): r.kind or r.outcome.value for name, r in report.results.items()}


def test_every_test_has_its_outcome_and_place(tmp_path: Path) -> None:
    panic = "\\nthread 'b' (7) panicked at src/lib.rs:9:5:\\nassertion `left == right` failed\\n  left: 1\\n right: 2\\nnote: run with\\n"
    report = follow(tmp_path, f"begin('a'); end('a'); begin('b'); end('b', 'failed', stdout='''said{panic}'''); begin('c'); end('c', 'ignored', message='slow'); whole('failed')")
    assert outcomes(report) == {"a": "passed", "b": "failed", "c": "skipped"}
    bad = report.results["src/lib.rs::b"]
    assert (bad.file, bad.exception, bad.short) == ("src/lib.rs", "panic", "assertion `left == right` failed\n  left: 1\n right: 2")
    assert bad.frames == (("src/lib.rs", 9, "b"),)
    assert (report.collected, report.died, report.complete, report.cut) == (("src/lib.rs",), (), True, False)


def test_the_panic_of_an_old_compiler_is_read(tmp_path: Path) -> None:
    report = follow(tmp_path, "begin('a'); end('a', 'failed', stdout=\"thread 'a' panicked at 'no way', tests/x.rs:4:9\\n\"); whole('failed')", ("a",))
    assert (report.results["src/lib.rs::a"].short, report.results["src/lib.rs::a"].frames) == ("no way", (("tests/x.rs", 4, "a"),))


@pytest.mark.parametrize("last", ["os.abort()", "os._exit(0)", "os._exit(101)", "whole('ok')"])
def test_a_program_without_its_own_end_hides_what_it_did_not_reach(tmp_path: Path, last: str) -> None:
    report = follow(tmp_path, f"begin('a'); end('a'); begin('b'); {last}")
    assert outcomes(report) == {"a": "passed", "b": "crash", "c": "missing"}
    assert (report.died, report.status) == (("src/lib.rs",), 1)


@pytest.mark.parametrize("body", ["whole('ok')", "sys.exit(0)", "begin('a'); end('a'); begin('b'); end('b'); whole('ok')"])
def test_a_test_that_is_not_told_of_did_not_pass(tmp_path: Path, body: str) -> None:
    report = follow(tmp_path, body)
    assert outcomes(report)["c"] == "missing"
    assert report.status == 1


def test_an_exit_status_against_the_last_word_is_no_end(tmp_path: Path) -> None:
    report = follow(tmp_path, "begin('a'); end('a'); say(type='suite', event='ok'); sys.exit(101)", ("a",))
    assert (report.died, report.status) == (("src/lib.rs",), 1)


def test_a_hang_costs_its_program_and_is_named(tmp_path: Path) -> None:
    report = follow(tmp_path, "begin('a'); end('a'); begin('b'); time.sleep(60)", test_seconds=0.5)
    assert outcomes(report) == {"a": "passed", "b": "timeout", "c": "missing"}


def test_silence_between_two_tests_is_ended(tmp_path: Path) -> None:
    report = follow(tmp_path, "begin('a'); end('a'); time.sleep(60)", test_seconds=0.3)
    assert outcomes(report) == {"a": "passed", "b": "missing", "c": "missing"}


@pytest.mark.parametrize(("body", "named"), [
    ("begin('a'); end('a'); end('a', 'failed', stdout='x'); begin('b'); end('b'); begin('c'); end('c'); whole('ok')", "a"),
    ("begin('a'); end('b'); end('a'); begin('b'); end('b'); begin('c'); end('c'); whole('ok')", "b"),
    ("begin('a'); end('a', 'failed', stdout='x'); end('a'); begin('b'); end('b'); begin('c'); end('c'); whole('ok')", "a"),
])
def test_a_result_that_the_runner_did_not_give_fails_its_test(tmp_path: Path, body: str, named: str) -> None:
    assert outcomes(follow(tmp_path, body))[named] == "failed"


def test_words_before_the_brace_hide_no_result_and_captured_lines_are_none(tmp_path: Path) -> None:
    inner = '{ \\"type\\": \\"test\\", \\"name\\": \\"b\\", \\"event\\": \\"ok\\" }'
    body = f"begin('a'); sys.stdout.write('no line end'); end('a'); begin('b'); end('b', 'failed', stdout=\"{inner}\\n\"); begin('c'); end('c'); whole('failed')"
    assert outcomes(follow(tmp_path, body)) == {"a": "passed", "b": "failed", "c": "passed"}


def test_only_wanted_ids_are_run(tmp_path: Path) -> None:
    body = "assert sys.argv[-2:] == ['--exact', 'b'], sys.argv\nbegin('b'); end('b'); whole('ok')"
    assert outcomes(follow(tmp_path, body, wanted=["src/lib.rs::b", "tests/x.rs::a"])) == {"b": "passed"}


@pytest.mark.parametrize(("status", "outcome"), [(0, "passed"), (3, "failed")])
def test_a_harness_of_its_own_is_one_test(tmp_path: Path, status: int, outcome: str) -> None:
    script = f"sys.exit({status})"
    source = tmp_path / "program"
    report = follow(tmp_path, script, ("not the words: of libtest",), harness=False)
    assert source.exists()
    assert outcomes(report) == {"main": outcome}


def test_doc_tests_are_known_by_file_item_and_ordinal() -> None:
    events = [{"event": "ok"}]
    names = {"src/lib.rs - add (line 100)": events, "src/lib.rs - add (line 9)": events, "src/lib.rs - (line 2)": events, "src/a.rs - a::T<X>::new (line 4) - compile": events,
             "no such name": events}
    assert [(name, line) for name, _, line, _ in numbered(names)] == [
        ("src/a.rs - a::T<X>::new (1) - compile", 4), ("src/lib.rs (1)", 2), ("src/lib.rs - add (1)", 9), ("src/lib.rs - add (2)", 100)]


def docs(root: Path, *heard: dict[str, Any], status: int = 0) -> TestReport:
    channel = Channel()
    run = cargo_run(root, channel)
    own = target(root)
    following = Docs(run, [own], [own])
    for event in heard:
        following.hear(event)
    following.tell(status, "error: no")
    channel.send({"k": "exit", "status": 1 if run.failed or run.bad_ends else 0})
    return build_report(RawRun(records=channel.records, status=channel.records[-1]["status"], request=RunRequest(mode="cargo")), str(root))


def test_doc_tests_without_a_last_word_did_not_end(tmp_path: Path) -> None:
    row = [{"type": "test", "event": "started", "name": "src/lib.rs - f (line 3)"}, {"type": "test", "event": "ok", "name": "src/lib.rs - f (line 3)"}]
    good = docs(tmp_path, *row, {"type": "suite", "event": "ok"})
    assert {name: r.outcome.value for name, r in good.results.items()} == {"src/lib.rs (doc)::src/lib.rs - f (1)": "passed"}
    assert (good.died, docs(tmp_path, *row).died) == ((), ("src/lib.rs (doc)",))
    assert "src/lib.rs (doc)" in docs(tmp_path, status=101).uncollected


def message(root: Path, kind: str, *, test: bool = False, executable: str | None = None, error: str | None = None, spans: list[Any] | None = None) -> dict[str, Any]:
    row: dict[str, Any] = {"package_id": "p", "manifest_path": str(root / "Cargo.toml"), "target": {"kind": [kind], "name": "calc"}}
    if error is None:
        return {**row, "reason": "compiler-artifact", "profile": {"test": test}, "executable": executable}
    return {**row, "reason": "compiler-message", "message": {"level": "error", "rendered": error, "spans": spans or []}}


def uncollected(root: Path, *messages: dict[str, Any]) -> dict[str, str]:
    channel = Channel()
    run = cargo_run(root, channel)
    run.metadata = {"packages": [{"manifest_path": str(root / "macros/Cargo.toml"), "targets": [{"kind": ["proc-macro"]}]}]}
    other = target(root, "test", "tests/calc.rs")
    run.targets, run.shown = [target(root), other], []
    for one in messages:
        run.message(one)
    run.tell_uncompiled(101)
    return {record["file"]: record["message"] for record in channel.records}


def test_what_does_not_compile_stops_only_itself(tmp_path: Path) -> None:
    found = uncollected(tmp_path, message(tmp_path, "lib"), message(tmp_path, "lib", test=True, executable="/x"), message(tmp_path, "test", error="error[E0425]: cannot find function `mean`"))
    assert list(found) == ["tests/calc.rs"]
    assert found["tests/calc.rs"].startswith("its tests do not compile\nerror[E0425]")


def test_a_crate_that_does_not_compile_is_told_from_its_tests(tmp_path: Path) -> None:
    found = uncollected(tmp_path, message(tmp_path, "lib", error="error: expected `;`"))
    assert {group: text.split("\n")[0] for group, text in found.items()} == dict.fromkeys(("src/lib.rs", "tests/calc.rs"), "the crate itself does not compile")


def test_code_that_a_macro_of_the_repository_made_is_named_by_its_crate(tmp_path: Path) -> None:
    span = {"is_primary": True, "file_name": "tests/calc.rs", "expansion": {"macro_decl_name": "#[derive(X)]", "def_site_span": {"file_name": "macros/src/lib.rs"}, "span": {"file_name": "t"}}}
    found = uncollected(tmp_path, message(tmp_path, "lib"), message(tmp_path, "lib", test=True, executable="/x"), message(tmp_path, "test", error="error[E0107]: no", spans=[span]))
    assert "in code made by a macro of macros/src/\n" in found["tests/calc.rs"]
    own = uncollected(tmp_path, message(tmp_path, "lib"), message(tmp_path, "test", error="error: a", spans=[span]), message(tmp_path, "test", error="error: b", spans=[{"is_primary": True}]))
    assert "made by a macro" not in own["tests/calc.rs"]


def test_the_kept_target_folder_is_laid_with_its_times_and_programs_are_no_links(tmp_path: Path) -> None:
    kept, own = tmp_path / "kept/debug/deps", tmp_path / "own"
    kept.mkdir(parents=True)
    for name in ("libx.rlib", "x-12", "x.d"):
        (kept / name).write_text(name, encoding="utf-8")
    (tmp_path / "kept/debug/x").hardlink_to(kept / "x-12")
    assert cargo_driver.restore(str(tmp_path / "kept"), str(own))
    laid = own / "debug/deps"
    assert [(laid / name).is_symlink() for name in ("libx.rlib", "x-12", "x.d")] == [True, False, False]
    assert (laid / "x.d").stat().st_mtime_ns == (kept / "x.d").stat().st_mtime_ns
    assert (own / "debug/x").stat().st_ino == (laid / "x-12").stat().st_ino
    assert not cargo_driver.restore(str(tmp_path / "kept"), str(own))


def test_files_that_differ_from_what_the_target_folder_was_made_from_become_newer_than_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root, made = tmp_path / "tree", tmp_path / "made"
    (root / "src").mkdir(parents=True)
    for name in ("src/same.rs", "src/other.rs", "src/gone.rs"):
        (root / name).write_text(name, encoding="utf-8")
    made.write_text("4000000000", encoding="ascii")  # a clock that went back
    for name, place in (("LIST", tmp_path / "list"), ("LAID", tmp_path / "laid"), ("MADE", made), ("MEMBERS", tmp_path / "members")):
        monkeypatch.setattr(cargo_tree, name, str(place))
    cargo_tree.remember(str(root))
    (root / "src/other.rs").write_text("changed", encoding="utf-8")
    (root / "src/gone.rs").unlink()
    (root / "src/new.rs").write_text("new", encoding="utf-8")
    before = {name: (root / name).stat().st_mtime for name in ("src/same.rs",)}
    cargo_tree.main([str(root)])
    assert {name: (root / name).stat().st_mtime for name in before} == before
    assert all((root / name).stat().st_mtime > 4000000000 for name in ("src/other.rs", "src/new.rs", "src"))


@pytest.mark.parametrize(("name", "kept"), [("src/new.rs", True), ("src/table.txt", False)])
def test_what_cargo_may_not_know_of_builds_members_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, kept: bool) -> None:
    root, notes = tmp_path / "tree", tmp_path / "target/debug/.fingerprint"
    (root / "src").mkdir(parents=True)
    for folder in ("my-crate-0123456789abcdef", "serde-0123456789abcdef"):
        (notes / folder).mkdir(parents=True)
    (tmp_path / "members").write_text("my-crate", encoding="utf-8")
    monkeypatch.setattr(cargo_tree, "LIST", str(tmp_path / "list"))
    monkeypatch.setattr(cargo_tree, "MEMBERS", str(tmp_path / "members"))
    cargo_tree.remember(str(root))
    (root / name).write_text("x", encoding="utf-8")
    cargo_tree.main(["forget", str(root), str(tmp_path / "target")])
    assert ((notes / "my-crate-0123456789abcdef").exists(), (notes / "serde-0123456789abcdef").exists()) == (kept, True)


