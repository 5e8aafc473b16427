"""The server over standard input and output: a request that cannot be read is answered too, so that nobody waits for it."""

from __future__ import annotations

import json
from types import TracebackType
from typing import TYPE_CHECKING, Self

from anyio import EndOfStream
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp.types import PARSE_ERROR, ErrorData, JSONRPCError
from pydantic import ValidationError

from engramlog_server.api.mcp.server import MemoryServer

if TYPE_CHECKING:
    from mcp.shared._stream_protocols import ReadStream, WriteStream


async def serve(server: MemoryServer) -> None:
    """Answer until standard input ends. Standard output carries the protocol and nothing else."""
    lowlevel = server._lowlevel_server  # as the SDK's own run_stdio_async
    async with stdio_server() as (messages, answers):
        readable = _Readable(messages, answers)
        await lowlevel.run(readable, answers, lowlevel.create_initialization_options())


class _Readable:
    """The messages that can be read; a request that cannot, such as one with half a surrogate pair, is refused at once.

    The SDK only logs such a line, and whoever asked would wait for ever.
    """

    def __init__(self, messages: ReadStream[SessionMessage | Exception], answers: WriteStream[SessionMessage]) -> None:
        self._messages = messages
        self._answers = answers

    async def receive(self) -> SessionMessage | Exception:
        """The next message; an exception stands for a line that is no request."""
        while True:
            message = await self._messages.receive()
            refusal = refusal_of(message) if isinstance(message, ValidationError) else None
            if refusal is None:
                return message
            await self._answers.send(SessionMessage(refusal))

    async def aclose(self) -> None:
        """Close what it reads from."""
        await self._messages.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


def refusal_of(problem: ValidationError) -> JSONRPCError | None:
    """The answer to a line that is no JSON to the SDK, if a request's id can be read in it all the same; it quotes nothing."""
    found = problem.errors(include_url=False)[0]
    if found["type"] != "json_invalid":
        return None
    try:
        asked = json.loads(found["input"])
    except (ValueError, RecursionError, TypeError):
        return None
    asked_id = asked.get("id") if isinstance(asked, dict) and "method" in asked else None
    if isinstance(asked_id, bool) or not isinstance(asked_id, int | str) or not str(asked_id).isprintable():
        return None
    why = f"no text that can be read ({found.get('ctx', {}).get('error', 'no JSON')}); allowed: JSON without half surrogate pairs"
    return JSONRPCError(jsonrpc="2.0", id=asked_id, error=ErrorData(code=PARSE_ERROR, message=why))
