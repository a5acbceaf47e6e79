"""What GitHub is told of a run: queued, running, ended. Each may be told twice: the second time changes nothing."""

from __future__ import annotations

import time
from collections.abc import Sequence

import structlog

from bot.github.api import Api
from bot.github.checks import Action, Checks
from bot.github.comments import Comments
from bot.github.errors import GitHubError, NotThere, Refused
from bot.github.pulls import open_pulls_of
from bot.ledger.models import Run
from bot.ledger.runs import subject_of_pull
from bot.policy import Policy
from bot.reporting.check_progress import (
    Step,
    cancelled_output,
    configuration_output,
    lost_output,
    nothing_changed_output,
    out_of_scope_output,
    progress_output,
    queued_output,
    read_fault,
)
from bot.reporting.check_run import CheckOutput, Links, check_output, conclusion, withheld_output
from bot.reporting.comment import Previous, comment_body, is_ours, should_comment
from bot.services import Services

RUN_AGAIN = Action("Verify again", "Run the whole verification once more", "verify")
log = structlog.get_logger()


class Posting:
    """Speaks to GitHub about one run."""

    def __init__(self, services: Services, run: Run, patience_s: float = 60.0) -> None:
        self._services, self._run = services, run
        self._api: Api = services.api(run.installation_id, run.repository_id, run.repository, patience_s)
        self._checks = Checks(self._api, services.app.app_id)

    def queued(self) -> None:
        """See to it that the run has its check. A run that was cancelled meanwhile is told as that."""
        if self._run.check_run_id is None:
            check = self._checks.make(self._run.head_sha, self._run.id, self._services.run_url(self._run.id), queued_output())
            self._remember(check)
        now = self._services.runs.load(self._run.id)
        if now is not None and now.state == "cancelled":
            self._run = now
            self.ended()

    def progress(self, steps: Sequence[Step]) -> None:
        """Show how far it is; a picture that is lost is no harm."""
        if self._run.check_run_id is None:
            return
        started = self._run.started_at or time.time()
        output = progress_output(steps, self._services.run_url(self._run.id), time.time() - started)
        self._checks.show_progress(self._run.check_run_id, started, output)

    def ended(self) -> None:
        """Complete the check and write the comment, whatever the end was. Raises GitHubError; then it is tried again later."""
        run = self._run
        output, result = self._end()
        if run.check_run_id is None and run.state == "cancelled":
            found = self._checks.find(run.head_sha, run.id)
            if found is not None:
                self._remember(found)
        try:
            if run.check_run_id is not None:
                self._checks.complete(run.check_run_id, result, output, () if run.state == "cancelled" else (RUN_AGAIN,))
            elif run.state != "cancelled":
                self._remember(self._checks.make(run.head_sha, run.id, self._services.run_url(run.id), output, result))
            self._comment()
        except (NotThere, Refused) as error:
            log.error("report_refused", run=run.id, repository=run.repository, error=str(error))
        self._services.runs.update(run.id, reported=True, conclusion=result)

    def _end(self) -> tuple[CheckOutput, str]:
        run, url = self._run, self._services.run_url(self._run.id)
        if run.state == "cancelled":
            return cancelled_output(run.why, url), "cancelled"
        kept = self._services.runs.document(run.id)
        if kept is not None:
            output = check_output(kept[0], self._links())
            sibling = self._unverified_sibling() if run.verdict == "verified" else None
            return (withheld_output(output, sibling), "action_required") if sibling else (output, conclusion(kept[0], self._policy().inconclusive))
        match run.reason:
            case "configuration":
                return configuration_output(read_fault(run.summary)), "action_required"
            case "nothing_changed":
                return nothing_changed_output(), "neutral"
            case "out_of_scope":
                return out_of_scope_output(run.summary), "neutral"
        return lost_output(run.summary, url), run.conclusion or "timed_out"

    def _comment(self) -> None:
        run = self._run
        kept = self._services.runs.document(run.id)
        if kept is None or run.pull_number is None or run.state != "finished":
            return
        latest = self._services.runs.latest(run.subject)
        if latest is not None and latest.id != run.id:
            return  # a newer run speaks for the pull request
        known = self._services.subjects.comment(run.subject)
        if not should_comment(self._policy().comment, kept[0], known is not None):
            return
        self.write_comment()

    def write_comment(self) -> None:
        """The one comment of the pull request, whatever the configuration says of it."""
        run = self._run
        kept = self._services.runs.document(run.id)
        if kept is None or run.pull_number is None:
            return
        comments = Comments(self._api, self._services.app.app_id)
        known = self._services.subjects.comment(run.subject)
        comment = comments.keep(run.pull_number, known, comment_body(kept[0], self._links(), self._previous()), is_ours)
        self._services.subjects.set_comment(run.subject, comment, run.id)

    def _previous(self) -> Previous | None:
        before = self._services.runs.load(self._services.subjects.commented_run(self._run.subject))
        if before is None or before.id == self._run.id:
            return None
        return Previous(before.id, before.verdict, before.reason, before.head_sha)

    def _unverified_sibling(self) -> int | None:
        """Another open pull request with this head on another base that is not verified: the check is of the commit, so of both."""
        run = self._run
        if run.pull_number is None:
            return None
        for pull in open_pulls_of(self._api, run.head_sha):
            if pull.number == run.pull_number or pull.base.ref == run.base_ref:
                continue
            of_it = [other for other in self._services.runs.of_head(run.repository_id, run.head_sha)
                     if other.subject == subject_of_pull(run.repository_id, pull.number) and other.base_ref == pull.base.ref]
            if not of_it or of_it[0].verdict != "verified":
                return pull.number
            if of_it[0].conclusion != "success" and of_it[0].reported:
                self._services.runs.update(of_it[0].id, reported=False)  # it was withheld for our sake
        return None

    def _links(self) -> Links:
        run = self._run
        return Links(self._services.run_url(run.id), f"{self._services.app.server_url}/{run.repository}", run.head_sha, run.pull_number, run.from_fork)

    def _policy(self) -> Policy:
        return Policy.model_validate_json(self._run.policy)

    def _remember(self, check: int) -> None:
        self._services.runs.update(self._run.id, check_run_id=check)
        self._run.check_run_id = check


def report_end(services: Services, run: Run, patience_s: float = 60.0) -> None:
    """Tell how a run ended; what GitHub does not take now is told again by the sweep."""
    try:
        Posting(services, run, patience_s).ended()
    except GitHubError as error:
        log.warning("report_later", run=run.id, error=str(error))
