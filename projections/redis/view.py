"""Views of hot owners, kept in this process and validated on each query in one round trip.

The token of a view is the owner's stored state (last applied seq and chain hash), so a view is never brought forward on a bare
counter; and a wire that was connected anew drops every view, since it may speak to another history. When all views together take
more than their bound of bytes, those of the owners asked longest ago leave first.

Turns that have lost their words for good have keyed marks outside the log, which outlive every rebuild.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from operator import attrgetter
from threading import Lock
from time import monotonic, sleep
from typing import Any, NamedTuple

import redis

from engramlog_server.events.envelope import Stored
from engramlog_server.events.errors import (
    BeyondHead,
    DamagedState,
    KeyUnavailable,
    NotYetFolded,
    OwnerQuarantined,
    OwnerTooLarge,
    StoreUnavailable,
)
from engramlog_server.events.partitions import LogKeys, partition_of, position_text
from engramlog_server.events.redis.secrets import memory_mark, read_cipher, refuse_erased, turn_mark
from engramlog_server.events.redis.wire import Wire, WirePool, as_store_error, server_run
from engramlog_server.events.text import UNREADABLE
from engramlog_server.projections.checks import UNBOUNDED, Bounds, Check, unchecked
from engramlog_server.projections.choices import VIEW_BYTES
from engramlog_server.projections.fold.changelog import FIRST_LINK, Entry, unpack
from engramlog_server.projections.fold.owner import OwnerState, decode_owner
from engramlog_server.projections.fold.partition import Quarantine
from engramlog_server.projections.memory.record import Memory
from engramlog_server.projections.memory.rejection import Rejections
from engramlog_server.projections.redis.builds import FIRST_BUILD, BuildKeys, cipher_of, open_pack, open_record
from engramlog_server.projections.redis.history import ChangeLogs, Mark, RedisPast, read_names, read_packs
from engramlog_server.projections.redis.job_notes import RedisDeletions, RedisUnjudged
from engramlog_server.projections.redis.store import (
    DELTA,
    decode_quarantine,
    read_entries,
    read_owner,
    read_parked,
    read_record,
    slices,
)
from engramlog_server.projections.views.quoting import all_as_told
from engramlog_server.projections.views.view import OwnerView

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


PAGE = 500
LOAD_PAGE = 1_000
"""Records in one answer when an owner is loaded: under a millisecond of Redis's time."""
PACKS = 64
"""Packs of a change log read at once, going back from the newest."""
_SAMPLES = 200
_BYTES_A_MEMORY = 2_200
"""About what a memory of talk takes beside the bytes that Redis has: its record as it is read, columns, ids, terms, its talk."""

_TOO_FAST = "the change log of {} changes too fast to be read; come again"


class PartitionStanding(NamedTuple):
    """Where an owner's partition stood when it was asked."""

    partition: int
    checkpoint: int
    head: int
    quarantine: Quarantine | None
    build: str = FIRST_BUILD
    owner_head: int = 0
    """Seq of the owner's newest event that moves its head (`EventLog.owner_head`); 0 for none."""
    entries: int | None = None
    """How many entries the partition's log has: as many as its head says, where it is whole."""

    @property
    def known(self) -> int:
        """Seq up to which the owner's events are in the answer: before the one that stuck, where one did."""
        return self.checkpoint if self.quarantine is None else min(self.checkpoint, self.quarantine.seq - 1)

    @property
    def gap(self) -> str:
        """What is wrong with the log, judged by its length; empty if it is complete."""
        if self.entries in (None, self.head):
            return ""
        return f"the log of partition {self.partition} has {self.entries:,} entries, though {self.head:,} events were appended"

    @property
    def position(self) -> str:
        """The position an answer was computed at."""
        return position_text(self.partition, self.checkpoint)


class Tail(NamedTuple):
    """The newest events of an owner in the order in which they were folded, and their change-log entries."""

    start: int
    """How many events of the owner were folded before these."""
    seqs: list[int]
    entries: list[Entry]


