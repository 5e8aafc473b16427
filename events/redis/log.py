"""The event log on Redis Streams: the only one that appends (events.redis.append is its script).

One script per partition and request: dedupe, expected head, gapless `seq + 1`, XADD with the explicit id `<seq>-0`. Every check
comes before the first write, and the first write is the one that may be refused, so a part is written whole or not.

It also decides whether there is room: memory in use, and what folding the log will still take. An event that is accepted takes
memory twice: in the log, and as what it is folded into. Appends are refused so early that all that is in the log can still be
folded; else a full store could answer no question about what it accepted. Figures are bytes of Redis's memory, measured: a folded
event takes about 1.05 to 1.25 of its body and 240 more, one of an owner who is new about 600 on top.

Redis is asked how it stands at most once a second while there is plenty of room, else oftener.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from operator import attrgetter, itemgetter
from secrets import token_bytes
from threading import Lock
from time import monotonic
from typing import Any, NamedTuple

import redis

from engramlog_server.events.alarms import LOG_CHANGED, PARTITION_GAP, Alarms
from engramlog_server.events.catalogue import LATEST_VERSION
from engramlog_server.events.cipher import SECRET_BYTES
from engramlog_server.events.envelope import LOCAL, UNMARKED, Marker, Naming, Stored, checked_principal
from engramlog_server.events.errors import LogGap, StoreFull, StoreUnavailable
from engramlog_server.events.keys import Seals
from engramlog_server.events.log import Appendable, AppendReceipt, Behalf, check_request_size, for_itself, is_access
from engramlog_server.events.partitions import ALARMS_KEY, LogKeys, partition_of
from engramlog_server.events.redis.alarms import alarm_field
from engramlog_server.events.redis.append import AppendRequest, AppendSending, fail
from engramlog_server.events.redis.durability import MENDING, UNPROVED, KeptReceipts, NewestReceipt, Proof, Proving
from engramlog_server.events.redis.secrets import (
    Chance,
    Secrets,
    opened,
    opened_where_it_can_be,
    read_lines,
    read_naming,
    read_secrets,
    read_seqs,
)
from engramlog_server.events.redis.server import StoreClock, redis_micros
from engramlog_server.events.redis.wire import Wire, WirePool, as_store_error, in_haste
from engramlog_server.events.trust import ASSERTED, lowest
from engramlog_server.events.vocabulary import Trust

APPEND_FULL = 0.85
"""Share of maxmemory from which appends are refused; access events from 0.75: the rest belongs to commits and operators."""
ACCESS_FULL = 0.75

_LOG_A_BYTE, _LOG_AN_EVENT = 1.25, 200
_FOLD_A_BYTE, _FOLD_AN_EVENT, _FOLD_AN_OWNER = 1.3, 300, 800
_ENOUGH = 0.01
"""Share of maxmemory that unfolded events must take to be named in a refusal."""


class Debt(NamedTuple):
    """What is in the log and not yet folded: events, bytes of their bodies, and owners of whom nothing is folded."""

    events: int = 0
    body_bytes: int = 0
    new_owners: int = 0

    @property
    def bytes(self) -> int:
        """About how much memory folding it will take, rather more than less."""
        return fold_bytes(self.events, self.body_bytes) + _FOLD_AN_OWNER * self.new_owners


class Room(NamedTuple):
    """How Redis stands: bytes in use, its maxmemory (None: no limit), and what waits to be folded."""

    used: int = 0
    limit: int | None = None
    debt: Debt = Debt()

    @property
    def used_share(self) -> float:
        """Share of maxmemory in use; 0 without a limit."""
        return self.used / self.limit if self.limit else 0.0

    @property
    def debt_share(self) -> float:
        """Share of maxmemory that folding will still take; 0 without a limit."""
        return self.debt.bytes / self.limit if self.limit else 0.0

    def left(self, most: float) -> int | None:
        """Bytes up to this share of maxmemory once all is folded, negative beyond it; None without a limit."""
        return None if self.limit is None else int(most * self.limit) - self.used - self.debt.bytes


def fold_bytes(events: int, body_bytes: int) -> int:
    """About how much memory so many events of so many bytes take once they are folded, beside the log."""
    return int(_FOLD_A_BYTE * body_bytes) + _FOLD_AN_EVENT * events


def append_bytes(events: int, body_bytes: int) -> int:
    """About how much memory appending so many events of so many bytes takes: in the log, and folded."""
    return int(_LOG_A_BYTE * body_bytes) + _LOG_AN_EVENT * events + fold_bytes(events, body_bytes)


def refusal(room: Room, wanted: int, most: float) -> str:
    """Why an append that takes so many bytes is refused, and what to do."""
    because, cure = "", "raise maxmemory or free memory"
    if room.limit and wanted >= _ENOUGH * room.limit:
        because = f", and this request would take about {wanted / room.limit:.0%} once it is folded"
    if room.debt_share >= _ENOUGH:
        because += f", and folding the {room.debt.events:,} events that wait will take about {room.debt_share:.0%} more"
        cure = f"let folding catch up (`engramlog status` tells the lag), or {cure}"
    return (
        f"Redis uses {room.used_share:.0%} of its maxmemory{because}; appends are refused from {most:.0%} on, so that what"
        f" is in the log can be folded: {cure}, then send the same request again"
    )


LOOK_SECONDS = 1.0
ANSWER_SECONDS = 1.0
"""How long a node of a Cluster may take to tell, for all appends wait meanwhile; whoever does not is not counted."""
_PART = 8
"""Redis is asked again once this process has taken an eighth of the room that was left: a fast producer, or eight of them
at once, cannot pass the limit between two looks."""

ReadDebt = Callable[[Wire, str], Debt]
"""Down a wire what waits to be folded, of a Cluster at the node of this name."""


def no_debt(_wire: Wire, _node: str = "") -> Debt:
    """Where nothing is folded."""
    return Debt()


class _Standing:
    """How one server stood when it was looked at, and what this process took there since."""

    def __init__(self, room: Room) -> None:
        self.room, self.taken = room, 0

    def takes(self, wanted: int, most: float) -> StoreFull | None:
        """Take so many bytes, or why they do not fit."""
        self.taken += wanted
        left = self.room.left(most)
        if left is None or (left > 0 and self.taken <= left):
            return None
        self.taken -= wanted
        return StoreFull(refusal(self.room, wanted, most), retry_after=5, unfolded=self.room.debt.events)

    def is_near(self, wanted: int, most: float) -> bool:
        """Whether it is to be looked at again before so many bytes more are taken."""
        left = self.room.left(most)
        return left is not None and (self.taken + wanted) * _PART > left


class AppendAdmission:
    """Lets appends in while there is room for them and for their folding. Safe for threads."""

    def __init__(self, read_debt: ReadDebt = no_debt) -> None:
        self._read_debt = read_debt
        self._lock = Lock()
        self._nodes: dict[str, _Standing] = {}
        """By the name of a node; of one server alone by none."""
        self._looked = float("-inf")

    def refused(self, wire: Wire, wanted: Mapping[str, int], *, only_accesses: bool) -> dict[str, StoreFull]:
        """Take `wanted` bytes (`append_bytes`) at each of these nodes, one server's name being "", and give those
        at which they do not fit, with why. A node that does not tell how it stands refuses nothing. Raises StoreError."""
        most = ACCESS_FULL if only_accesses else APPEND_FULL
        with self._lock:
            if monotonic() - self._looked > LOOK_SECONDS or any(
                name in self._nodes and self._nodes[name].is_near(size, most) for name, size in wanted.items()
            ):
                self._nodes = {name: _Standing(room) for name, room in rooms_by_node(wire, self._read_debt)}
                self._looked = monotonic()
            told = {name: self._nodes[name].takes(size, most) for name, size in wanted.items() if name in self._nodes}
        return {name: full for name, full in told.items() if full is not None}


def rooms_by_node(wire: Wire, read_debt: ReadDebt = no_debt) -> list[tuple[str, Room]]:
    """How each node of a Cluster that answers stands now, by its name; of one server alone that one, by none. Without a limit where
    it has none, or does not tell, and then no debt is asked for. Raises StoreUnavailable where one server does not answer."""
    if not wire.many:
        return [("", _room(wire, "", _memory(wire), read_debt))]
    rooms = list[tuple[str, Room]]()
    with in_haste(wire):
        for name, figures in memory_by_node(wire):
            with suppress(StoreUnavailable):
                rooms.append((name, _room(wire, name, figures, read_debt)))
    return rooms


def _room(wire: Wire, name: str, figures: tuple[int | None, int | None], read_debt: ReadDebt) -> Room:
    used, limit = figures
    return Room(used or 0) if used is None or limit is None else Room(used, limit, read_debt(wire, name))


def read_room(wire: Wire, read_debt: ReadDebt = no_debt) -> Room:
    """How Redis stands now, of a Cluster the node with the least room of those that answer."""
    rooms = [room for _, room in rooms_by_node(wire, read_debt)]
    limited = [(left, room) for room in rooms if (left := room.left(APPEND_FULL)) is not None]
    if limited:
        return min(limited, key=itemgetter(0))[1]
    return max(rooms, key=attrgetter("used"), default=Room())


def memory(wire: Wire) -> tuple[int | None, int | None]:
    """Bytes in use and maxmemory, None where it cannot be read, or has no limit; of a Cluster those of the fullest node."""
    if wire.many:
        return _fullest([figures for _, figures in memory_by_node(wire)])
    return _memory(wire)


def memory_by_node(wire: Wire) -> list[tuple[str, tuple[int | None, int | None]]]:
    """The same of each node by its name, of those that answer. Raises StoreUnavailable where nobody tells the nodes."""
    found = []
    for name, one in wire.servers():
        try:
            found.append((name, _memory(one, ANSWER_SECONDS)))
        except StoreUnavailable:
            continue
    return found


def _fullest(nodes: Sequence[tuple[int | None, int | None]]) -> tuple[int | None, int | None]:
    """Who has the largest share of its limit; without limits who has most in use."""
    told = [(used, limit) for used, limit in nodes if used is not None]
    return max(told, key=lambda one: (one[0] / one[1] if one[1] else 0.0, one[0]), default=(None, None))


def _memory(wire: Wire, timeout: float | None = None) -> tuple[int | None, int | None]:
    wire.send("INFO", "memory")
    try:
        answer: Any = wire.receive(timeout=timeout)
    except redis.ResponseError:
        return None, None
    fields = dict(line.split(":", 1) for line in answer.decode().splitlines() if ":" in line)
    return int(fields["used_memory"]), int(fields.get("maxmemory", "0")) or None


def memory_share(wire: Wire) -> float | None:
    """Used share of maxmemory; None where there is no limit or it cannot be read."""
    used, limit = memory(wire)
    return None if used is None or limit is None else used / limit


class RedisEventLog:
    """An `EventLog` in Redis. `marker` looks at each event once, `principal` is who brings those that nobody else is named for,
    unless `on_behalf` tells for whom this process acts now.

    Safe for threads: each call borrows a connection of its own."""

    def __init__(
        self,
        client: redis.Redis,
        tags: Sequence[str],
        *,
        proof: Proof = UNPROVED,
        own_clock: Callable[[], int] | None = None,
        alarms: Alarms | None = None,
        read_debt: ReadDebt = no_debt,
        marker: Marker = UNMARKED,
        principal: str = LOCAL,
        highest: Trust = ASSERTED,
        on_behalf: Callable[[], Behalf | None] = for_itself,
        chance: Chance = token_bytes,
        says_again: bool = False,
    ) -> None:
        """`says_again`: what is kept outside of the store, and it lacks: no receipt and no restored store stands in the way."""
        self._marker = marker
        self._principal = checked_principal(principal)
        self._highest = highest
        self._on_behalf = on_behalf
        self._chance = chance
        self._secrets = Secrets(tags, chance)
        self._wires = WirePool(client)
        self._keys = [LogKeys(tag) for tag in tags]
        self._proving = Proving(self._keys, proof)
        self._clock = StoreClock(self._redis_time, own_clock, alarms)
        self._admission = AppendAdmission(read_debt)
        self._kept = KeptReceipts(self._keys, alarms)
        self._sending = AppendSending(
            *(self._keys, self._secrets, self._kept, self._clock),
            marker=marker,
            chance=chance,
            proving=self._proving,
            alarms=alarms,
            says_again=says_again,
        )
        self.on_append: Callable[[float], None] | None = None
        """Told how many seconds each request of events took that was answered, where somebody asks."""

    @property
    def principal(self) -> str:
        """See `EventLog.principal`."""
        behalf = self._on_behalf()
        return self._principal if behalf is None else behalf.principal

    @property
    def highest(self) -> Trust:
        """See `EventLog.highest`."""
        behalf = self._on_behalf()
        return self._highest if behalf is None else lowest(self._highest, behalf.highest)

    @property
    def marker(self) -> Marker:
        """See `EventLog.marker`."""
        return self._marker

    @property
    def partitions(self) -> int:
        """How many partitions the store has."""
        return len(self._keys)

    @property
    def least_replicas(self) -> int:
        """How many replicas are to have what is appended."""
        return self._proving.least

    def close(self) -> None:
        """Close idle connections."""
        self._wires.close()

    def append(
        self,
        events: Sequence[Appendable],
        *,
        expected_heads: Mapping[str, int] | None = None,
        principal: str | None = None,
    ) -> list[AppendReceipt]:
        """See `EventLog.append`. Raises StoreFull, StoreUnavailable or ReceiptLost where nothing can be said of any partition.

        Redis works on one partition's part while the next is made ready, and while receipts are written.
        """
        check_request_size(len(events))
        by = checked_principal(self.principal if principal is None else principal)
        if not events:
            return []
        began = monotonic()
        parts: dict[int, list[int]] = {}
        for index, event in enumerate(events):
            parts.setdefault(partition_of(event.owner, len(self._keys)), []).append(index)
        receipts: list[AppendReceipt | None] = [None] * len(events)
        with self._wires.wire() as wire:
            request = AppendRequest(events, expected_heads or {}, by)
            self._sending.send(wire, request, self._admitted(wire, request, parts, receipts), receipts)
        if self.on_append is not None:
            self.on_append(monotonic() - began)
        return [receipt for receipt in receipts if receipt]

    def _admitted(
        self,
        wire: Wire,
        request: AppendRequest,
        parts: Mapping[int, list[int]],
        receipts: list[AppendReceipt | None],
    ) -> Mapping[int, list[int]]:
        """The parts for which there is room where they are to lie; of others the receipts say why not. Raises StoreFull where there
        is room for none."""
        at, wanted = self._wanted(wire, request.events, parts)
        full = self._admission.refused(wire, wanted, only_accesses=all(map(is_access, request.events)))
        if not full:
            return parts
        fits = {partition: indexes for partition, indexes in parts.items() if at.get(partition) not in full}
        if not fits:
            raise next(iter(full.values()))
        for partition in parts.keys() - fits.keys():
            fail(request, parts[partition], receipts, full[at[partition]].message)
        return fits

    def _wanted(
        self, wire: Wire, events: Sequence[Appendable], parts: Mapping[int, list[int]]
    ) -> tuple[dict[int, str], dict[str, int]]:
        """By partition the node that holds it, without those of which nobody tells; by node how many bytes it is to take."""
        if not wire.many:
            return dict.fromkeys(parts, ""), {"": _bytes_of(events)}
        at, wanted = dict[int, str](), dict[str, int]()
        for partition, indexes in parts.items():
            with suppress(StoreUnavailable):
                node = at[partition] = wire.node_of(self._keys[partition].meta)
                wanted[node] = wanted.get(node, 0) + _bytes_of([events[i] for i in indexes])
        return at, wanted

    def remember(self, kept: Mapping[int, NewestReceipt]) -> None:
        """Take over the receipts of processes before this one, as if they were its own (`events.redis.durability`)."""
        self._kept.remember(kept)

    def kept_receipts(self) -> dict[int, NewestReceipt]:
        """The highest event of each partition that has a receipt."""
        return self._kept.all()

    def ask_receipts(self) -> None:
        """Look now whether each of them holds, and raise the alarm where not; else the first append does. Raises StoreError."""
        with self._wires.wire() as wire:
            self._kept.ask(wire)
            self._kept.refuse_lost(wire, range(len(self._keys)))

    def see_head(self, partition: int, head: int) -> None:
        """Take in the head of a partition that a reader met: where it is below a receipt, look whether that receipt still holds,
        and raise the alarm where not. A store that breaks off meanwhile is met by whoever asks next."""
        if self._kept.is_doubtful(partition, head):
            with suppress(StoreUnavailable), self._wires.wire() as wire:
                self._kept.ask(wire, {partition}, again=True)

    def let_go(self, partition: int) -> None:
        """Forget a partition's receipt, which an operator has seen lost."""
        self._kept.let_go(partition)

    def read(self, partition: int, after: int, limit: int = 500) -> list[Stored]:
        """See `EventLog.read`. A body that does not open stays sealed: nobody's key keeps others from what is theirs."""
        keys = self._keys[partition]
        with self._wires.wire() as wire:
            found = entries(wire.call("XRANGE", keys.stream, f"{after + 1}-0", "+", "COUNT", limit))
            return opened_where_it_can_be(wire, keys, found, {})

    def read_at(self, partition: int, seqs: Sequence[int]) -> list[Stored]:
        """See `EventLog.read_at`. Runs of adjacent seqs are read as ranges."""
        keys = self._keys[partition]
        commands = [["XRANGE", keys.stream, f"{start}-0", f"{end}-0"] for start, end in runs(seqs)]
        found: list[Stored] = []
        with self._wires.wire() as wire:
            for answer in wire.answers(commands):
                found.extend(entries(answer))
            return opened(wire, keys, found)

    def head(self, partition: int) -> int:
        """See `EventLog.head`."""
        with self._wires.wire() as wire:
            return int(wire.call("HGET", self._keys[partition].meta, "head") or 0)

    def wait_beyond(self, heads: Mapping[int, int], seconds: float) -> list[int]:
        """See `EventLog.wait_beyond`. Redis itself waits: nothing is asked meanwhile."""
        if not heads:
            return []
        streams = {self._keys[partition].stream.encode(): partition for partition in heads}
        places = [f"{seq}-0" for seq in heads.values()]
        with self._wires.wire() as wire:
            wire.send("XREAD", "COUNT", 1, "BLOCK", max(int(seconds * 1_000), 1), "STREAMS", *streams, *places)
            try:
                answer = wire.receive(timeout=seconds + _ANSWER_SECONDS)
            except redis.ResponseError as error:
                raise as_store_error(error, reading=True) from error
        return [streams[stream] for stream, _ in answer or ()]

    def owner_head(self, owner: str) -> int:
        """See `EventLog.owner_head`."""
        with self._wires.wire() as wire:
            return int(wire.call("HGET", self._keys[partition_of(owner, self.partitions)].heads, owner) or 0)

    def now(self) -> int:
        """See `EventLog.now`: Redis's clock, which never goes back within a process."""
        return self._clock.now()

    def behind(self) -> int:
        """See `EventLog.behind`."""
        return self._clock.behind()

    def secrets_of(self, owners: Iterable[str]) -> dict[str, bytes]:
        """The secrets of those owners that have one: what is derived from their words is keyed by it. Raises StoreError."""
        with self._wires.wire() as wire:
            return read_secrets(wire, [keys.tag for keys in self._keys], owners)

    def secret_lines_of(self, owners: Iterable[str]) -> dict[str, bytes]:
        """The same as they stand in the store: of a sealed one wrapped. Raises StoreError."""
        with self._wires.wire() as wire:
            return read_lines(wire, [keys.tag for keys in self._keys], owners)

    def forget(self, owner: str) -> None:
        """Hold nothing of an owner who was erased."""
        self._secrets.forget(owner)

    @property
    def seals(self) -> Seals:
        """What opens and seals in this store."""
        with self._wires.wire() as wire:
            return wire.seals

    def on_a_wire(self, work: Callable[[Wire, Sequence[str]], int]) -> int:
        """Do something down a connection of the log; it is told the partitions' tags too. Raises what that raises."""
        with self._wires.wire() as wire:
            return work(wire, [keys.tag for keys in self._keys])

    def naming(self, owner: str, *, make: bool = False) -> Naming:
        """See `EventLog.naming`. Raises StoreError, and StoreMismatch for a boundary that no upgrade wrote."""
        with self._wires.wire() as wire:
            return read_naming(
                wire,
                self._keys[partition_of(owner, self.partitions)],
                owner,
                self._chance(SECRET_BYTES) if make else b"",
            )

    def adopt_secret(self, owner: str, secret: bytes) -> bytes:
        """See `EventLog.adopt_secret`. Raises StoreError."""
        with self._wires.wire() as wire:
            return read_naming(wire, self._keys[partition_of(owner, self.partitions)], owner, secret).secret

    def seqs_of(self, owner: str, event_ids: Sequence[str]) -> dict[str, int]:
        """See `EventLog.seqs_of`. Raises StoreError."""
        with self._wires.wire() as wire:
            return read_seqs(wire, self._keys[partition_of(owner, self.partitions)], owner, event_ids)

    def alarm_of(self, partition: int) -> str | None:
        """See `EventLog.alarm_of`. Raises StoreError."""
        subjects = (f"partition {partition}", "")  # without a subject where more alarms stand than are kept
        names = {alarm_field(name, subject): name for name in (LOG_CHANGED, PARTITION_GAP) for subject in subjects}
        with self._wires.wire() as wire:
            told = wire.call("HMGET", ALARMS_KEY, *names)
        return next((name for name, one in zip(names.values(), told, strict=True) if one is not None), None)

    def prove(self, owner: str, seqs: Mapping[str, int]) -> None:
        """See `EventLog.prove`. Raises StoreError."""
        with self._wires.wire() as wire:
            self._proving.prove(wire, partition_of(owner, self.partitions), seqs)

    def _redis_time(self) -> int:
        with self._wires.wire() as wire, in_haste(wire):  # all who ask for the time wait for this
            return redis_micros(wire)


