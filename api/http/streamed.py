"""Answers that are sent piece by piece: made in threads of their own few, and held no longer than somebody takes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AsyncExitStack

import anyio
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from api.admission import Admission

SEND_SECONDS = 30.0
"""How long a client may take nothing at all before its connection is cut."""


class Pieces(StreamingResponse):
    """A heavy answer whose pieces are made as they are taken. It cannot be sent before `placed`."""

    def __init__(self, pieces: Iterator[bytes], media_type: str, headers: Mapping[str, str]) -> None:
        super().__init__(iter(()), media_type=media_type, headers=headers)
        self._pieces = pieces
        self._place = AsyncExitStack()

    def placed(self, admission: Admission, place: AsyncExitStack) -> Pieces:
        """The same, made in the threads of `admission`; `place` is given back when the last piece was taken."""
        self.body_iterator = admission.pieces(self._pieces)
        self._place = place
        return self

    async def stream_response(self, send: Send) -> None:
        """Each piece within the time that a client has to take it."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        async for piece in self.body_iterator:
            with anyio.move_on_after(SEND_SECONDS) as sending:
                await send({"type": "http.response.body", "body": piece, "more_body": True})
            if sending.cancelled_caught:
                return
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Stream until the client goes or has all."""
        async with self._place:
            await super().__call__(scope, receive, send)
