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
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import Any, Final, cast

from fastapi import Request
from starlette.exceptions import HTTPException
from starlette.responses import Response

from engramlog_server.api.access import MADE_WHOLE
from engramlog_server.api.application import Application
from engramlog_server.api.checks import come_in_by
from engramlog_server.api.http.callers import caller_in
from engramlog_server.api.http.routing import admission_of, by_thread, new_router, parts_of, read_json
from engramlog_server.api.http.serve import AT_THE_FOLDER, FORWARDED
from engramlog_server.api.operations.definition import Given, Operation
from engramlog_server.api.operations.events import without_waiting
from engramlog_server.api.work import NeedsHeavyLane, Patience, Work, with_patience
from engramlog_server.events.errors import (
    DeadlineExceeded,
    EngramlogError,
    ServerBusy,
    StoreUnavailable,
    TooManyRequests,
)

ADDRESS: Final = "/v1/command"
MARK: Final = {"engramlog-command": "1", "cache-control": "no-store"}
"""A header by which a command knows that this door answered."""
SERVED: Mapping[tuple[str, str], Operation] = {one.route: one for one in (*MADE_WHOLE, without_waiting()) if one.served}
"""What may be asked and told here, by method and path."""
LEFT = (TooManyRequests, ServerBusy, StoreUnavailable, DeadlineExceeded)
"""A command has a way of its own where the service has not the room or the time."""
MOMENT_SECONDS: Final = 2.0
"""How long a heavy question of a command may take here: it has a light one's place."""
AnswersFor = Callable[[Mapping[str, Any]], bool]
"""Whether the service would answer as the command by itself: what the command says of its code and settings."""
router = new_router()


class _Left(EngramlogError):
    """The command is to ask by itself."""


def answers_nothing(_asked: Mapping[str, Any]) -> bool:
    """Answers for no command: what holds where nothing was said."""
    return False


async def command(request: Request) -> Response:
    """Carry out what a command asks or tells, refuse it in the words of a command, or leave it to the command."""
    at_the_folder = request.scope.get("client") == (AT_THE_FOLDER, os.geteuid())
    caller = caller_in(cast("dict[str, object]", request.scope))
    if (
        not at_the_folder
        or caller is None
        or not caller.is_unlimited
        or not FORWARDED.isdisjoint(request.headers.keys())
    ):
        raise HTTPException(HTTPStatus.NOT_FOUND)
    asked = await by_thread(request, read_json)
    call: _Call | None = None
    try:
        call = _understood(asked, request.app.state.answers_for, (await parts_of(request)).application)
        admitted = partial(come_in_by, "terminal", call.carry_out)
        work = Work.LIGHT if call.operation.work is Work.HEAVY else call.operation.work
        told: bytes = await admission_of(request).run(work, str(call.given.get("owner", "")), admitted)
    except EngramlogError as error:
        from engramlog_server.api.checks import safe_refusal

        left = isinstance(error, _Left) or (isinstance(error, LEFT) and not (call and call.may_have_told))
        document = {"left": error.message} if left else {"refused": safe_refusal(error), "exit_code": error.exit_code}
        told = json.dumps(document, default=str).encode()
    return Response(told, media_type="application/json", headers=MARK)


@dataclass(slots=True)
class _Call:
    """One call of a command."""

    application: Application
    operation: Operation
    given: Given
    may_have_told: bool = False
    """Whether it began to tell something: then it is not left to the command, who would say it again."""

    is_light: bool = True
    """Whether it was not found to be long yet."""

    def carry_out(self) -> bytes:
        """The answer as JSON that reads back exactly; what it recorded is folded, as at the end of a command."""
        self.may_have_told = self.operation.tells_by(self.given)
        try:
            answer = self._answer()
        except NeedsHeavyLane:  # raised before anything is done; it is asked again among the heavy ones
            self.may_have_told = self.is_light = False
            raise
        if self.operation.traces:
            with suppress(EngramlogError):  # it was answered: what hinders folding is told by alarms
                self.application.settle()
        return json.dumps({"answer": answer}, default=str).encode()

    def _answer(self) -> Any:
        if self.operation.tells_by(self.given):  # it has no end in the middle, between writing and folding
            with with_patience(Patience(light=self.is_light)):
                return self.operation.ask(self.application, self.given)
        of_the_past = any(self.given.get(name) is not None for name in ("as_of", "known"))
        if not of_the_past and self.operation.work is not Work.HEAVY:
            return self.operation.ask(self.application, self.given)
        patience = Patience(light=True)
        if self.operation.work is Work.HEAVY:
            patience.begin(MOMENT_SECONDS)
        try:  # what is long shows a bar where the command itself folds it
            with with_patience(patience):
                return self.operation.ask(self.application, self.given)
        except NeedsHeavyLane:
            raise _Left("a long question") from None


def _understood(asked: Any, answers_for: AnswersFor, application: Application) -> _Call:
    """What is to be carried out. Raises what leaves it to the command for anything else than that."""
    named = isinstance(asked, dict) and {"code", "settings", "place", "route", "given"} <= asked.keys()
    route = tuple(asked["route"]) if named and isinstance(asked["route"], list) else ()
    operation = (
        SERVED.get((route[0], route[1])) if len(route) == 2 and all(isinstance(one, str) for one in route) else None
    )
    given = asked["given"] if operation is not None else None
    if operation is None or not isinstance(given, dict) or not _names_owner(operation, given):
        raise _Left("no such call")
    recording = {"trace", "inspect"} if operation.traces else set()
    if not given.keys() <= {*operation.subject, *(one.name for one in operation.question), *recording}:
        raise _Left("no such call")
    if not answers_for(asked):
        raise _Left("other code, or other settings")
    return _Call(application, operation, given)


def _names_owner(operation: Operation, given: Given) -> bool:
    return "owner" not in operation.subject or isinstance(given.get("owner"), str)


router.add_api_route(ADDRESS, command, methods=["POST"], include_in_schema=False)
