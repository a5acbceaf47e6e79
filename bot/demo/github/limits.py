"""What GitHub refuses in a check run: https://docs.github.com/rest/checks/runs."""

from __future__ import annotations

import datetime
from typing import Any

from bot.demo.github.records import Json
from bot.demo.github.refusals import Refusal, invalid, malformed

LONGEST_OUTPUT = 65_535
LONGEST_MESSAGE = 65_536
LONGEST_ANNOTATION_TITLE = 255
MOST_ANNOTATIONS = 50
MOST_ACTIONS = 3
ACTION_LENGTHS = {"label": 20, "description": 40, "identifier": 20}
STATUSES = ("queued", "in_progress", "completed")
CONCLUSIONS = ("action_required", "cancelled", "failure", "neutral", "success", "skipped", "timed_out")
LEVELS = ("notice", "warning", "failure")


def check_request(body: object, required: tuple[str, ...] = ()) -> Json:
    """The body of a request for a check run, every member looked at. Raises Refusal (422)."""
    if not isinstance(body, dict):
        raise malformed("Body should be a JSON object")
    _required(body, *required)
    for name in ("name", "head_sha", "details_url", "external_id", "status", "conclusion", "started_at", "completed_at"):
        _kind(body, name, str, "a string")
    _one_of(body, "status", STATUSES)
    _one_of(body, "conclusion", CONCLUSIONS)
    for name in ("started_at", "completed_at"):
        if name in body:
            moment(body[name])
    if (body.get("status") == "completed" or "completed_at" in body) and "conclusion" not in body:
        raise malformed('"conclusion" wasn\'t supplied.')
    if str(body.get("details_url", "https://")).split("://")[0] not in ("http", "https"):
        raise malformed('Specify only "http" or "https" URLs for details_url.')
    _output(body.get("output", {}), complete="head_sha" in required)
    _actions(body.get("actions", []))
    return body


def moment(text: str) -> datetime.datetime:
    """A time in ISO 8601 with its zone. Raises Refusal (422)."""
    try:
        read = datetime.datetime.fromisoformat(text)
    except ValueError as error:
        raise malformed(f"{text!r} is not a valid date-time.") from error
    if read.tzinfo is None:
        raise malformed(f"{text!r} is not a valid date-time.")
    return read.astimezone(datetime.UTC)


def _output(output: Any, complete: bool) -> None:
    if not isinstance(output, dict):
        raise malformed(f"{output!r} is not an object.")
    if not output:
        return
    _required(output, *(("title", "summary") if complete else ("summary",)))
    for name in ("title", "summary", "text"):
        _kind(output, name, str, "a string")
    for name in ("summary", "text"):
        _output_length(name, output.get(name, ""))
    annotations = output.get("annotations", [])
    if not isinstance(annotations, list):
        raise malformed(f"{annotations!r} is not an array.")
    if len(annotations) > MOST_ANNOTATIONS:
        raise malformed(f"No more than {MOST_ANNOTATIONS} items are allowed; {len(annotations)} were supplied.")
    for annotation in annotations:
        _annotation(annotation)


def _output_length(name: str, text: str) -> None:
    if len(text) > LONGEST_OUTPUT:
        raise malformed(f"Only {LONGEST_OUTPUT} characters are allowed; {len(text)} were supplied.")
    # The column behind the schema counts bytes: https://github.com/github/docs/issues/35252
    if len(text.encode("utf-8", "surrogatepass")) > LONGEST_OUTPUT:
        raise invalid("CheckRun", name, "custom", f"{name} exceeds a maximum bytesize of {LONGEST_OUTPUT}")


def _annotation(annotation: Any) -> None:
    if not isinstance(annotation, dict):
        raise malformed(f"{annotation!r} is not an object.")
    _required(annotation, "path", "start_line", "end_line", "annotation_level", "message")
    for name in ("path", "message", "title", "raw_details"):
        _kind(annotation, name, str, "a string")
    for name in ("start_line", "end_line", "start_column", "end_column"):
        _kind(annotation, name, int, "an integer")
    _one_of(annotation, "annotation_level", LEVELS)
    if annotation["start_line"] < 1 or annotation["end_line"] < annotation["start_line"]:
        raise _annotation_fault("end_line", "end_line must be greater than or equal to start_line, which must be positive")
    if annotation["start_line"] != annotation["end_line"] and ("start_column" in annotation or "end_column" in annotation):
        raise _annotation_fault("start_column", "start_column and end_column may only be specified when start_line and end_line are equal")
    if annotation["path"].startswith("/") or not annotation["path"]:
        raise _annotation_fault("path", "path must be relative to the repository")
    for name in ("message", "raw_details"):
        if len(annotation.get(name, "").encode("utf-8", "surrogatepass")) > LONGEST_MESSAGE:
            raise _annotation_fault(name, f"{name} exceeds a maximum bytesize of {LONGEST_MESSAGE}")
    if len(annotation.get("title", "")) > LONGEST_ANNOTATION_TITLE:
        raise _annotation_fault("title", f"title is too long (maximum is {LONGEST_ANNOTATION_TITLE} characters)")


def _annotation_fault(field: str, message: str) -> Refusal:
    return invalid("CheckAnnotation", field, "custom", message)


def _actions(actions: Any) -> None:
    if not isinstance(actions, list):
        raise malformed(f"{actions!r} is not an array.")
    if len(actions) > MOST_ACTIONS:
        raise malformed(f"No more than {MOST_ACTIONS} items are allowed; {len(actions)} were supplied.")
    for action in actions:
        if not isinstance(action, dict):
            raise malformed(f"{action!r} is not an object.")
        _required(action, *ACTION_LENGTHS)
        for name, longest in ACTION_LENGTHS.items():
            _kind(action, name, str, "a string")
            if len(action[name]) > longest:
                raise malformed(f"Only {longest} characters are allowed; {len(action[name])} were supplied.")


def _required(body: Json, *names: str) -> None:
    for name in names:
        if name not in body:
            raise malformed(f'"{name}" wasn\'t supplied.')


def _kind(body: Json, name: str, kind: type, told: str) -> None:
    if name in body and (not isinstance(body[name], kind) or isinstance(body[name], bool)):
        raise malformed(f"For '{name}', {body[name]!r} is not {told}.")


def _one_of(body: Json, name: str, allowed: tuple[str, ...]) -> None:
    if name in body and body[name] not in allowed:
        raise malformed(f"For '{name}', {body[name]!r} is not a member of {list(allowed)}.")
