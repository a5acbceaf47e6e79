"""What GitHub is told of a run: queued, running, ended. Each may be told twice: the second time changes nothing."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

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
from bot.reporting.markdown import one_line
from bot.services import Services

RUN_AGAIN = Action("Verify again", "Run the whole verification once more", "verify")
PATIENCE_S = 20.0
TURN_S, WAIT_FOR_TURN_S = 300.0, 20.0
log = structlog.get_logger()


class Posting:
    """Speaks to GitHub about one run."""

    def __init__(self, services: Services, run: Run, patience_s: float = PATIENCE_S) -> None:
        self._services, self._run = services, run
        self._api: Api = services.api(run.installation_id, run.repository_id, run.repository, patience_s)
        self._checks = Checks(self._api, services.app.app_id)

    def queued(self) -> None:
        """See to it that the run has its check. A run that was cancelled meanwhile is told as that."""
        if self._run.check_run_id is None:
            with speaking(self._services, self._run.id) as mine:
                self._reload()
                if mine and self._run.check_run_id is None:
                    self._remember(self._make_check(queued_output(), None))
        self._reload()
        if self._run.state == "cancelled":
            self.ended()

    def progress(self, steps: Sequence[Step]) -> None:
        """Show how far it is; a picture that is lost is no harm."""
        self._reload()
        if self._run.check_run_id is None or self._run.state != "running":
            return
        started = self._run.started_at or time.time()
        output = progress_output(steps, self._services.run_url(self._run.id), time.time() - started)
        self._checks.show_progress(self._run.check_run_id, started, output)

    def ended(self) -> None:
        """Complete the check and write the comment, whatever the end was, unless another process is about it.

        Raises GitHubError where that is worth another try later.
        """
        with speaking(self._services, self._run.id) as mine:
            if mine:
                self._reload()
                self._tell_end()

    def _tell_end(self) -> None:
        run = self._run
        output, result = self._end()
        if run.check_run_id is None and run.state == "cancelled":
            found = self._checks.find(run.head_sha, run.id)
            if found is not None:
                self._remember(found)
        if run.check_run_id is not None:
            self._complete(run.check_run_id, result, output)
        elif run.state != "cancelled":
            self._remember(self._make_check(output, result))
        try:
            self._comment()
        except (NotThere, Refused) as error:  # a locked thread, a permission that was taken away
            log.error("comment_refused", run=run.id, repository=run.repository, error=str(error))
        self._services.runs.update(run.id, reported=True, conclusion=result)

    def _complete(self, check: int, result: str, output: CheckOutput) -> None:
        """A check is never left unfinished for what stands in it: what GitHub refuses is told in few words."""
        actions = () if self._run.state == "cancelled" else (RUN_AGAIN,)
        try:
            self._checks.complete(check, result, output, actions)
        except NotThere as error:
            log.error("check_gone", run=self._run.id, error=str(error))
        except Refused as error:
            if error.status not in (400, 422):
                raise
            log.error("check_refused", run=self._run.id, error=str(error))
            self._checks.complete(check, result, CheckOutput(output.title, f"[Every run with its log]({self._services.run_url(self._run.id)})"))

    def _make_check(self, output: CheckOutput, result: str | None) -> int:
        run = self._run
        if not self._services.runs.ask_for_check(run.id) and (found := self._checks.find(run.head_sha, run.id)) is not None:
            return found
        return self._checks.make(run.head_sha, run.id, self._services.run_url(run.id), output, result)

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
            case "budget_exhausted":
                return CheckOutput("Not verified: the minutes of the day are spent", f"{one_line(run.summary)}."), "action_required"
            case "not_run":
                return cancelled_output(run.summary, url), "cancelled"
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
        comments = Comments(self._api, self._services.app.app_id, self._services.slug)
        known = self._services.subjects.comment(run.subject)
        comment = comments.keep(run.pull_number, known, comment_body(kept[0], self._links(), self._previous()), is_ours)
        self._services.subjects.set_comment(run.subject, comment, run.id)

    def _previous(self) -> Previous | None:
        before = self._services.runs.load(self._services.subjects.commented_run(self._run.subject))
        if before is None or before.id == self._run.id:
            return None
        return Previous(before.id, before.verdict, before.reason, before.head_sha)

    def _unverified_sibling(self) -> int | None:
        """An open pull request with this head that is not verified on its base: the check is of the commit, so of all of them."""
        run = self._run
        if run.pull_number is None:
            return None
        for number, base_ref in sorted(self._open_with_head()):
            if (number, base_ref) == (run.pull_number, run.base_ref):
                continue
            of_it = [other for other in self._services.runs.of_head(run.repository_id, run.head_sha)
                     if other.subject == subject_of_pull(run.repository_id, number) and other.base_ref == base_ref]
            if not of_it or of_it[0].verdict != "verified":
                return number
            if of_it[0].conclusion != "success" and of_it[0].reported:
                self._services.runs.tell_again(of_it[0].id)  # it was withheld for our sake
        return None

    def _open_with_head(self) -> set[tuple[int, str]]:
        """(number, base) of open pull requests of this head: those that were seen, and those that GitHub knows (none of forks)."""
        seen = set(self._services.subjects.open_with_head(self._run.repository_id, self._run.head_sha))
        try:
            return seen | {(pull.number, pull.base.ref) for pull in open_pulls_of(self._api, self._run.head_sha)}
        except (NotThere, Refused):
            return seen

    def _links(self) -> Links:
        run = self._run
        return Links(self._services.run_url(run.id), f"{self._services.app.server_url}/{run.repository}", run.head_sha, run.pull_number, run.from_fork)

    def _policy(self) -> Policy:
        return Policy.model_validate_json(self._run.policy)

    def _reload(self) -> None:
        self._run = self._services.runs.load(self._run.id) or self._run

    def _remember(self, check: int) -> None:
        self._services.runs.update(self._run.id, check_run_id=check)
        self._run.check_run_id = check


@contextmanager
def speaking(services: Services, run_id: str) -> Iterator[bool]:
    """Whether this process is the one that speaks to GitHub of a run now; waits for another's turn to end."""
    deadline = time.monotonic() + WAIT_FOR_TURN_S
    while not (mine := services.runs.speak(run_id, TURN_S)) and time.monotonic() < deadline:
        time.sleep(0.3)
    try:
        yield mine
    finally:
        if mine:
            services.runs.fall_silent(run_id)


def report_end(services: Services, run: Run, patience_s: float = PATIENCE_S) -> None:
    """Tell how a run ended; what GitHub does not take now is told again by the sweep."""
    try:
        Posting(services, run, patience_s).ended()
    except GitHubError as error:
        log.warning("report_later", run=run.id, error=str(error))
