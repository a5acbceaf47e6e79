"""From an intent to a queued run, a reply, a cancellation, or nothing; each outcome in a few words for the record."""

from __future__ import annotations

import datetime
import shutil
from dataclasses import replace

from bot import agent_accounts
from bot.commands import VERBS, Command
from bot.errors import BadInput
from bot.events import (
    CancelGroup,
    CancelPull,
    CommandGiven,
    ConsiderPull,
    Ignored,
    InstallationChanged,
    Intent,
    Place,
    RepositoriesRemoved,
    RepositoryRenamed,
    RunAgain,
    VerifyGroup,
)
from bot.github.api import Api
from bot.github.comments import Comments
from bot.github.pulls import may_write, open_pulls_of, read_pull, read_text
from bot.ledger.models import Run
from bot.ledger.runs import TOLD, Ended, NewRun, subject_of_group, subject_of_pull
from bot.payloads import PullRequest, User
from bot.policy import PATH, Policy, read_policy
from bot.posting import Posting, report_end
from bot.reporting import replies
from bot.scope import Answer, Asked, Decision, decide
from bot.services import Services

PATIENCE_S = 5.0  # one repository that has to wait must not make the others wait


def obey(services: Services, intent: Intent, delivery: str) -> str:
    """Do what a delivery asks for. Raises GitHubError (Later, Suspended, Uninstalled among them) and KeeperUnavailable."""
    if isinstance(intent, ConsiderPull | CommandGiven | RunAgain | VerifyGroup):
        intent = replace(intent, place=replace(intent.place, delivery=delivery))
    match intent:
        case ConsiderPull():
            return _consider(services, intent)
        case CommandGiven():
            return _command(services, intent)
        case RunAgain():
            return _run_again(services, intent)
        case VerifyGroup():
            return _group(services, intent)
        case CancelPull():
            services.subjects.see_closed(subject_of_pull(intent.place.repository_id, intent.number))
            return _cancelled(services, services.runs.cancel(subject_of_pull(intent.place.repository_id, intent.number), intent.why))
        case CancelGroup():
            return _cancelled(services, services.runs.cancel(subject_of_group(intent.place.repository_id, intent.head_ref), "the merge group is gone"))
        case InstallationChanged():
            return _installation(services, intent)
        case RepositoriesRemoved():
            runs = [run for one in intent.repository_ids for run in services.runs.cancel_where(intent.why, repository_id=one)]
            return _cancelled(services, runs)
        case RepositoryRenamed():
            services.subjects.rename(intent.repository_id, intent.full_name)
            return f"renamed to {intent.full_name}"
        case Ignored():
            return f"ignored: {intent.why}"


def _consider(services: Services, intent: ConsiderPull) -> str:
    if idle := _idle(services, intent.place):
        return idle
    api = _api(services, intent.place)
    pull = read_pull(api, intent.number)
    policy, fault = _policy(api, pull.base.sha)
    subject = _see(services, intent.place, pull)
    labelling = intent.cause == "labelled" and intent.label.casefold() == policy.trigger_label.casefold()
    may = labelling and may_write(api, intent.actor)
    asked = Asked(intent.cause, intent.label, intent.sha, may, services.subjects.is_labelled(subject))
    if may:
        services.subjects.set_labelled(subject, True)
    decision = decide(pull, policy, asked)
    if decision.answer is Answer.REFUSE:
        return _refuse(services, api, intent.place, pull, intent.actor, decision, Command("verify", intent.sha), policy)
    if decision.answer is not Answer.VERIFY:
        _left_alone(services, intent.place, pull)
    if decision.answer is Answer.NEUTRAL:
        return _neutral(services, api, intent.place, pull, policy, decision)
    if decision.answer is Answer.IGNORE:
        return f"ignored: {decision.why}"
    return _start(services, intent.place, pull, policy, fault, decision.cause, intent.actor)