class RedisViews:
    """The views of a store. Safe for threads: one load and one question per owner at a time."""

    def __init__(
        self,
        client: redis.Redis,
        tags: Sequence[str],
        *,
        most_bytes: int = VIEW_BYTES,
        most_of_one: int = VIEW_BYTES,
    ) -> None:
        """`most_bytes`: of all views together, for those that were not asked last; `most_of_one`: of any owner's."""
        self.most_of_one = most_of_one
        self.on_head: Callable[[int, int], None] = lambda _partition, _head: None
        """Called with partition and head at each question about one of the partition's owners."""
        self._wires = WirePool(client)
        self._passing = set[str]()
        self.changelogs = ChangeLogs(self._wires, tags)
        self.moments = RedisPast(self._wires, self.changelogs)
        self._tags = list(tags)
        self.deletions = RedisDeletions(self._wires, self._tags)
        self.unjudged = RedisUnjudged(self._wires, self._tags)
        self.erased_turns = ErasedTurns(self._wires, self._tags)
        self._kept = KeptViews(most_bytes)
        self._lock = Lock()
        self._generations: dict[tuple[int, str], int] = {}
        self.asked = {"memory": 0, "loaded": 0, "nothing": 0}
        """How often a view was asked for, by where it was found; nothing: of an owner of whom nothing is known."""
        self._runs: dict[str, bytes | None] = {}
        """By node the server process that was met last."""
        self._nodes: dict[int, str] = {}
        """By partition the node that it was met on last."""
        self._epoch = 0
        """Grows when the server turns out to be another process: views of before are dropped."""

    @property
    def partitions(self) -> int:
        """How many partitions the store has."""
        return len(self._tags)

    @property
    def bytes_used(self) -> int:
        """About how much the kept views take together."""
        return self._kept.bytes_used

    def close(self) -> None:
        """Close idle connections."""
        self._wires.close()

    def held_owners(self) -> list[str]:
        """Owners of whom a view is held now."""
        return [owner for owner, _ in self._kept.all()]

    def forget(self, owner: str) -> None:
        """Drop what is held of an owner: the next question loads it."""
        self._kept.let_go(owner)

    @contextmanager
    def passing(self, owner: str) -> Iterator[None]:
        """Within it, an owner is looked at in passing: what was not kept of it before is not kept after.

        For a walk over all owners, which asks each once, and would fill the memory with what nobody asks again.
        """
        kept = owner in self._kept
        if not kept:
            self._passing.add(owner)
        try:
            yield
        finally:
            if not kept:
                self._passing.discard(owner)
                self._kept.let_go(owner)

    @contextmanager
    def view(
        self, owner: str, *, after: int = 0, wait_seconds: float = 2.0, bounds: Bounds = UNBOUNDED
    ) -> Iterator[tuple[OwnerView, PartitionStanding]]:
        """The owner's view, level with Redis, for the length of a question.

        `after`: a seq of the owner's partition that must have been folded. Raises NotYetFolded after `wait_seconds`,
        BeyondHead where no such seq exists yet, OwnerQuarantined where it is parked. `bounds` are asked while
        somebody else has the view and while it is loaded, and told how many memories are to be loaded before any is.
        """
        held = self._kept.hold(owner)
        with held.alone(bounds.check), self._wires.wire() as wire:
            held.found = "memory"
            standing = self._level(wire, owner, held, bounds)
            with self._lock:
                self.asked[held.found] += 1
            if after:
                standing = self._wait(
                    owner, lambda: self._level(wire, owner, held, bounds), standing, after, wait_seconds
                )
            assert held.view is not None
            try:
                yield held.view, standing
            finally:  # after the question, which may have made what it needed first
                self._kept.make_room(owner, held)

    def glance(self, owner: str, *, after: int = 0, wait_seconds: float = 2.0) -> tuple[OwnerView, PartitionStanding]:
        """The owner's state and standing as `view` has them, in one round trip whatever it remembers: a view without memories."""
        partition, held = partition_of(owner, len(self._tags)), CachedView()
        with self._wires.wire() as wire:

            def level() -> PartitionStanding:
                while True:
                    kind, token, checkpoint, stuck, head, own, many = self._delta(wire, partition, owner, held)[:7]
                    if kind == b"build":
                        held.build = token.decode()
                        continue
                    self.on_head(partition, int(head))
                    keys = BuildKeys(self._tags[partition], held.build)
                    if not token:
                        refuse_erased(wire, keys.log, owner)
                    cipher = cipher_of(wire, keys, owner) if token or stuck else None
                    state = read_owner(keys, owner, token, cipher) if token else None
                    held.view = OwnerView(owner, state or OwnerState())
                    quarantine = decode_quarantine(stuck, cipher, owner) if stuck else None
                    return PartitionStanding(
                        partition, int(checkpoint), int(head), quarantine, held.build, int(own), many
                    )

            standing = level()
            if after:
                standing = self._wait(owner, level, standing, after, wait_seconds)
        assert held.view is not None
        return held.view, standing

    def records(self, owner: str, ids: Iterable[str]) -> dict[str, Memory]:
        """Those memories of the owner, as they were folded: what a view makes of them beside others is not told."""
        partition, found = partition_of(owner, len(self._tags)), dict[str, Memory]()
        with self._wires.wire() as wire:
            keys = BuildKeys(self._tags[partition], self._live(wire, partition))
            cipher = cipher_of(wire, keys, owner)
            for some in slices(list(dict.fromkeys(ids)), PAGE):
                told = zip(some, wire.call("HMGET", keys.records(owner), *some), strict=True)
                found.update((one, read_record(keys, owner, one, raw, cipher)) for one, raw in told if raw is not None)
        return found

    def told_records(self, owner: str, ids: Iterable[str]) -> dict[str, Memory]:
        """The same, as sensitive as what they have words of: by these it is decided whether words of an event may be told."""
        return all_as_told(
            self.records(owner, ids),
            lambda others: self.records(owner, others),
            lambda: self._rejections(owner),
        )

    def _rejections(self, owner: str) -> Rejections:
        partition = partition_of(owner, len(self._tags))
        with self._wires.wire() as wire:
            keys = BuildKeys(self._tags[partition], self._live(wire, partition))
            token = wire.call("HGET", keys.owners, owner)
            return read_owner(keys, owner, token).rejections if token else ()

    def _wait(
        self,
        owner: str,
        level: Callable[[], PartitionStanding],
        standing: PartitionStanding,
        after: int,
        wait_seconds: float,
    ) -> PartitionStanding:
        end, pause = monotonic() + wait_seconds, 0.001
        while True:
            if after > standing.head:
                raise BeyondHead(
                    f"position {position_text(standing.partition, after)} does not exist:"
                    f" the head is {position_text(standing.partition, standing.head)}",
                    owner=owner,
                    head=standing.head,
                )
            if standing.quarantine is not None and standing.quarantine.seq <= after:
                raise OwnerQuarantined(
                    f"owner {owner} is quarantined at {position_text(standing.partition, standing.quarantine.seq)}"
                    f" ({standing.quarantine.reason}); see `engramlog dead {owner}`",
                    owner=owner,
                    position=position_text(standing.partition, standing.quarantine.seq),
                )
            if standing.checkpoint >= after:
                return standing
            if monotonic() >= end:
                raise NotYetFolded(
                    f"position {position_text(standing.partition, after)} was not folded within {wait_seconds:g} s:"
                    f" the checkpoint is {standing.checkpoint}; is a worker running? (engramlog status)",
                    owner=owner,
                    checkpoint=standing.checkpoint,
                    lag=standing.head - standing.checkpoint,
                )
            sleep(pause)
            pause = min(pause * 2, 0.02)
            standing = level()

    def _level(self, wire: Wire, owner: str, held: CachedView, bounds: Bounds) -> PartitionStanding:
        """Bring a held view level with Redis: one round trip where nothing changed."""
        partition = partition_of(owner, len(self._tags))
        self._watch_server(wire, partition)
        if held.epoch != self._epoch:
            held.epoch, held.token, held.view = self._epoch, b"", None
        watched = wire.generation
        while True:
            answer = self._delta(wire, partition, owner, held)
            if (
                wire.many and wire.generation != watched
            ):  # asked of another node than was looked at: of another history, it may be
                self._watch_server(wire, partition)
                watched, held.token, held.view = wire.generation, b"", None
                continue
            kind, token, checkpoint, stuck, head, own, many = answer[:7]
            if kind == b"build":
                held.build, held.token, held.view = token.decode(), b"", None
                continue
            self.on_head(partition, int(head))
            stands_still = self._stuck(wire, partition, owner, stuck) if stuck else None
            standing = PartitionStanding(
                partition, int(checkpoint), int(head), stands_still, held.build, int(own), many
            )
            if kind == b"delta" and held.view is not None:
                keys = BuildKeys(self._tags[partition], held.build)
                cipher = cipher_of(wire, keys, owner)
                changed = [
                    read_record(keys, owner, i.decode(), raw, cipher)
                    for i, raw in zip(answer[7], answer[8], strict=True)
                    if raw
                ]
                changed.sort(key=in_order)  # new rows stand as in a view that is loaded now
                held.view.follow(read_owner(keys, owner, token, cipher), changed)
                held.token = token
                self._refuse_grown(owner, held)
                return standing
            if kind == b"same" and held.view is not None:
                return standing
            if not token:
                held.view = None
                refuse_erased(wire, LogKeys(self._tags[partition]), owner)
                held.view, held.found = OwnerView(owner, OwnerState()), "nothing"
                return standing
            self._refuse_large(wire, BuildKeys(self._tags[partition], held.build), owner, held)
            self._load(wire, partition, owner, held, token, bounds)

    def _stuck(self, wire: Wire, partition: int, owner: str, raw: bytes) -> Quarantine:
        """Why the owner stands still; where its key cannot be had, which may be why, without what is sealed of it."""
        try:
            cipher = cipher_of(wire, BuildKeys(self._tags[partition], FIRST_BUILD), owner)
        except KeyUnavailable:
            cipher = None
        return decode_quarantine(raw, cipher, owner)

    def _refuse_large(self, wire: Wire, keys: BuildKeys, owner: str, held: CachedView) -> None:
        """Before anything of an owner is loaded: raises OwnerTooLarge by the number and size of its records."""
        count = int(wire.call("HLEN", keys.records(owner)))
        needed = count * _BYTES_A_MEMORY
        if needed <= self.most_of_one:
            with suppress(StoreUnavailable):  # of a user who may not ask: what comes is counted too
                needed += int(wire.call("MEMORY", "USAGE", keys.records(owner), "SAMPLES", _SAMPLES) or 0)
        held.estimated = needed
        if (needed := int(needed * held.heavier)) > self.most_of_one:
            self._refuse(owner, held, count, needed)

    def _refuse_grown(self, owner: str, held: CachedView, estimated: int = 0) -> None:
        """A view that has grown too large is let go. `estimated`: before it was loaded just now, which is not done again then."""
        if held.view is not None and (taken := held.view.bytes_of_memories()) > self.most_of_one:
            if estimated:
                held.heavier = taken / estimated
            self._refuse(owner, held, len(held.view), taken)

    def _refuse(self, owner: str, held: CachedView, count: int, needed: int) -> None:
        held.view, held.token = None, b""
        self._kept.make_room(owner, held)
        raise OwnerTooLarge(owner, count, needed, self.most_of_one)

    def _watch_server(self, wire: Wire, partition: int) -> None:
        """After a new connection: is it the same server process? If not, its history may be another. On a Cluster
        likewise where the partition lies on another node than before."""
        key = LogKeys(self._tags[partition]).meta
        name = wire.node_of(key)
        if not (wire.is_open and self._generations.get((id(wire), name)) == wire.generation):
            run = server_run(wire.at(key))
            with self._lock:
                if run is None or (name in self._runs and self._runs[name] != run):
                    self._epoch += 1
                self._runs[name] = run
                self._generations[(id(wire), name)] = wire.generation
        if self._nodes.get(partition, name) != name:
            with self._lock:
                self._epoch += 1
        self._nodes[partition] = name

    def _delta(self, wire: Wire, partition: int, owner: str, held: CachedView) -> list[Any]:
        keys = BuildKeys(self._tags[partition], held.build)
        since = held.view.state.applied if held.view is not None else 0
        names = [keys.log.meta, keys.checkpoint, keys.owners, keys.quarantine, keys.changes(owner), keys.records(owner)]
        names += [keys.log.heads, keys.log.stream]
        answer: list[Any] = wire.run(
            DELTA, names, [owner, held.build, held.token if held.view is not None else b"", since]
        )
        return answer

    def _load(self, wire: Wire, partition: int, owner: str, held: CachedView, token: bytes, bounds: Bounds) -> None:
        """Records in pages, under the token read before; what changed meanwhile comes by `delta`."""
        keys = BuildKeys(self._tags[partition], held.build)
        count, cipher = int(wire.call("HLEN", keys.records(owner))), cipher_of(wire, keys, owner)
        bounds.weigh(count)
        records, taken = dict[bytes, bytes](), 0
        wire.send("HSCAN", keys.records(owner), 0, "COUNT", LOAD_PAGE)
        while True:
            cursor, page = _received(wire)
            if cursor != b"0":
                wire.send("HSCAN", keys.records(owner), cursor, "COUNT", LOAD_PAGE)  # Redis works while we take it in
            told = zip(page[::2], page[1::2], strict=True)
            records.update(
                told if cipher is None else ((name, open_record(cipher, owner, name, raw)) for name, raw in told)
            )
            taken += sum(map(len, page[1::2]))
            if cursor == b"0":
                break
            if taken > self.most_of_one:
                _received(wire)
                self._refuse(owner, held, count, taken)
            bounds.check(len(records), count)
        memories = [read_record(keys, owner, name.decode(), raw) for name, raw in records.items()]
        state = read_owner(keys, owner, token, cipher)
        held.view = OwnerView(owner, state, sorted(memories, key=in_order), bounds.check)
        held.token, held.found = token, "loaded"
        self._refuse_grown(owner, held, held.estimated)

    def history(self, owner: str, check: Check = unchecked) -> tuple[list[int], list[Entry]]:
        """Seqs of all of the owner's applied events and its whole change log, in the order of folding."""
        partition = partition_of(owner, len(self._tags))
        with self._wires.wire() as wire:
            for _ in range(100):
                keys = BuildKeys(self._tags[partition], self._live(wire, partition))
                before = wire.call("HGET", keys.owners, owner)
                packs = read_packs(wire, keys, owner, check)
                if wire.call("HGET", keys.owners, owner) == before:
                    return _unpacked(owner, packs)
        raise StoreUnavailable(_TOO_FAST.format(owner), retry_after=1)

    def applied(self, partition: int, owners: Sequence[str]) -> list[int]:
        """How many events of each owner of a partition are folded: what a change feed polls, in two round trips."""
        counts: list[int] = []
        with self._wires.wire() as wire:
            keys = BuildKeys(self._tags[partition], self._live(wire, partition))
            for start in range(0, len(owners), PAGE):
                states = wire.call("HMGET", keys.owners, *owners[start : start + PAGE])
                counts += [decode_owner(raw).applied if raw else 0 for raw in states]
        return counts

    def rejections(self, owners: Iterable[str]) -> dict[str, Rejections]:
        """What of each owner is rejected, as far as it is folded: of those of whom something is, in two round trips a partition."""
        of_partition: dict[int, list[str]] = {}
        for owner in owners:
            of_partition.setdefault(partition_of(owner, len(self._tags)), []).append(owner)
        found: dict[str, Rejections] = {}
        with self._wires.wire() as wire:
            for partition, names in of_partition.items():
                keys = BuildKeys(self._tags[partition], self._live(wire, partition))
                for owner, raw in zip(names, wire.call("HMGET", keys.owners, *names), strict=True):
                    if raw and (told := read_owner(keys, owner, raw).rejections):
                        found[owner] = told
        return found

    def tail(self, owner: str, since: int, check: Check = unchecked) -> Tail:
        """What was folded of an owner after its first `since` events: the newest packs, and no more of them than it takes."""
        partition = partition_of(owner, len(self._tags))
        with self._wires.wire() as wire:
            for _ in range(100):
                keys = BuildKeys(self._tags[partition], self._live(wire, partition))
                token = wire.call("HGET", keys.owners, owner)
                state = decode_owner(token) if token else OwnerState()
                seqs, entries = self._newest(wire, keys, owner, state, since, check)
                if wire.call("HGET", keys.owners, owner) == token and len(seqs) >= state.applied - since:
                    return Tail(state.applied - len(seqs), seqs, entries)
        raise StoreUnavailable(_TOO_FAST.format(owner), retry_after=1)

    def past(self, owner: str, after: int, check: Check = unchecked) -> Mark:
        """Where reading what was folded after a seq begins; see `ChangeLogs.mark_after`."""
        return self.changelogs.mark_after(owner, after, check)

    def page(self, owner: str, mark: Mark, most: int) -> tuple[Tail, Mark]:
        """About `most` events from a mark on, perhaps with some before it, and where to go on. No event is new at the end."""
        seqs, entries, following = self.changelogs.page(owner, mark, most)
        return Tail(mark.before, seqs, entries), following

    def _newest(
        self, wire: Wire, keys: BuildKeys, owner: str, state: OwnerState, since: int, check: Check
    ) -> tuple[list[int], list[Entry]]:
        if state.applied <= since:
            return [], []
        cipher = cipher_of(wire, keys, owner)
        seqs, entries = _unpacked(owner, open_pack(cipher, owner, wire.call("GET", keys.tail(owner)) or b""))
        if len(seqs) >= state.applied - since:
            return seqs, entries
        names = [name for name in read_names(wire, keys, owner)[1] if not seqs or name <= state.applied - len(seqs)]
        while names and len(seqs) < state.applied - since:
            check(len(seqs), state.applied - since)
            names, wanted = names[:-PACKS], names[-PACKS:]
            packs = wire.call("HMGET", keys.changelog(owner), *wanted)
            older = _unpacked(owner, b"".join(open_pack(cipher, owner, raw or b"") for raw in packs))
            seqs, entries = older[0] + seqs, older[1] + entries
        return seqs, entries

    def stored(self, owner: str, seqs: Sequence[int], *, whole: bool = True) -> list[Stored]:
        """The owner's stored events at these seqs; `whole`: LogGap is raised where the log has lost one."""
        with self._wires.wire() as wire:
            keys = BuildKeys(self._tags[partition_of(owner, len(self._tags))], FIRST_BUILD)
            return read_entries(wire, keys, seqs, whole=whole)

    def parked(self, owner: str, build: str) -> list[int]:
        """Seqs of the owner's events that wait behind a quarantine."""
        with self._wires.wire() as wire:
            return read_parked(wire, BuildKeys(self._tags[partition_of(owner, len(self._tags))], build), owner)

    def partition_chain(self, owner: str) -> tuple[str, str]:
        """The position up to which the owner's partition is folded, and the chain over its stored events there, 64 digits."""
        partition = partition_of(owner, len(self._tags))
        with self._wires.wire() as wire:
            keys = BuildKeys(self._tags[partition], self._live(wire, partition))
            seq, chain = wire.call("HMGET", keys.checkpoint, "seq", "head")
        return position_text(partition, int(seq or 0)), (chain or FIRST_LINK).hex()

    def _live(self, wire: Wire, partition: int) -> str:
        return (wire.call("HGET", LogKeys(self._tags[partition]).meta, "live") or FIRST_BUILD.encode()).decode()


