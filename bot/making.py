"""Making one run: hold it, fetch the change, verify it, keep what was seen, tell how it ended."""

from __future__ import annotations

import json
import signal
import socket
import threading
import time
import types
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import structlog
from docker.errors import DockerException
from sqlalchemy.exc import SQLAlchemyError

from bot import agent_accounts
from bot.changes.change import Request
from bot.changes.git import GitRepository
from bot.errors import BadInput, BotError
from bot.findings import note
from bot.github.errors import GitHubError
from bot.github.fetching import Mirrors, Wanted
from bot.ledger.models import Run
from bot.ledger.run_store import RunStore
from bot.ledger.runs import LEASE_S
from bot.policy import Policy
from bot.posting import Posting, report_end
from bot.progress import Progress
from bot.reporting.check_run import conclusion
from bot.services import Services
from bot.verification.verify import Order, verify
from sandbox import images
from sandbox.docker import DockerEngine
from sandbox.environment import Workshop
from sandbox.errors import SandboxError
from sandbox.ownership import temporary_folder, this_process

BEAT_S = 1.0
RENEW_S = 10.0
PICTURE_S = 4.0  # between two pictures of a check: 80 content-creating requests a minute are allowed, docs.github.com "Rate limits for the REST API"
FETCH_S = 900.0
PICTURE_PATIENCE_S = 4.0
DIFF_KEPT, OUTPUT_KEPT = 1_000_000, 16_000
log = structlog.get_logger()


class HandedBack(BaseException):
    """A signal asked this process to end; the run goes back to the queue."""


class Lease:
    """Renews the hold on a run, and stops the engine as soon as it is lost: cancelled, superseded, or taken by another."""

    def __init__(self, services: Services, run_id: str, holder: str, engine: DockerEngine) -> None:
        self._services, self._run_id, self._holder, self._engine = services, run_id, holder, engine
        self._ended, self.stopped, self.lost = threading.Event(), threading.Event(), False
        self._thread = threading.Thread(target=self._beat, daemon=True, name="lease")

    def __enter__(self) -> Lease:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join(5)

    def stop(self) -> None:
        """End every box and every wait of this run."""
        self.stopped.set()
        self._engine.stop()

    def _beat(self) -> None:
        renewed = time.monotonic()
        while not self._ended.wait(BEAT_S):
            try:
                run = self._services.runs.load(self._run_id)
                mine = run is not None and run.state == "running" and run.holder == self._holder
                if mine and time.monotonic() - renewed > RENEW_S:
                    mine, renewed = self._services.runs.renew(self._run_id, self._holder), time.monotonic()
            except SQLAlchemyError as error:
                log.warning("lease_not_read", run=self._run_id, error=type(error).__name__)
                mine = time.monotonic() - renewed < LEASE_S  # past it, another may have taken the run
            if not mine and not self._ended.is_set():
                self.lost = True
                self.stop()
                return


def make(services: Services, run_id: str) -> None:
    """Make a run, if it is free. What fails for want of a machine or of GitHub is left to be picked up again."""
    holder = f"{socket.gethostname()}:{this_process()}"
    run = services.runs.take(run_id, holder)
    if run is None:
        return
    bound = log.bind(run=run.id, repository=run.repository, pull=run.pull_number)
    bound.info("run_taken", attempt=run.tries)
    engine = DockerEngine(run.id, Policy.model_validate_json(run.policy).runtime)
    with Lease(services, run.id, holder, engine) as lease, _handing_back(lease):
        try:
            _make(services, run, holder, engine, lease)
        except HandedBack:
            services.runs.hand_back(run.id, holder)
            services.queue.send_run(run.id)
            bound.info("run_handed_back")
        except (SandboxError, BotError, OSError) as error:
            if lease.lost:
                bound.info("run_stopped")
                services.runs.tell_again(run.id)  # a picture of ours may have come after its end
            else:
                bound.warning("run_failed", error=str(error))
                services.runs.update(run.id, why=str(error)[:1000])
        finally:
            engine.close_quietly()
        _tidy(services, engine)


def _tidy(services: Services, engine: DockerEngine) -> None:
    """Keep the environments within their disk."""
    settings = services.settings
    try:
        removed = images.prune(engine, int(settings.images_gb * 1e9), Workshop(settings.data_dir).last_used())
    except (SandboxError, DockerException, OSError) as error:
        log.warning("prune_failed", error=str(error))
        return
    if removed:
        log.info("environments_removed", count=len(removed))


