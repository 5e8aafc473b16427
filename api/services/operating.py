"""What operators ask and do: status, owners by name, statistics, and the parked events of quarantined owners.

The owners' sorted names are kept in this process. A build never removes an owner's entry. So if a build on the same server has as
many names as before, they are the same names; a question reads the counts, and the names of partitions that have new ones.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from heapq import nsmallest
from threading import Lock
from time import monotonic, sleep
from typing import Any, Literal, NamedTuple, TypeVar, Unpack, cast

from engramlog_server.api.checks import TimesAsked, check_owner, position_of, speaker
from engramlog_server.api.choices import MOST_NAME, MOST_OWNERS, OWNERS_PAGE
from engramlog_server.api.services.capacity import (
    HASTE_SECONDS,
    NodesRead,
    count_locked,
    info,
    outlook,
    read_aof,
    read_nodes,
    replicas_online,
    room_of,
    workers_answer,
)
from engramlog_server.api.services.living import MOST_SUMMED_OWNERS, OwnerStatistics
from engramlog_server.api.services.writing import Writer
from engramlog_server.api.work import current_check
from engramlog_server.events.alarms import ACCESSES_LOST, KNOWN, PARTITION_GAP, REPLICAS_LACKING, WRITES_FAIL, as_dict
from engramlog_server.events.catalogue import EventDiscarded
from engramlog_server.events.envelope import decode, from_micros, utc_text
from engramlog_server.events.errors import LogGap, NotFound, NotYetFolded, StoreUnavailable, UndecodableEvent, refused
from engramlog_server.events.keys import SealingStanding
from engramlog_server.events.log import EventLog
from engramlog_server.events.partitions import (
    ALARMS_KEY,
    RESTORED,
    STORE_KEY,
    SYSTEM_OWNERS,
    WORKERS_KEY,
    LogKeys,
    partition_of,
    position_text,
)
from engramlog_server.events.redis.alarms import RedisAlarms
from engramlog_server.events.redis.durability import RECEIPT_LOST, look, refuse_gap_seen
from engramlog_server.events.redis.log import Room, read_room
from engramlog_server.events.redis.secrets import opened_where_it_can_be, read_ciphers
from engramlog_server.events.redis.wire import Wire, WirePool, all_runs, in_haste
from engramlog_server.events.validation import make_event, ready
from engramlog_server.projections.access.caller import Caller
from engramlog_server.projections.checks import Check
from engramlog_server.projections.language.lexicon import part_folded
from engramlog_server.projections.redis.builds import BuildKeys, opens
from engramlog_server.projections.redis.create import BACKED_UP, StoreIdentity, backed_up_at, restored_by
from engramlog_server.projections.redis.store import decode_quarantine, read_entries, read_parked
from engramlog_server.projections.redis.usage import FoldDebt
from engramlog_server.projections.shapes import (
    AccessFigures,
    AlarmCleared,
    AlarmsStanding,
    AlarmStanding,
    DeadOwner,
    DeadOwners,
    Discarded,
    EmbedderStanding,
    ListeningTold,
    OwnerCount,
    OwnerPage,
    ParkedEvent,
    PartitionStatus,
    Retried,
    RoomLeft,
    Schedule,
    SealingTold,
    StoreStats,
    StoreStatus,
    Stuck,
)

MOST_KEPT = 300_000
"""Names of all partitions; those of further partitions are read for each question."""
AT_ONCE = 10_000
"""Names that Redis may be asked for in one answer, some milliseconds of its time; more are scanned, with the owners' states."""
SCANNED = 500


class _Told(NamedTuple):
    """What the names of a partition hold for."""

    server: bytes | None
    build: str
    many: int


class PartitionNames(NamedTuple):
    """The names of a partition's owners, in order, and as parts of them are looked for."""

    told: _Told
    names: Sequence[str]
    folded: Sequence[str]

    def matching(self, prefix: str, part: str) -> Sequence[str]:
        """Those that begin so and hold a part."""
        size = len(prefix)
        begin = bisect_left(self.names, prefix)
        end = bisect_right(self.names, prefix, begin, key=lambda name: name[:size]) if prefix else len(self.names)
        found = self.names[begin:end] if end - begin < len(self.names) else self.names
        return (
            [one for one, folded in zip(found, self.folded[begin:end], strict=True) if part in folded]
            if part
            else found
        )


