"""How far a partition's entries were read again under newer rules of sensitivity, and whose are still to be read.

The mark spares work, it decides nothing: where it is lost, or of other rules, the partition is read again from its beginning.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from engramlog_server.consumers.verify.encryption import Opening
from engramlog_server.consumers.verify.findings import Findings
from engramlog_server.consumers.verify.oracle import Ledger, Oracle
from engramlog_server.events.encryption.seals import is_tombstone
from engramlog_server.events.envelope import Stored
from engramlog_server.events.log import EventLog
from engramlog_server.events.partitions import LogKeys
from engramlog_server.events.redis.scan import pairs
from engramlog_server.events.redis.wire import Wire
from engramlog_server.events.text import UNREADABLE
from engramlog_server.projections.checks import Check, unchecked
from engramlog_server.projections.language.sensitivity.level import LEVEL_RULES
from engramlog_server.projections.lifecycle.extraction import is_outdated, levels_today
from engramlog_server.projections.redis.builds import BuildKeys
from engramlog_server.projections.redis.store import slices

FIELD = "read"
PAGE = 500
"""Entries read at once."""
MOST_NAMED = 20
"""Memories of one owner that a verification names."""
MOST_LEFT = 1_000
"""Owners that a mark may name as left out; where there are more, it does not move."""


class LevelsChecked(NamedTuple):
    """Up to where a partition was read, under which rules."""

    rules: int = LEVEL_RULES
    seq: int = 0
    left: tuple[str, ...] = ()
    """Owners that could not be looked at then."""


_DECODE = msgspec.msgpack.Decoder(LevelsChecked)


def compare_levels(wire: Wire, keys: LogKeys, head: int, verdict: Findings) -> None:
    """Report a mark that no job wrote: one beyond the log would keep entries from being read again."""
    for name, value in pairs(wire, keys.levels):
        try:
            mark = _DECODE.decode(value)
        except UNREADABLE:
            mark = LevelsChecked(rules=0)
        known = mark.rules >= 1 and 0 <= mark.seq <= head and msgspec.msgpack.encode(mark) == value
        if name != FIELD.encode() or not known:
            verdict.differs("how far levels were read again, which no job wrote", field=name.decode("utf-8", "replace"))


def believed_mark(wire: Wire, keys: LogKeys) -> LevelsChecked:
    """The mark that the job would use; seq 0 if it would read everything."""
    raw = wire.call("HGET", keys.levels, FIELD)
    try:
        mark = _DECODE.decode(raw) if raw else LevelsChecked()
    except UNREADABLE:
        return LevelsChecked()
    return mark if mark.rules == LEVEL_RULES and mark.seq >= 0 else LevelsChecked()


def compare_read(
    keys: BuildKeys, mark: LevelsChecked, ledger: Ledger, oracle: Oracle, opening: Opening, verdict: Findings
) -> None:
    """Report owners that the mark calls read although today's rules find more: the job would not read them again.

    `mark`: as it stood before the log was read, for the job appends what it found before it moves the mark. An owner with events
    that are not folded yet is left to the next verification.
    """
    for owner, seq in sorted(ledger.outdated.items()):
        kept, memories = oracle.kept.get(owner), oracle.owners.get(owner)
        if seq > mark.seq or owner in mark.left or kept is None or memories is None:
            continue
        if ledger.heads.get(owner, 0) > max([*kept.applied[-1:], *kept.parked], default=0):
            continue
        found = levels_today(_entries(opening, keys, kept.applied))
        low = [
            one.id
            for one in memories.memories.values()
            if one.purged_at is None and found.get(one.id, 0) > one.sensitivity
        ]
        if low:
            verdict.differs(
                "memories that newer rules find more sensitive, behind the mark of what was read again",
                owner=owner,
                memories=sorted(low)[:MOST_NAMED],
                cure=f"engramlog cleanup {owner} --job levels",
            )


def _entries(opening: Opening, keys: BuildKeys, seqs: Sequence[int]) -> Iterator[Stored]:
    for some in slices(seqs, PAGE):
        yield from opening.read(keys, some)


class Waiting(NamedTuple):
    """Whose entries are to be read again, and the seq up to which that was found."""

    owners: list[str]
    seq: int


class Levels:
    """What one partition's entries are still to be read for."""

    def __init__(self, wire: Wire, log: EventLog, tag: str, partition: int) -> None:
        self._wire = wire
        self._log = log
        self._keys = LogKeys(tag)
        self._partition = partition

    def waiting(self, check: Check = unchecked) -> Waiting:
        """Owners with an outdated entry since the mark, and those that it left out, but those who were erased; sorted. Raises
        StoreError."""
        mark, head = believed_mark(self._wire, self._keys), self._log.head(self._partition)
        found, seq = set(mark.left), min(mark.seq, head)
        while seq < head:
            check(seq, head)
            page = self._log.read(self._partition, seq, min(PAGE, head - seq))
            if not page:
                break
            found.update(one.owner for one in page if is_outdated(one))
            seq = page[-1].seq
        return Waiting([owner for owner in sorted(found) if not self._is_erased(owner)], seq)

    def _is_erased(self, owner: str) -> bool:
        """Whether nobody can read its entries again."""
        line = self._wire.call("HGET", self._keys.secrets, owner) if self._wire.seals.is_on else None
        return line is not None and is_tombstone(line)

    def read(self, seq: int, left: Iterable[str]) -> None:
        """All owners that waited were looked at up to `seq`, but for those `left` out. Raises StoreError."""
        names = tuple(sorted(left))
        if len(names) <= MOST_LEFT:
            self._wire.call(
                "HSET", self._keys.levels, FIELD, msgspec.msgpack.encode(LevelsChecked(LEVEL_RULES, seq, names))
            )
