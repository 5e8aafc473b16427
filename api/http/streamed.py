"""Answers that are sent piece by piece: made in threads of their own few, and held no longer than somebody takes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AsyncExitStack, contextmanager, suppress
from time import monotonic

import anyio
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from api.work.admission import Admission

SEND_SECONDS = 30.0
"""How long a client may take nothing at all before its connection is cut."""
SLOW_SECONDS = 60.0
"""How much longer than at the least rate a client may take over all of an answer."""
LEAST_RATE = 32 * 1024
"""Bytes a second that a client takes at least, on the whole."""


class ClientPace:
    """How long a client may still take, by what it took until now. Time in which no piece is ready is not its own."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._taking = 0.0
        self._taken = 0

    @property
    def left(self) -> float:
        """Seconds for the next piece; none where it was too slow on the whole."""
        return min(SEND_SECONDS, SLOW_SECONDS + self._taken / LEAST_RATE - self._taking)

    @contextmanager
    def piece(self, size: int) -> Iterator[None]:
        """Within it a piece of so many bytes is taken."""
        began = self._clock()
        yield
        self._taking += self._clock() - began
        self._taken += size


class StreamCut(Exception):
    """The answer ends before its end; the connection is cut, so that nobody takes it for whole."""


class Pieces(StreamingResponse):
    """A heavy answer whose pieces are made as they are taken. It cannot be sent before `placed`."""

    def __init__(
        self,
        pieces: Iterator[bytes],
        media_type: str,
        headers: Mapping[str, str],
        clock: Callable[[], float] = monotonic,
    ) -> None:
        super().__init__(iter(()), media_type=media_type, headers=headers)
        self._pace = ClientPace(clock)
        self._pieces = pieces
        self._place = AsyncExitStack()

    def placed(self, admission: Admission, place: AsyncExitStack) -> Pieces:
        """The same, made in the threads of `admission`; `place` is given back when the last piece was taken."""
        self.body_iterator = admission.pieces(self._pieces)
        self._place = place
        return self

    async def stream_response(self, send: Send) -> None:
        """Each piece within the time that a client has to take it, and all of them at a least rate."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        whole = False
        with suppress(StreamCut):
            async for piece in self.body_iterator:
                if self._pace.left <= 0:
                    return
                with anyio.move_on_after(self._pace.left) as sending, self._pace.piece(len(piece)):
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
                if sending.cancelled_caught:
                    return
            whole = True
        if not whole:
            return
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Stream until the client goes or has all."""
        async with self._place:
            await super().__call__(scope, receive, send)
