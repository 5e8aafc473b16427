"""An answer of every route, for the OpenAPI document: recorded from one small story, with lists and mappings cut short."""

from __future__ import annotations

import re
from pathlib import Path
from socket import gethostname
from tempfile import TemporaryDirectory
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import orjson

from engramlog import answers
from engramlog.answers import Result
from engramlog_server.api.http.document import EXAMPLES
from engramlog_server.api.http.problem import SCHEMAS
from tests.given.asking import Asking, Json, first_answers, story
from tests.given.shaped import JSON

ITEMS = 2
"""Most items of a list or of a mapping."""
SECRET = re.compile(r"\beg(l|c1|s1)_[\w.-]+")


def recorded(asking: Asking) -> dict[str, Json]:
    """The answers by method and path."""
    found: dict[str, Json] = {}
    paths = asking.document["paths"]
    for one in first_answers(asking):
        method, _, path = one.route.partition(" ")
        schema = paths[path][method.lower()]["responses"]["200"]["content"].get(JSON, {}).get("schema", {})
        if "$ref" in schema:
            kind = getattr(answers, schema["$ref"].removeprefix(SCHEMAS))
            found[one.route] = _short(orjson.loads(one.text), kind)
    return found


def _short(value: Any, hint: Any) -> Any:
    """The value with at most two items of each list and mapping."""
    if isinstance(value, dict):
        if (kind := _of(hint, Result)) is not None:
            hints = get_type_hints(kind)
            return {name: _short(one, hints.get(name, hints.get(f"{name}_"))) for name, one in value.items()}
        of = get_args(_of(hint, dict))
        return {name: _short(one, of[1] if of else Any) for name, one in list(value.items())[:ITEMS]}
    if isinstance(value, list):
        of = get_args(_of(hint, list))
        return [_short(one, of[0] if of else Any) for one in value[:ITEMS]]
    return value


def _of(hint: Any, kind: type) -> Any:
    """The part of a type that is of this kind; None if it has none."""
    for one in get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,):
        origin = get_origin(one) or one
        if isinstance(origin, type) and issubclass(origin, kind):
            return one
    return None


def main() -> None:
    """Write them."""
    with TemporaryDirectory() as folder, story(Path(folder)) as asking:
        lines = [b"%s: %s" % (orjson.dumps(route), orjson.dumps(answer)) for route, answer in recorded(asking).items()]
        text = b"{\n" + b",\n".join(lines) + b"\n}\n"
        text = SECRET.sub(lambda met: met[0][:8] + "...", text.decode()).replace(folder, "/var/lib/engramlog").encode()
        text = text.replace(f'"{gethostname()}-'.encode(), b'"host-')
    EXAMPLES.write_bytes(text)


if __name__ == "__main__":
    main()
