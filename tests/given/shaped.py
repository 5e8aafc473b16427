"""Every answer that a test gets over HTTP has the shape that its route documents: no field without a name, types right.

The service answers what its services tell, without asking a model again (`api.http.answer.Json`): the client of the tests does.
"""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from typing import Any

import httpx2
from fastapi import FastAPI
from fastapi.routing import iter_route_contexts
from pydantic import BaseModel, ValidationError

JSON = "application/json"


class OutOfShape(AssertionError):
    """An answer is not what its route documents: the service says more, or something else, than the document."""


def shape_checks(
    app: FastAPI, on_checked: Callable[[str], None] = lambda _route: None
) -> Callable[[httpx2.Response], None]:
    """What looks at an answer of `app` before a test does; raises OutOfShape. Problems and streams are left alone.

    `on_checked` is told the method and path of a route whose answer had its shape.
    """
    routes = [one for one in iter_route_contexts(app.routes) if getattr(one, "responses", None)]

    def model_of(method: str, path: str, status: int) -> tuple[str, type[BaseModel] | None]:
        for route in routes:
            if method in (route.methods or ()) and route.path_regex.match(path):
                documented: dict[Any, dict[str, Any]] = route.responses
                if status not in documented:
                    raise OutOfShape(f"{method} {route.path}: {status} is not among its answers")
                model: type[BaseModel] | None = documented[status].get("model")
                return f"{method} {route.path}", model
        return path, None

    def check(response: httpx2.Response) -> None:
        if response.status_code >= HTTPStatus.MULTIPLE_CHOICES or response.headers.get("content-type") != JSON:
            return
        path = response.request.url.raw_path.decode().partition("?")[0]
        name, model = model_of(response.request.method, path, response.status_code)
        if model is not None:
            check_shape(model, response.read(), f"{response.request.method} {path}")
            on_checked(name)

    return check


def check_shape(model: type[BaseModel], body: bytes, where: str) -> None:
    """Raises OutOfShape where a body is not of this model: also in its inner models a field of no name is one too many."""
    try:
        model.model_validate_json(body, strict=True, extra="forbid")
    except ValidationError as refused:
        told = [
            f"{'.'.join(map(str, one['loc']))}: {one['type']}, {str(one['input'])[:80]!r}" for one in refused.errors()
        ]
        raise OutOfShape(f"{where} answers otherwise than {model.__name__} says: {'; '.join(told[:20])}") from None