def _command(services: Services, intent: CommandGiven) -> str:
    if idle := _idle(services, intent.place):
        return idle
    api, command = _api(services, intent.place), intent.command
    pull = read_pull(api, intent.number)
    subject = _see(services, intent.place, pull)
    policy, fault = _policy(api, pull.base.sha)
    if not policy.enabled:
        return "ignored: the repository's configuration has enabled: false"
    may = may_write(api, intent.actor)
    if not may:
        return _refuse(services, api, intent.place, pull, intent.actor, Decision(Answer.REFUSE, "no write", refusal="no_write"), command, policy)
    if not command.known:
        word = command.verb if command.verb not in VERBS else command.odd
        return _reply(services, api, intent.place, pull.number, replies.unknown_command(word, intent.actor.id), "an unknown command")
    if command.verb == "cancel":
        runs = services.runs.cancel(subject, f"cancelled by {intent.actor.login}")
        if not runs:
            return _reply(services, api, intent.place, pull.number, replies.nothing_to_cancel(intent.actor.id), "nothing to cancel")
        return _cancelled(services, runs)
    if command.verb == "explain":
        run = services.runs.latest(subject)
        if run is not None and services.runs.document(run.id) is not None:
            Posting(services, run).write_comment()
            return f"explained run {run.id}"
    decision = decide(pull, policy, Asked("command", sha=command.sha, may_write=may))
    if decision.answer is Answer.REFUSE:
        return _refuse(services, api, intent.place, pull, intent.actor, decision, command, policy)
    if decision.answer is not Answer.VERIFY:
        return f"ignored: {decision.why}"
    return _start(services, intent.place, pull, policy, fault, "command", intent.actor, again=True)


def _run_again(services: Services, intent: RunAgain) -> str:
    if idle := _idle(services, intent.place):
        return idle
    api = _api(services, intent.place)
    before = _runs_meant(services, intent)
    if not before:
        pulls = open_pulls_of(api, intent.head_sha)
        return "; ".join(_again(services, api, intent, pull.number) for pull in pulls) or "ignored: no run and no open pull request has this head"
    return "; ".join(_again(services, api, intent, run.pull_number) if run.pull_number is not None
                     else _group_again(services, run, intent.place.delivery) for run in before)


def _runs_meant(services: Services, intent: RunAgain) -> list[Run]:
    """The newest run of each subject that a button is about."""
    if intent.check_run_id is not None:
        run = services.runs.load(intent.external_id) or services.runs.of_check(intent.check_run_id)
        return [run] if run is not None and run.repository_id == intent.place.repository_id else []
    newest: dict[str, Run] = {}
    for run in services.runs.of_head(intent.place.repository_id, intent.head_sha):
        newest.setdefault(run.subject, run)
    return list(newest.values())


def _again(services: Services, api: Api, intent: RunAgain, number: int) -> str:
    pull = read_pull(api, number)
    _see(services, intent.place, pull)
    policy, fault = _policy(api, pull.base.sha)
    decision = decide(pull, policy, Asked("rerun", may_write=True))
    if decision.answer is not Answer.VERIFY:
        return _told_only(services, intent, pull, policy, decision.why)
    if pull.head.sha != intent.head_sha:
        return _told_only(services, intent, pull, policy, f"the pull request's head is now {pull.head.sha[:12]}")
    return _start(services, intent.place, pull, policy, fault, "rerun", intent.actor, again=True)


def _told_only(services: Services, intent: RunAgain, pull: PullRequest, policy: Policy, why: str) -> str:
    """A button that starts nothing: GitHub waits for a check of that name all the same, so it gets one that says why."""
    new = _new_run(intent.place, pull, policy, TOLD, intent.actor, head_sha=intent.head_sha)
    return f"ignored: {why}; {_begin(services, new, ended=Ended('not_run', why, 'cancelled'))}"