in_order: Callable[[Memory], tuple[int, str]] = attrgetter("created_seq", "id")
"""The order of rows: as memories were created."""


def _received(wire: Wire) -> Any:
    """The answer to what was sent before; a refusal becomes a StoreError."""
    try:
        return wire.receive()
    except redis.ResponseError as error:
        raise as_store_error(error) from error


def _unpacked(owner: str, raw: bytes) -> tuple[list[int], list[Entry]]:
    """Seqs and entries of an owner's packs; raises DamagedState where they cannot be read."""
    try:
        return unpack(raw)
    except UNREADABLE as error:
        raise DamagedState(
            f"the change log of owner {owner} cannot be read ({error}); `engramlog rebuild` makes it again from the log",
            owner=owner,
        ) from error


_WAIT_SECONDS = 0.1
"""How often whoever waits for a view asks whether to go on waiting."""
_LOOKED_AT = 1_000
"""Views that are looked at after one question: more than one is dropped only where a large one came."""


class CachedView:
    """One owner's view with its lock and what validates it."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.view: OwnerView | None = None
        self.token = b""
        self.build = FIRST_BUILD
        self.found = "nothing"
        """Where the view was found that the question in hand is asked of."""
        self.bytes = 0
        """As last counted."""
        self.epoch = 0
        self.estimated = 0
        """How many bytes it was thought to take before it was loaded last."""
        self.heavier = 1.0
        """How many times that it took, where it was refused once it was loaded."""

    @contextmanager
    def alone(self, check: Check) -> Iterator[None]:
        """With the view to oneself. `check` is asked while somebody else has it."""
        while not self.lock.acquire(timeout=_WAIT_SECONDS):
            check(0, 0)
        try:
            yield
        finally:
            self.lock.release()


class KeptViews:
    """What is held of each owner. Safe for threads; a view itself is guarded by its own lock."""

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._held: OrderedDict[str, CachedView] = OrderedDict()
        """The least recently asked first."""
        self._bytes = 0
        self._lock = Lock()

    @property
    def bytes_used(self) -> int:
        """About how much all views take together, as last counted."""
        return self._bytes

    def __len__(self) -> int:
        return len(self._held)

    def __contains__(self, owner: object) -> bool:
        return owner in self._held

    def all(self) -> list[tuple[str, CachedView]]:
        """What is held now."""
        with self._lock:
            return list(self._held.items())

    def hold(self, owner: str) -> CachedView:
        """What is held of an owner, empty where nothing is; it is now the most recently asked."""
        with self._lock:
            held = self._held.get(owner)
            if held is None:
                held = self._held[owner] = CachedView()
            self._held.move_to_end(owner)
            return held

    def let_go(self, owner: str) -> None:
        """Drop what is held of an owner. Whoever still reads it goes on with it; it is not counted any more."""
        with self._lock:
            held = self._held.pop(owner, None)
            if held is not None:
                self._bytes -= held.bytes

    def make_room(self, owner: str, held: CachedView) -> None:
        """Count what an owner's view takes now, and drop others while all take too much; the one just asked stays.

        To be called under the view's lock. Whoever still reads a view that was dropped, or waits for it, goes on with it, since
        it is validated at each question; it is not counted any more.
        """
        taken = held.view.bytes_used() if held.view is not None else 0
        with self._lock:
            if self._held.get(owner) is not held:
                return
            self._bytes += taken - held.bytes
            held.bytes = taken
            oldest = list(islice(self._held, _LOOKED_AT)) if self._bytes > self._most else []
            for name in oldest:
                if name != owner:
                    left = self._held.pop(name)
                    self._bytes -= left.bytes
                if self._bytes <= self._most:
                    break
