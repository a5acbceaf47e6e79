"""Check runs: made and changed by the App that owns them, asked for again by people."""

from __future__ import annotations

from typing import Any

from bot.demo.github import limits
from bot.demo.github.pulls import Pulls
from bot.demo.github.records import App, CheckRun, Json, Repository
from bot.demo.github.refusals import malformed, not_accessible
from bot.demo.github.shapes import check as shapes
from bot.demo.github.state import RepositoryOrName


class Checks(Pulls):
    """The Checks API and the buttons beside it."""

    def create_check(self, app: App, repository: RepositoryOrName, body: object) -> CheckRun:
        """A new check run from the body of a request. Raises Refusal."""
        asked = limits.check_request(body, required=("name", "head_sha"))
        with self.lock:
            target = self.repository(repository)
            if target.git.resolve(asked["head_sha"]) != asked["head_sha"]:
                raise malformed(f"No commit found for SHA: {asked['head_sha']}")
            suite = self.suite(target, app.id, asked["head_sha"])
            run = CheckRun(self.next_id("check"), suite, asked["name"], asked.get("external_id", ""), asked.get("details_url"), "queued", None, None, None, {})
            self._apply(run, asked)
            run.started_at = run.started_at or self.now()
            target.checks.append(run)
            self._emit("created", run)
            self._tell_completion(run, was_complete=False)
            return run

    def update_check(self, app: App, run: CheckRun, body: object) -> None:
        """Change a check run. Raises Refusal, also where another App made it."""
        if run.suite.app is not app:
            raise not_accessible()
        asked = limits.check_request(body)
        with self.lock:
            was_complete = run.status == "completed"
            self._apply(run, asked)
            self._tell_completion(run, was_complete)

    def _apply(self, run: CheckRun, asked: Json) -> None:
        run.name, run.external_id = asked.get("name", run.name), asked.get("external_id", run.external_id)
        run.details_url, run.actions = asked.get("details_url", run.details_url), asked.get("actions", run.actions)
        output = asked.get("output", {})
        run.output |= {key: output[key] for key in ("title", "summary", "text") if key in output}
        run.annotations += output.get("annotations", [])
        if "started_at" in asked:
            run.started_at = limits.moment(asked["started_at"])
        if "conclusion" in asked:
            ended = limits.moment(asked["completed_at"]) if "completed_at" in asked else self.now()
            run.status, run.conclusion, run.completed_at = "completed", asked["conclusion"], ended
        elif "status" in asked:
            run.status, run.conclusion, run.completed_at = asked["status"], None, None
        run.suite.updated_at = self.now()

    def _tell_completion(self, run: CheckRun, was_complete: bool) -> None:
        if run.status != "completed" or was_complete:
            return
        self._emit("completed", run)
        if shapes.standing(run.suite)[0] == "completed":
            self.emit("check_suite", "completed", run.repository, run.suite.app.bot, only=run.suite.app, check_suite=shapes.check_suite(self.site, run.suite))

    def _emit(self, action: str, run: CheckRun, actor: str | None = None, **fields: Any) -> None:
        sender = run.suite.app.bot if actor is None else self.user(actor)
        only = run.suite.app if action in ("rerequested", "requested_action") else None
        self.emit("check_run", action, run.repository, sender, only=only, check_run=shapes.in_webhook(self.site, run), **fields)

    def rerequest(self, check_run_id: int, actor: str) -> None:
        """The Re-run button. Raises ValueError for a run that has not ended: GitHub shows the button after that only."""
        with self.lock:
            run = self.check(check_run_id)
            if run.status != "completed":
                raise ValueError("the check run has not ended")
            self._emit("rerequested", run, actor)

    def request_action(self, check_run_id: int, identifier: str, actor: str) -> None:
        """One of the App's own buttons. Raises ValueError for one that the run does not have."""
        with self.lock:
            run = self.check(check_run_id)
            if identifier not in [action["identifier"] for action in run.actions]:
                raise ValueError(f"the check run has no action {identifier}")
            self._emit("requested_action", run, actor, requested_action={"identifier": identifier})

    def rerequest_suite(self, check_run_id: int, actor: str) -> None:
        """The Re-run all button: of the suite that a check run is in."""
        with self.lock:
            suite = self.check(check_run_id).suite
            self.emit("check_suite", "rerequested", suite.repository, self.user(actor), only=suite.app, check_suite=shapes.check_suite(self.site, suite))

    def latest_checks(self, repository: Repository, sha: str) -> list[CheckRun]:
        """The newest run of each App and name on a commit."""
        return list({(run.suite.app.id, run.name): run for run in repository.checks if run.head_sha == sha}.values())

