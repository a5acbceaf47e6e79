"""Every request that the App makes of GitHub, by the list in docs/app.md: each has a test, and keeps to GitHub's own description."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from bot.demo.github.exchange import Exchange
from bot.demo.github.hub import Hub
from bot.demo.github.records import Pull, Repository
from bot.demo.github.server import serving
from bot.demo.sample import GOOD, NEW_TEST
from bot.demo.stage import EVENTS, PERMISSIONS
from bot.embedded_store import EmbeddedStore, connect
from bot.github.api import Api
from bot.github.app_requests import ROLES, AppRequests
from bot.github.checks import Action, Checks
from bot.github.comments import Comments
from bot.github.errors import GitHubError, Later, NotThere, Refused, Suspended, Uninstalled
from bot.github.keeper import KeeperServer, KeeperUnavailable, ask_keeper
from bot.github.pulls import may_write, open_pulls_of, read_pull, read_text
from bot.github.tokens import Tokens
from bot.ledger.database import Database
from bot.ledger.deliveries import Deliveries
from bot.ledger.runs import Runs
from bot.payloads import User
from bot.queue import WorkQueue
from bot.reporting.annotations import Annotation
from bot.reporting.check_run import CheckOutput
from bot.sweep import Sweep
from tests.github_description import check_hub
from tests.journeys.app.operations import LIST, documented, pattern
from tests.journeys.app.town import BASE, git

APP_ID = 77
OUTPUT = CheckOutput("Title", "Summary", "Text")


@dataclass
class Place:
    hub: Hub
    url: str
    requests: AppRequests
    repository: Repository
    installation: int
    pull: Pull

    @property
    def api(self) -> Api:
        return Api(self.url, self.repository.full_name, self.token, patience_s=20.0, sleep=lambda _: None)

    def token(self, _: bool) -> str:
        return self.requests.repository_token(self.installation, self.repository.id, "reporter").token

    def last(self) -> Exchange:
        return self.hub.requests[-1]


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    private = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()).decode()
    public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo).decode()
    clone = tmp_path / "clone"
    clone.mkdir()
    git(clone, "init", "-q", "-b", "main")
    for files, message in ((BASE | {".github/dualgate.yml": "comment: never\n"}, "base"), ({"invoice.py": GOOD, "test_invoice.py": NEW_TEST}, "good")):
        for name, text in files.items():
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            (clone / name).write_text(text, encoding="utf-8")
        git(clone, "add", "-A")
        git(clone, "commit", "-q", "-m", message)
    hub = Hub()
    with serving(hub) as url:
        hub.add_user("maria")
        hub.add_user("olga")
        app = hub.add_app("dualgate", APP_ID, public, f"{url}/nowhere", "secret", PERMISSIONS, list(EVENTS))
        repository = hub.add_repository("maria", "invoice", clone)
        hub.push(repository, "main", clone, git(clone, "rev-parse", "HEAD~1"))
        hub.push(repository, "good", clone, git(clone, "rev-parse", "HEAD"))
        installation = hub.install(app, [repository])
        pull = hub.open_pull(repository, "olga", "Good", "", "good")
        yield Place(hub, url, AppRequests(APP_ID, private, url, 20.0, lambda _: None), repository, installation, pull)
        check_hub(hub)
    hub.close()


def use_tokens(place: Place) -> None:
    token = place.requests.repository_token(place.installation, place.repository.id, "reader")
    assert token.expires_at > time.time() + 3000
    asked = place.hub.requests[-1]
    assert asked.body == {"repository_ids": [place.repository.id], "permissions": ROLES["reader"]}
    assert "workflows" not in ROLES["reporter"]


def use_app(place: Place) -> None:
    assert place.requests.slug() == "dualgate"


def use_deliveries(place: Place) -> None:
    place.hub.settle()
    past = place.requests.past_deliveries(0)
    assert {(one.event, one.delivered) for one in past} >= {("installation", False), ("pull_request", False)}


def use_attempts(place: Place) -> None:
    place.hub.settle()
    failed = place.requests.past_deliveries(0)[0]
    place.requests.attempt_again(failed.id)
    place.hub.settle()
    assert [one.guid for one in place.hub.deliveries].count(failed.guid) == 2


def use_pull(place: Place) -> None:
    pull = read_pull(place.api, place.pull.number)
    assert (pull.head.sha, pull.base.ref, pull.from_fork) == (place.pull.head_sha, "main", False)
    with pytest.raises(NotThere):
        read_pull(place.api, 99)


def use_contents(place: Place) -> None:
    assert read_text(place.api, ".github/dualgate.yml", place.pull.base_sha) == "comment: never\n"
    assert read_text(place.api, ".github", place.pull.base_sha) is None
    assert read_text(place.api, ".github/none.yml", place.pull.base_sha) is None


def use_permission(place: Place) -> None:
    for role, may in (("admin", True), ("maintain", True), ("write", True), ("triage", False), ("read", False), ("none", False)):
        place.hub.set_permission(place.repository, "olga", role)  # type: ignore[arg-type]
        olga = place.hub.user("olga")
        assert may_write(place.api, User(id=olga.id, login="olga")) is may, role
    place.hub.set_permission(place.repository, "olga", "admin")
    assert not may_write(place.api, User(id=1, login="olga")), "the login was taken over by another account"
    assert not may_write(place.api, User(id=2, login="nobody-of-that-name"))


def use_siblings(place: Place) -> None:
    assert [pull.number for pull in open_pulls_of(place.api, place.pull.head_sha)] == [place.pull.number]


def use_check_create(place: Place) -> None:
    checks = Checks(place.api, APP_ID)
    made = checks.make(place.pull.head_sha, "run-1", f"{place.url}/runs/run-1", OUTPUT)
    check = place.hub.check(made)
    assert (check.name, check.status, check.external_id, check.head_sha) == ("dualgate", "queued", "run-1", place.pull.head_sha)
    place.hub.faults.add("POST", ".*/check-runs", 502, perform_first=True)
    again = checks.make(place.pull.head_sha, "run-2", f"{place.url}/runs/run-2", OUTPUT)
    assert [one.external_id for one in place.hub.checks(place.repository)] == ["run-1", "run-2"]
    assert place.hub.check(again).external_id == "run-2"


def use_check_update(place: Place) -> None:
    checks = Checks(place.api, APP_ID)
    made = checks.make(place.pull.head_sha, "run-1", f"{place.url}/runs/run-1", OUTPUT)
    checks.show_progress(made, time.time(), OUTPUT)
    assert place.hub.check(made).status == "in_progress"
    marks = tuple(Annotation("invoice.py", line, line, "failure", "message", "title") for line in range(1, 121))
    checks.complete(made, "failure", CheckOutput("Title", "s" * 65_535, "t" * 65_535, marks), (Action("Verify again", "Once more", "verify"),))
    check = place.hub.check(made)
    assert (check.status, check.conclusion, len(check.annotations)) == ("completed", "failure", 120)
    assert [action["identifier"] for action in check.actions] == ["verify"]


def use_check_read(place: Place) -> None:
    checks = Checks(place.api, APP_ID)
    made = checks.make(place.pull.head_sha, "run-1", f"{place.url}/runs/run-1", OUTPUT)
    marks = tuple(Annotation("invoice.py", line, line, "failure", "message", "title") for line in range(1, 71))
    output = CheckOutput("Title", "Summary", "Text", marks)
    place.hub.faults.add("PATCH", ".*/check-runs/.*", 502, perform_first=True, times=2)
    checks.complete(made, "failure", output)
    checks.complete(made, "failure", output)
    assert len(place.hub.check(made).annotations) == 70, "GitHub appends: none is told twice"
    assert [one.faulted for one in place.hub.requests if one.method == "PATCH"] == [True, True, False]


def use_comment_read(place: Place) -> None:
    comments = Comments(place.api, APP_ID, place.requests.slug)
    made = comments.keep(place.pull.number, None, "<!-- ours -->\nfirst", ours)
    place.hub.faults.add("PATCH", ".*/comments/.*", 502, perform_first=True)
    comments.keep(place.pull.number, made, "<!-- ours -->\nsecond", ours)
    assert [one.faulted for one in place.hub.requests if one.method == "PATCH"] == [True], "it had arrived"


def use_check_list(place: Place) -> None:
    checks = Checks(place.api, APP_ID)
    made = checks.make(place.pull.head_sha, "run-1", f"{place.url}/runs/run-1", OUTPUT)
    assert checks.find(place.pull.head_sha, "run-1") == made
    assert checks.find(place.pull.head_sha, "run-2") is None


def ours(body: str) -> bool:
    return body.startswith("<!-- ours -->")


def use_comments(place: Place) -> None:
    comments = Comments(place.api, APP_ID, place.requests.slug)
    place.hub.comment("olga", place.pull, "<!-- ours --> or so says olga")
    place.hub.faults.add("POST", ".*/comments", 502, perform_first=True)
    made = comments.keep(place.pull.number, None, "<!-- ours -->\nfirst", ours)
    assert [one.body for one in place.hub.comments(place.repository, place.pull.number, "dualgate[bot]")] == ["<!-- ours -->\nfirst"]
    assert comments.keep(place.pull.number, None, "<!-- ours -->\nsecond", ours) == made, "found by its marker and author"


def use_comment_edit(place: Place) -> None:
    comments = Comments(place.api, APP_ID, place.requests.slug)
    made = comments.keep(place.pull.number, None, "<!-- ours -->\nfirst", ours)
    assert comments.keep(place.pull.number, made, "<!-- ours -->\n" + "x" * 65_000, ours) == made
    comment = place.hub.comments(place.repository, place.pull.number, "dualgate[bot]")[0]
    assert comment.body.endswith("x")
    place.hub.delete_comment("maria", comment)
    assert comments.keep(place.pull.number, made, "<!-- ours -->\nafter it was deleted", ours) != made


USES: dict[tuple[str, str], Callable[[Place], None]] = {
    ("POST", "/app/installations/{installation_id}/access_tokens"): use_tokens,
    ("GET", "/app"): use_app,
    ("GET", "/app/hook/deliveries"): use_deliveries,
    ("POST", "/app/hook/deliveries/{delivery_id}/attempts"): use_attempts,
    ("GET", "/repos/{owner}/{repo}/pulls/{pull_number}"): use_pull,
    ("GET", "/repos/{owner}/{repo}/contents/{path}"): use_contents,
    ("GET", "/repos/{owner}/{repo}/collaborators/{username}/permission"): use_permission,
    ("GET", "/repos/{owner}/{repo}/commits/{commit_sha}/pulls"): use_siblings,
    ("POST", "/repos/{owner}/{repo}/check-runs"): use_check_create,
    ("PATCH", "/repos/{owner}/{repo}/check-runs/{check_run_id}"): use_check_update,
    ("GET", "/repos/{owner}/{repo}/check-runs/{check_run_id}"): use_check_read,
    ("GET", "/repos/{owner}/{repo}/issues/comments/{comment_id}"): use_comment_read,
    ("GET", "/repos/{owner}/{repo}/commits/{ref}/check-runs"): use_check_list,
    ("GET", "/repos/{owner}/{repo}/issues/{issue_number}/comments"): use_comments,
    ("POST", "/repos/{owner}/{repo}/issues/{issue_number}/comments"): use_comments,
    ("PATCH", "/repos/{owner}/{repo}/issues/comments/{comment_id}"): use_comment_edit,
}


def test_the_list_in_the_documents_is_the_list_of_these_tests() -> None:
    assert {(method, path) for method, path, _ in LIST} == set(USES)


@pytest.mark.parametrize(("method", "path", "role"), LIST)
def test_a_request_does_its_work_with_its_role(place: Place, method: str, path: str, role: str) -> None:
    USES[method, path](place)
    made = [one for one in place.hub.requests if one.method == method and pattern(path).fullmatch(one.path)]
    assert made
    assert {one.token for one in made} == {"app" if role == "App" else "installation"}
    assert all(documented(one) for one in place.hub.requests)


def test_a_suspended_and_an_uninstalled_app_are_told_apart(place: Place) -> None:
    place.hub.suspend(place.installation)
    with pytest.raises(Suspended):
        place.requests.repository_token(place.installation, place.repository.id, "reader")
    place.hub.uninstall(place.installation)
    with pytest.raises(Uninstalled):
        place.requests.repository_token(place.installation, place.repository.id, "reader")


def test_a_token_that_has_ended_is_replaced_once(place: Place) -> None:
    fresh: list[bool] = []

    def token(new: bool) -> str:
        fresh.append(new)
        return place.token(new)

    api = Api(place.url, place.repository.full_name, token)
    place.hub.expire_tokens()
    assert read_pull(api, 1).number == 1
    assert fresh == [False, True]


def test_waits_are_as_long_as_github_says_and_end_when_patience_does(place: Place) -> None:
    waits: list[float] = []
    api = Api(place.url, place.repository.full_name, place.token, patience_s=100.0, sleep=waits.append)
    place.hub.faults.rate_limited("GET", ".*/pulls/1", retry_after_s=7)
    read_pull(api, 1)
    assert waits == [7.0]
    place.hub.faults.rate_limited("GET", ".*/pulls/1", reset_in_s=5000)
    with pytest.raises(Later) as caught:
        read_pull(api, 1)
    assert 4900 < caught.value.after_s < 5100


def test_what_can_not_be_had_is_not_asked_twice(place: Place) -> None:
    place.hub.faults.add("GET", ".*/pulls/1", 403)
    before = len(place.hub.requests)
    with pytest.raises(Refused):
        read_pull(place.api, 1)
    assert len([one for one in place.hub.requests[before:] if one.path.endswith("/pulls/1")]) == 1


def test_the_keeper_hands_out_tokens_of_one_repository_and_nothing_else(place: Place, tmp_path: Path) -> None:
    path = tmp_path / "keeper.sock"
    KeeperServer(path, place.requests).start()
    assert path.stat().st_mode & 0o777 == 0o600
    tokens = Tokens(path).of(place.installation, place.repository.id, "reporter")
    assert tokens(False) == tokens(False) != tokens(True)
    with pytest.raises(GitHubError, match="no such role"):
        ask_keeper(path, place.installation, place.repository.id, "owner")
    place.hub.suspend(place.installation)
    with pytest.raises(Suspended):
        ask_keeper(path, place.installation, place.repository.id, "reader")
    with pytest.raises(KeeperUnavailable):
        ask_keeper(tmp_path / "nobody.sock", 1, 1, "reader")


class Forgetful(BaseHTTPRequestHandler):
    """Answers 202 and keeps nothing, as a disk that lost its last second."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(202)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def test_a_webhook_that_was_answered_and_lost_is_asked_for_again(place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.sweep.SETTLED_S", -5.0)
    store = EmbeddedStore(tmp_path)
    store.ensure()
    database = Database(f"sqlite:///{tmp_path}/ledger.sqlite3")
    database.migrate()
    Deliveries(database).record("first", "pull_request", "opened", "{}")
    with ThreadingHTTPServer(("127.0.0.1", 0), Forgetful) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        place.hub.set_webhook(place.hub.app("dualgate"), f"http://127.0.0.1:{server.server_port}/")
        place.hub.settle()
        time.sleep(1.1)  # GitHub tells whole seconds
        place.hub.edit_pull(place.pull, title="of no interest")
        place.hub.comment("olga", place.pull, "lost")
        place.hub.settle()
        Sweep(Deliveries(database), Runs(database), WorkQueue(connect(None, tmp_path)), place.requests, lambda: None).tick()
        place.hub.settle()
        again = [one.guid for one in place.hub.delivered("issue_comment.created")]
        server.shutdown()
    store.close()
    assert len(again) == 2
    assert len(set(again)) == 1
