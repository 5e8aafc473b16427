"""Turn ids of one file: an owner's turn has an id of its own, and event ids derive from both.

Many files number their turns anew in each conversation. Under one owner such a file holds several turns of one id, and all but
the first would be conflicts: that is told once, with both places, and before anything is written where the file can be read
twice.
"""

from __future__ import annotations

from contextlib import suppress
from hashlib import blake2b
from typing import Any, Final, NamedTuple

from api.requests.checks import parse_instant
from events.errors import InputError

MOST_KEPT: Final = 250_000
"""So many turns of a file are remembered, about 70 MB; a later turn whose id one of them has is still told, others by the log."""


class _First(NamedTuple):
    line: int
    conversation: str | None
    content: bytes


class TurnIds:
    """The turns of one file so far, each by its owner and id."""

    def __init__(self, owner: str | None, owner_from: str) -> None:
        """`owner`: of all turns; else the field `owner_from` of each names its own."""
        self._owner, self._owner_from = owner, owner_from
        self._seen: dict[bytes, _First] = {}
        self._names: dict[str, str] = {}

    def take(self, line: int, turn: dict[str, Any]) -> InputError | None:
        """Note a turn that was read from `line`; gives the error to raise where its id stands for something else already."""
        owner = self._owner if self._owner is not None else turn.get(self._owner_from)
        key = _digest([owner, turn["turn_id"]])
        content = _content(turn)
        first = self._seen.get(key)
        if first is None:
            if len(self._seen) < MOST_KEPT:
                self._seen[key] = _First(line, self._conversation(turn), content)
        elif first.content != content:
            return self._clash(first, line, turn)
        return None

    def _conversation(self, turn: dict[str, Any]) -> str | None:
        name = turn.get("conversation")
        return self._names.setdefault(name[:80], name[:80]) if isinstance(name, str) else None

    def _clash(self, first: _First, line: int, turn: dict[str, Any]) -> InputError:
        turn_id, second = turn["turn_id"][:80], self._conversation(turn)
        places = f"turn_id {turn_id!r} stands in lines {first.line:,} and {line:,}"
        if first.conversation == second or None in (first.conversation, second):
            cure = f"{places}, with different contents: give every turn of an owner an id of its own"
        elif self._owner is not None:
            cure = (
                f"{places}, of conversations {first.conversation} and {second}: import each with its own --owner, or leave"
                " --owner out"
            )
        else:
            cure = (
                f"{places}, of conversations {first.conversation} and {second}: import each with its own --owner, or with"
                " --owner-from conversation"
            )
        return InputError(
            cure,
            field="turn_id",
            got=f"{turn_id!r} in lines {first.line:,} and {line:,}",
            allowed="an id of its own for every turn of an owner",
            lines=[first.line, line],
        )


def _content(turn: dict[str, Any]) -> bytes:
    """A digest of all of a turn that its events hold; a turn that says the same twice is no clash."""
    when: str | int = turn["occurred_at"]
    with suppress(InputError):  # told where it becomes an event
        when = parse_instant(turn["occurred_at"], "occurred_at")
    return _digest([when, turn["text"], turn.get("speaker"), turn.get("session")])


def _digest(parts: list[Any]) -> bytes:
    return blake2b(repr(parts).encode("utf-8", "surrogatepass"), digest_size=16).digest()
