"""Every answer that a test gets over HTTP has the shape that its route documents: no field without a name, types right.

The service answers what its services tell, without asking a model again (`api.http.routing.Json`): the client of the tests does.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from http import HTTPStatus
from typing import Any, TypeVar

import httpx2
import orjson
from fastapi import FastAPI
from fastapi.routing import APIRoute
from pydantic import TypeAdapter, ValidationError

from engramlog import answers
from engramlog.answers import Result
from engramlog_server.api.http.problem import SCHEMAS
from engramlog_server.api.http.routing import LazyRoute

JSON = "application/json"
R = TypeVar("R", bound=Result)


class OutOfShape(AssertionError):
    """An answer is not what its route documents: the service says more, or something else, than the document."""


def shape_checks(
    app: FastAPI, on_checked: Callable[[str], None] = lambda _route: None
) -> Callable[[httpx2.Response], None]:
    """What looks at an answer of `app` before a test does; raises OutOfShape. Problems and streams are left alone.

    `on_checked` is told the method and path of a route whose answer had its shape.
    """
    routes = [one for one in app.routes if isinstance(one, LazyRoute | APIRoute)]

    def kind_of(method: str, path: str, status: int) -> tuple[str, type[Result] | None]:
        for route in routes:
            if method in (route.methods or ()) and route.path_regex.match(path):
                documented: dict[Any, Any] = (route.route if isinstance(route, LazyRoute) else route).responses
                if not documented:
                    return path, None
                if status not in documented:
                    raise OutOfShape(f"{method} {route.path}: {status} is not among its answers")
                schema = documented[status].get("content", {}).get(JSON, {}).get("schema", {})
                named = schema.get("$ref", "").removeprefix(SCHEMAS)
                return f"{method} {route.path}", getattr(answers, named) if named else None
        return path, None

    def check(response: httpx2.Response) -> None:
        if response.status_code >= HTTPStatus.MULTIPLE_CHOICES or response.headers.get("content-type") != JSON:
            return
        path = response.request.url.raw_path.decode().partition("?")[0]
        name, kind = kind_of(response.request.method, path, response.status_code)
        if kind is not None:
            check_shape(kind, response.read(), f"{response.request.method} {path}")
            on_checked(name)

    return check


def check_shape(kind: type[Result], body: bytes, where: str) -> None:
    """Raises OutOfShape if a body is not of this kind: a field without a name, also in its parts, is one too many."""
    try:
        _adapter(kind).validate_json(_renamed(body), strict=True, extra="forbid")
    except ValidationError as refused:
        told = [
            f"{'.'.join(map(str, one['loc']))}: {one['type']}, {str(one['input'])[:80]!r}" for one in refused.errors()
        ]
        raise OutOfShape(f"{where} answers otherwise than {kind.__name__} says: {'; '.join(told[:20])}") from None


def checked(kind: type[R], answer: Any) -> R:
    """An answer of a service. Raises OutOfShape if it is not of this kind."""
    check_shape(kind, orjson.dumps(answer), "the service")
    return kind.decode(answer)


def _renamed(body: bytes) -> bytes:
    """Keys that are keywords of Python as the fields are called."""
    return body.replace(b'"from":', b'"from_":')


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)
