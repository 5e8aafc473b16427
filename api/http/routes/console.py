"""How the console's page is let in: a code that works once becomes a session, which is shown in place of the token."""

from __future__ import annotations

from typing import Annotated, cast

from fastapi import Body, Request
from pydantic import Field
from starlette.responses import Response

from api.http.answer import Json, documented
from api.http.asking import parts_of
from api.http.bearer import OPEN_POST, Admits, is_known, shown_in, unauthorized
from api.http.made import PostedBody, new_router
from api.http.problem import plain_problem
from api.http.sessions import CodeRefused, Sessions
from api.operations.answers import ConsoleCode, ConsoleCodeState, ConsoleSession, ConsoleSessionEnded
from api.operations.answers.looking.console import CODE

router = new_router()
TAG = "console"


class CodeShown(PostedBody):
    """A code."""

    code: str = Field(max_length=200, description="As it stands behind `#code=` in the link.", examples=[CODE])


def sessions_of(request: Request) -> Sessions:
    """The sessions of the application that was asked."""
    return cast("Sessions", request.app.state.sessions)


@router.post(
    "/v1/console/codes",
    summary="A code for the console",
    tags=[TAG],
    responses=documented(ConsoleCode, "It works once, within ten minutes.", 403),
)
async def console_code(request: Request) -> Response:
    """A code by which a browser opens the console, for whoever shows the token itself: a session lets in no other."""
    sessions, admits = sessions_of(request), cast("Admits", request.app.state.admits)
    vouched = sessions.in_force()
    if not is_known(request.headers, admits):
        if sessions.admits(shown_in(request.headers) or ""):
            return plain_problem(
                403, "Authorization: got a session; allowed: the token itself, which `engramlog token` prints"
            )
        return unauthorized(request.headers)
    if vouched is None:
        return unauthorized(request.headers)
    made = sessions.code(vouched)
    return Json({**made._asdict(), "page": sessions.page})


@router.post(
    "/v1/console/codes/state",
    summary="What became of a code",
    tags=[TAG],
    responses=documented(ConsoleCodeState, "Whether it waits, was used, or is over."),
)
async def console_code_state(
    request: Request,
    asked: Annotated[CodeShown, Body(openapi_examples={"a code": {"value": {"code": CODE}}})],
) -> Response:
    """Whether a code waits to be used; it is not used by being asked for."""
    return Json({"state": sessions_of(request).state(asked.code)})


@router.post(
    OPEN_POST,
    summary="Open a session",
    tags=[TAG],
    responses=documented(ConsoleSession, "What the page shows from now on.", 403, 411),
)
async def console_session(
    request: Request,
    asked: Annotated[CodeShown, Body(openapi_examples={"a code": {"value": {"code": CODE}}})],
) -> Response:
    """A session for a code. The one thing that is asked without the token: at most 1,024 bytes, with their Content-Length."""
    try:
        return Json(sessions_of(request).redeem(asked.code)._asdict())
    except CodeRefused as error:
        (await parts_of(request)).metrics.console_codes_refused.labels(error.reason).inc()
        raise


@router.post(
    "/v1/console/session/end",
    summary="End a session",
    tags=[TAG],
    responses=documented(ConsoleSessionEnded, "Whether there was one."),
)
async def console_session_end(request: Request) -> Response:
    """End the session that is shown."""
    return Json({"ended": sessions_of(request).end(shown_in(request.headers) or "")})
