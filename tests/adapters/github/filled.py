"""What GitHub's description demands of an answer or an event and the model does not know, filled in by its type."""

import functools
import json
from typing import Any

from tests.adapters.github.description import DATA

Json = dict[str, Any]
_BY_FORMAT = {"date-time": "2026-01-05T09:00:00Z", "uri": "https://github.com/octo"}
_BY_TYPE: Json = {"string": "", "integer": 0, "number": 0, "boolean": False, "array": []}


def filled_answer(method: str, template: str, status: int, told: Any) -> Any:
    """The body of a route's answer, whole."""
    if not told:
        return told
    answer = _resolved(_description()["paths"][template][method.lower()]["responses"][str(status)])
    return _filled(told, answer["content"]["application/json"]["schema"])


def filled_event(name: str, told: Json) -> Json:
    """An event, whole; ``name`` is such as ``pull-request-opened``."""
    body = _description()["x-webhooks"][name]["post"]["requestBody"]
    whole: Json = _filled(told, body["content"]["application/json"]["schema"])
    return whole


@functools.cache
def _description() -> Json:
    described: Json = json.loads((DATA / "rest.json").read_text(encoding="utf-8"))
    return described


def _resolved(schema: Json) -> Json:
    while "$ref" in schema:
        _, *steps = schema["$ref"].split("/")
        schema = functools.reduce(lambda part, step: part[step], steps, _description())
    return schema


def _filled(told: Any, schema: Json) -> Any:
    """What is told, and what else must be there."""
    if isinstance(told, list):
        lists = [_resolved(part) for part in (schema, *schema.get("oneOf", ()))]
        items: Json = next((part["items"] for part in lists if "items" in part), {})
        return [_filled(each, items) for each in told]
    schema = _object(schema)
    if not isinstance(told, dict):
        return told
    fields = schema.get("properties", {})
    whole = {name: _filled(value, fields.get(name, {})) for name, value in told.items()}
    return whole | {name: _made_up(fields[name]) for name in schema.get("required", ()) if name not in told}


def _object(schema: Json) -> Json:
    """A schema with the fields of all that it is, or of the first object that it may be."""
    schema = _resolved(schema)
    choices = map(_object, (*schema.get("oneOf", ()), *schema.get("anyOf", ())))
    parts = [*map(_object, schema.get("allOf", ())), *[part for part in choices if "properties" in part][:1]]
    for part in parts:
        fields = {**part.get("properties", {}), **schema.get("properties", {})}
        required = [*part.get("required", ()), *schema.get("required", ())]
        schema = {**part, **schema, "properties": fields, "required": required}
    return schema


def _made_up(schema: Json) -> Any:
    schema = _resolved(schema)
    for part in (*schema.get("oneOf", ()), *schema.get("anyOf", ())):
        return _made_up(part)  # null counts where one of these takes it
    schema = _object(schema)
    if schema.get("nullable"):
        return None
    if "enum" in schema:
        return schema["enum"][0]
    if "type" not in schema or schema["type"] == "object":
        return _filled({}, schema)
    return _BY_FORMAT.get(schema.get("format", ""), _BY_TYPE[schema["type"]])