class OwnerNames:
    """Reads the names of one store. Safe for threads."""

    def __init__(self, tags: Sequence[str]) -> None:
        self._tags = tags
        self._kept: dict[int, PartitionNames] = {}
        self._lock = Lock()

    def read(self, wire: Wire) -> Iterator[tuple[int, BuildKeys, PartitionNames]]:
        """The names of each partition by its number, with the keys of its live build. Raises StoreError."""
        server = all_runs(wire)
        lives = wire.answers([["HGET", LogKeys(tag).meta, "live"] for tag in self._tags])
        keys = [BuildKeys(tag, (live or b"").decode()) for tag, live in zip(self._tags, lives, strict=True)]
        counts = wire.answers([["HLEN", one.owners] for one in keys])
        for number, (one, count) in enumerate(zip(keys, counts, strict=True)):
            yield number, one, self._names(wire, number, one, _Told(server, one.build, int(count)))

    def _names(self, wire: Wire, number: int, keys: BuildKeys, told: _Told) -> PartitionNames:
        kept = self._kept.get(number)
        if kept is not None and told.server is not None and kept.told == told:
            return kept
        read = list(_read(wire, keys, told.many))
        names = sorted(name for name in read if name not in SYSTEM_OWNERS)
        found = PartitionNames(told._replace(many=len(read)), names, [_folded(name) for name in names])
        with self._lock:
            others = sum(len(other.names) for at, other in self._kept.items() if at != number)
            if others + len(names) <= MOST_KEPT:
                self._kept[number] = found
            else:
                self._kept.pop(number, None)
        return found


def _folded(name: str) -> str:
    """A name that is folded already stands in memory once."""
    folded = part_folded(name)
    return name if folded == name else folded


def _read(wire: Wire, keys: BuildKeys, count: int) -> set[str]:
    """All names of a partition."""
    check = current_check()
    check(0, count)
    if count <= AT_ONCE:
        return set(map(bytes.decode, wire.call("HKEYS", keys.owners)))
    names, cursor = set[str](), b"0"
    while True:
        cursor, page = wire.call("HSCAN", keys.owners, cursor, "COUNT", SCANNED)
        names.update(map(bytes.decode, page[::2]))
        if cursor == b"0":
            return names
        check(len(names), count)


class Owners:
    """Lists the owners of one store. Safe for threads."""

    def __init__(self, wires: WirePool, tags: Sequence[str]) -> None:
        self._wires = wires
        self._names = OwnerNames(tags)

    def owners(
        self,
        *,
        after: str | None = None,
        prefix: str | None = None,
        search: str | None = None,
        limit: int = OWNERS_PAGE,
        among: Caller | None = None,
    ) -> OwnerPage:
        """Up to `limit` (1 to 1,000) owners in the order of their names, of those that begin with `prefix` and follow `after`.

        `search`: only names that hold this, by `part_folded`. `next`: what to give as `after` for the next page, None on the last.
        `matching`: how many begin with the prefix and hold that. `among`: only those whom this
        caller may read. Names are kept, see `OwnerNames`. Raises InputError naming
        the field.
        """
        if not 1 <= limit <= MOST_OWNERS:
            raise refused("limit", limit, f"a whole number from 1 to {MOST_OWNERS:,}")
        start, wanted = _name("after", after), _name("prefix", prefix)
        part = part_folded(_name("search", search, "part of an owner's name"))
        matching, page = 0, list[tuple[str, int, BuildKeys]]()
        with self._wires.wire() as wire:
            for number, keys, names in self._names.read(wire):
                found = names.matching(wanted, part)
                if among is not None and not among.covers_all("read"):
                    found = [name for name in found if among.may("read", name)]
                matching += len(found)
                begin = bisect_right(found, start)
                page += [(name, number, keys) for name in found[begin : begin + limit + 1]]
            page.sort(key=lambda one: one[0])
            counts = wire.answers([["HLEN", keys.records(name)] for name, _, keys in page[:limit]])
        told: list[OwnerCount] = [
            {"owner": name, "partition": number, "memories": int(count)}
            for (name, number, _), count in zip(page, counts, strict=False)
        ]
        return {"owners": told, "matching": matching, "next": told[-1]["owner"] if len(page) > limit else None}


def _name(field: str, text: str | None, what: str = "the beginning of an owner's name") -> str:
    if text is None:
        return ""
    if len(text) > MOST_NAME or not text.isprintable():
        raise refused(field, text[:80], f"{what}, at most {MOST_NAME} characters")
    return text


