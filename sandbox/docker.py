"""The Docker engine: connection, containers with an owner, and the sweep of what a dead owner left."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import docker
import requests
from docker.errors import APIError, DockerException, NotFound
from docker.utils import kwargs_from_env

from sandbox.errors import EngineUnavailable, Interrupted
from sandbox.ownership import OWNER_LABEL, RUN_LABEL, is_alive, sweep_folders, this_process

REMOVAL_S = 20.0
START_HINT = "start it with `dockerd &` (install Debian's docker.io first) or `systemctl start docker`"


class DockerEngine:
    """One run's view of the engine: everything it makes bears the run's id and this process as its owner."""

    def __init__(self, run_id: str, runtime: str | None = None) -> None:
        self.run_id = run_id
        self.runtime = runtime
        self._local = threading.local()
        self._closed = threading.Event()
        self._discards: list[threading.Thread] = []

    @property
    def api(self) -> docker.APIClient:
        """A client of this thread's own. Raises EngineUnavailable."""
        if not hasattr(self._local, "api"):
            try:
                client = docker.APIClient(**kwargs_from_env(), version="1.41", timeout=120)
                client.trust_env = False  # proxies are looked up in os.environ at each request, which another thread may be changing
                client.ping()
            except (DockerException, requests.RequestException, OSError) as error:
                raise EngineUnavailable(f"no Docker engine answers ({_short(error)}); {START_HINT}") from error
            self._local.api = client
        client_of_thread: docker.APIClient = self._local.api
        return client_of_thread

    @property
    def closed(self) -> bool:
        """Whether the run is over: no container may be made any more."""
        return self._closed.is_set()

    def labels(self, **more: str) -> dict[str, str]:
        """Labels of everything this run makes."""
        return {RUN_LABEL: self.run_id, OWNER_LABEL: this_process(), **more}

    def start_container(self, image: str, command: list[str], host_config: dict[str, Any], **config: Any) -> str:
        """Create and start a container; its id. Raises EngineUnavailable, Interrupted."""
        if self.closed:
            raise Interrupted("the run was stopped")
        try:
            made = self.api.create_container(
                image, command, host_config=self.api.create_host_config(**host_config), labels=self.labels(), **config)
            container: str = made["Id"]
            try:
                if self.closed:
                    raise Interrupted("the run was stopped")
                self.api.start(container)
            except BaseException:
                self.remove_container(container)
                raise
        except (APIError, requests.RequestException) as error:
            if self.closed:
                raise Interrupted("the run was stopped") from error
            raise EngineUnavailable(f"Docker could not start a container: {_short(error)}") from error
        return container

    def remove_container(self, container: str) -> None:
        """Kill and remove; a container that is gone already is fine."""
        try:
            self.api.remove_container(container, force=True, v=True)
        except NotFound:
            pass
        except APIError as error:
            if error.status_code != 409:  # its removal is already under way
                raise

    def discard(self, container: str) -> None:
        """Remove in the background: nobody waits for the end of a box. What fails here is left to `close`."""
        thread = threading.Thread(target=self._discard, args=(container,), name="discard", daemon=True)
        thread.start()
        self._discards.append(thread)

    def _discard(self, container: str) -> None:
        try:
            self.remove_container(container)
        except (EngineUnavailable, APIError, requests.RequestException):
            return

    def stop(self) -> None:
        """Refuse new containers from now on, and remove those that are there. For signal handlers: any thread, any time."""
        self._closed.set()
        self._local = threading.local()  # a client that was interrupted in the middle of an answer is not used again
        self.close_quietly()

    def close_quietly(self) -> None:
        """`close`, where an engine that does not answer is no news."""
        try:
            self.close()
        except (EngineUnavailable, APIError, requests.RequestException):
            self._closed.set()

    def close(self) -> None:
        """Remove every container of this run. Safe from any thread, any number of times."""
        self._closed.set()
        for thread in self._discards:
            thread.join(REMOVAL_S)
        for _ in range(3):
            left = self.api.containers(all=True, filters={"label": f"{RUN_LABEL}={self.run_id}"})
            if not left:
                break
            for row in left:
                self.remove_container(row["Id"])
        self._remove_networks(f"{RUN_LABEL}={self.run_id}", lambda _: True)

    def _remove_networks(self, label: str, gone: Callable[[str], bool]) -> None:
        """Those with a label whose owner is `gone`. One that something is still on stays for the next sweep."""
        for row in self.api.networks(filters={"label": label}):
            if gone((row.get("Labels") or {}).get(OWNER_LABEL, "")):
                try:
                    self.api.remove_network(row["Id"])
                except APIError:
                    continue

    def sweep(self) -> list[str]:
        """Remove containers and temporary folders whose owner died; their names."""
        gone = sweep_folders()
        for row in self.api.containers(all=True, filters={"label": OWNER_LABEL}):
            if not is_alive(row["Labels"].get(OWNER_LABEL, "")):
                self.remove_container(row["Id"])
                gone.append(row["Id"])
        self._remove_networks(OWNER_LABEL, lambda owner: not is_alive(owner))
        return gone


def _short(error: BaseException) -> str:
    text = str(getattr(error, "explanation", None) or error).strip()
    return text.splitlines()[-1][:200] if text else type(error).__name__