def _start(
    services: Services, place: Place, pull: PullRequest, policy: Policy, fault: str, cause: str, actor: User, again: bool = False,
) -> str:
    """A queued run with its check, in place of what ran before; or one that ends at once, where nothing can be run."""
    ended = None
    spent = services.runs.minutes_since(place.repository_id, _midnight())
    if fault:
        ended = Ended("configuration", fault, "action_required")
    elif spent >= services.app.minutes_per_repo_day:
        words = f"{spent:.0f} of the {services.app.minutes_per_repo_day:.0f} minutes that this repository has a day are spent; there are new ones at 00:00 UTC"
        ended = Ended("budget_exhausted", words, "action_required")
    return _begin(services, _new_run(place, pull, policy, cause, actor), again, ended)


def _begin(services: Services, new: NewRun, again: bool = False, ended: Ended | None = None) -> str:
    """Make the run and its check, then tell of those that it supersedes."""
    run, superseded = services.runs.create(new, again, ended)
    try:
        if run is None:
            return "ignored: a run of this head and base is there already"
        posting = Posting(services, run, PATIENCE_S)
        if ended is not None:
            posting.ended()
            return f"{ended.reason}: {ended.words}"
        try:
            posting.queued()
        finally:
            services.queue.send_run(run.id)
        return f"run {run.id}"
    finally:
        for old in superseded:
            report_end(services, old, PATIENCE_S)


def _neutral(services: Services, api: Api, place: Place, pull: PullRequest, policy: Policy, decision: Decision) -> str:
    """A required check that blocks nobody; not where the commit has another pull request, or a check that says more: neutral would count for it too."""
    others = [other for other in open_pulls_of(api, pull.head.sha) if other.number != pull.number]
    others_seen = [number for number, _ in services.subjects.open_with_head(place.repository_id, pull.head.sha) if number != pull.number]
    runs = [run for run in services.runs.of_head(place.repository_id, pull.head.sha) if run.reason != "out_of_scope"]
    if others or others_seen or runs:
        return f"ignored: {decision.why}; its commit has other pull requests or runs"
    return _begin(services, _new_run(place, pull, policy, "policy", pull.author), ended=Ended("out_of_scope", decision.why, "neutral"))


def _see(services: Services, place: Place, pull: PullRequest) -> str:
    """Remember a pull request as it is; the key of its runs."""
    subject = subject_of_pull(place.repository_id, pull.number)
    services.subjects.see(subject, place.repository_id, pull.number, pull.head.sha, pull.base.ref, pull.state == "open")
    return subject


def _left_alone(services: Services, place: Place, pull: PullRequest) -> None:
    """What runs for another head or base of it is of no use; a green of its commit for another pull request or base does not hold for this one."""
    subject = subject_of_pull(place.repository_id, pull.number)
    for run in services.runs.cancel_others(subject, pull.head.sha, pull.base.ref, "the head or the base moved, and what it is now is left alone"):
        report_end(services, run, PATIENCE_S)
    for run in services.runs.of_head(place.repository_id, pull.head.sha):
        if pull.state == "open" and run.conclusion == "success" and (run.subject, run.base_ref) != (subject, pull.base.ref):
            services.runs.tell_again(run.id)
            report_end(services, run, PATIENCE_S)


def _group(services: Services, intent: VerifyGroup) -> str:
    if idle := _idle(services, intent.place):
        return idle
    api, group = _api(services, intent.place), intent.group
    policy, fault = _policy(api, group.base_sha)
    base_ref = group.base_ref.removeprefix("refs/heads/")
    new = NewRun(
        subject=subject_of_group(intent.place.repository_id, group.head_ref), installation_id=intent.place.installation_id,
        repository_id=intent.place.repository_id, repository=intent.place.repository, pull_number=None, title=f"merge queue of {base_ref}",
        author=intent.actor.login, head_sha=group.head_sha, head_ref=group.head_ref, base_ref=base_ref, base_sha=group.base_sha, from_fork=False,
        cause="merge_group", actor=intent.actor.login, policy=policy.model_dump_json(), delivery=intent.place.delivery)
    ended = None
    if fault:
        ended = Ended("configuration", fault, "action_required")
    elif not policy.enabled:
        ended = Ended("out_of_scope", "the repository's configuration has enabled: false", "neutral")
    return _begin(services, new, ended=ended)