RETRY_SECONDS = 15.0
LARGEST = 50
"""Owners that the statistics of a store name."""
OWNERS_AT_ONCE = 500
_T = TypeVar("_T")
Unread = Literal["alarms", "workers", "restored", "backed_up"]
Workers = Mapping[str, Mapping[str, Any]]
KnownWorkers = Callable[[Wire, int], tuple[Workers, Workers]]
"""Those that live at a time of Redis's clock, milliseconds, and those that gave no sign of life since a lease time."""
NOTICE = "contents are not sealed: memories of sensitivity 3 are withheld from answers but not encrypted at rest"
SEALED_NOTICE = "contents are sealed under the master key {}: without it nobody can read them"
OPEN_NOTICE = "; a master key is set, and this store lies open: `engramlog seal` brings it over"


class Operator:
    """Looks at a whole store. Safe for threads: a connection of its own a call."""

    def __init__(
        self,
        wires: WirePool,
        identity: StoreIdentity,
        log: EventLog,
        statistics: OwnerStatistics,
        writer: Writer,
        known_workers: KnownWorkers,
        schedule: Callable[[], Schedule],
        alarms: RedisAlarms,
        *,
        let_go: Callable[[int], None] = lambda _partition: None,
        on_head: Callable[[int, int], None] = lambda _partition, _head: None,
        min_replicas: int = 0,
        accesses: Callable[[], dict[str, int]] = dict,
        embedder: Callable[[], EmbedderStanding | None] = lambda: None,
        sealing: Callable[[], SealingStanding] = lambda: SealingStanding(False, None, None, ""),
    ) -> None:
        self._wires = wires
        self._identity = identity
        self._log = log
        self._statistics = statistics
        self._writer = writer
        self._known_workers = known_workers
        self._schedule = schedule
        self._alarms = alarms
        self._let_go, self._on_head, self._min_replicas = let_go, on_head, min_replicas
        self._gaps = set[str]()
        """Partitions in whose log this process saw a gap."""
        self._accesses = accesses
        self._embedder = embedder
        self._sealing = sealing
        self.listening: Callable[[], ListeningTold | None] = lambda: None
        """How this process is asked; None where it serves nobody."""

    def status(self) -> StoreStatus:
        """Every partition's head, checkpoint, lag, lease and quarantined owners; workers; memory; scheduled jobs; alarms; what was
        recorded of accesses in this process, and lost in any since the alarm of it was last cleared; what compares meanings.

        Of a Cluster whose nodes do not all answer it tells what can be read, and what cannot. Raises StoreError where nothing can.
        """
        with self._wires.wire() as wire, in_haste(wire, HASTE_SECONDS):
            read = read_nodes(wire, self._identity.tags)
            now_ms, partitions, unread = read.now_ms, read.partitions, list[Unread]()
            no_workers: tuple[Workers, Workers] = {}, {}
            workers, silent = _kept_at(
                wire, read, unread, "workers", WORKERS_KEY, lambda: self._known_workers(wire, now_ms), no_workers
            )
            memory = self._memory_answer(wire, read)
            sealing = self._sealing_answer(wire, partitions)
            at = wire, read, unread
            restored = _kept_at(
                *at, "restored", STORE_KEY, lambda: restored_by(wire.call("HGET", STORE_KEY, RESTORED)), None
            )
            backed_up = _kept_at(
                *at, "backed_up", STORE_KEY, lambda: _backed_up(wire.call("HGET", STORE_KEY, BACKED_UP)), None
            )
            alarms = _kept_at(
                *at, "alarms", ALARMS_KEY, lambda: self._standing(wire, partitions), list[AlarmStanding]()
            )
        lost = sum(alarm["count"] for alarm in alarms if alarm["name"] == ACCESSES_LOST)
        return {
            "store_id": self._identity.store_id,
            "at": utc_text(from_micros(now_ms * 1_000)),
            "events": sum(p["head"] for p in partitions),
            "memories": sum(p["memories"] for p in partitions),
            "lag": sum(p["lag"] for p in partitions),
            "inboxes": {
                "waiting": sum(p["waiting"] for p in partitions),
                "full": sum(p["full_inboxes"] for p in partitions),
            },
            "refused": sum(p["refused"] for p in partitions),
            "partitions": partitions,
            "workers": workers_answer(workers, now_ms),
            "silent": workers_answer(silent, now_ms),
            "nodes": read.nodes,
            "unreachable": read.away,
            "unread": unread,
            "memory": memory,
            "lifecycle": self._schedule(),
            "alarms": alarms,
            "accesses": cast("AccessFigures", {**self._accesses(), "lost": lost}),
            "embedder": self._embedder(),
            "listening": self.listening(),
            "restored": None if restored is None else restored.told,
            "backed_up": backed_up,
            "sealed": sealing["on"],
            "sealing": sealing,
            "notice": _notice(sealing),
        }

    def _memory_answer(self, wire: Wire, read: NodesRead) -> RoomLeft:
        """For how long there is room: of a Cluster at the node that is fullest."""
        tags, events = self._identity.tags, sum(one["head"] for one in read.partitions)
        if not wire.many:
            return outlook(read_room(wire, FoldDebt(tags)), events)
        node = read.fullest()
        if node is None:
            return outlook(Room(), events)
        there = [one for one in read.partitions if one["partition"] in node["partitions"]]
        room = room_of(wire, node, [tags[one["partition"]] for one in there])
        mine = sum(one["head"] for one in there)
        return outlook(room, mine, node=node["name"], beside=events - mine)

    def _sealing_answer(self, wire: Wire, partitions: Sequence[PartitionStatus]) -> SealingTold:
        """Whether the store is sealed, whether its master key can be had, and how many owners stand still for want of theirs."""
        found = self._sealing()
        locked = count_locked(wire, self._identity.tags, partitions) if found.is_on else 0
        return {
            "on": found.is_on,
            "key": found.key,
            "owners_locked": locked,
            "reachable": found.reachable,
            "problem": found.reason or None,
        }

    def alarms(self) -> AlarmsStanding:
        """Every alarm that stands, the worst and newest first."""
        with self._wires.wire() as wire, in_haste(wire, HASTE_SECONDS):
            partitions = read_nodes(wire, self._identity.tags).partitions
            return {"alarms": self._standing(wire, partitions)}

    def _standing(self, wire: Wire, partitions: Sequence[PartitionStatus]) -> list[AlarmStanding]:
        """The same, once the logs of these partitions were looked at: perhaps nobody folds them, and nobody appends."""
        tags = [self._identity.tags[one["partition"]] for one in partitions]
        with suppress(StoreUnavailable):  # of a node that was just lost; the next look tells
            self._look_at_servers(wire, tags)
            for one, tag, seen in zip(partitions, tags, look(wire, tags), strict=True):
                subject = f"partition {one['partition']}"
                try:
                    refuse_gap_seen(seen, tag, one["checkpoint"])
                except LogGap as error:
                    self._gaps.add(subject)
                    self._alarms.raised(PARTITION_GAP, subject, error.message)
                else:
                    if subject in self._gaps:
                        self._gaps.discard(subject)
                        self._alarms.cleared(PARTITION_GAP, subject)
                self._on_head(one["partition"], one["head"])
        return [cast("AlarmStanding", as_dict(alarm, _told)) for alarm in self._alarms.standing()]

    def _look_at_servers(self, wire: Wire, tags: Sequence[str]) -> None:
        """Raise alarms of servers of these partitions that do not write their file, which then take not even the alarm, or that
        fewer replicas follow than appends wait for; clear them where that is over, whoever raised them."""
        holding, found = {wire.node_of(LogKeys(tag).meta) for tag in tags}, dict[tuple[str, str], str]()
        for name, server in wire.servers():
            if name not in holding:
                continue
            try:
                file, online = read_aof(info(server, "persistence")), replicas_online(info(server, "replication"))
            except StoreUnavailable:  # `unreachable` tells of it
                continue
            found[WRITES_FAIL, name] = "" if file.write_ok else "the last write to its append-only file failed"
            if self._min_replicas:
                lacking = f"{online} of {self._min_replicas} replicas follow" if online < self._min_replicas else ""
                found[REPLICAS_LACKING, name] = lacking
        standing = {(one.name, one.subject) for one in self._alarms.standing()}
        for (alarm, name), text in found.items():
            if text:
                self._alarms.raised(alarm, name, text)
            elif (alarm, name) in standing:
                self._alarms.cleared(alarm, name)

    def clear_alarm(self, name: str, subject: str | None = None, *, face: str) -> AlarmCleared:
        """Acknowledge an alarm, or all of a name: it goes until it is raised again. The log tells it, with the
        `face` (`http` or `command`) by which it was said. Raises InputError for an unknown name."""
        if name not in KNOWN:
            raise refused("name", name, ", ".join(sorted(KNOWN)))
        stood = {one.subject for one in self._alarms.standing() if one.name == name}
        cleared = bool(self._alarms.acknowledged(name, subject, face))
        if name == RECEIPT_LOST:  # this process knows receipts of others, which no other may come to forget
            for partition in stood & ({subject} if subject is not None else stood):
                self._let_go(int(partition))
        return {"name": name, "subject": subject, "cleared": cleared, **self.alarms()}

    def stats(self, owner: str | None = None, **times: Unpack[TimesAsked]) -> Any:
        """One owner in figures (`OwnerStatistics`), or how many owners, events and memories the store holds.

        Raises InputError where the whole store is asked about another time than now.
        """
        if owner is None:
            for field in ("as_of", "known", "at", "after"):
                if (told := times.get(field)) is not None:
                    raise refused(field, told, "nothing without an owner: the whole store is counted as it stands")
            return self._store_stats()
        return self._statistics.stats(owner, **times)

    def _store_stats(self) -> StoreStats:
        count, largest = 0, list[OwnerCount]()
        with self._wires.wire() as wire:
            for number, keys in self._live_builds(wire):
                for page in _owner_pages(wire, keys, number, count, current_check()):
                    count += len(page)
                    largest = nsmallest(
                        MOST_SUMMED_OWNERS, largest + page, key=lambda one: (-one["memories"], one["owner"])
                    )
        figures, summed = self._statistics.summed((one["owner"], one["partition"]) for one in largest)
        status = self.status()
        return {
            "owners": count,
            "events": status["events"],
            "memories": status["memories"],
            "lag": status["lag"],
            "memory": status["memory"],
            "largest_owners": largest[:LARGEST],
            "figures": figures,
            "figures_of": {"owners": summed, "left_out": count - summed},
        }

    def dead(self) -> DeadOwners:
        """Every quarantined owner with why, and how many of its events wait."""
        found = list[Stuck]()
        with self._wires.wire() as wire:
            for number, keys in self._live_builds(wire):
                answer = wire.call("HGETALL", keys.quarantine)
                names = [name.decode() for name in answer[::2]] if wire.seals.is_on else []
                ciphers = read_ciphers(wire, keys.log, names)
                for name, raw in zip(answer[::2], answer[1::2], strict=True):
                    owner = name.decode()
                    why = decode_quarantine(raw, opens(ciphers.get(owner)), owner)
                    parked = int(wire.call("LLEN", keys.parked(owner)))
                    found.append(
                        {
                            "owner": owner,
                            "position": position_text(number, why.seq),
                            "kind": why.kind,
                            "reason": why.reason,
                            "parked": parked,
                        }
                    )
        return {"quarantined": sorted(found, key=lambda one: one["owner"])}

    def dead_show(self, owner: str) -> DeadOwner:
        """One owner's parked events: positions, types and which of them cannot be read. Contents are not shown."""
        number, keys = self._build_of(owner)
        with self._wires.wire() as wire:
            raw = wire.call("HGET", keys.quarantine, owner)
            if raw is None:
                raise NotFound(f"owner {owner} is not quarantined; `engramlog dead` shows who is", owner=owner)
            ciphers = read_ciphers(wire, keys.log, [owner] if wire.seals.is_on else [])
            why = decode_quarantine(raw, opens(ciphers.get(owner)), owner)
            stored = opened_where_it_can_be(
                wire, keys.log, read_entries(wire, keys, read_parked(wire, keys, owner), sealed=True), {}
            )
        parked = list[ParkedEvent]()
        for one in stored:
            item: ParkedEvent = {
                "position": position_text(number, one.seq),
                "kind": one.kind,
                "bytes": len(one.body),
            }
            try:
                item["event_id"] = decode(one.kind, one.body).event_id
            except UndecodableEvent as error:
                item["problem"] = error.message
            parked.append(item)
        return {"owner": owner, "position": position_text(number, why.seq), "reason": why.reason, "parked": parked}

    def dead_retry(self, owner: str) -> Retried:
        """Ask the lease holder to fold an owner's parked events again, and wait until it has tried."""
        self.dead_show(owner)
        _, keys = self._build_of(owner)
        request = f"retry:{owner}"
        with self._wires.wire() as wire:
            wire.call("HSET", keys.log.control, request, owner)
            end = monotonic() + RETRY_SECONDS
            self._writer.nudge(owner)
            while wire.call("HEXISTS", keys.log.control, request):
                if monotonic() > end:
                    raise NotYetFolded(
                        f"no worker retried {owner} within {RETRY_SECONDS:g} s; the request stays: is a worker running?",
                        owner=owner,
                    )
                sleep(0.02)
            freed = not wire.call("HEXISTS", keys.quarantine, owner)
        if freed:
            return {"owner": owner, "freed": True}
        return {"owner": owner, "freed": False, "dead": self.dead_show(owner)}

    def dead_discard(self, owner: str, position: str, reason: str, *, actor: str = "operator") -> Discarded:
        """Drop one parked event for good, by an event of its own; the owner's other parked events fold then."""
        shown = self.dead_show(owner)
        position_of(position, owner, self._log.partitions, "position")
        if position not in {item["position"] for item in shown["parked"]}:
            raise refused(
                "position",
                position,
                "one of the owner's parked positions: " + ", ".join(i["position"] for i in shown["parked"][:20]),
            )
        now = self._log.now()
        data = EventDiscarded(position=position, reason=reason)
        event = make_event(data, owner=owner, occurred_at=from_micros(now), actor=actor, now=now, by=speaker(self._log))
        receipts = self._writer.append_all([ready(event, speaker(self._log))])
        self._writer.settle(receipts)
        left = [one for one in self.dead()["quarantined"] if one["owner"] == owner]
        written = receipts[0].position
        assert written is not None, "`append_all` raises for what is not written"
        return {
            "owner": owner,
            "discarded": position,
            "position": written,
            "freed": not left,
            "still": left,
        }

    def _live_builds(self, wire: Wire) -> list[tuple[int, BuildKeys]]:
        live = [(wire.call("HGET", LogKeys(tag).meta, "live") or b"").decode() for tag in self._identity.tags]
        return [(number, BuildKeys(tag, live[number])) for number, tag in enumerate(self._identity.tags)]

    def _build_of(self, owner: str) -> tuple[int, BuildKeys]:
        number = partition_of(check_owner(owner), self._log.partitions)
        with self._wires.wire() as wire:
            live = (wire.call("HGET", LogKeys(self._identity.tags[number]).meta, "live") or b"").decode()
        return number, BuildKeys(self._identity.tags[number], live)


