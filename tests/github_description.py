"""Is what we say to GitHub, and what the stand-in answers, what GitHub's own description of its API and webhooks allows?"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from jsonschema import Draft7Validator

from bot.demo.github import Hub
from bot.demo.github.exchange import Exchange
from tests.npm_packages import EXAMPLES, OPENAPI, SCHEMAS, file_of
from tests.openapi_schema import FORMATS, Json, Schemas, lines

BASIC = {"$ref": "#/components/schemas/basic-error"}
VALIDATION = {"$ref": "#/components/schemas/validation-error"}
ANYWHERE = {301, 304, 307, 400, 401, 403, 404, 410, 422, 429}
JSON_TYPES = ("application/json", "application/vnd.github+json", "application/vnd.github.v3+json")
# Where the description is wrong. An account in the list of installations is said to be a user and an enterprise; in one installation it is either. The head of a pull request has no repository (nor, once the account is gone, a user) after its fork was deleted.
NULL_AFTER_ALL = (("pull-request", "head", "repo"), ("pull-request-simple", "head", "repo"))
WORDS = {"integer": r"-?\d+", "boolean": "true|false"}


@dataclass(frozen=True)
class Operation:
    """One method of one path."""

    name: str
    pattern: re.Pattern[str]
    parameters: dict[str, Json]
    body: Json | None
    body_required: bool
    responses: Json


class Description:
    """GitHub's OpenAPI description."""

    def __init__(self, description: Json) -> None:
        self._document = description
        for schema, member, inner in NULL_AFTER_ALL:
            place = description["components"]["schemas"][schema]["properties"][member]["properties"]
            place[inner] = {"nullable": True, "allOf": [place[inner]]}
        listed = description["paths"]["/app/installations"]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
        listed["items"] = {"$ref": "#/components/schemas/installation"}
        # That labels may be sent as a bare list is told in words only.
        labels = description["paths"]["/repos/{owner}/{repo}/issues/{issue_number}/labels"]["post"]["requestBody"]["content"]["application/json"]["schema"]
        labels["oneOf"].append({"type": "array", "items": {"type": "string"}})
        self._schemas = Schemas(description)
        self._operations: dict[str, list[Operation]] = {}

    def departures(self, exchange: Exchange) -> list[str]:
        """Everything about an exchange that the description does not foresee, one line each. The answers of scripted faults are not looked at."""
        operation = self._find(exchange.method, exchange.path)
        if operation is None:
            return [f"{exchange.method} {exchange.path}: no such operation"]
        faults = [*self._of_query(operation, exchange), *_of_headers(exchange), *self._of_body(operation, exchange)]
        if not exchange.faulted:
            faults += self._of_response(operation, exchange)
        return [f"{operation.name}: {fault}" for fault in faults]

    def webhook_departures(self, event: str, payload: Json) -> list[str]:
        """What the description of webhooks does not foresee in a payload."""
        name = "-".join([event, *([payload["action"]] if "action" in payload else [])]).replace("_", "-")
        described = self._document["x-webhooks"].get(name)
        if described is None:
            return [f"{name}: not described"]
        return self._schemas.faults(described["post"]["requestBody"]["content"]["application/json"]["schema"], payload, name)

    def _find(self, method: str, path: str) -> Operation | None:
        if method not in self._operations:
            self._operations[method] = list(self._compile(method.lower()))
        return next((one for one in self._operations[method] if one.pattern.fullmatch(path)), None)

    def _compile(self, method: str) -> Iterator[Operation]:
        # The longer path wins, for some parameters hold slashes; then a fixed word over a parameter in the same place.
        for path in sorted(self._document["paths"], key=lambda one: (-one.count("/"), [part.startswith("{") for part in one.split("/")])):
            item = self._document["paths"][path]
            if method not in item:
                continue
            parameters = [self._parameter(one) for one in (*item.get("parameters", ()), *item[method].get("parameters", ()))]
            body = item[method].get("requestBody", {})
            schema = body.get("content", {}).get("application/json", {}).get("schema")
            query = {one["name"]: one for one in parameters if one["in"] == "query"}
            yield Operation(f"{method.upper()} {path}", _pattern(path, parameters), query, schema, body.get("required", False), item[method]["responses"])

    def _parameter(self, parameter: Json) -> Json:
        if "$ref" not in parameter:
            return parameter
        found: Json = self._document["components"]["parameters"][parameter["$ref"].rsplit("/", 1)[-1]]
        return found

    def _of_query(self, operation: Operation, exchange: Exchange) -> Iterator[str]:
        for name, word in exchange.query.items():
            if name not in operation.parameters:
                yield f"undeclared query parameter {name}"
                continue
            schema = operation.parameters[name]["schema"]
            kind = schema.get("type")
            if kind in WORDS and not re.fullmatch(WORDS[kind], word):
                yield f"query parameter {name}: {word!r} is not of type {kind!r}"
            elif kind == "string":
                yield from self._schemas.faults(schema, word, f"query parameter {name}")
        yield from (f"query parameter {name} is required" for name, one in operation.parameters.items() if one.get("required") and name not in exchange.query)

    def _of_body(self, operation: Operation, exchange: Exchange) -> list[str]:
        if exchange.body is None:
            return ["a body is required"] if operation.body_required else []
        if operation.body is None:
            return ["undeclared body"] if exchange.body != {} else []
        # What was refused may well have been wrong.
        invalid = [] if exchange.status in (400, 422) else self._schemas.faults(operation.body, exchange.body, "body")
        return invalid + self._schemas.undeclared(operation.body, exchange.body, "body")

    def _of_response(self, operation: Operation, exchange: Exchange) -> list[str]:
        status = str(exchange.status)
        if status not in operation.responses and exchange.status not in ANYWHERE and exchange.status < 500:
            return [f"undeclared status {status}"]
        if exchange.status >= 300:
            return self._of_error(exchange)
        declared = operation.responses[status]
        if "$ref" in declared:
            declared = self._document["components"]["responses"][declared["$ref"].rsplit("/", 1)[-1]]
        schema = declared.get("content", {}).get("application/json", {}).get("schema")
        if schema is None:
            return [f"a body with status {status}"] if exchange.response is not None else []
        if exchange.response is None:
            return [] if _asked_for_text(exchange) else [f"no JSON with status {status}"]
        return self._schemas.faults(schema, exchange.response, f"response {status}")

    def _of_error(self, exchange: Exchange) -> list[str]:
        if exchange.status == 304:
            return []
        if not isinstance(exchange.response, dict) or "message" not in exchange.response:
            return [f"response {exchange.status}: no message"]
        return self._schemas.faults(VALIDATION if "errors" in exchange.response else BASIC, exchange.response, f"response {exchange.status}")


