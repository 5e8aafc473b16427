"""The door of commands at the store: whoever may open the store asks through the service what he would ask by himself.

It is no part of the API. It opens to a process of the service's own user, on the socket in the data folder, who shows the token:
all of that he could do to the store itself, so what he asks comes in as a command at the store. What the service does not
answer for him it leaves to him, before anything is done.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from typing import Any, Final

from fastapi import Request
from starlette.exceptions import HTTPException
from starlette.responses import Response

from api.application import Application
from api.http.admitted import admission_of
from api.http.asking import parts_of
from api.http.made import new_router
from api.http.parsing import by_thread, read_json
from api.http.server.connection import AT_THE_FOLDER
from api.operations.definition import Given, Operation
from api.operations.groups import ALL
from api.requests.secrets import refusal_told
from api.requests.speaking import come_in_by
from api.work.classes import Work
from api.work.patience import NeedsHeavyLane, Patience, with_patience
from events.errors import DeadlineExceeded, EngramlogError, ServerBusy, StoreUnavailable, TooManyRequests

ADDRESS: Final = "/v1/command"
MARK: Final = {"engramlog-command": "1", "cache-control": "no-store"}
"""A header by which a command knows that this door answered."""
ASKED: Mapping[str, Operation] = {one.path: one for one in ALL if one.asks}
"""What may be asked here, by path."""
LEFT = (TooManyRequests, ServerBusy, StoreUnavailable, DeadlineExceeded)
"""A command has a way of its own where the service has not the room or the time."""
AnswersFor = Callable[[Mapping[str, Any]], bool]
"""Whether the service would answer as the command by itself: what the command says of its code and settings."""
router = new_router()


class _Left(EngramlogError):
    """The command is to ask by itself."""


def for_nobody(_asked: Mapping[str, Any]) -> bool:
    """Answers for no command: what holds where nothing was said."""
    return False


async def command(request: Request) -> Response:
    """Answer a command's question, refuse it in the words of a command, or leave it to the command."""
    if request.scope.get("client") != (AT_THE_FOLDER, os.geteuid()):
        raise HTTPException(HTTPStatus.NOT_FOUND)
    asked = await by_thread(request, read_json)
    try:
        operation, given = _understood(asked, request.app.state.answers_for)
        call = partial(come_in_by, "terminal", _answered, (await parts_of(request)).application, operation, given)
        told: bytes = await admission_of(request).run(Work.LIGHT, str(given["owner"]), call)
    except (_Left, *LEFT) as error:
        told = json.dumps({"left": error.message}).encode()
    except EngramlogError as error:
        told = json.dumps({"refused": refusal_told(error), "exit_code": error.exit_code}, default=str).encode()
    return Response(told, media_type="application/json", headers=MARK)


def _understood(asked: Any, answers_for: AnswersFor) -> tuple[Operation, Given]:
    """The operation and what it is told. Raises what leaves it to the command for anything else than that."""
    named = isinstance(asked, dict) and {"code", "settings", "place", "path", "given"} <= asked.keys()
    operation = ASKED.get(asked["path"]) if named and isinstance(asked["path"], str) else None
    given = asked["given"] if operation is not None else None
    if operation is None or not isinstance(given, dict) or not isinstance(given.get("owner"), str):
        raise _Left("no such question")
    recording = {"trace", "inspect"} if operation.traces else set()
    if not given.keys() <= {*operation.subject, *(one.name for one in operation.question), *recording}:
        raise _Left("no such question")
    if not answers_for(asked):
        raise _Left("another release, or other settings")
    return operation, given


def _answered(application: Application, operation: Operation, given: Given) -> bytes:
    """The answer as JSON that reads back exactly; what it recorded is folded, as at the end of a command."""
    past = any(given.get(name) is not None for name in ("as_of", "known"))
    try:
        if past:  # what is long shows a bar where the command itself folds it, and may take as long as it takes
            with with_patience(Patience(light=True)):
                answer = operation.ask(application, given)
        else:
            answer = operation.ask(application, given)
    except NeedsHeavyLane:
        if past:
            raise _Left("a long past") from None
        raise
    if operation.traces:
        with suppress(EngramlogError):  # it was answered: what hinders folding is told by alarms
            application.settle()
    return json.dumps({"answer": answer}, default=str).encode()


router.add_api_route(ADDRESS, command, methods=["POST"], include_in_schema=False)
