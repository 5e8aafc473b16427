"""Memory around an OpenAI-compatible client: `client = wrap_openai(OpenAI(), Memory().of("alice"))`.

Before each chat completion or response, the context block for the user's message goes into the request. Afterwards the message
and the reply are recorded as turns of one session. A broken memory never stops a call: it goes on without the block, and the
failure is logged. `Conversation` does this for one conversation; other adapters use it too.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, Self, TypeVar
from uuid import uuid4

from engramlog.client import Memory
from engramlog.errors import EngramlogError, OwnerMissing
from engramlog.wire import derived_id

C = TypeVar("C")


log = logging.getLogger("engramlog")
Message = Mapping[str, Any]
"""`{"role": ..., "content": ...}`, as the library has it."""


MOST_TEXT = 10_000
"""Characters of a message that a context block is asked for: its beginning and its end."""


class Block(NamedTuple):
    """What goes into a request."""

    stable: str
    """The same until one of its memories changes: put it after the own instructions."""
    turn: str
    """For this message: put it before the message."""


class Conversation:
    """The turns of one conversation: what the memory adds to a message, and what it records. Safe for repeated calls."""

    def __init__(self, memory: Memory, session: str | None = None, budget: int | None = None) -> None:
        if memory.scope.owner is None:
            raise OwnerMissing('memory: got a client without an owner; allowed: Memory().of("alice")', field="memory")
        self.memory = memory
        self.session = session or str(uuid4())
        self._budget = budget

    def block(self, messages: Sequence[Message]) -> Block | None:
        """The block for the last message of the user; None if there is none, or if the memory does not answer."""
        at = last_of_user(messages)
        if at is None:
            return None
        text, turn = text_of(messages[at]), self._turn(messages, at)
        if len(text) > MOST_TEXT:
            text = text[: MOST_TEXT // 2 - 1] + "\n" + text[-MOST_TEXT // 2 :]
        try:
            known = self.memory.context(text, session=self.session, turn_id=turn, budget=self._budget, trace=True)
        except EngramlogError as error:
            log.warning("engramlog: no context block: %s", error)
            return None
        return Block(known.stable, known.turn)

    def record(self, messages: Sequence[Message], reply: str) -> None:
        """Record the user's last message and the reply to it; repeated calls record each of them once."""
        at = last_of_user(messages)
        if at is None:
            return
        turn = self._turn(messages, at)
        text, answer = text_of(messages[at]), derived_id(turn, reply)
        said = {"role": "user", "content": text, "id": turn}
        remember = () if text.rstrip().endswith(("?", "？")) else ("user",)  # what only asks says nothing of its user
        try:
            self.memory.add([said], session=self.session, key=turn, remember=remember, wait=False)
            if reply.strip():
                answered = {"role": "assistant", "content": reply, "id": answer}
                self.memory.add([answered], session=self.session, key=answer, wait=False)
        except EngramlogError as error:
            log.warning("engramlog: the turn is not recorded: %s", error)

    def _turn(self, messages: Sequence[Message], at: int) -> str:
        """The same id for the same message at the same place, also while tools answer."""
        number = sum(one.get("role") == "user" for one in messages[:at])
        before = text_of(messages[at - 1]) if at else ""
        return derived_id(self.session, str(number), before, text_of(messages[at]))


def last_of_user(messages: Sequence[Message]) -> int | None:
    """The place of the last message of the user that has a text."""
    found = (at for at, one in enumerate(messages) if one.get("role") == "user" and text_of(one).strip())
    return max(found, default=None)


def text_of(message: Message) -> str:
    """The text of a message: a text, or the texts of its parts."""
    content = message.get("content") or ""
    listed = content if isinstance(content, list | tuple) else ()
    parts = [content] if isinstance(content, str) else [one.get("text") for one in listed if isinstance(one, Mapping)]
    return "\n".join(part for part in parts if isinstance(part, str))


def with_block(messages: Sequence[Message], block: Block | None) -> list[Message]:
    """The messages with the block: its stable part after the leading instructions, the other before the user's message."""
    at = last_of_user(messages)
    if block is None or at is None:
        return list(messages)
    first = next((number for number, one in enumerate(messages) if one.get("role") not in ("system", "developer")), 0)
    added = list(messages)
    for place, text in ((at, block.turn), (first, block.stable)):
        added[place:place] = [{"role": "system", "content": text}] if text else []
    return added


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
        self._events = self._events or self._answer_later()
        return self._events  # type: ignore[no-any-return]

    async def __anext__(self) -> Any:
        return await anext(aiter(self))

    async def _answer_later(self) -> AsyncIterator[Any]:
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