def _bytes_of(events: Sequence[Appendable]) -> int:
    """What a request takes, of the events that are encoded already: those of a producer. What we make ourselves is small."""
    try:
        return append_bytes(len(events), sum(map(len, map(_BODY, events))))
    except AttributeError:
        return append_bytes(len(events), 0)


_BODY: Callable[[Appendable], bytes] = attrgetter("body")


def entries(answer: list[Any] | None, tag: str = "") -> list[Stored]:
    """Stream entries as Redis sends them. Raises LogGap at one that no append wrote; `tag`: of the partition."""
    try:
        return [
            # As Stored(...), in half the time: all of its fields. An id that is not `<seq>-0` is no number.
            _STORED(
                Stored,
                (
                    int(key.removesuffix(b"-0")),
                    _KINDS.get(held[1]) or held[1].decode(),
                    held[3],
                    held[5].decode(),
                    held[7],
                    *_beside(held),
                ),
            )
            for key, held in answer or ()
        ]
    except (ValueError, IndexError) as error:
        raise LogGap(
            f"partition {{{tag}}}: its log has an entry that no append wrote ({error}); {MENDING}", partition=tag
        ) from error


def pages(wire: Wire, keys: LogKeys, after: int = 0) -> Iterator[list[Stored]]:
    """All entries of a partition after a seq as they lie in the log, some at a time. Raises StoreError."""
    while page := entries(wire.call("XRANGE", keys.stream, f"{after + 1}-0", "+", "COUNT", 1_000), keys.tag):
        yield page
        after = page[-1].seq


