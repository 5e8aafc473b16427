"""Durability: what a Redis promises of an answered write, how far an append is proved, and whether the log still has everything.

Promises go by its settings, replicas, and the disk. Receipts are kept: what was acknowledged must still be there after every
reconnect. A Redis can come back with another history: a torn append-only file that it cut, a replica that took over, a restored
copy. For each partition the highest seq with a receipt is kept, with its event's id. On a new connection it is asked for before
anything is sent there; and the append script refuses a head below it, also where the data changed under a connection that lived
on. What is gone or other is an alarm, and nothing is appended to that partition until an operator has acknowledged it.

A log without a gap has as many entries as its last seq: ids are `<seq>-0` and grow. Redis counts entries all the time, so a look
costs microseconds however long the log is. It notices entries that are missing before a checkpoint or at the end.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from threading import Lock
from time import monotonic
from typing import Any, NamedTuple
from uuid import UUID

import redis

from engramlog_server.events.alarms import Alarms
from engramlog_server.events.envelope import Prepared, Stored
from engramlog_server.events.errors import LogGap, ReceiptLost, StoreUnavailable, UnderReplicated
from engramlog_server.events.log import AppendReceipt
from engramlog_server.events.partitions import ALARMS_KEY, LogKeys, position_text
from engramlog_server.events.redis.wire import AGAIN, Script, Wire, as_store_error, run_many, server_run

KEPT_BY: Mapping[str, frozenset[str]] = {
    "appendonly": frozenset({"yes"}),
    "appendfsync": frozenset({"always"}),
    "no-appendfsync-on-rewrite": frozenset({"no"}),
    "aof-load-truncated": frozenset({"no"}),
    "maxmemory-policy": frozenset({"noeviction", "volatile-lru", "volatile-lfu", "volatile-random", "volatile-ttl"}),
}
"""Settings, and their values, under which an answered write is on disk, a start with a torn file is refused instead of cutting it,
and no key of ours (none has an expiry) is evicted. docs/explanation/log.md says what no setting shows."""


_MADE_UP = frozenset({"appendfsync", "no-appendfsync-on-rewrite"})
"""Of these settings those that a wait for the disk (WAITAOF) makes up for."""


class Promise(NamedTuple):
    """What a server promises of an answered write."""

    kept: bool | None
    """Whether it is on disk and stays; None where the server does not tell."""
    kept_once_synced: bool | None
    """Whether it stays once it is on disk; None likewise."""

    def told(self, on_disk: bool | None) -> bool | None:
        """Whether a write is on disk and stays. `on_disk`: what the wait for the disk said, None where nothing was waited for."""
        if self.kept or on_disk is None:
            return self.kept
        return on_disk and self.kept_once_synced is not False


def read_promise(wire: Wire) -> Promise:
    """What the server behind a wire promises."""
    settings = read_settings(wire)
    if settings is None:
        return Promise(None, None)
    lacking = {name for name, value in settings.items() if value not in KEPT_BY[name]}
    return Promise(not lacking, lacking <= _MADE_UP)


def read_durability(wire: Wire) -> bool | None:
    """Whether every answered write is on disk and stays; None where the server does not tell."""
    return read_promise(wire).kept


def read_settings(wire: Wire) -> dict[str, str] | None:
    """The settings of `KEPT_BY` as they are; None where the server does not tell."""
    answers = wire.pipeline([["CONFIG", "GET", name] for name in KEPT_BY])
    if any(isinstance(answer, redis.ResponseError) or len(answer) != 2 for answer in answers):
        return None
    return {name.decode(): value.decode() for name, value in answers}


DURABILITY_SECONDS = 60.0
"""How long what a server promises is believed."""
WRITTEN = 5
"""Parts of the script's answer where anything was written."""
Receipts = list[AppendReceipt | None]


class Proof(NamedTuple):
    """What a receipt is to say beyond that the event is written."""

    replicas: int = 0
    """How many replicas are to have it."""
    disk: bool = False
    """Whether to wait until it is on disk, by WAITAOF, where Redis does not promise that of every write."""
    timeout_ms: int = 1_000
    """How long is waited for either."""

    @property
    def is_asked(self) -> bool:
        """Whether anything is waited for."""
        return bool(self.replicas or self.disk)


UNPROVED = Proof()


