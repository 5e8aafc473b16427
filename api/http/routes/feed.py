"""`/v1/owners/{owner}/feed`: what changes, as it changes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Annotated

import anyio
from anyio.to_thread import run_sync
from fastapi import Header, Query, Request
from pydantic import Field
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from engramlog_server.api.checks import check_owner, position_of
from engramlog_server.api.http.feed import Client, Feeds
from engramlog_server.api.http.problem import problems
from engramlog_server.api.http.routing import AskedParts, Owner, Question, new_router, renewed
from engramlog_server.api.operations.needs import WITHHELD_FROM
from engramlog_server.events.errors import EngramlogError

STILL_SECONDS = 0.2
"""After so long it is looked at again, before anything is sent, whether whoever follows may."""
NO_MORE = "access ended"
EXAMPLE = """event: open
id: 3:128
retry: 1000
data: {"owner":"alice","position":"3:128"}

event: change
id: 3:131
data: {"owner":"alice","position":"3:131","changes":[{"position":"3:131","event":"MemoryMentioned","memory":"coffee", ...}]}

: still here
"""


class FeedAsked(Question):
    """Where a feed begins."""

    since: str | None = Field(
        default=None,
        description="Begin after this position of the owner (`p:0` for everything); from now on without it."
        " `Last-Event-ID` goes before it.",
        examples=["3:128"],
    )


async def always() -> bool:
    """Whoever follows may."""
    return True


class FeedResponse(StreamingResponse):
    """A stream that forgets its client however it ends, and cuts one that takes nothing.

    FastAPI's own machinery for server-sent events answers 200 before the feed could be refused, and waits for ever.
    """

    media_type = "text/event-stream"

    def __init__(self, feeds: Feeds, client: Client, still: Callable[[], Awaitable[bool]] = always) -> None:
        """`still` tells whether whoever follows may still follow."""
        headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
        super().__init__(feeds.stream(client), headers=headers)
        self._feeds = feeds
        self._client = client
        self._still = still

    async def stream_response(self, send: Send) -> None:
        """Each message within the time that a client has to take it."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        looked = monotonic()
        async for made in self.body_iterator:
            chunk, ends = made, False
            if monotonic() - looked > STILL_SECONDS:
                if ends := not await self._still():
                    chunk = self._feeds.ended(self._client, NO_MORE)
                looked = monotonic()
            with anyio.move_on_after(self._feeds.limits.send_seconds) as sending:
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
            if sending.cancelled_caught:
                return
            if ends:
                break
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Stream until the client goes or the feed ends."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._feeds.leave(self._client)


router = new_router("feed")
_ANSWERS = problems(409) | {
    200: {
        "description": "Server-sent events, until either side ends it: `open`, then a `change` for each event that changed"
        " something, `end` with the last id where the server ends it.",
        "content": {"text/event-stream": {"schema": {"type": "string"}, "example": EXAMPLE}},
    }
}


@router.get(
    "/v1/owners/{owner}/feed",
    summary="Follow changes",
    responses=_ANSWERS,
    response_class=FeedResponse,
    status_code=200,
)
async def feed(
    request: Request,
    parts: AskedParts,
    owner: Owner,
    asked: Annotated[FeedAsked, Query()],
    last_event_id: Annotated[
        str | None,
        Header(description="Resume after this id, as a browser's EventSource does by itself.", examples=["3:128"]),
    ] = None,
) -> Response:
    """The owner's committed change-log entries, one message an event, its position as the id. Contents are not told."""
    check_owner(owner)
    await run_sync(
        parts.check, "read", owner, "feed", WITHHELD_FROM
    )  # a refusal is recorded in the log, which may take its time
    text = last_event_id or asked.since
    after = None
    if text is not None:
        field = "Last-Event-ID" if last_event_id else "since"
        after = position_of(text, owner, parts.whole.log.partitions, field)

    async def still() -> bool:
        try:
            return (await renewed(request)).caller.may("read", owner, sensitivity=WITHHELD_FROM)
        except EngramlogError:  # no key that lives, or who may what cannot be known
            return False

    return FeedResponse(parts.feeds, await parts.feeds.join(owner, after), still)
