"""How far a partition's entries were read again under newer rules of sensitivity, and whose are still to be read.

The mark spares work, it decides nothing: where it is lost, or of other rules, the partition is read again from its beginning.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from consumers.redis_verify_scan import pairs
from consumers.verdict import Verdict
from events.log import EventLog
from events.partitions import LogKeys
from events.redis_wire import Wire
from events.unreadable import UNREADABLE
from projections.checks import Check, unchecked
from projections.lifecycle.rereading import is_outdated
from projections.sensitivity_level import LEVEL_RULES

FIELD = "read"
PAGE = 500
"""Entries read at once."""
MOST_LEFT = 1_000
"""Owners that a mark may name as left out; where there are more, it does not move."""


class Mark(NamedTuple):
    """Up to where a partition was read, under which rules."""

    rules: int = LEVEL_RULES
    seq: int = 0
    left: tuple[str, ...] = ()
    """Owners that could not be looked at then."""


_DECODE = msgspec.msgpack.Decoder(Mark)


def compare_levels(wire: Wire, keys: LogKeys, head: int, verdict: Verdict) -> None:
    """Tell of a mark that no job left there: one beyond the log would keep entries from ever being read again."""
    for name, value in pairs(wire, keys.levels):
        try:
            mark = _DECODE.decode(value)
        except UNREADABLE:
            mark = Mark(rules=0)
        known = mark.rules >= 1 and 0 <= mark.seq <= head and msgspec.msgpack.encode(mark) == value
        if name != FIELD.encode() or not known:
            verdict.differs("how far levels were read again, which no job wrote", field=name.decode("utf-8", "replace"))


class Waiting(NamedTuple):
    """Whose entries are to be read again, and the seq up to which that was found."""

    owners: list[str]
    seq: int


class Levels:
    """What one partition's entries are still to be read for."""

    def __init__(self, wire: Wire, log: EventLog, tag: str, partition: int) -> None:
        self._wire = wire
        self._log = log
        self._key = LogKeys(tag).levels
        self._partition = partition

    def waiting(self, check: Check = unchecked) -> Waiting:
        """Owners with an outdated entry since the mark, and those that it left out; sorted. Raises StoreError."""
        mark, head = self._mark(), self._log.head(self._partition)
        found, seq = set(mark.left), min(mark.seq, head)
        while seq < head:
            check(seq, head)
            page = self._log.read(self._partition, seq, min(PAGE, head - seq))
            if not page:
                break
            found.update(one.owner for one in page if is_outdated(one))
            seq = page[-1].seq
        return Waiting(sorted(found), seq)

    def read(self, seq: int, left: Iterable[str]) -> None:
        """All owners that waited were looked at up to `seq`, but for those `left` out. Raises StoreError."""
        names = tuple(sorted(left))
        if len(names) <= MOST_LEFT:
            self._wire.call("HSET", self._key, FIELD, msgspec.msgpack.encode(Mark(LEVEL_RULES, seq, names)))

    def _mark(self) -> Mark:
        raw = self._wire.call("HGET", self._key, FIELD)
        try:
            mark = _DECODE.decode(raw) if raw else Mark()
        except UNREADABLE:
            return Mark()
        return mark if mark.rules == LEVEL_RULES and mark.seq >= 0 else Mark()
