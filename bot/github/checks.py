"""Check runs: made once, changed while they live, completed always."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from bot.github.api import Api
from bot.reporting.annotations import Annotation, batches
from bot.reporting.check_run import CheckOutput
from bot.reporting.redact import redact

NAME = "dualgate"
ANNOTATIONS_A_REQUEST = 50


@dataclass(frozen=True)
class Action:
    """A button on a check: label of at most 20 characters, description 40, identifier 20."""

    label: str
    description: str
    identifier: str


class Checks:
    """The check runs of one repository that this App makes."""

    def __init__(self, api: Api, app_id: int) -> None:
        self._api, self._app_id = api, app_id

    def find(self, head_sha: str, external_id: str) -> int | None:
        """The id of the check run that bears a run's id."""
        rows = self._api.pages(f"/commits/{head_sha}/check-runs", "check_runs", check_name=NAME, app_id=self._app_id, filter="all")
        return next((int(row["id"]) for row in rows if row.get("external_id") == external_id), None)

    def make(self, head_sha: str, external_id: str, details_url: str, output: CheckOutput, conclusion: str | None = None) -> int:
        """A new check run, queued, or completed at once with a conclusion; its id. An earlier try's is found, not doubled."""
        body: dict[str, Any] = {"name": NAME, "head_sha": head_sha, "external_id": external_id, "details_url": details_url, "status": "queued",
                                "output": _output(output, output.annotations[:ANNOTATIONS_A_REQUEST])}
        if conclusion:
            body |= {"status": "completed", "conclusion": conclusion, "completed_at": _now()}
        answer = self._api.post("/check-runs", body, lambda: self._found(head_sha, external_id))
        return int(answer["id"])

    def show_progress(self, check_run_id: int, started_at: float, output: CheckOutput) -> None:
        """It is being worked on."""
        shown = _output(output, ())
        body = {"status": "in_progress", "started_at": _time(started_at), "output": shown}
        self._api.patch(f"/check-runs/{check_run_id}", body, lambda: self._shows(check_run_id, "in_progress", None, shown, 0))

    def complete(self, check_run_id: int, conclusion: str, output: CheckOutput, actions: tuple[Action, ...] = ()) -> None:
        """It has ended; annotations beyond the first fifty are added by further requests, before the conclusion is set.

        GitHub appends annotations: what an earlier try has told is not told again.
        """
        told = int(self._api.get(f"/check-runs/{check_run_id}")["output"]["annotations_count"])
        groups = batches(output.annotations[told:], ANNOTATIONS_A_REQUEST) or [()]
        for place, group in enumerate(groups):
            last = place == len(groups) - 1
            told += len(group)
            body: dict[str, Any] = {"output": _output(output, group)}
            if last:
                body |= {"status": "completed", "conclusion": conclusion, "completed_at": _now(), "actions": [vars(action) for action in actions]}
            self._api.patch(f"/check-runs/{check_run_id}", body, partial(
                self._shows, check_run_id, "completed" if last else None, conclusion if last else None, body["output"], told))

    def _shows(self, check_run_id: int, status: str | None, conclusion: str | None, output: Mapping[str, Any], annotations: int) -> Mapping[str, Any] | None:
        """The check run if GitHub shows all this of it already."""
        there: dict[str, Any] = self._api.get(f"/check-runs/{check_run_id}")
        same = all(there["output"].get(name) == output[name] for name in ("title", "summary"))
        right = (status is None or there["status"] == status) and (conclusion is None or there["conclusion"] == conclusion)
        return there if same and right and there["output"]["annotations_count"] >= annotations else None

    def _found(self, head_sha: str, external_id: str) -> Mapping[str, Any] | None:
        found = self.find(head_sha, external_id)
        return None if found is None else {"id": found}


def _output(output: CheckOutput, annotations: Sequence[Annotation]) -> dict[str, Any]:
    body: dict[str, Any] = {"title": redact(output.title), "summary": redact(output.summary)}
    if output.text:
        body["text"] = redact(output.text)
    if annotations:
        body["annotations"] = [
            {"path": one.path, "start_line": one.start_line, "end_line": one.end_line, "annotation_level": one.level, "message": redact(one.message),
             "title": redact(one.title)} for one in annotations]
    return body


def _now() -> str:
    return _time(datetime.datetime.now(datetime.UTC).timestamp())


def _time(seconds: float) -> str:
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