def _group_again(services: Services, before: Run, delivery: str) -> str:
    fields = {name: getattr(before, name) for name in NewRun.__dataclass_fields__}
    return _begin(services, NewRun(**{**fields, "cause": "rerun", "delivery": delivery}), again=True)


def _installation(services: Services, intent: InstallationChanged) -> str:
    services.subjects.set_installation(intent.installation_id, intent.account, intent.state)
    if intent.state == "active":
        return "the installation is active"
    runs = services.runs.cancel_where(f"the App's installation was {intent.state}", installation_id=intent.installation_id)
    for run in runs:
        services.runs.update(run.id, reported=True)  # there is no token any more to tell it with
    if intent.state == "deleted":
        run_ids, repository_ids = services.subjects.purge(intent.installation_id)
        for path in (*(f"runs/{run_id}" for run_id in run_ids), *(f"repositories/{number}.git" for number in repository_ids)):
            shutil.rmtree(services.app.data_dir / path, ignore_errors=True)
        return "the installation was deleted; what was known of it is purged"
    return f"the installation was suspended; {len(runs)} runs cancelled"


def _refuse(
    services: Services, api: Api, place: Place, pull: PullRequest, actor: User, decision: Decision, command: Command, policy: Policy,
) -> str:
    """One reply a person and thread, then silence."""
    words = {
        "no_write": lambda: replies.refused(actor.login, actor.id, f"/dualgate {command.verb}".strip()),
        "label_no_write": lambda: replies.refused(actor.login, actor.id, policy.trigger_label),
        "fork_needs_sha": lambda: replies.sha_needed(pull.head.sha, actor.id),
        "head_moved": lambda: replies.head_moved(command.sha, pull.head.sha, actor.id),
    }[decision.refusal]()
    return _reply(services, api, place, pull.number, words, decision.why, actor if decision.refusal.endswith("no_write") else None)


def _reply(services: Services, api: Api, place: Place, number: int, words: str, why: str, once: User | None = None) -> str:
    if once is not None and not services.subjects.may_refuse(place.repository_id, number, once.id):
        return f"refused in silence: {why}"
    first = words.split("\n", 1)[0]
    Comments(api, services.app.app_id, services.slug).reply(number, words, lambda body: body.startswith(first))
    return f"replied: {why}"


def _cancelled(services: Services, runs: list[Run]) -> str:
    for run in runs:
        report_end(services, run, PATIENCE_S)
    return f"cancelled {', '.join(run.id for run in runs)}" if runs else "ignored: nothing runs"


def _idle(services: Services, place: Place) -> str:
    state = services.subjects.installation_state(place.installation_id)
    return "" if state == "active" else f"ignored: the installation is {state}"


def _policy(api: Api, base_sha: str) -> tuple[Policy, str]:
    """(the policy at the pull request's base, what is wrong with it); a broken one counts as the default until it is told."""
    text = read_text(api, PATH, base_sha)
    try:
        return read_policy(text or ""), ""
    except BadInput as error:
        return Policy(), str(error)


def _new_run(place: Place, pull: PullRequest, policy: Policy, cause: str, actor: User, head_sha: str = "") -> NewRun:
    return NewRun(
        subject=subject_of_pull(place.repository_id, pull.number), installation_id=place.installation_id, repository_id=place.repository_id,
        repository=pull.base.repo.full_name if pull.base.repo else place.repository, pull_number=pull.number, title=pull.title[:500],
        author=pull.author.login, head_sha=head_sha or pull.head.sha, head_ref=pull.head.ref, base_ref=pull.base.ref, base_sha=pull.base.sha,
        from_fork=pull.from_fork, cause=cause, actor=actor.login, hint=agent_accounts.hint(pull.head.ref), policy=policy.model_dump_json(),
        delivery=place.delivery)


def _api(services: Services, place: Place) -> Api:
    return services.api(place.installation_id, place.repository_id, place.repository, PATIENCE_S)


def _midnight() -> float:
    return datetime.datetime.now(datetime.UTC).replace(hour=0, minute=0, second=0, microsecond=0).timestamp()
