"""The driver of Node's runners: TAP, equal titles, lines that nobody signed."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from sandbox import inside


class Channel:
    """Keeps what is sent."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []

    def send(self, record: dict[str, Any]) -> None:
        self.sent.append(record)

    def outcomes(self) -> dict[str, str]:
        names = [row[0] for record in self.sent if record["k"] == "items" for row in record["items"]]
        return {names[record["i"]]: record["outcome"] for record in self.sent if record["k"] == "phase"}

    def broken(self) -> list[str]:
        return [record["message"] for record in self.sent if record["k"] == "uncollected"]


@pytest.fixture
def driver() -> dict[str, Any]:
    space: dict[str, Any] = {"__name__": "dualgate_driver"}
    exec(compile(inside.driver("node"), "node_driver.py", "exec"), space)
    return space


@pytest.fixture
def channel() -> Channel:
    return Channel()


@pytest.fixture
def run(driver: dict[str, Any], channel: Channel) -> Any:
    return driver["NodeRun"](channel, {"root": "/repo/x", "wanted": None, "test_seconds": 10, "collect": False, "suite_seconds": 100})


def followed(driver: dict[str, Any], run: Any, text: str, status: int = 0) -> None:
    tap = driver["Tap"](run, "/repo/x/test/a.js")
    for line in text.splitlines():
        tap.feed(line)
    tap.finish(status)


NESTED = """TAP version 13
# Subtest: outer
    # Subtest: inner
        ok 1 - should be equal
        not ok 2 - should match
          ---
          found: 1
          wanted: 2
          ...
        1..2
        # failed 1 of 2 tests
    not ok 1 - inner # time=3.1ms
    ok 2 - loose
    # Subtest: other
        1..0 # no tests
    ok 3 - other # SKIP not here
    1..3
not ok 1 - outer # time=12ms
ok 2 - at the top
1..2
"""


def test_nested_tap_is_a_test_a_subtest(driver: dict[str, Any], run: Any, channel: Channel) -> None:
    followed(driver, run, NESTED, 1)
    assert channel.outcomes() == {
        "test/a.js :: outer > inner": "failed", "test/a.js :: outer > other": "skipped", "test/a.js :: outer": "failed", "test/a.js :: at the top": "passed"}
    assert any("wanted: 2" in record.get("message", "") for record in channel.sent if record["k"] == "phase")


@pytest.mark.parametrize("text", [
    "ok 1 - a\nok 1 - forged\n1..1\n", "ok 1 - a\n1..2\n", "ok 1 - a\n", "",
], ids=["a number twice", "fewer than planned", "no plan", "nothing"])
def test_tap_that_does_not_add_up_is_no_result(driver: dict[str, Any], run: Any, channel: Channel, text: str) -> None:
    followed(driver, run, text)
    assert channel.broken() or channel.outcomes().get("test/a.js :: (file)") == "failed"


def test_equal_titles_have_ordinals_and_a_retry_has_none(run: Any, channel: Channel) -> None:
    one = {"f": "/repo/x/a.js", "t": ["g", "same"]}
    for event in ({"e": "start", **one}, {"e": "start", **one}, {"e": "test", **one, "o": "passed"}, {"e": "start", **one}, {"e": "test", **one, "o": "failed", "m": "no", "st": ""}):
        run.event(event)
    assert channel.outcomes() == {"a.js :: g > same": "passed", "a.js :: g > same #2": "failed"}


def test_a_start_that_is_told_after_the_file_has_ended_is_no_second_test(run: Any, channel: Channel) -> None:
    one = {"f": "/repo/x/a.js", "t": ["late"]}
    for event in ({"e": "test", **one, "o": "passed"}, {"e": "end", "f": "/repo/x/a.js"}, {"e": "start", **one}):
        run.event(event)
    assert [record["k"] for record in channel.sent if record["k"] == "start"] == ["start"]


def test_frames_are_those_of_the_repository(run: Any) -> None:
    stack = "TypeError: x\n    at f (/repo/x/lib/a.js:3:5)\n    at g (/opt/env/tree/node_modules/m/i.js:1:1)\n    at file:///repo/x/test/b.mjs:9:1\n    at node:internal/x:1:1"
    failure = run.failure({"x": "Error", "m": "x", "st": stack})
    assert failure["exception"] == "TypeError"
    assert [frame[:2] for frame in failure["frames"]] == [["/repo/x/test/b.mjs", 9], ["/repo/x/lib/a.js", 3]]


def test_a_line_that_is_not_signed_is_not_believed(driver: dict[str, Any]) -> None:
    pipe = driver["Pipe"]({"files": None})
    try:
        import os
        os.write(pipe.descriptor, b"0" * 32 + b" " + json.dumps({"e": "test", "f": "a.js", "t": ["x"], "o": "passed"}).encode() + b"\n")
        assert list(pipe.records()) == []
        assert pipe.forged
    finally:
        pipe.close()


def test_the_repository_of_a_runner_is_its_own_installation(driver: dict[str, Any], channel: Channel, tmp_path: Path) -> None:
    (tmp_path / "package.json").write_text('{"name": "qunit", "bin": "bin/qunit.js"}')
    (tmp_path / "sub").mkdir()
    run = driver["NodeRun"](channel, {"root": str(tmp_path), "wanted": None, "test_seconds": 10, "collect": False, "suite_seconds": 100})
    suite = driver["Suite"](run, {"folder": "sub", "runner": "qunit", "node": [], "words": []})
    assert suite.program("qunit") == str(tmp_path / "bin/qunit.js")
    with pytest.raises(FileNotFoundError):
        suite.package("mocha")


def test_strays_are_ended_in_a_box_alone(driver: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    killed: list[int] = []
    monkeypatch.setattr(driver["os"], "kill", lambda pid, number: killed.append(pid))
    driver["end_strays"]()
    assert killed == []


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node")
def test_an_error_is_told_with_what_it_was_made_from() -> None:
    script = "console.log(JSON.stringify(require(process.argv[1]).failure(new Error('outer', {cause: new Error('EACCES: inner')}))))"
    path = str(Path(inside.__file__).parent / "node_reporters/channel.cjs")
    told = json.loads(subprocess.run([str(shutil.which("node")), "-e", script, path], check=True, capture_output=True, text=True).stdout)
    assert told["m"] == "outer"
    assert "Caused by: Error: EACCES: inner" in told["st"]
