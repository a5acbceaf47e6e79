"""What people see, and what their buttons do."""

from __future__ import annotations

from typing import Any

import pytest
import requests

from bot.demo.github.pages import markdown
from bot.demo.github.records import CheckRun
from tests.stand_in.place import Listener, Place


def _check(place: Place, sha: str, **more: Any) -> CheckRun:
    annotation = {"path": "change.py", "start_line": 1, "end_line": 1, "annotation_level": "failure", "title": "test_change", "message": "assert <x> == 2"}
    output = {"title": "Rejected: one test broke", "summary": "| a | b |\n|--|--|\n| 1 | 2 |", "text": "**why**", "annotations": [annotation]}
    return place.hub.create_check(place.app, place.repository, {"name": "dualgate", "head_sha": sha, "output": output, **more})


def test_every_page(here: Place, bot: Listener) -> None:
    pull = here.pull()
    run = _check(here, pull.head_sha, conclusion="failure", actions=[{"label": "Explain", "description": "What was seen", "identifier": "explain"}])
    issue = here.hub.open_issue(here.repository, "rea", "It fails", "Always.")
    here.hub.comment("ada", pull, "Hm.")
    here.hub.settle()
    page = f"{here.url}/octo/stats"
    for address in (here.url, page, f"{page}/pulls", f"{page}/issues", f"{page}/issues/{issue.number}", f"{page}/pull/1", f"{page}/pull/1/files",
                    f"{page}/pull/1?compose", f"{page}/runs/{run.id}", f"{page}/blob/main/stats.py", f"{page}/commit/{pull.head_sha}", f"{page}/tree/main/",
                    f"{here.url}/-/webhooks", f"{here.url}/octo", f"{here.url}/apps/dualgate"):
        answer = requests.get(address, timeout=10)
        assert answer.status_code == 200, address
        assert "A stand-in for GitHub, on this machine" in answer.text
        assert "<script" not in answer.text
        assert answer.headers["Content-Security-Policy"].startswith("default-src 'none'")
    assert requests.get(f"{here.url}/assets/style.css", timeout=10).status_code == 200
    assert requests.get(f"{here.url}/avatars/u/{pull.author.id}", timeout=10).headers["Content-Type"].startswith("image/svg+xml")
    assert requests.get(f"{page}/pull/9", timeout=10).status_code == 404


def test_an_annotation_stands_under_its_line(here: Place) -> None:
    pull = here.pull()
    run = _check(here, pull.head_sha, conclusion="failure")
    for page in ("pull/1/files", f"runs/{run.id}"):
        text = requests.get(f"{here.url}/octo/stats/{page}", timeout=10).text
        assert text.index("x = 1") < text.index("assert &lt;x&gt; == 2")
    assert "<td>2</td>" in requests.get(f"{here.url}/octo/stats/runs/{run.id}", timeout=10).text


def test_a_page_is_fetched_again_while_a_check_runs(here: Place) -> None:
    run = _check(here, here.pull().head_sha)
    for page in ("pull/1", f"runs/{run.id}"):
        assert 'http-equiv="refresh"' in requests.get(f"{here.url}/octo/stats/{page}", timeout=10).text
    assert 'http-equiv="refresh"' not in requests.get(f"{here.url}/octo/stats/pull/1?compose", timeout=10).text
    here.hub.update_check(here.app, run, {"conclusion": "success"})
    assert 'http-equiv="refresh"' not in requests.get(f"{here.url}/octo/stats/pull/1", timeout=10).text


def _press(place: Place, path: str, visitor: str = "wes", **form: str) -> requests.Response:
    return requests.post(f"{place.url}/octo/stats/{path}", data=form, cookies={"visitor": visitor}, timeout=10)


