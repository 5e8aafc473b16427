"""What a Redis promises of an answered write, and how far an append is proved: its settings, replicas, and the disk."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from time import monotonic
from typing import Any, NamedTuple

import redis

from engramlog_server.events.errors import UnderReplicated
from engramlog_server.events.log import AppendReceipt
from engramlog_server.events.partitions import LogKeys, position_text
from engramlog_server.events.redis.wire import Wire

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