def _pattern(path: str, parameters: list[Json]) -> re.Pattern[str]:
    inside = {one["name"]: one for one in parameters if one["in"] == "path"}

    def part(match: re.Match[str]) -> str:
        one = inside.get(match[1], {})
        if one.get("schema", {}).get("type") == "integer":
            return r"\d+"
        return ".*" if one.get("x-multi-segment") else "[^/]+"

    return re.compile(re.sub(r"\\\{(\w+)\\\}", part, re.escape(path)))


def _of_headers(exchange: Exchange) -> Iterator[str]:
    headers = {name.lower(): value for name, value in exchange.request_headers.items()}
    if not headers.get("user-agent"):
        yield "no User-Agent: GitHub answers 403"
    accept = headers.get("accept", "*/*")
    if not any(one in accept for one in ("*/*", "json", "application/vnd.github")):
        yield f"Accept {accept!r} is nothing that GitHub sends"
    if exchange.body is not None and "json" not in headers.get("content-type", ""):
        yield "a JSON body without its Content-Type"


def _asked_for_text(exchange: Exchange) -> bool:
    accept = {name.lower(): value for name, value in exchange.request_headers.items()}.get("accept", "*/*")
    return not any(kind in accept for kind in JSON_TYPES) and "vnd.github" in accept


@cache
def description() -> Description:
    """The pinned description, loaded once."""
    return Description(json.loads(file_of(OPENAPI, "generated/api.github.com.json").read_bytes()))


@cache
def _webhooks() -> Json:
    loaded: Json = json.loads(file_of(SCHEMAS, "schema.json").read_bytes())
    return loaded


@cache
def _webhook_validator(name: str) -> Draft7Validator:
    return Draft7Validator({"$ref": f"#/definitions/{name}", "definitions": _webhooks()["definitions"]}, format_checker=FORMATS)


def webhook_departures(event: str, payload: Json) -> list[str]:
    """What a payload has or lacks that GitHub's webhook schemas do not foresee: the strict ones of the package, and the newer ones of the
    description."""
    name = f"{event}${payload.get('action', 'event')}"
    if name not in _webhooks()["definitions"]:
        return [f"{name}: no such event"]
    strict = [f"{name}{line}" for line in lines(_webhook_validator(name).iter_errors(payload))]
    return strict + description().webhook_departures(event, payload)


@cache
def examples() -> dict[str, list[Json]]:
    """GitHub's real example payloads by event."""
    loaded: list[Any] = json.loads(file_of(EXAMPLES, "api.github.com/index.json").read_bytes())
    return {one["name"]: one["examples"] for one in loaded}


def departures_of(hub: Hub) -> list[str]:
    """Departures of every request, answer and webhook so far."""
    spoken = [fault for exchange in hub.requests for fault in description().departures(exchange)]
    return spoken + [fault for delivery in hub.deliveries for fault in webhook_departures(delivery.event, delivery.payload)]


def check_hub(hub: Hub) -> None:
    """Fail with the list of departures, if there are any."""
    found = departures_of(hub)
    assert not found, "\n".join(found)
