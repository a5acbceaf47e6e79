"""Schemas of OpenAPI 3.0 as JSON Schema: `nullable` becomes a type, references are followed lazily."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import ValidationError, best_match
from referencing import Registry
from referencing.jsonschema import DRAFT202012

Json = dict[str, Any]
ROOT = "urn:description"
KEPT = {"type", "enum", "required", "format", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "pattern", "minProperties", "maxProperties"}
EVENTS = {"check_suite", "workflow_run"}
FORMATS = FormatChecker(formats=())


@FORMATS.checks("date-time", raises=ValueError)
def _is_date_time(value: object) -> bool:
    return not isinstance(value, str) or datetime.datetime.fromisoformat(value).tzinfo is not None


@FORMATS.checks("uri", raises=ValueError)
def _is_uri(value: object) -> bool:
    return not isinstance(value, str) or bool(urlsplit(value).scheme)


def to_json_schema(schema: Json) -> Json:
    """The same demands in the words of JSON Schema 2020-12."""
    if "$ref" in schema:
        return {"$ref": ROOT + schema["$ref"]}
    made: Json = {key: schema[key] for key in KEPT & schema.keys()}
    if set(map(str, schema.get("enum", ()))) >= EVENTS:
        # The lists of what an App can subscribe to are of different ages; most lack `merge_group`.
        del made["enum"]
    for key in ("oneOf", "anyOf", "allOf"):
        if key in schema:
            # Alternatives of the description overlap (integer and number, two objects without required members): any will do.
            made["anyOf" if key == "oneOf" else key] = [to_json_schema(one) for one in schema[key]]
    if "properties" in schema:
        made["properties"] = {name: to_json_schema(one) for name, one in schema["properties"].items()}
    if "items" in schema:
        made["items"] = to_json_schema(schema["items"])
    if isinstance(schema.get("additionalProperties"), dict):
        made["additionalProperties"] = to_json_schema(schema["additionalProperties"])
    elif schema.get("additionalProperties") is False:
        made["additionalProperties"] = False
    return {"anyOf": [{"type": "null"}, made]} if schema.get("nullable") else made


class _Lazy(dict[str, Any]):
    """Components converted when they are first referred to."""

    def __init__(self, sources: Json) -> None:
        super().__init__()
        self._sources = sources

    def __missing__(self, name: str) -> Json:
        self[name] = to_json_schema(self._sources[name])
        return dict.__getitem__(self, name)


class Schemas:
    """Validates values against schemas of a description."""

    def __init__(self, description: Json) -> None:
        self._components: Json = description["components"]["schemas"]
        root = {"components": {"schemas": _Lazy(self._components)}}
        self._registry: Registry[Any] = Registry().with_resource(ROOT, DRAFT202012.create_resource(root))
        self._validators: dict[int, Draft202012Validator] = {}

    def faults(self, schema: Json, value: Any, where: str) -> list[str]:
        """What does not fit, one line a fault."""
        validator = self._validators.get(id(schema))
        if validator is None:
            validator = self._validators[id(schema)] = Draft202012Validator(to_json_schema(schema), registry=self._registry, format_checker=FORMATS)
        return [f"{where}{line}" for line in lines(validator.iter_errors(value))]

    def resolve(self, schema: Json) -> Json:
        """A schema behind its reference."""
        while "$ref" in schema:
            schema = self._components[schema["$ref"].rsplit("/", 1)[-1]]
        return schema

    def undeclared(self, schema: Json, value: Any, where: str) -> list[str]:
        """Members of a value that no alternative of its schema lists; schemas that list none take any."""
        if isinstance(value, list):
            items = [one["items"] for one in self._alternatives(schema) if "items" in one]
            return [] if not items else [fault for index, one in enumerate(value) for fault in self.undeclared({"anyOf": items}, one, f"{where}[{index}]")]
        if not isinstance(value, dict):
            return []
        listed: dict[str, list[Json]] = {}
        for one in self._alternatives(schema):
            if one.get("additionalProperties"):
                return []
            for name, inner in one.get("properties", {}).items():
                listed.setdefault(name, []).append(inner)
        faults = [f"{where}.{name}: not in the description" for name in value if listed and name not in listed]
        return faults + [fault for name, inner in value.items() if name in listed for fault in self.undeclared({"anyOf": listed[name]}, inner, f"{where}.{name}")]

    def _alternatives(self, schema: Json) -> Iterator[Json]:
        found = self.resolve(schema)
        yield found
        for key in ("oneOf", "anyOf", "allOf"):
            for one in found.get(key, ()):
                yield from self._alternatives(one)


def lines(errors: Iterator[ValidationError]) -> Iterator[str]:
    """Errors in short, those inside alternatives by the likeliest."""
    for error in errors:
        deepest = best_match([error]) or error
        place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in deepest.absolute_path)
        yield f"{place}: {deepest.message[:300]}"