class _Durability(NamedTuple):
    """What one connection's server was found to promise, and until when that is believed."""

    generation: int
    until: float
    promise: Promise


class Proving:
    """Proves what one log appends. Safe for threads, each with a wire of its own."""

    def __init__(self, keys: Sequence[LogKeys], proof: Proof) -> None:
        self._keys, self._proof = keys, proof
        self._durability: dict[tuple[Wire, str], _Durability] = {}

    @property
    def least(self) -> int:
        """How many replicas are to have what is written."""
        return self._proof.replicas

    @property
    def is_asked(self) -> bool:
        """Whether a server is asked for any proof."""
        return self._proof.is_asked

    def refuse_unproved(self, parts: Mapping[int, list[int]], receipts: Receipts) -> None:
        """Raises UnderReplicated where too few replicas are known to have what was written; of a refused part nothing was."""
        if not self.least:
            return
        lacking = list[AppendReceipt]()
        for indexes in parts.values():
            told = [one for i in indexes if (one := receipts[i]) is not None]
            if all(one.written and one.replicas < self._proof.replicas for one in told):
                lacking += told
        if not lacking:
            return
        fewest = min(one.replicas for one in lacking)
        raise UnderReplicated(
            f"{len(lacking):,} of {len(receipts):,} events are written, and {fewest} replicas are known to have them, where"
            f" {self._proof.replicas} are asked for (ENGRAMLOG_MIN_REPLICAS): they are in the log and can be read, and are"
            " not proved (under_replicated). The same request sent again proves them, or says so again",
            receipts=[one.as_dict() for one in receipts if one is not None],
        )

    def standing(self, wire: Wire, partitions: Sequence[int]) -> dict[int, object]:
        """The connections that these were just sent down: WAIT speaks of what was written down one."""
        return {partition: wire.standing(self._keys[partition].meta) for partition in partitions}

    def proved(
        self, wire: Wire, partitions: Sequence[int], found: Sequence[Any], sent: Mapping[int, object]
    ) -> list[tuple[bool | None, int]]:
        """Of each part whether it is on disk, None where that was not waited for, and how many replicas have it.

        Where a part was known already nothing was written down this connection that the wait would cover: a small write is, and
        where that is refused nothing is proved. Nor is it where a connection was lost in between, or nothing was written.
        """
        nothing: tuple[bool | None, int] = (None, 0)
        if not self._proof.is_asked or not partitions:
            return [nothing] * len(partitions)
        written = {p: answer for p, answer in zip(partitions, found, strict=True) if _is_written(answer)}
        known = [p for p, answer in written.items() if len(answer) < WRITTEN]
        if known:
            small = [["HSET", self._keys[p].meta, "proved", written[p][1]] for p in known]
            for partition, answer in zip(known, wire.pipeline(small), strict=True):
                if isinstance(answer, Exception):
                    del written[partition]
        left = list(written)
        told = (
            dict(zip(left, wire.about([self._keys[p].meta for p in left], self._asked()), strict=True)) if left else {}
        )
        now = self.standing(wire, left)
        return [
            self._as_proof(told[p]) if p in told and now[p] is not None and now[p] == sent[p] else nothing
            for p in partitions
        ]

    def prove(self, wire: Wire, partition: int, seqs: Mapping[str, int]) -> None:
        """Have events (id -> seq) that were written before proved as a request of them would be. Raises UnderReplicated."""
        if not self._proof.replicas or not seqs:
            return
        key = self._keys[partition].meta
        wire.answers([["HSET", key, "proved", max(seqs.values())]])
        sent = wire.standing(key)
        (told,) = wire.about([key], self._asked())
        stands = sent is not None and wire.standing(key) == sent
        on_disk, replicas = self._as_proof(told) if stands else (None, 0)
        fsynced = self._promised(wire, self._keys[partition]).told(on_disk)
        receipts: Receipts = [
            AppendReceipt(one, "already_appended", position_text(partition, seq), fsynced, replicas)
            for one, seq in seqs.items()
        ]
        self.refuse_unproved({partition: [*range(len(receipts))]}, receipts)

    def promises(self, wire: Wire, partitions: Iterable[int]) -> Mapping[int, Promise]:
        """What the servers of these partitions promise; one server promises the same of all."""
        if wire.many:
            return {partition: self._promised(wire, self._keys[partition]) for partition in partitions}
        return dict.fromkeys(partitions, self._promised(wire, self._keys[0]))

    def _promised(self, wire: Wire, keys: LogKeys) -> Promise:
        """What the server of a partition promises of every answered write."""
        place = wire, wire.node_of(keys.meta)
        known = self._durability.get(place)
        if known is None or known.generation != wire.generation or known.until < monotonic():
            promise = read_promise(wire.at(keys.meta))
            known = _Durability(wire.generation, monotonic() + DURABILITY_SECONDS, promise)
            self._durability[place] = known
        return known.promise

    def _asked(self) -> list[list[str | int]]:
        """What a server is asked about all that was written down a connection."""
        proof, asked = self._proof, list[list[str | int]]()
        if proof.replicas:
            asked.append(["WAIT", proof.replicas, proof.timeout_ms])
        if proof.disk:
            asked.append(["WAITAOF", 1, 0, proof.timeout_ms])
        return asked

    def _as_proof(self, told: Sequence[Any]) -> tuple[bool | None, int]:
        answers = iter(told)
        replicas = next(answers, 0) if self._proof.replicas else 0
        local = next(answers, None) if self._proof.disk else None
        on_disk = bool(int(local[0])) if isinstance(local, list) else None
        return on_disk, int(replicas) if isinstance(replicas, int) else 0


