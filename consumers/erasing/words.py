"""The steps by which single entries of an owner lose their words, while what folds take of them stays. Each can be done again.

The salts of their words are deleted: from then on nobody opens the words, and every fold takes the skeleton, which has a salt of
its own. The owner's key stays, because the owner does.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from itertools import islice

from engramlog_server.consumers.erasing.steps import OnProgress, opened_of
from engramlog_server.events.envelope import AnyEvent, Stored, decode
from engramlog_server.events.errors import UndecodableEvent
from engramlog_server.events.partitions import LogKeys
from engramlog_server.events.redis.log import entries
from engramlog_server.events.redis.opening import fence_ids, memory_mark, opened, owner_mark, turn_mark
from engramlog_server.events.redis.secrets import readmission
from engramlog_server.events.redis.wire import Wire
from engramlog_server.events.sealing.cipher import BODY_MARK, salts_id
from engramlog_server.events.sealing.key_store import Wiped
from engramlog_server.events.sealing.wordless import is_wordless
from engramlog_server.projections.reports.erasing.reach import OwnersLog, Turn

AT_ONCE = 200


def read_log(
    wire: Wire, tag: str, owner: str, *, after: int = 0, on_progress: OnProgress = lambda _done, _all: None
) -> Iterator[tuple[Stored, AnyEvent | None]]:
    """An owner's entries after a seq with their events, oldest first; None for what cannot be read. Of one who was readmitted those
    since. Raises StoreError, KeyUnavailable too."""
    line = wire.call("HGET", LogKeys(tag).readmitted, owner)
    since = 0 if line is None else readmission(owner, line)[0]
    for one in opened_of(wire, tag, owner, after=max(after, since), on_progress=on_progress):
        try:
            yield one, decode(one.kind, one.body)
        except UndecodableEvent:
            yield one, None


class LogSoFar:
    """All that an owner's log tells of memories and turns, by one connection: an entry is read once, however often one looks."""

    def __init__(self, wire: Wire, tag: str, owner: str) -> None:
        self._wire, self._tag, self._owner = wire, tag, owner
        self._log, self._after = OwnersLog(), 0

    def look(self) -> OwnersLog:
        """What it tells by now. Raises StoreError, KeyUnavailable too; nothing is to be asked of this one after that."""
        after = self._after

        def read_to(seq: int, _head: int) -> None:
            nonlocal after
            after = seq

        for one, event in read_log(self._wire, self._tag, self._owner, after=after, on_progress=read_to):
            self._log.take(one, event)
        self._after = after
        return self._log

    def look_again(self, seqs: Sequence[int]) -> None:
        """Read these entries anew: words may have been taken out of them. Raises StoreError, KeyUnavailable too."""
        keys, waiting, wordless = LogKeys(self._tag), iter(seqs), set[int]()
        while some := list(islice(waiting, AT_ONCE)):
            for one in opened(self._wire, keys, _at(self._wire, keys, some)):
                with suppress(UndecodableEvent):
                    if is_wordless(decode(one.kind, one.body)):
                        wordless.add(one.seq)
        self._log.took_words(wordless)


def fence_names(wire: Wire, tag: str, secret: bytes, memories: Collection[str], turns: Collection[Turn]) -> None:
    """From here on nobody appends words under the ids of these memories and turns. Raises StoreError."""
    marks = {owner_mark(secret), *(memory_mark(secret, one) for one in memories)}
    fence_ids(wire, LogKeys(tag), marks | {turn_mark(secret, *turn) for turn in turns})


def wipe_entries(wire: Wire, tag: str, owner: str, seqs: Sequence[int], wiped: Wiped) -> int:
    """Take the words out of these entries of an owner: delete the salts of their words; how many had any. One that lies open or
    is another owner's is left alone: `engramlog verify` reports it. `wiped`: the erasure and the partition. Raises StoreError."""
    keys, done, waiting = LogKeys(tag), 0, iter(sorted(seqs))
    while some := list(islice(waiting, AT_ONCE)):
        mine = [one for one in _at(wire, keys, some) if one.owner == owner and one.body[:1] == BODY_MARK]
        done += wire.seals.keys.wipe({salts_id(one.body): wiped._replace(seq=one.seq) for one in mine})
    return done


def _at(wire: Wire, keys: LogKeys, seqs: Sequence[int]) -> list[Stored]:
    answers = wire.answers([["XRANGE", keys.stream, f"{seq}-0", f"{seq}-0"] for seq in seqs])
    return [one for answer in answers for one in entries(answer, keys.tag)]
