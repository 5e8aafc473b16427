"""Schemas of answers in the OpenAPI document, made of the client's classes. Loaded when the document is first asked for."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields
from datetime import datetime
from functools import cache
from inspect import cleandoc, getsource
from itertools import pairwise
from sys import modules
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from engramlog import answers
from engramlog.answers import Result
from engramlog_server.api.http.problem import Schema

OF_THE_CLIENT = frozenset({"event_ids"})
"""Fields that the client sets and the service never sends."""
_PLAIN: Mapping[Any, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    NoneType: {"type": "null"},
    datetime: {"type": "string", "format": "date-time"},
    dict: {"type": "object"},
    Any: {},
}


def schemas(names: Iterable[str]) -> dict[str, Schema]:
    """The schemas of these answers and of all their parts, by name."""
    made: dict[str, Schema] = {}
    for name in names:
        _add(getattr(answers, name), made)
    return made


def _add(kind: type[Result], made: dict[str, Schema]) -> None:
    if kind.__name__ in made:
        return
    made[kind.__name__] = {}  # it may hold itself
    hints, texts = get_type_hints(kind), _texts(kind)
    properties, required = dict[str, Schema](), list[str]()
    for one in fields(kind):  # type: ignore[arg-type]
        if one.name in OF_THE_CLIENT:
            continue
        name = one.name.rstrip("_")
        default = one.default if one.default_factory is MISSING else one.default_factory()
        properties[name] = (
            _schema(hints[one.name], made)
            | ({"description": texts[one.name]} if one.name in texts else {})
            | ({} if default is MISSING else {"default": default})
        )
        if default is MISSING:
            required.append(name)
    described = {"type": "object", "title": kind.__name__, "description": cleandoc(kind.__doc__ or "")}
    made[kind.__name__] |= described | {"properties": properties} | ({"required": required} if required else {})


def _schema(hint: Any, made: dict[str, Schema]) -> Schema:
    origin, parts = get_origin(hint), get_args(hint)
    if isinstance(hint, type) and issubclass(hint, Result):
        _add(hint, made)
        return {"$ref": f"#/components/schemas/{hint.__name__}"}
    if origin in (Union, UnionType):
        return {"anyOf": [_schema(one, made) for one in parts]}
    if origin is Literal:
        return {"enum": list(parts), **_PLAIN[type(parts[0])]}
    if origin is list:
        return {"type": "array", "items": _schema(parts[0], made)}
    if origin is dict:
        return {"type": "object", "additionalProperties": _schema(parts[1], made)}
    return dict(_PLAIN[hint])


def _texts(kind: type[Result]) -> dict[str, str]:
    """What the source says below each field, also of the classes above."""
    found: dict[str, str] = {}
    for one in reversed(kind.__mro__[:-1]):
        found |= _texts_in(one.__module__).get(one.__name__, {})
    return found


@cache
def _texts_in(module: str) -> dict[str, dict[str, str]]:
    tree = ast.parse(getsource(modules[module]))
    return {one.name: dict(_below(one.body)) for one in tree.body if isinstance(one, ast.ClassDef)}


def _below(body: list[ast.stmt]) -> Iterable[tuple[str, str]]:
    for statement, text in pairwise(body):
        match statement, text:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(described))):
                yield name, cleandoc(described).replace("\n", " ")
