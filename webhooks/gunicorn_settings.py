"""gunicorn's configuration. `gunicorn -c python:webhooks.gunicorn_settings 'webhooks.server:application()'` works too, where REDIS_URL is set."""

from __future__ import annotations

import gc
import os
from pathlib import Path

from gunicorn.arbiter import Arbiter
from gunicorn.workers.base import Worker
from prometheus_client.multiprocess import mark_process_dead

from webhooks.metrics import empty_shared_folder
from webhooks.patience import LONGEST_IDLE_S
from webhooks.serve import SHARED_FOLDER, read_worker_count

bind = f"0.0.0.0:{os.environ.get('PORT') or 8000}"
worker_class = "webhooks.patience.PatientWorker"
workers = read_worker_count(os.environ)
worker_connections = 1000
backlog = 1024
reuse_port = True  # the kernel spreads connections; on one shared socket the process that wakes first takes nearly all that are kept alive
keepalive = int(LONGEST_IDLE_S)
timeout = 30
graceful_timeout = 10
preload_app = False  # connections to the database and the queue are opened after the fork
worker_tmp_dir = "/dev/shm" if Path("/dev/shm").is_dir() else None  # a heartbeat on a disk that hangs would kill good workers
accesslog = None
errorlog = "-"
loglevel = "info"
control_socket_disable = True  # gunicorn >= 25 opens one in the home folder


def when_ready(server: Arbiter) -> None:
    """The port is ours, no worker is there yet."""
    if os.environ.get(SHARED_FOLDER):
        empty_shared_folder(Path(os.environ[SHARED_FOLDER]))


def child_exit(server: Arbiter, worker: Worker) -> None:
    """Drop the dead one's live gauges."""
    if os.environ.get(SHARED_FOLDER):
        mark_process_dead(worker.pid)  # type: ignore[no-untyped-call]


def post_worker_init(worker: Worker) -> None:
    """The application is loaded: what it is made of need not be looked through by each full collection, which would hold up a hundred answers."""
    gc.collect()
    gc.freeze()