def _beside(held: list[bytes]) -> tuple[tuple[bytes, ...], bytes]:
    """What stands beside a body, by the entry's fields and their values in turn."""
    if len(held) == _FIELDS:
        return (held[9], held[11], held[13], held[15], held[17]), held[19]
    if len(held) == _FIELDS + 2:
        return (held[9], held[11], held[13], held[15], held[17], held[21]), held[19]
    raise ValueError(f"{len(held) // 2} fields")


_ANSWER_SECONDS = 10.0
"""How long after the end of a wait an answer may take."""
_FIELDS = 20
"""Names and values of an entry; two more where a clock was behind."""
_STORED = tuple.__new__
_KINDS = {f"{name}.{version}".encode(): f"{name}.{version}" for name, version in LATEST_VERSION.items()}


def runs(seqs: Sequence[int]) -> list[tuple[int, int]]:
    """Adjacent increasing seqs as (first, last), at most 500 a run, in the order given."""
    found: list[tuple[int, int]] = []
    for seq in seqs:
        if found and found[-1][1] + 1 == seq and seq - found[-1][0] < 500:
            found[-1] = (found[-1][0], seq)
        else:
            found.append((seq, seq))
    return found


def recorded_of(wire: Wire, places: Sequence[tuple[str, int]]) -> list[int | None]:
    """When the entries at these places (a stream, a seq) were recorded, as `recorded_in`: one round trip. Raises StoreError."""
    asked = [["XRANGE", stream, f"{seq}-0", f"{seq}-0"] for stream, seq in places]
    return [recorded_in(answer) for answer in (wire.answers(asked) if asked else ())]


def recorded_in(answer: list[Any] | None, tag: str = "") -> int | None:
    """When the first of these entries was recorded, microseconds since 1970.

    None where there is none, or where no append wrote it.
    """
    try:
        return next((one.recorded for one in entries(answer, tag)), None)
    except LogGap:
        return None
