"""Routes made of operations: path, shape of query or body, answers, and the call."""

from __future__ import annotations

import builtins
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from inspect import Parameter as Argument
from inspect import Signature, iscoroutinefunction
from typing import Annotated, Any

from fastapi import APIRouter, Body, Depends, Query, Request
from pydantic import BaseModel, ConfigDict, Field, create_model
from starlette.responses import Response

from api.http.admitted import LazyRoute
from api.http.answer import Json, documented
from api.http.asking import AskedParts, MemoryId, Owner, Partition, Parts, Question, Speaker, TurnId, Unrevealed
from api.operations.definition import NEVER, REQUIRED, SPEAKER, Given, Operation, Parameter, Record
from events.errors import refused

SUBJECTS: dict[str, Any] = {"owner": Owner, "memory_id": MemoryId, "turn_id": TurnId, "partition": Partition}
KINDS: dict[Any, Any] = {SPEAKER: Speaker, NEVER: Unrevealed}
Timed = Callable[[Parts], AbstractContextManager[Any]]


class PostedBody(BaseModel):
    """A JSON body; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid")


def routes_of(operations: Iterable[Operation]) -> APIRouter:
    """A router of these operations, in their order."""
    router = new_router()
    for operation in operations:
        add(router, operation)
    return router


def new_router(tag: str | None = None) -> APIRouter:
    """A router whose endpoints run where their class of work says."""
    lazy: Any = LazyRoute
    return APIRouter(tags=None if tag is None else [tag], route_class=lazy)


def add(router: APIRouter, operation: Operation, timed: Timed = lambda _parts: nullcontext()) -> None:
    """Add the route of an operation. `timed` surrounds the call."""
    refused_ones = {one.name for one in operation.question if one.kind == NEVER}

    def endpoint(parts: Parts, asked: Any = None, **subject: str) -> Response:
        given = (asked or shape_of(operation)()).model_dump(exclude=refused_ones)
        with timed(parts):
            answer = operation.ask(parts.application, subject | given | dict(operation.fixed))
        return Json(answer)

    register(router, operation, endpoint)


def register(
    router: APIRouter,
    operation: Operation,
    endpoint: Callable[..., Any],
    responses: dict[Any, Any] | None = None,
    sent: Any = None,
    **route: Any,
) -> None:
    """Add a route with an endpoint of its own: it is given `parts`, the subject by name, and `asked`, an object or None; where
    it is a coroutine, `request` too.

    `sent`: the kind of a body that is posted beside a question in the address. `route`: what else FastAPI is told.
    """

    def options() -> dict[str, Any]:
        def called(**given: Any) -> Any:
            return endpoint(**given)

        awaited = iscoroutinefunction(endpoint)
        if awaited:
            called = _awaited(endpoint)
        called.__name__ = operation.endpoint or operation.name + "_" * (operation.name in dir(builtins))
        called.__doc__ = operation.route_help or operation.described
        called.__signature__ = _signature(operation, sent, asks_itself=awaited)  # type: ignore[attr-defined]
        return {
            "endpoint": called,
            "summary": operation.title,
            "tags": [operation.tag],
            "responses": answers_of(operation) if responses is None else responses,
            "dependencies": [Depends(_asked_once(operation))],
            **route,
        }

    method = "GET" if operation.body is None and sent is None else "POST"
    router.routes.append(LazyRoute.deferred(operation.path, method, operation.work, options))


def _awaited(endpoint: Callable[..., Any]) -> Callable[..., Any]:
    async def called(**given: Any) -> Any:
        return await endpoint(**given)

    return called


def _asked_once(operation: Operation) -> Callable[[Request], Awaitable[None]]:
    """What refuses a name that stands twice in the address, or stands there where a body is asked for: neither would be heard."""
    posted = operation.body is not None
    several = {one.name_told for one in operation.question if "list[" in str(one.kind)}

    async def checked(request: Request) -> None:
        for name, count in Counter(name for name, _ in request.query_params.multi_items()).items():
            if posted:
                raise refused(name, request.query_params[name], "in the body; the address has no question here")
            if count > 1 and name not in several:
                raise refused(name, request.query_params.getlist(name), "one of them")

    return checked


def answers_of(operation: Operation) -> dict[Any, Any]:
    """The documented answers of an operation, and what it may be refused with."""
    return documented(operation.answer, operation.told, *operation.statuses)


@cache
def shape_of(operation: Operation) -> type[BaseModel]:
    """The model of an operation's query or body."""
    if operation.body is None:
        return _model(operation.name, operation.summary, Question, operation.question)
    return _model(operation.body.name, operation.body.purpose, PostedBody, operation.question)


def _model(name: str, purpose: str, base: type[BaseModel], parameters: Iterable[Parameter]) -> type[BaseModel]:
    fields: Given = {one.name: _field(one) for one in parameters if one.route}
    return create_model(name, __base__=base, __doc__=purpose, **fields)


def _field(parameter: Parameter) -> tuple[Any, Any]:
    told: Given = {"description": parameter.description, **parameter.bounds}
    if parameter.examples:
        told["examples"] = list(parameter.examples)
    if parameter.wire:
        told["alias"] = parameter.wire
    told["default_factory" if isinstance(parameter.default, type) else "default"] = parameter.default
    return _kind(parameter.kind), Field(**told)


def _kind(kind: Any) -> Any:
    if isinstance(kind, Record):
        return _record(kind)
    if isinstance(kind, list):  # of records; with None beside them it may be left out
        listed: Any = list[_kind(kind[0])]  # type: ignore[misc]
        return listed | None if None in kind else listed
    return KINDS.get(kind, kind) if isinstance(kind, str) else kind


@cache
def _record(record: Record) -> type[BaseModel]:
    return _model(record.name, record.purpose, PostedBody, record.fields)


def _signature(operation: Operation, sent: Any, *, asks_itself: bool = False) -> Signature:
    arguments = [Argument("parts", Argument.KEYWORD_ONLY, annotation=AskedParts)]
    if asks_itself:  # for admission, which nobody asks for it
        arguments.append(Argument("request", Argument.KEYWORD_ONLY, annotation=Request))
    arguments += [Argument(one, Argument.KEYWORD_ONLY, annotation=SUBJECTS[one]) for one in operation.subject]
    if sent is not None:
        arguments.append(Argument("sent", Argument.KEYWORD_ONLY, annotation=sent))
    if operation.body is not None and not operation.question:
        return Signature(arguments)
    shape: Any = shape_of(operation)
    if operation.body is None:  # also without a question: what is told in the address all the same is refused
        arguments.append(Argument("asked", Argument.KEYWORD_ONLY, annotation=Annotated[shape, Query()]))
        return Signature(arguments)
    body = Body(openapi_examples=dict(operation.body.examples))
    if operation.body.required or any(one.default is REQUIRED for one in operation.question):
        arguments.append(Argument("asked", Argument.KEYWORD_ONLY, annotation=Annotated[shape, body]))
    else:
        said = Annotated[shape | None, body]
        arguments.append(Argument("asked", Argument.KEYWORD_ONLY, annotation=said, default=None))
    return Signature(arguments)