@contextmanager
def _handing_back(lease: Lease) -> Iterator[None]:
    def stop(_: int, __: types.FrameType | None) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        lease.stop()
        raise HandedBack

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _make(services: Services, run: Run, holder: str, engine: DockerEngine, lease: Lease) -> None:
    Posting(services, run).queued()
    posting = Posting(services, run, PICTURE_PATIENCE_S)
    progress = Progress()
    settings = services.settings
    with _pictures(services, run, posting, progress) as say:
        mirrors = Mirrors(settings.data_dir / "repositories", services.app.server_url, settings.trusted_ca(), lease.stopped)
        reader = services.tokens.of(run.installation_id, run.repository_id, "reader")
        head_ref = f"refs/pull/{run.pull_number}/head" if run.pull_number is not None else run.head_ref
        wanted = Wanted(run.repository, head_ref, run.head_sha, run.base_ref, run.base_sha)
        mirror = mirrors.fetch(run.repository_id, wanted, reader, FETCH_S)
        with temporary_folder("policy") as folder:
            config = folder / "dualgate.yml"
            known = Policy.model_validate_json(run.policy).model_dump(mode="json", exclude_none=True)
            config.write_text(json.dumps(known, ensure_ascii=False), encoding="utf-8")  # YAML reads escapes of JSON as halves of characters
            order = Order(mirror, Request(run.base_sha, run.head_sha), config=config, run_id=run.id)
            try:
                report = verify(order, settings, RunStore(settings.data_dir), engine, say)
            except BadInput as error:
                _refused(services, run, str(error))
                return
    hint = run.hint or agent_accounts.hint(run.head_ref, GitRepository(mirror).messages(report.base, run.head_sha))
    if hint:
        report = replace(report, decision=replace(report.decision, findings=(*report.decision.findings, note("agent_hint", hint))))
    verdict = _for_the_app(report.to_json(), run)
    RunStore(settings.data_dir).keep(run.id, verdict)
    diff = GitRepository(mirror).diff(report.base, run.head_sha).decode("utf-8", "replace")[:DIFF_KEPT]
    result = conclusion(verdict, Policy.model_validate_json(run.policy).inconclusive)
    if services.runs.finish(run.id, holder, verdict, result, diff, _outputs(verdict)):
        _report(services, run.id)


def _refused(services: Services, run: Run, words: str) -> None:
    """There is nothing to verify in it: no common ancestor, no difference."""
    reason, result = ("nothing_changed", "neutral") if words.startswith("nothing changed") else ("unreadable", "action_required")
    if services.runs.conclude(run.id, "inconclusive", reason, words, result):
        _report(services, run.id)


def _report(services: Services, run_id: str) -> None:
    ended = services.runs.load(run_id)
    if ended is not None:
        log.info("run_ended", run=run_id, verdict=ended.verdict, reason=ended.reason)
        report_end(services, ended)


@contextmanager
def _pictures(services: Services, run: Run, posting: Posting, progress: Progress) -> Iterator[Any]:
    """What takes the verification's words; the ledger and the check show them, the check at most every PICTURE_S."""
    changed, ended = threading.Event(), threading.Event()

    def say(text: str) -> None:
        if progress.hear(text):
            changed.set()
        services.runs.update(run.id, progress=json.dumps([vars(step) for step in progress.steps()]))

    def show() -> None:
        while not ended.is_set():
            try:
                posting.progress(progress.steps())
            except (GitHubError, BotError) as error:
                log.warning("progress_not_shown", run=run.id, error=str(error))
            ended.wait(PICTURE_S)
            while not ended.is_set() and not changed.wait(0.2):
                pass
            changed.clear()

    services.runs.update(run.id, progress=json.dumps([vars(step) for step in progress.steps()]))
    painter = threading.Thread(target=show, daemon=True, name="pictures")
    painter.start()
    try:
        yield say
    finally:
        ended.set()
        painter.join()  # its requests end by themselves: a picture must not come after the end


def _for_the_app(verdict: dict[str, Any], run: Run) -> dict[str, Any]:
    """Under the repository's name on GitHub, with a command that a maintainer can repeat in a clone."""
    replay = f"git fetch origin pull/{run.pull_number}/head && " if run.pull_number is not None else ""
    evidence = {**verdict["evidence"], "replay": f"{replay}dualgate verify . --base {verdict['base']} --head {run.head_sha}"}
    return {**verdict, "repository": run.repository, "evidence": evidence}


def _outputs(verdict: dict[str, Any]) -> dict[str, str]:
    """Log path -> its last characters."""
    found = {}
    for row in verdict["evidence"]["runs"]:
        try:
            with Path(row["log"]).open("rb") as file:
                file.seek(0, 2)
                file.seek(max(0, file.tell() - OUTPUT_KEPT))
                found[row["log"]] = file.read().decode("utf-8", "replace").replace("\0", "")
        except OSError:
            continue
    return found