def _is_written(answer: Any) -> bool:
    """Whether all of a part is in the log, written now or before."""
    return isinstance(answer, list) and answer[0] == b"ok"


RECEIPT_LOST = "receipt_lost"


class NewestReceipt(NamedTuple):
    """The highest event of a partition that has a receipt."""

    seq: int
    raw_id: bytes


class _Lost:
    """A partition whose receipt no longer holds, on a server; `told`: whether its alarm was seen in that server's store since."""

    def __init__(self, text: str, server: bytes | None) -> None:
        self.text = text
        self.server = server
        self.told = False


class KeptReceipts:
    """The receipts of one process, by partition. Safe for threads."""

    def __init__(self, keys: Sequence[LogKeys], alarms: Alarms | None = None) -> None:
        self._keys = keys
        self._alarms = alarms
        self._kept: dict[int, NewestReceipt] = {}
        self._lost: dict[int, _Lost] = {}
        self._asked: dict[Wire, tuple[int, set[int] | None]] = {}
        """Under which generation of a wire receipts were asked for: of which partitions, None for all."""
        self._lock = Lock()

    def floor(self, partition: int) -> int:
        """The seq that the head of a partition must have reached; 0 where no receipt was given."""
        kept = self._kept.get(partition)
        return kept.seq if kept else 0

    def remember(self, kept: Mapping[int, NewestReceipt]) -> None:
        """Take over receipts that processes before this one had; to be called before anything is appended."""
        with self._lock:
            for partition, one in kept.items():
                if partition < len(self._keys) and one.seq > self.floor(partition):
                    self._kept[partition] = one

    def all(self) -> dict[int, NewestReceipt]:
        """The highest event with a receipt, by partition."""
        with self._lock:
            return dict(self._kept)

    def let_go(self, partition: int) -> None:
        """An operator has seen that a partition's receipt no longer holds: append to the history that is there."""
        with self._lock:
            self._lost.pop(partition, None)
            self._kept.pop(partition, None)

    def keep(self, partition: int, events: Sequence[Prepared], answer: Any, *, proved: bool = True) -> None:
        """Take in the answer of the append script about these events of a partition.

        `proved`: whether that is acknowledged; else it is refused as written and not proved, and nobody was promised that it stays.
        """
        if isinstance(answer, Exception):
            return
        if answer[0] == b"rolled":
            self._lose(partition, f"its head is {answer[1]}", None)
            return
        highest = _highest(events, answer) if proved else None
        if highest is None:
            return
        with self._lock:
            if highest.seq > self.floor(partition):
                self._kept[partition] = highest

    def is_doubtful(self, partition: int, head: int) -> bool:
        """Whether a head that a reader got is below a receipt, and no alarm was raised for it yet."""
        return head < self.floor(partition) and partition not in self._lost

    def ask(self, wire: Wire, partitions: Collection[int] | None = None, *, again: bool = False) -> None:
        """On a connection that is new, look whether every kept receipt still holds; to be called before anything is sent on it.

        `partitions`: of these alone, where one node that does not answer must not keep what lies on others from being appended.
        `again`: also on a connection on which it was asked before, where the data may have changed under it.
        """
        wire.connect()
        generation, asked = (-1, None) if again else self._asked.get(wire, (-1, None))
        if generation != wire.generation:
            generation, asked = wire.generation, set()
        if asked is None or (partitions is not None and asked.issuperset(partitions)):
            return
        with self._lock:
            kept = sorted(self._kept.items())
        kept = [(p, one) for p, one in kept if p not in asked and (partitions is None or p in partitions)]
        commands = [["XRANGE", self._keys[p].stream, f"{one.seq}-0", f"{one.seq}-0"] for p, one in kept]
        for (partition, one), answer in zip(kept, wire.pipeline(commands) if commands else [], strict=True):
            if isinstance(answer, Exception):
                raise as_store_error(answer)
            if not answer:
                self._lose(partition, "it is not there", server_run(wire.at(self._keys[partition].meta)))
            elif answer[0][1][3] != one.raw_id:
                run = server_run(wire.at(self._keys[partition].meta))
                self._lose(partition, f"event {UUID(bytes=answer[0][1][3])} is there", run)
        self._asked[wire] = generation, None if partitions is None else asked | set(partitions)

    def _lose(self, partition: int, found: str, server: bytes | None) -> None:
        with self._lock:
            kept, known = self._kept.get(partition), self._lost.get(partition)
            if kept is None or (known is not None and known.server == server):
                return  # told of before; a server that was started again may have lost its alarm too
            lost = self._lost[partition] = _Lost(
                f"partition {partition}: event {UUID(bytes=kept.raw_id)} was acknowledged at {position_text(partition, kept.seq)},"
                f" and {found}: Redis came back with another history. This process appends nothing to the partition until an"
                f" operator has looked: `engramlog alarms`, then `engramlog alarms --clear {RECEIPT_LOST} {partition}`",
                server,
            )
        if self._alarms is not None:
            self._alarms.raised(RECEIPT_LOST, str(partition), lost.text)

    def refuse_lost(self, wire: Wire, partitions: Collection[int]) -> dict[int, ReceiptLost]:
        """Why nothing may be appended to some of these partitions; what an operator acknowledged meanwhile is let go.

        All that is lost is looked after, not only what is asked for: an operator may acknowledge before the next append there.
        """
        if not self._lost:
            return {}
        with self._lock:
            lost = sorted(self._lost.items())
        standing = {
            partition: ReceiptLost(one.text, partition=partition)
            for partition, one in lost
            if not self._is_acknowledged(wire, partition, one)
        }
        return {partition: standing[partition] for partition in partitions if partition in standing}

    def _is_acknowledged(self, wire: Wire, partition: int, lost: _Lost) -> bool:
        """Whether the alarm was seen in the store and is gone now; raised again where it never got there, and looked for at once:
        it may be acknowledged long before the next append."""
        try:
            stands = self._stands(wire, partition)
            if not stands and not lost.told and self._alarms is not None:
                self._alarms.raised(RECEIPT_LOST, str(partition), lost.text)
                stands = self._stands(wire, partition)
        except StoreUnavailable:
            if not wire.many:
                raise
            return False  # the alarms lie on a node that was lost: nobody is known to have acknowledged
        if stands or not lost.told:
            lost.told = lost.told or stands
            return False
        self.let_go(partition)
        return True

    @staticmethod
    def _stands(wire: Wire, partition: int) -> bool:
        """Whether the alarm of a partition is in the store."""
        return bool(wire.call("HEXISTS", ALARMS_KEY, f"{RECEIPT_LOST}|{partition}"))


