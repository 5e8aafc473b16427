"""One conversation with a model: what the memory adds to a request, and which turns it records. Adapters of libraries use it."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from uuid import uuid4

from engramlog.client import Memory
from engramlog.edge import derived_id
from engramlog.errors import EngramlogError, OwnerMissing

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
