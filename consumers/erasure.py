"""The steps by which entries of an owner lose their words. Each can be done again: one that was killed is done anew, wholly.

Of an owner who is erased the fence comes first: the owner's line, the name of its key, becomes a tombstone by one write, and the
key is deleted from the key store. From then on nothing is appended under its name, nothing is folded of it, and nobody opens what
lies there. What comes after takes away what could open it all the same, and what was made of it.

Of single entries the salts of their words are deleted: from then on nobody opens the words, and every fold takes the skeleton,
which has a salt of its own. The owner's key stays, because the owner does.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import NamedTuple
from urllib.parse import unquote

from engramlog_server.events.cipher import BODY_MARK, salts_id
from engramlog_server.events.envelope import AnyEvent, Stored, decode, is_wordless
from engramlog_server.events.errors import UndecodableEvent
from engramlog_server.events.keys import Wiped, erased_name, erasure_of, is_name, is_tombstone, tombstone
from engramlog_server.events.partitions import LogKeys
from engramlog_server.events.redis.log import entries
from engramlog_server.events.redis.secrets import fence_ids, memory_mark, opened, owner_mark, readmission, turn_mark
from engramlog_server.events.redis.wire import PAGE, Script, Wire, keys_like
from engramlog_server.projections.embedding.vectors import VectorKeys
from engramlog_server.projections.redis.builds import BuildKeys, is_build
from engramlog_server.projections.redis.store import slices
from engramlog_server.projections.reports.erasure import OwnersLog, Turn

READ_COUNT = 1_000
AT_ONCE = 200
"""Entries that are looked up one by one."""
FENCE = Script(
    "fence",
    """
-- KEYS: secrets, deletions, control, owners of the live build. ARGV: owner, line that was read, tombstone
-- Answer: 1; 0 where another line stands there by now, and nothing was changed.
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
redis.call('HDEL', KEYS[2], ARGV[1])
redis.call('HDEL', KEYS[3], 'retry:' .. ARGV[1])
redis.call('HDEL', KEYS[4], ARGV[1])
return 1
""",
)
READMIT = Script(
    "readmit",
    """
-- KEYS: secrets, readmitted, meta. ARGV: owner, tombstone that was read, erasure, line of the new key
-- Answer: 1; 0 where another line stands there by now, and nothing was changed.
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[2], ARGV[1], (redis.call('HGET', KEYS[3], 'head') or '0') .. ' ' .. ARGV[3])
redis.call('HSET', KEYS[1], ARGV[1], ARGV[4])
return 1
""",
)
OnRead = Callable[[int], None]
"""Hears up to which seq a partition was read."""


class Entries(NamedTuple):
    """Counts of an owner's entries in the log."""

    total: int = 0
    last: int = 0
    """Seq of the newest; 0 where there is none."""
    sealed: int = 0
    open: int = 0
    """Entries that lie open: no key that goes makes them unreadable."""


def standing_of(wire: Wire, tag: str, owner: str) -> tuple[bytes | None, str | None]:
    """The owner's line, and by what it was erased where it was. Raises StoreError."""
    line = wire.call("HGET", LogKeys(tag).secrets, owner)
    return line, erasure_of(line) if line is not None and is_tombstone(line) else None


def fence(wire: Wire, tag: str, owner: str, erasure: str) -> str:
    """Destroy the owner's key, which fences it too; gives by what it is erased, which may be an earlier erasure. Raises StoreError.

    An owner without a line has nothing that could be destroyed: it is fenced all the same.
    """
    keys = LogKeys(tag)
    while True:
        line, known = standing_of(wire, tag, owner)
        if known is not None:
            destroy_keys(wire, [erased_name(line or b"")])
            return known
        mine = tombstone(erasure.encode(), line if line is not None and is_name(line) else b"")
        if line is None:
            if wire.call("HSETNX", keys.secrets, owner, mine):
                return erasure
        else:
            live = BuildKeys(tag, (wire.call("HGET", keys.meta, "live") or b"").decode())
            tables = [
                keys.secrets,
                keys.deletions,
                keys.control,
                live.owners,
            ]  # without its state no process goes on with its view
            if wire.run(FENCE, tables, [owner, line, mine]):
                destroy_keys(wire, [line])
                return erasure


def destroy_keys(wire: Wire, names: Iterable[bytes]) -> int:
    """Delete these keys from the key store, those of them that it has; the number deleted. Raises StoreError."""
    wanted = [one for one in names if is_name(one)]
    return wire.seals.keys.delete(wanted) if wanted else 0


def readmit(wire: Wire, tag: str, owner: str, fresh: bytes) -> str | None:
    """Put a new key in the place of the tombstone: who is spoken of under that name from here on has it, and nothing of before
    can be read. No process that still holds the old key can put that there.

    `fresh`: the line of the new key. Gives by what the owner was erased; None where it is not. Raises StoreError.
    """
    keys = LogKeys(tag)
    while True:
        line, erasure = standing_of(wire, tag, owner)
        if line is None or erasure is None:
            return None
        if wire.run(READMIT, [keys.secrets, keys.readmitted, keys.meta], [owner, line, erasure, fresh]):
            return erasure


def count_entries(wire: Wire, tag: str, owner: str, on_salts: Callable[[int], None] = lambda _id: None) -> Entries:
    """Count an owner's entries in the log; `on_salts` gets the id of each sealed entry's salts. Reads the whole partition and
    opens nothing."""
    found = Entries()
    for one in _of(wire, tag, owner):
        if sealed := one.body[:1] == BODY_MARK:
            on_salts(salts_id(one.body))
        found = Entries(found.total + 1, one.seq, found.sealed + sealed, found.open + (not sealed))
    return found


