"""The pages in a real browser: they can be read, they keep up with a run, and nothing that others wrote is ever executed.

Pictures are written to DUALGATE_PICTURES where that is set.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.ledger.database import Database
from bot.ledger.models import Run
from tests.journeys.browser import Browser
from tests.journeys.running_door import Door
from tests.unit.webhooks.seeds import DIFF, TOKEN, add_finished, add_run, rejected, verdict_of

HOSTILE = ("<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\"><svg onload=document.title='owned'>"
           "</pre></code></textarea>\"' onmouseover=document.title='owned' x=\u202e{{ 7*7 }}")
OUTPUT = """============================= test session starts ==============================
collected 3 items

tests/test_prices.py .                                                   [ 33%]
tests/test_shop.py .F                                                    [100%]

=================================== FAILURES ===================================
__________________________________ test_close __________________________________

    def test_close():
>       assert total([Line(2, 3), Line(1, 4)]) == 10
E       AssertionError: assert Decimal('10.00') == Decimal('7')

shop/prices.py:6: AssertionError
=========================== short test summary info ============================
FAILED tests/test_shop.py::test_close - AssertionError
"""
BOXES = ({"exit_status": 1, "output": OUTPUT}, {"side": "base", "exit_status": 0, "seconds": 2.0}, {"side": "reproducer", "command": "pytest tests/test_prices.py",
                                                                                                      "exit_status": 0, "seconds": 2.4})
PHASES = [{"name": "environment", "state": "done", "seconds": 14.2, "counts": "editable: ok (1.7 s)"}, {"name": "base suite", "state": "cached", "counts": "cached"},
          {"name": "patched suite", "state": "running", "seconds": 25.1, "counts": "1204 pass, 2 fail"}, {"name": "reproducer", "state": "waiting"}]
WIDTHS = (1280, 390)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def door() -> Iterator[Door]:
    with Door() as opened:
        database = database_of(opened)
        now = time.time()
        add_finished(database, "rejected", rejected(message="AssertionError: assert Decimal('10.00') == Decimal('7')"), boxes=BOXES, created_at=now - 500)
        add_finished(database, "verified", verdict_of(), boxes=BOXES[1:], created_at=now - 400)
        add_finished(database, "open", verdict_of("inconclusive", "no_reproducer", summary="inconclusive: no reproducer - nothing shows the defect"),
                     subject="501/pull/8", pull_number=8, title="Bump the retry budget", created_at=now - 90_000)
        add_run(database, "stopped", state="cancelled", why="a newer run took its place", created_at=now - 300)
        add_run(database, "queued", subject="501/pull/14", pull_number=14, title="Speed up the importer of orders")
        add_run(database, "running", subject="501/pull/15", pull_number=15, title="Escape user names in the audit log", state="running", created_at=now - 60,
                started_at=now - 40, progress=json.dumps(PHASES))
        yield opened


@pytest.fixture(autouse=True)
def quiet(browser: Browser) -> None:
    browser.errors.clear()


def database_of(door: Door) -> Database:
    return Database(f"sqlite:///{door.data_dir}/dualgate.sqlite3")


def keep(browser: Browser, name: str) -> None:
    folder = os.environ.get("DUALGATE_PICTURES")
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        browser.picture(Path(folder) / f"{name}.png")


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("path", ["/", "/runs/rejected", "/runs/verified", "/runs/running", "/runs/queued", "/runs/open", "/runs/stopped"])
def test_a_page_fits_and_breaks_no_rule_of_its_own(browser: Browser, door: Door, path: str, width: int, dark: bool) -> None:
    browser.open(door.url + path, width, dark)
    assert browser.run("document.documentElement.scrollWidth") <= width
    assert browser.run("document.querySelectorAll('h1').length") == 1
    assert browser.errors == []
    keep(browser, f"{path.strip('/').replace('/', '-') or 'index'}-{width}{'-dark' if dark else ''}")


CONTRASTS = """(() => {
  const linear = (c) => { c /= 255; return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
  const light = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  const parts = (text) => text.match(/[\\d.]+/g).map(Number);
  const behind = (one) => { for (; one; one = one.parentElement) { const c = parts(getComputedStyle(one).backgroundColor); if (c.length < 4 || c[3] > 0) return c; } return [255, 255, 255]; };
  const faint = [];
  for (const one of document.querySelectorAll('main *, header *')) {
    if (![...one.childNodes].some((n) => n.nodeType === 3 && n.data.trim()) || !one.getClientRects().length || one.tagName === 'NOSCRIPT') continue;
    const [a, b] = [light(parts(getComputedStyle(one).color)), light(behind(one))].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) faint.push(`${one.tagName}.${one.className}: ${((a + 0.05) / (b + 0.05)).toFixed(2)}`);
  }
  return faint;
})()"""


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("path", ["/", "/runs/rejected", "/runs/running", "/runs/open"])
def test_all_text_has_contrast(browser: Browser, door: Door, path: str, dark: bool) -> None:
    browser.open(door.url + path, 1280, dark)
    assert browser.run(CONTRASTS) == []


def test_a_person_without_a_mouse_gets_on(browser: Browser, door: Door) -> None:
    browser.open(door.url + "/")
    unnamed = "[...document.querySelectorAll('a, button, select, input')].filter((one) => !(one.innerText || one.ariaLabel || one.labels?.length || one.type === 'hidden')).length"
    assert browser.run(unnamed) == 0
    assert browser.run("[...document.querySelectorAll('thead th')].every((one) => one.scope === 'col')")
    browser.ask("Input.dispatchKeyEvent", type="keyDown", key="Tab", code="Tab", windowsVirtualKeyCode=9)
    assert browser.run("document.activeElement.className") == "skip"


def test_a_living_page_keeps_up_and_ends_with_the_verdict(browser: Browser, door: Door) -> None:
    database = database_of(door)
    run_id = add_run(database, "moving", subject="501/pull/16", state="running", started_at=time.time() - 4, progress=json.dumps(PHASES[:1]))
    browser.open(f"{door.url}/runs/{run_id}")
    assert browser.run("document.querySelectorAll('#phases tr').length") == 1
    with database.session() as session:
        session.get_one(Run, run_id).progress = json.dumps(PHASES)
    browser.wait("document.querySelectorAll('#phases tr').length === 4")
    assert "1204 pass, 2 fail" in browser.run("document.getElementById('phases').innerText")
    browser.wait("/Running for \\d+ s/.test(document.getElementById('live-words').innerText)")
    with database.session() as session:
        run = session.get_one(Run, run_id)
        run.state, run.verdict, run.reason, run.summary, run.finished_at = "finished", "verified", "verified", "verified: it is proven", time.time()
    browser.wait("document.querySelector('h1')?.innerText === 'It is proven.'")
    assert browser.run("document.getElementById('live') === null")
    assert browser.errors == []


def test_without_scripts_a_living_page_comes_again_by_itself(browser: Browser, door: Door) -> None:
    database = database_of(door)
    run_id = add_run(database, "plain", subject="501/pull/17", state="running", started_at=time.time())
    browser.open(f"{door.url}/runs/{run_id}", scripts=False)
    with database.session() as session:
        run = session.get_one(Run, run_id)
        run.state, run.why, run.finished_at = "cancelled", "closed", time.time()
    browser.wait("document.querySelector('h1')?.innerText === 'Closed.'")
    browser.ask("Emulation.setScriptExecutionDisabled", value=False)


@pytest.mark.parametrize("width", WIDTHS)
def test_what_others_wrote_is_never_executed(browser: Browser, door: Door, width: int) -> None:
    database, run_id = database_of(door), f"hostile-{width}"
    name = f"tests/test_x.py::test[{HOSTILE}]"
    verdict = rejected(name, HOSTILE, summary=f"rejected: regression - {HOSTILE}")
    verdict["plans"][0]["tried"] = verdict["plans"][0]["install"] = [HOSTILE]
    verdict["evidence"]["replay"] = HOSTILE
    add_finished(database, run_id, verdict, DIFF.replace("net.quantize", HOSTILE).replace("shop/prices.py", HOSTILE.replace("/", "")),
                 ({"output": f"E   {HOSTILE}\n{HOSTILE}", "command": HOSTILE},), title=HOSTILE, author=HOSTILE, head_ref=HOSTILE, repository="a/<b>", subject=run_id)
    add_run(database, f"{run_id}-live", title=HOSTILE, subject=run_id, state="running", progress=json.dumps([{"name": HOSTILE, "state": "running", "counts": HOSTILE}]))
    for path in ("/", f"/runs/{run_id}", f"/runs/{run_id}-live", f"/runs/{run_id}/logs/1", f"/runs/{run_id}.json"):
        browser.open(door.url + path, width)
        if path.endswith("live"):
            browser.wait("document.getElementById('live-words').innerText.startsWith('Running for')")
        assert "owned" not in browser.run("document.title")[:5]
        assert browser.run("document.querySelectorAll('main script, main img, main svg[onload], [onmouseover], [onerror]').length") == 0
        assert browser.run("document.documentElement.scrollWidth") <= width or path.endswith(("/1", ".json"))
        assert browser.errors == []
        keep(browser, f"hostile-{path.strip('/').replace('/', '-') or 'index'}-{width}")


@pytest.mark.parametrize("width", WIDTHS)
def test_a_person_signs_in_with_the_token(browser: Browser, width: int) -> None:
    with Door(DUALGATE_ADMIN_TOKEN=TOKEN) as door:
        browser.open(f"{door.url}/?verdict=rejected", width)
        assert browser.run("location.pathname") == "/login"
        keep(browser, f"login-{width}")
        for token, path in (("not the token", "/login"), (TOKEN, "/")):
            browser.run(f"document.getElementById('token').value = {json.dumps(token)}")
            browser.run("document.querySelector('main form').requestSubmit()")
            browser.wait(f"location.pathname === '{path}' && document.readyState === 'complete' && (document.querySelector('[role=alert]') !== null || location.pathname === '/')")
        assert browser.run("location.search") == "?verdict=rejected"
        assert browser.run("document.cookie") == ""
        keep(browser, f"empty-{width}")
        browser.run("document.querySelector('nav form').requestSubmit()")
        browser.wait("location.pathname === '/login'")
