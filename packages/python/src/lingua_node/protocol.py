"""Reads and checks messages by the schemas that are printed from the protocol."""

from __future__ import annotations

import json
import pkgutil
import re
from functools import lru_cache
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, NoReturn, Optional, Sequence, cast

Schema = Mapping[str, Any]


class Problem(NamedTuple):
    #: Empty for the whole message, otherwise such as /audio_ref/url.
    path: str
    message: str


class Parsed(NamedTuple):
    """Either a message or a problem."""

    message: Optional[Dict[str, Any]]
    problem: Optional[Problem]


@lru_cache(maxsize=None)
def schemas() -> Mapping[str, Schema]:
    """The messages that a node receives, and job_result, by their type."""
    data = pkgutil.get_data(__package__ or "lingua_node", "schemas.json")
    if data is None:
        raise RuntimeError("the package lacks schemas.json: install it again")
    loaded: Mapping[str, Schema] = json.loads(data)
    return loaded


def parse_message(text: str) -> Parsed:
    """A message of the scheduler, or its first problem. Never raises."""
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        return Parsed(None, Problem("", f"not JSON: {error}"))
    if not isinstance(value, dict):
        return Parsed(None, Problem("", f"a message must be an object, not {kind_of(value)}"))
    fields = cast(Dict[str, Any], value)
    kind: Any = fields.get("type")
    schema = schemas().get(f"scheduler_to_node/{kind}")
    if schema is None:
        return Parsed(None, Problem("/type", f'"type" {json.dumps(kind)[:80]} is unknown'))
    return check(schema, fields)


def check_result(result: Dict[str, Any]) -> Optional[Problem]:
    return check(schemas()["node_to_scheduler/job_result"], result).problem


def check(schema: Schema, value: Dict[str, Any]) -> Parsed:
    """The value without its nulls, which mean absent for every optional field; or its first problem."""
    problems: List[Problem] = []
    checked = _checked(schema, value, "", problems)
    return Parsed(None, problems[0]) if problems else Parsed(checked, None)


def to_json(message: Mapping[str, Any]) -> str:
    """Raises ValueError or TypeError if JSON cannot represent the message."""
    return json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def kind_of(value: Any) -> str:
    for kind, name in ((bool, "a boolean"), (str, "a string"), (list, "a list"), (dict, "an object")):
        if isinstance(value, kind):
            return name
    return "null" if value is None else "a number"


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _checked(schema: Schema, value: Any, path: str, problems: List[Problem]) -> Any:
    # Numbers and texts are the most frequent; a schema without a type accepts everything.
    kind = schema.get("type")
    if "const" in schema and value != schema["const"]:
        return _problem(problems, path, f"must be {json.dumps(schema['const'])}")
    if kind == "object":
        return _checked_object(schema, value, path, problems)
    if kind == "array":
        return _checked_list(schema, value, path, problems)
    check_kind = _KINDS.get(str(kind))
    if check_kind is not None:
        check_kind(schema, value, path, problems)
    return value


def _checked_object(schema: Schema, value: Any, path: str, problems: List[Problem]) -> Any:
    if not isinstance(value, dict):
        return _problem(problems, path, f"must be an object, not {kind_of(value)}")
    given = cast(Dict[str, Any], value)
    required = schema.get("required", [])
    for name in required:
        if given.get(name) is None:
            return _problem(problems, f"{path}/{name}", "is missing")
    if len(given) > schema.get("maxProperties", len(given)):
        return _problem(problems, path, f"has more than {schema['maxProperties']} fields")
    fields, rest = schema.get("properties", {}), schema.get("additionalProperties", {})
    checked: Dict[str, Any] = {}
    for name, inner in given.items():
        if inner is None and "const" not in fields.get(name, {}):
            continue
        checked[name] = _checked(fields.get(name, rest), inner, f"{path}/{name}", problems)
    return checked


def _checked_list(schema: Schema, value: Any, path: str, problems: List[Problem]) -> Any:
    if not isinstance(value, list):
        return _problem(problems, path, f"must be a list, not {kind_of(value)}")
    given = cast(Sequence[Any], value)
    if len(given) > schema.get("maxItems", len(given)):
        return _problem(problems, path, f"has more than {schema['maxItems']} items")
    items = schema.get("items", {})
    return [_checked(items, item, f"{path}/{at}", problems) for at, item in enumerate(given)]


def _check_string(schema: Schema, value: Any, path: str, problems: List[Problem]) -> None:
    if not isinstance(value, str):
        _problem(problems, path, f"must be a string, not {kind_of(value)}")
    elif len(value) > schema.get("maxLength", len(value)):
        _problem(problems, path, f"is longer than {schema['maxLength']} characters")
    elif "pattern" in schema and not re.fullmatch(schema["pattern"], value):
        _problem(problems, path, f"must match {schema['pattern']}")
    elif "enum" in schema and value not in schema["enum"]:
        _problem(problems, path, f"must be one of {', '.join(schema['enum'])}")


def _check_boolean(_schema: Schema, value: Any, path: str, problems: List[Problem]) -> None:
    if not isinstance(value, bool):
        _problem(problems, path, f"must be a boolean, not {kind_of(value)}")


def _check_number(schema: Schema, value: Any, path: str, problems: List[Problem]) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        _problem(problems, path, f"must be a number, not {kind_of(value)}")
    elif schema["type"] == "integer" and value != int(value):
        _problem(problems, path, "must be a whole number")
    elif not schema.get("minimum", value) <= value <= schema.get("maximum", value):
        _problem(problems, path, f"must be from {schema.get('minimum')} to {schema.get('maximum')}")


_KINDS: Mapping[str, Callable[[Schema, Any, str, List[Problem]], None]] = {
    "string": _check_string,
    "boolean": _check_boolean,
    "number": _check_number,
    "integer": _check_number,
}


def _problem(problems: List[Problem], path: str, what: str) -> None:
    subject = f'"{path[1:].replace("/", ".")}"' if path else "the message"
    problems.append(Problem(path, f"{subject} {what}"))