def _kept_at(
    wire: Wire, read: NodesRead, unread: list[Unread], what: Unread, key: str, ask: Callable[[], _T], empty: _T
) -> _T:
    """What lies under one key of the store; empty, and told as unread, where its node of a Cluster is away."""
    if not read.is_away(wire, key):
        try:
            return ask()
        except StoreUnavailable:
            if not wire.many:
                raise
    unread.append(what)
    return empty


def _notice(sealing: SealingTold) -> str:
    """What whoever looks at a store should know of it."""
    if sealing["on"]:
        return SEALED_NOTICE.format(sealing["key"])
    return NOTICE + (OPEN_NOTICE if sealing["key"] is not None else "")


def _backed_up(raw: bytes | None) -> str | None:
    """The moment of the last backup; None where none was made, or it cannot be read."""
    made = None if raw is None else backed_up_at(raw)
    return None if made is None else utc_text(made)


def _told(micros: int) -> str:
    return utc_text(from_micros(micros))


_OWN = frozenset(name.encode() for name in SYSTEM_OWNERS)


def _owner_pages(wire: Wire, keys: BuildKeys, partition: int, before: int, check: Check) -> Iterator[list[OwnerCount]]:
    """A partition's owners with how many memories each has, in pages; each owner once. `before`: how many were told before."""
    seen: set[bytes] = set()
    cursor = b"0"
    while True:
        check(before + len(seen), 0)
        cursor, page = wire.call("HSCAN", keys.owners, cursor, "COUNT", OWNERS_AT_ONCE)
        names = [name for name in page[::2] if name not in seen and name not in _OWN]
        seen.update(names)
        told = list[OwnerCount]()
        for start in range(0, len(names), OWNERS_AT_ONCE):
            some = [name.decode() for name in names[start : start + OWNERS_AT_ONCE]]
            for name in some:
                wire.send("HLEN", keys.records(name))
            counts = [int(wire.receive()) for _ in some]
            told += [
                {"owner": name, "partition": partition, "memories": memories}
                for name, memories in zip(some, counts, strict=True)
            ]
        yield told
        if cursor == b"0":
            return