def _highest(events: Sequence[Prepared], answer: Any) -> NewestReceipt | None:
    """The highest event that the script's answer gives a receipt for; None where it gives none."""
    outcome, head, told = answer[0], int(answer[1]), answer[2]
    if outcome == b"ok" and not told:
        return NewestReceipt(head + len(events), events[-1].raw_id)
    known = dict(zip(told[::2], told[1::2], strict=True))
    if outcome == b"ok" and len(known) < len(events):
        index = next(i for i in range(len(events), 0, -1) if i not in known)
        return NewestReceipt(head + len(events) - len(known), events[index - 1].raw_id)
    there = [NewestReceipt(int(mark[1:]), events[i - 1].raw_id) for i, mark in known.items() if mark[:1] == b"="]
    return max((one for one in there if one.seq <= head), default=None)


MENDING = 'nothing is appended to it and nothing is folded over it; docs/operating.md, "A gap in the log", says what can be done'
LOOK = Script(
    "look",
    """
-- KEYS: stream, meta (whose head is in `seq` where its format is 1).
-- Answer: head, how many entries, first id, last id; or what stands in the stream's place
local kind = redis.call('TYPE', KEYS[1])['ok']
if kind ~= 'stream' and kind ~= 'none' then return {kind} end
local meta = redis.call('HMGET', KEYS[2], 'head', 'seq')
local head, many = meta[1] or meta[2] or '0', redis.call('XLEN', KEYS[1])
if many == 0 then return {head, 0, '', ''} end
local first = redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', 1)[1][1]
local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1][1]
return {head, many, first, last}
""",
)


