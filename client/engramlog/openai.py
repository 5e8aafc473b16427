"""Memory around an OpenAI-compatible client: `client = wrap_openai(OpenAI(), Memory().of("alice"))`.

Before each chat completion or response, the context block for the user's message goes into the request. Afterwards the message
and the reply are recorded as turns of one session. A broken memory never stops a call: it goes on without the block, and the
failure is logged.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, Self, TypeVar

from engramlog.client import Memory
from engramlog.conversation import Conversation, Message, with_block

C = TypeVar("C")


def wrap_openai(client: C, memory: Memory, *, session: str | None = None, budget: int | None = None) -> C:
    """A copy of an `OpenAI` or `AsyncOpenAI` whose `chat.completions.create` and `responses.create` have memory.

    `memory` is a client of one owner. Wrap once for each conversation; `session` continues an earlier one. `budget` is in
    tokens. Streams are recorded when they end; of a response whose body the caller reads, only the user's message is. Other
    methods of the client are as they were.
    """
    wrapped: C = _wrapped(client.with_options(), Conversation(memory, session, budget))  # type: ignore[attr-defined]
    return wrapped


def _wrapped(client: Any, conversation: Conversation) -> Any:
    """The client itself, with memory; so has each copy with other options."""
    for owner, field in ((client.chat.completions, "messages"), (getattr(client, "responses", None), "input")):
        if owner is not None:  # some clients of that interface have completions alone
            owner.create = _remembering(owner.create, field, conversation)
    again = client.with_options
    client.with_options = client.copy = lambda **options: _wrapped(again(**options), conversation)
    return client


def _remembering(create: Callable[..., Any], field: str, conversation: Conversation) -> Callable[..., Any]:
    def asked(given: dict[str, Any]) -> tuple[list[Message], dict[str, Any]]:
        told = given.get(field) or []
        messages = [{"role": "user", "content": told}] if isinstance(told, str) else [*told]
        sent = given if not told or isinstance(told, str) else given | {field: messages}  # it may have been an iterator
        plain = [found for one in messages if (found := _plain(one)) is not None]
        if len(plain) < len(messages):
            return [], sent
        block = conversation.block(plain)
        return plain, sent if block is None else given | {field: with_block(plain, block)}

    def call(**given: Any) -> Any:
        messages, sent = asked(given)
        answer = create(**sent)
        if given.get("stream") and not _is_raw(given):
            return _Recorded(answer, lambda reply: conversation.record(messages, reply))
        conversation.record(messages, _reply(answer, given))
        return answer

    async def call_later(**given: Any) -> Any:
        messages, sent = await asyncio.to_thread(asked, given)
        answer = await create(**sent)
        if given.get("stream") and not _is_raw(given):
            return _Recorded(answer, lambda reply: conversation.record(messages, reply))
        await asyncio.to_thread(conversation.record, messages, _reply(answer, given))
        return answer

    return call_later if inspect.iscoroutinefunction(inspect.unwrap(create)) else call


def _plain(message: Any) -> Message | None:
    """A message as the caller gave it, or the fields that an object of the library was made with; None for anything else."""
    if isinstance(message, Mapping):
        return message
    found = message.model_dump(mode="json", exclude_unset=True) if hasattr(message, "model_dump") else None
    return found if isinstance(found, dict) else None


def _is_raw(given: Mapping[str, Any]) -> str | None:
    """How `with_raw_response` (`true`) and `with_streaming_response` tell the client what to answer."""
    return (given.get("extra_headers") or {}).get("X-Stainless-Raw-Response")


def _reply(answer: Any, given: Mapping[str, Any]) -> str:
    """The text of an answer; empty where reading it would take the body from the caller."""
    raw = _is_raw(given)
    if raw is None:
        return reply_of(answer)
    with suppress(Exception):  # the caller parses it too, and hears what is wrong with it
        return reply_of(answer.parse()) if raw == "true" and not given.get("stream") else ""
    return ""


def reply_of(answer: Any) -> str:
    """The text of a completion or a response; empty if it only calls tools."""
    if hasattr(answer, "output_text"):
        return str(answer.output_text or "")
    choices = getattr(answer, "choices", None)
    return str(getattr(choices[0].message, "content", None) or "") if choices else ""


def _piece(event: Any) -> str:
    if getattr(event, "type", "") == "response.output_text.delta":
        return str(event.delta)
    choices = getattr(event, "choices", None)
    return str(getattr(choices[0].delta, "content", None) or "") if choices else ""


class _Recorded:
    """A stream that records what it said when it ends; everything else is the stream's."""

    def __init__(self, stream: Any, record: Callable[[str], None]) -> None:
        self._stream, self._record = stream, record
        self._events: Any = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def __iter__(self) -> Iterator[Any]:
        self._events = self._events or self._told()
        return self._events  # type: ignore[no-any-return]

    def __next__(self) -> Any:
        return next(iter(self))

    def _told(self) -> Iterator[Any]:
        said: list[str] = []
        try:
            for event in self._stream:
                said.append(_piece(event))
                yield event
        finally:
            self._record("".join(said))

    def __aiter__(self) -> AsyncIterator[Any]:
        self._events = self._events or self._told_later()
        return self._events  # type: ignore[no-any-return]

    async def __anext__(self) -> Any:
        return await anext(aiter(self))

    async def _told_later(self) -> AsyncIterator[Any]:
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
        if self._events is not None:
            self._events.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self._stream.close()
        if self._events is not None:
            await self._events.aclose()
