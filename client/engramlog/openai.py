"""Memory around an OpenAI-compatible client: `client = wrap_openai(OpenAI(), Memory().of("alice"))`.

Before each chat completion or response, the context block for the user's message goes into the request. Afterwards the message
and the reply are recorded as turns of one session. A broken memory never stops a call: it goes on without the block, and the
failure is logged.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from typing import Any, Self, TypeVar

from engramlog.client import Memory
from engramlog.conversation import Conversation, Message, with_block

C = TypeVar("C")


def wrap_openai(client: C, memory: Memory, *, session: str | None = None, budget: int | None = None) -> C:
    """A copy of an `OpenAI` or `AsyncOpenAI` whose `chat.completions.create` and `responses.create` have memory.

    `memory` is a client of one owner. Wrap once for each conversation; `session` continues an earlier one. `budget` is in
    tokens. Streams are recorded when they end. Other methods of the client are as they were.
    """
    wrapped: Any = client.with_options()  # type: ignore[attr-defined]
    conversation = Conversation(memory, session, budget)
    for owner, field in ((wrapped.chat.completions, "messages"), (wrapped.responses, "input")):
        owner.create = _remembering(owner.create, field, conversation)
    return wrapped  # type: ignore[no-any-return]


def _remembering(create: Callable[..., Any], field: str, conversation: Conversation) -> Callable[..., Any]:
    def asked(given: dict[str, Any]) -> tuple[list[Message], dict[str, Any]]:
        told = given.get(field) or []
        messages = [{"role": "user", "content": told}] if isinstance(told, str) else [*told]
        plain = [one if isinstance(one, Mapping) else one.model_dump() for one in messages]
        return plain, given | {field: with_block(plain, conversation.block(plain))}

    def call(**given: Any) -> Any:
        messages, sent = asked(given)
        answer = create(**sent)
        if given.get("stream"):
            return _Recorded(answer, lambda reply: conversation.record(messages, reply))
        conversation.record(messages, reply_of(answer))
        return answer

    async def call_later(**given: Any) -> Any:
        messages, sent = await asyncio.to_thread(asked, given)
        answer = await create(**sent)
        if given.get("stream"):
            return _Recorded(answer, lambda reply: conversation.record(messages, reply))
        await asyncio.to_thread(conversation.record, messages, reply_of(answer))
        return answer

    return call_later if inspect.iscoroutinefunction(inspect.unwrap(create)) else call


def reply_of(answer: Any) -> str:
    """The text of a completion or a response; empty if it only calls tools."""
    if hasattr(answer, "output_text"):
        return str(answer.output_text or "")
    return str((answer.choices[0].message.content if answer.choices else "") or "")


def _piece(event: Any) -> str:
    if getattr(event, "type", "") == "response.output_text.delta":
        return str(event.delta)
    choices = getattr(event, "choices", None)
    return str((choices[0].delta.content if choices else "") or "")


class _Recorded:
    """A stream that records what it said when it ends; everything else is the stream's."""

    def __init__(self, stream: Any, record: Callable[[str], None]) -> None:
        self._stream, self._record = stream, record

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def __iter__(self) -> Iterator[Any]:
        said: list[str] = []
        try:
            for event in self._stream:
                said.append(_piece(event))
                yield event
        finally:
            self._record("".join(said))

    async def __aiter__(self) -> AsyncIterator[Any]:
        said: list[str] = []
        try:
            async for event in self._stream:
                said.append(_piece(event))
                yield event
        finally:
            await asyncio.to_thread(self._record, "".join(said))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._stream.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self._stream.close()