def test_the_buttons_of_a_check_are_real(here: Place, bot: Listener) -> None:
    run = _check(here, here.pull().head_sha, conclusion="failure", actions=[{"label": "Explain", "description": "What was seen", "identifier": "explain"}])
    assert _press(here, f"runs/{run.id}/rerequest").status_code == 200
    assert _press(here, f"runs/{run.id}/rerequest-all").status_code == 200
    assert _press(here, f"runs/{run.id}/action", identifier="explain").status_code == 200
    assert _press(here, f"runs/{run.id}/action", identifier="unknown").status_code == 422
    assert _press(here, f"runs/{run.id}/rerequest", visitor="rea").status_code == 403
    here.hub.settle()
    [rerequested], [acted] = here.hub.delivered("check_run.rerequested"), here.hub.delivered("check_run.requested_action")
    assert (rerequested.payload["sender"]["login"], rerequested.payload["check_run"]["id"]) == ("wes", run.id)
    assert acted.payload["requested_action"] == {"identifier": "explain"}
    assert len(here.hub.delivered("check_suite.rerequested")) == 1


def test_the_other_buttons(here: Place, bot: Listener) -> None:
    pull = here.pull(draft=True)
    assert "/octo/stats/pull/1" in _press(here, "issues/1/comment", body="/dualgate verify\r\nnow").url
    assert _press(here, "issues/1/label", name="dualgate").status_code == 200
    assert [one.name for one in pull.labels] == ["dualgate"]
    assert _press(here, "issues/1/label", name="dualgate", remove="1").status_code == 200
    assert _press(here, "issues/1/label", visitor="rea", name="dualgate").status_code == 403
    assert _press(here, "pull/1/ready").status_code == 200
    assert _press(here, "pull/1/merge").status_code == 200
    assert (here.hub.comments(here.repository, 1)[0].body, pull.draft, pull.labels, pull.state) == ("/dualgate verify\nnow", False, [], "closed")
    here.hub.settle()
    guid = here.hub.deliveries[-1].guid
    requests.post(f"{here.url}/-/webhooks/{guid}", timeout=10)
    assert here.hub.deliveries[-1].redelivery
    switched = requests.post(f"{here.url}/-/visitor", data={"login": "mel", "back": "//evil.example"}, timeout=10, allow_redirects=False)
    assert (switched.headers["Location"], switched.cookies["visitor"]) == ("/", "mel")


def test_forms_of_another_site_are_refused(here: Place) -> None:
    here.pull()
    answer = requests.post(f"{here.url}/octo/stats/pull/1/merge", headers={"Origin": "https://evil.example"}, timeout=10)
    assert answer.status_code == 403


@pytest.mark.parametrize(("source", "shown"), [
    ("thanks @ada", '<a class="mention" href="http://gh/ada">@ada</a>'),
    ("`@ada` me@ada.org", "<code>@ada</code> me@ada.org"),
    ("see #1 and GH-1, not #99", '<a class="reference" href="http://gh/octo/stats/issues/1">#1</a> and <a class="reference" href="http://gh/octo/stats/issues/1">GH-1</a>, not #99'),
    ("<sub>@ada</sub>", '<sub><a class="mention"'),
    ("<details><summary>@ada</summary>\n\n**x**\n</details>", '<details><summary><a class="mention"'),
    ("&#64;ada", '<a class="mention"'),
    ("@<!-- -->ada", "@ada"),
    ("https://example.org/a?b=1&c=2.", '<a href="https://example.org/a?b=1&amp;c=2" rel="nofollow noopener">'),
    ("<script>alert(1)</script>x", "x"),
    ("[x](javascript:alert(1))", "[x](javascript:alert(1))"),
    ("- [x] done", "☑ done"),
    ("~~gone~~", "<s>gone</s>"),
])
def test_markdown_as_github_shows_it(here: Place, source: str, shown: str) -> None:
    here.hub.open_issue(here.repository, "rea", "It fails")
    assert shown in markdown.comment(source, here.repository, "http://gh")


@pytest.mark.parametrize("source", ["<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<a href='javascript:alert(1)'>x</a>", "<iframe src=x></iframe>", "<p style='x' onclick=y>x</p>", "<svg><script>1</script></svg>", "<form action=x><input></form>"])
def test_nothing_that_runs_gets_through(here: Place, source: str) -> None:
    html = markdown.comment(source, here.repository, "http://gh").lower()
    assert not any(word in html for word in ("<script", "onerror", "javascript:", "<iframe", "onclick", "style=", "<svg", "<form", "<input"))
