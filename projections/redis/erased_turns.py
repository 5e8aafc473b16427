"""Which turns of an owner have lost their words for good: their keyed marks lie outside the log, and outlive every rebuild."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from engramlog_server.events.partitions import LogKeys, partition_of
from engramlog_server.events.redis.secrets import read_cipher
from engramlog_server.events.redis.wire import WirePool
from engramlog_server.events.redis.wordless import memory_mark, turn_mark

AT_ONCE = 1_000
Turn = tuple[str, str | None]
"""A turn by its id, and the session in which it was said."""


class ErasedTurns:
    """What the store knows of erased turns. Safe for threads."""

    def __init__(self, wires: WirePool, tags: Sequence[str]) -> None:
        self._wires = wires
        self._tags = tags

    def among(self, owner: str, turns: Iterable[Turn]) -> frozenset[Turn]:
        """Those of these turns whose words were erased, as they were said or as the memory of their name; none where nothing of
        the partition was. Raises StoreError."""
        keys, asked, found = (
            LogKeys(self._tags[partition_of(owner, len(self._tags))]),
            list(dict.fromkeys(turns)),
            set(),
        )
        with self._wires.wire() as wire:
            if not asked or not wire.call("SCARD", keys.gone):
                return frozenset()
            cipher = read_cipher(wire, keys, owner)
            if cipher is None:
                return frozenset()
            for start in range(0, len(asked), AT_ONCE):
                some = asked[start : start + AT_ONCE]
                said = [turn_mark(cipher.secret, *one) for one in some]
                kept = [memory_mark(cipher.secret, turn) for turn, _ in some]
                answers = wire.call("SMISMEMBER", keys.gone, *said, *kept)
                found |= {
                    one
                    for one, *is_gone in zip(some, answers[: len(some)], answers[len(some) :], strict=True)
                    if any(is_gone)
                }
        return frozenset(found)