def drop_salts(wire: Wire, tag: str, owner: str) -> Entries:
    """Delete the salts of the owner's entries: an old copy of its key opens none of them."""
    ids = array("q")
    found = count_entries(wire, tag, owner, ids.append)
    wire.seals.keys.delete_salts(ids)
    return found


def drop_vectors_of(wire: Wire, tag: str, owner: str) -> int:
    """Drop the owner's vectors under every model, with the marks of the job that made them; how many tables went."""
    dropped, tables, prefix = 0, VectorKeys(tag), f"{{{tag}}}:"
    for key, _ in list(keys_like(wire, f"{prefix}ve?:*")):
        table, _, rest = key.removeprefix(prefix.encode()).partition(b":")
        model = unquote(rest.partition(b":")[0].decode("utf-8", "replace"))
        if table in (b"ven", b"vea"):
            wire.call("HDEL", key, owner)
        elif key.decode("utf-8", "replace") in (tables.wholes(model, owner), tables.pieces(model, owner)):
            dropped += wire.call("UNLINK", key)
    for raw in wire.call("HKEYS", tables.models):
        model = raw.decode("utf-8", "replace")
        if not wire.call("EXISTS", tables.changes(model), tables.seen(model)):
            wire.call("HDEL", tables.models, raw)
    return dropped


def drop_from_builds(wire: Wire, tag: str, owner: str, *, but: str) -> int:
    """Take the owner out of every build but the one that was folded without it; how many keys went.

    By the names of builds in the whole store, not by those that a partition tells: nothing may be left in one that was forgotten.
    """
    prefix, builds, dropped = f"{{{tag}}}:", set[str](), 0
    for key, _ in keys_like(wire, f"{prefix}v*"):
        name = key.removeprefix(prefix.encode()).partition(b":")[0].decode("utf-8", "replace")
        if is_build(name):
            builds.add(name)
    for build in sorted(builds - {but}):
        keys = BuildKeys(tag, build)
        dropped += wire.call("UNLINK", *keys.of_owner(owner))
        wire.answers([["HDEL", keys.owners, owner], ["HDEL", keys.quarantine, owner]])
    return dropped


def opened_of(
    wire: Wire, tag: str, owner: str, *, after: int = 0, on_read: OnRead = lambda _seq: None
) -> Iterator[Stored]:
    """The owner's entries after a seq with their bodies open, oldest first. Raises StoreError, KeyUnavailable too."""
    of = _of(wire, tag, owner, on_read, after)
    while some := list(islice(of, PAGE)):
        yield from opened(wire, LogKeys(tag), some)


def _of(wire: Wire, tag: str, owner: str, on_read: OnRead = lambda _seq: None, after: int = 0) -> Iterator[Stored]:
    """The owner's entries after a seq as they lie in the log, sealed. Of others' nothing is made but the last of a page, for its
    seq, and what no append wrote, which is refused."""
    keys, mine = LogKeys(tag), owner.encode()
    while answer := wire.call("XRANGE", keys.stream, f"{after + 1}-0", "+", "COUNT", READ_COUNT):
        after = entries(answer[-1:], tag)[0].seq
        on_read(after)
        yield from entries([one for one in answer if len(one[1]) <= _OWNER or one[1][_OWNER] == mine], tag)


_OWNER = 5
"""The place of an entry's owner among its fields and their values."""


def read_log(
    wire: Wire, tag: str, owner: str, *, after: int = 0, on_read: OnRead = lambda _seq: None
) -> Iterator[tuple[Stored, AnyEvent | None]]:
    """An owner's entries after a seq with their events, oldest first; None for what cannot be read. Of one who was readmitted those
    since. Raises StoreError, KeyUnavailable too."""
    line = wire.call("HGET", LogKeys(tag).readmitted, owner)
    since = 0 if line is None else readmission(owner, line)[0]
    for one in opened_of(wire, tag, owner, after=max(after, since), on_read=on_read):
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

        def read_to(seq: int) -> None:
            nonlocal after
            after = seq

        for one, event in read_log(self._wire, self._tag, self._owner, after=after, on_read=read_to):
            self._log.take(one, event)
        self._after = after
        return self._log

    def look_again(self, seqs: Sequence[int]) -> None:
        """Read these entries again: words may have been taken out of them. Raises StoreError, KeyUnavailable too."""
        keys, waiting, wordless = LogKeys(self._tag), iter(seqs), set[int]()
        while some := list(islice(waiting, AT_ONCE)):
            for one in opened(self._wire, keys, _at(self._wire, keys, some)):
                with suppress(UndecodableEvent):  # an unreadable entry keeps counting as one with words
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
    keys, going = LogKeys(tag), dict[int, Wiped]()
    for some in slices(sorted(seqs), AT_ONCE):
        mine = (one for one in _at(wire, keys, some) if one.owner == owner and one.body[:1] == BODY_MARK)
        going |= {salts_id(one.body): wiped._replace(seq=one.seq) for one in mine}
    return wire.seals.keys.wipe(going)


def _at(wire: Wire, keys: LogKeys, seqs: Sequence[int]) -> list[Stored]:
    answers = wire.answers([["XRANGE", keys.stream, f"{seq}-0", f"{seq}-0"] for seq in seqs])
    return [one for answer in answers for one in entries(answer, keys.tag)]