def refuse_gap(wire: Wire, tag: str, folded: int = 0) -> None:
    """Raises LogGap where a partition's log is not whole, or ends before `folded`, up to where it was folded. Writes nothing."""
    keys = LogKeys(tag)
    refuse_gap_seen(wire.run(LOOK, [keys.stream, keys.meta], []), tag, folded)


def look(wire: Wire, tags: Sequence[str]) -> list[list[Any]]:
    """What LOOK answers of each of these partitions' logs, all asked in one go. Raises StoreError."""
    asked = [((keys.stream, keys.meta), ()) for keys in map(LogKeys, tags)]
    return run_many(wire, LOOK, asked)


def refuse_gap_seen(seen: list[Any], tag: str, folded: int = 0) -> None:
    """Raises LogGap as `refuse_gap` does, by what `look` gave."""
    problem = gap_of(seen, folded)
    if problem:
        raise LogGap(f"partition {{{tag}}}: {problem}; {MENDING}", partition=tag)


def gap_of(look: list[Any], folded: int = 0) -> str | None:  # noqa: PLR0911 - a table of what can be wrong
    """What is wrong with a log, from the answer of LOOK; None where it is whole."""
    if len(look) == 1:
        return f"a {look[0].decode()} stands in the place of its log"
    if not look[0].isdigit():
        return f"its head is {look[0]!r}, which is no seq"
    head, many = int(look[0]), int(look[1])
    if not many:
        there = max(head, folded)
        return f"its log is empty, though {there} events were appended" if there else None
    for entry in look[2:]:
        if not entry.endswith(b"-0"):
            return f"its log has the entry {entry.decode()}, which no append wrote"
    first, last = (int(entry.removesuffix(b"-0")) for entry in look[2:])
    if first != 1:
        return f"its log begins at {first}: the {first - 1} entries before that are gone"
    if last > head:
        return f"its log has the entry {last}, beyond its head {head}, which no append wrote"
    if last < head:
        return f"its log ends at {last}, though {head} events were appended"
    if many != last:
        return f"its log ends at {last} and has {many} entries: " + (
            f"{last - many} are gone" if many < last else f"{many - last} of them no append wrote"
        )
    if folded > last:
        return f"its log ends at {last}, though it was folded up to {folded}"
    return None


def appending_refused(partition: int, head: int, many: int) -> str:
    """Why nothing is appended to a partition whose log has not as many entries as its head says: the hole would stay for good."""
    wrong = f"{head - many} are missing" if many < head else f"{many - head} of them no append wrote"
    return (
        f"partition {partition}: its log has {many} entries, though {head} events were appended: {wrong}; {MENDING}."
        f" Once it is whole, {AGAIN}"
    )


def refuse_holes(stored: list[Stored], after: int, tag: str) -> None:
    """Raises LogGap where entries do not follow on `after` without a gap. One comparison: ids only grow."""
    first, last = stored[0].seq, stored[-1].seq
    if first == after + 1 and last - first == len(stored) - 1:
        return
    expected = next(seq for seq, one in enumerate(stored, after + 1) if one.seq != seq)
    raise LogGap(
        f"partition {{{tag}}}: its log has no entry {expected}, and goes on at {stored[expected - after - 1].seq}; {MENDING}",
        partition=tag,
        missing=expected,
    )
