"""What the queue calls: one delivery read, one run made, one end told. The whole walk of a pull request begins here.

delivery -> intent (events) -> queued run and check (intake, posting) -> verification (making) -> check completed, comment (posting).
"""

from __future__ import annotations

import socket

import structlog
from pydantic import ValidationError

from bot.errors import BotError
from bot.events import intent_of
from bot.github.errors import GitHubError, Later, Suspended, Uninstalled
from bot.github.keeper import KeeperUnavailable
from bot.intake import obey
from bot.making import make
from bot.posting import report_end
from bot.queue import INTAKE_TIMEOUT_S
from bot.services import services
from sandbox.ownership import this_process

SETTLE_S = 10.0  # a webhook may come before the API shows the change
log = structlog.get_logger()


def receive(guid: str) -> None:
    """Read one delivery and do what it asks for; what GitHub does not answer now is tried again later."""
    known = services()
    held = known.deliveries.hold(guid, f"{socket.gethostname()}:{this_process()}", INTAKE_TIMEOUT_S + 30)
    if held is None:
        return
    bound = log.bind(delivery=guid, github_event=held.event)
    try:
        outcome = obey(known, intent_of(held.event, held.payload, known.app.app_id), guid)
    except ValidationError as error:
        outcome = f"the payload can't be read: {error.errors()[0]['loc']}: {error.errors()[0]['msg']}"
    except (Suspended, Uninstalled) as error:
        outcome = f"ignored: {error}"
    except Later as error:
        bound.warning("delivery_later", error=str(error))
        known.deliveries.put_back(guid, str(error), error.after_s, counts=False)
        return
    except KeeperUnavailable as error:
        bound.warning("delivery_later", error=str(error))
        known.deliveries.put_back(guid, str(error), SETTLE_S, counts=False)
        return
    except GitHubError as error:
        bound.warning("delivery_again", error=str(error))
        known.deliveries.put_back(guid, str(error), SETTLE_S * held.tries)
        return
    except Exception as error:
        known.deliveries.put_back(guid, f"{type(error).__name__}: {error}", SETTLE_S * held.tries)
        raise
    known.deliveries.done(guid, outcome)
    bound.info("delivery_done", outcome=outcome)


def spread(guids: list[str]) -> None:
    """Several deliveries that came together: a job for each, so that other workers may take some. What the store loses is found by the sweep."""
    services().queue.spread_deliveries(guids)


def make_run(run_id: str) -> None:
    """Make one run."""
    make(services(), run_id)


def tell_end(run_id: str) -> None:
    """Tell GitHub how a run ended, where it does not know."""
    known = services()
    run = known.runs.load(run_id)
    if run is None or run.reported or run.state in ("queued", "running"):
        return
    try:
        report_end(known, run)
    except BotError as error:
        log.warning("report_later", run=run_id, error=str(error))
