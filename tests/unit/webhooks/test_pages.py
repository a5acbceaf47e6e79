"""What the pages say, and what they never do with what others wrote."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from bot.ledger.database import Database
from tests.unit.webhooks.seeds import DIFF, add_finished, add_run, rejected, row, verdict_of

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\u202e\x1b[31m\x00 & \" ' {{ 7*7 }}"


def test_without_runs_it_tells_how_to_install(client: FlaskClient) -> None:
    text = client.get("/").text
    assert "No runs yet" in text
    assert "http://localhost:8000/webhooks/github" in text
    assert "https://github.example/settings/apps" in text


def test_runs_are_listed_newest_first_and_filtered(client: FlaskClient, database: Database) -> None:
    now = time.time()
    add_finished(database, "old", verdict_of(), title="the older one", created_at=now - 90)
    add_finished(database, "new", rejected(), title="the newer one", created_at=now - 9, repository="acme/other")
    text = client.get("/").text
    assert text.index("the newer one") < text.index("the older one")
    assert "the older one" not in client.get("/?repository=acme/other").text
    assert "the newer one" not in client.get("/?verdict=verified").text
    assert "No run is like that" in client.get("/?repository=acme/other&verdict=verified").text
    assert "the newer one" in client.get("/?verdict=nonsense&page=-4&repository=").text


def test_many_runs_are_paged(client: FlaskClient, database: Database) -> None:
    for number in range(31):
        add_run(database, f"run-{number:02}", title=f"change {number:02}", created_at=1e9 + number)
    first, second = client.get("/").text, client.get("/?page=2").text
    assert "change 30" in first
    assert "change 00" not in first
    assert 'rel="next" href="/?page=2"' in first
    assert "change 00" in second
    assert 'rel="prev"' in second


def test_a_verified_run_is_told_whole(client: FlaskClient, database: Database) -> None:
    add_finished(database, "good", verdict_of(), boxes=({"exit_status": 0, "output": "2 passed"},))
    text = client.get("/runs/good").text
    for words in ("1 test fails on base and passes with the change; 2 that passed before still pass.", "tests/test_prices.py::test_counts", "the change&#39;s own tests",
                  "python 3.11.2, pytest", "uv pip install -e .", "$0.00", "https://github.example/acme/shop/pull/12", "git fetch origin pull/12/head",
                  "shop/prices.py", "/runs/good.json", "/runs/good/logs/1"):
        assert words in text, words
    assert "http-equiv" not in text
    assert "The failing output" not in text


def test_a_rejected_run_says_what_broke_and_where(client: FlaskClient, database: Database) -> None:
    add_finished(database, "bad", rejected(), boxes=({"output": "collected 3 items\n\nE   AssertionError: assert 3 == 4\n"},))
    text = client.get("/runs/bad").text
    for words in ("1 test passed before and not now.", "AssertionError: assert 3 == 4", "inside the change: shop/prices.py:6 in total", "a test fails here", "◀",
                  f"https://github.example/acme/shop/blob/{'a' * 40}/tests/test_shop.py#L3"):
        assert words in text, words
    excerpt = text.split('class="output">')[1]
    assert excerpt.startswith("E   AssertionError")


def test_a_living_run_refreshes_with_and_without_scripts(client: FlaskClient, database: Database) -> None:
    phases = [{"phase": "environment", "state": "done", "detail": "editable", "seconds": 14.2}, {"name": "base suite", "state": "running", "counts": "3 pass", "seconds": 2}]
    add_run(database, "now", state="running", started_at=time.time() - 20, progress=json.dumps(phases))
    text = client.get("/runs/now").text
    assert '<noscript><meta http-equiv="refresh" content="5"></noscript>' in text
    assert "/static/live.js" in text
    live = client.get("/runs/now/live").json
    assert live is not None
    assert [(one["name"], one["state"], one["detail"]) for one in live["phases"]] == [("environment", "done", "editable"), ("base suite", "running", "3 pass")]
    assert (live["state"], live["ended"]) == ("running", False)
    assert live["seconds"] == pytest.approx(20, abs=5)


@pytest.mark.parametrize("progress", ["", "no JSON", "{}", "[1, null]", '[{"state": 4, "seconds": "x"}]', "[" * 9])
def test_progress_that_says_nothing_is_borne(client: FlaskClient, database: Database, progress: str) -> None:
    add_run(database, "now", progress=progress)
    assert client.get("/runs/now").status_code == 200
    assert client.get("/runs/now/live").status_code == 200


def test_a_run_that_ended_without_a_verification_says_why(client: FlaskClient, database: Database) -> None:
    add_run(database, "stopped", state="cancelled", why="a newer run took its place")
    add_run(database, "spent", state="finished", verdict="inconclusive", reason="budget_exhausted", summary="the repository had its 240 minutes of today")
    assert "A newer run took its place." in client.get("/runs/stopped").text
    assert "The repository had its 240 minutes of today." in client.get("/runs/spent").text
    assert client.get("/runs/spent.json").status_code == 404


def test_other_runs_of_the_same_pull_request_are_linked(client: FlaskClient, database: Database) -> None:
    add_finished(database, "first", rejected(), created_at=1e9)
    add_finished(database, "second", verdict_of())
    add_finished(database, "elsewhere", verdict_of(), subject="501/pull/13")
    text = client.get("/runs/second").text
    assert 'href="/runs/first"' in text
    assert 'href="/runs/elsewhere"' not in text


def test_unknown_and_malformed_ids_get_the_same_answer(client: FlaskClient) -> None:
    answers = [client.get(path) for path in ("/runs/none", "/runs/" + "x" * 65, "/runs/a%00b", "/runs/%F0%9F%8E%89", "/runs/a/b/c", "/runs/..%2f..%2fetc")]
    assert {(one.status_code, one.text) for one in answers} == {(404, answers[0].text)}


def test_the_json_is_the_document(client: FlaskClient, database: Database) -> None:
    add_finished(database, "good", verdict_of())
    assert client.get("/runs/good.json").json == verdict_of()


def test_what_others_wrote_is_only_ever_text(client: FlaskClient, database: Database) -> None:
    name = f"tests/test_x.py::test[{HOSTILE}]"
    verdict = rejected(name, HOSTILE, summary=f"rejected: regression - {HOSTILE}", repository=HOSTILE)
    verdict["plans"][0]["tried"] = verdict["plans"][0]["dropped"] = [HOSTILE]
    verdict["evidence"]["replay"] = HOSTILE
    diff = DIFF.replace("net.quantize", HOSTILE.replace("\x00", "")) + f"diff --git a/{HOSTILE} b/{HOSTILE}\nBinary files differ\n"
    add_finished(database, "bad", verdict, diff, ({"output": f"E   {HOSTILE}", "command": HOSTILE, "side": "base"},), title=HOSTILE, author=HOSTILE, head_ref=HOSTILE,
                 base_ref=HOSTILE, actor=HOSTILE, repository="a<b>/c")
    add_run(database, "now", title=HOSTILE, progress=json.dumps([{"name": HOSTILE, "state": "running", "counts": HOSTILE, "seconds": 1}]))
    for path in ("/", "/runs/bad", "/runs/now"):
        text = client.get(path).text
        assert "&lt;script&gt;" in text
        assert "<script>alert" not in text
        assert "<img src=x" not in text
        assert not set(text) & {"\u202e", "\x1b", "\x00"}
        assert "49" not in text.split("<h1>")[1].split("</h1>")[0]
    assert not set(client.get("/runs/now/live").text) & {"\u202e", "\x1b", "\x00"}
    assert "\\u202e" not in client.get("/runs/now/live").text


def test_secrets_are_taken_out(client: FlaskClient, database: Database) -> None:
    token = "ghs_" + "A1b2C3d4" * 6
    add_finished(database, "bad", rejected(message=f"token {token}"), DIFF.replace("net.quantize", token), ({"output": f"E   {token}"},), title=token)
    assert all(token not in client.get(path).text for path in ("/", "/runs/bad", "/runs/bad/logs/1"))


def test_a_huge_verdict_has_a_page_of_bounded_size(client: FlaskClient, database: Database) -> None:
    names = [f"tests/test_{number % 90}.py::test_{number}[{'x' * 60}]" for number in range(20_000)]
    verdict = rejected(names[0])
    verdict["tests"] = [row(name, "passed", "failed", "P2F", message="boom " * 200) for name in names]
    verdict["gates"]["pass_to_pass"]["failed"] = names
    verdict["findings"] += [{"code": "exception", "severity": "warning", "detail": "x\n" * 900, "paths": [], "tests": [name]} for name in names[:500]]
    add_finished(database, "huge", verdict, DIFF + "+" + "y" * 1_000_000, tuple({"output": "z" * 16_000, "log": f"{n}"} for n in range(100)))
    begun = time.monotonic()
    answer = client.get("/runs/huge")
    assert answer.status_code == 200
    assert len(answer.data) < 500_000
    assert time.monotonic() - begun < 5
    assert "19,990 more" in answer.text


def test_a_log_comes_from_its_file_while_it_is_here(client: FlaskClient, database: Database, tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "good" / "logs"
    folder.mkdir(parents=True)
    (folder / "01-base.log").write_text("from the file \x1b[31mred\x1b[0m", encoding="utf-8")
    boxes = ({"log": str(folder / "01-base.log"), "output": "kept"}, {"log": "runs/good/logs/01-base.log"}, {"log": str(folder / "gone.log"), "output": "kept lines"})
    add_finished(database, "good", verdict_of(), boxes=boxes)
    assert client.get("/runs/good/logs/1").text == "from the file red"
    assert client.get("/runs/good/logs/2").text == "from the file red"
    assert client.get("/runs/good/logs/3").text == "[the log is not on this machine: these are its last lines]\nkept lines"
    assert client.get("/runs/good/logs/1").content_type == "text/plain; charset=utf-8"
    assert {client.get(f"/runs/good/logs/{number}").status_code for number in ("0", "4", "-1", "x", "1/..")} == {404}


@pytest.mark.parametrize("log", ["/etc/passwd", "../../../../etc/passwd", "runs/../secret.log", "runs/link.log", "runs/folder.log", "runs/pipe.log", "runs/a.txt", "\x00", "", "x" * 5000])
def test_no_other_file_is_a_log(client: FlaskClient, database: Database, tmp_path: Path, log: str) -> None:
    (tmp_path / "runs" / "folder.log").mkdir(parents=True)
    (tmp_path / "secret.log").write_text("secret")
    (tmp_path / "runs" / "a.txt").write_text("secret")
    (tmp_path / "runs" / "link.log").symlink_to("/etc/passwd")
    import os
    os.mkfifo(tmp_path / "runs" / "pipe.log")
    add_finished(database, "good", verdict_of(), boxes=({"log": log, "output": "kept"},))
    text = client.get("/runs/good/logs/1").text
    assert text.endswith("\nkept")
    assert "root:" not in text


def test_a_long_log_is_cut_at_its_beginning(client: FlaskClient, database: Database, tmp_path: Path) -> None:
    path = tmp_path / "runs" / "long.log"
    path.parent.mkdir()
    path.write_bytes(b"a" * 3_000_000 + b"the end")
    add_finished(database, "good", verdict_of(), boxes=({"log": str(path)},))
    text = client.get("/runs/good/logs/1").text
    assert text.startswith("[the first 1,000,007 bytes are left out]\n")
    assert text.endswith("the end")
