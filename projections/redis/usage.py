"""What a store uses: room of its keys in Redis by what they hold, events that wait to be folded, and calls of models.

Redis is asked (`MEMORY USAGE`), of a sample in a large store: at most 64 partitions and 8 owners of each are looked at. What is of
each partition is asked key by key; what is of owners is estimated by the bytes a memory or an event that the sampled owners take.
Redis needs about 5 microseconds for a key. What waits to be folded is read in two round trips whatever its size.

Calls of models are counted since counting began, and by day. A failure to count fails no question.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from itertools import islice
from threading import Lock
from typing import Any, NamedTuple

from engramlog_server.events.errors import StoreError
from engramlog_server.events.partitions import DEDUPE_BUCKETS, MODELS_KEY, LogKeys
from engramlog_server.events.redis.log import Debt
from engramlog_server.events.redis.wire import Argument, Wire, WirePool
from engramlog_server.events.text import whole
from engramlog_server.projections.embedding.vectors import VectorKeys
from engramlog_server.projections.fold.owner import decode_owner
from engramlog_server.projections.models.chat import ModelAsked
from engramlog_server.projections.redis.builds import FIRST_BUILD, BuildKeys

MOST_PARTITIONS, MOST_OWNERS, MOST_BUCKETS = 64, 8, 64
"""Looked at: partitions, owners of a partition, and of its 512 hashes of event ids so many."""
SAMPLES = 32
"""Entries of a key whose size Redis looks at; the rest it takes to be as large."""
EVENTS, IDS, MEMORIES, CHANGES, LOG, VECTORS, INDEX, PASTS, OWNERS = (
    "events",
    "event ids",
    "memory records",
    "versions of memories",
    "change log",
    "vectors",
    "index of changes",
    "kept pasts",
    "owners and checkpoints",
)
PARTS = (EVENTS, IDS, MEMORIES, CHANGES, LOG, VECTORS, INDEX, PASTS, OWNERS)
_BY_MEMORY, _BY_EVENT = (MEMORIES, CHANGES, VECTORS), (LOG, INDEX, PASTS)


def room_by_part(wire: Wire, tags: Sequence[str]) -> dict[str, int]:
    """Bytes by part, in the order of `PARTS`; exact in a small store, else an estimate. Raises StoreError."""
    looked = list(tags[:: -(-len(tags) // MOST_PARTITIONS)])
    found = Counter[str]()
    live = _asked(wire, [["HGET", LogKeys(tag).meta, "live"] for tag in looked])
    builds = [BuildKeys(tag, (name or FIRST_BUILD.encode()).decode()) for tag, name in zip(looked, live, strict=True)]
    for keys in builds:
        found.update(_of_partition(wire, keys))
    if len(looked) < len(tags):
        found = Counter({part: round(size * len(tags) / len(looked)) for part, size in found.items()})
    return {part: found[part] for part in PARTS}


def _of_partition(wire: Wire, keys: BuildKeys) -> Counter[str]:
    log, vectors, found = keys.log, VectorKeys(keys.tag), Counter[str]()
    buckets = [log.dedupe_of(number) for number in range(0, DEDUPE_BUCKETS, DEDUPE_BUCKETS // MOST_BUCKETS)]
    others = (
        log.meta,
        log.heads,
        log.control,
        log.deletions,
        log.secrets,
        log.levels,
        log.gone,
        log.unjudged,
        log.noted,
    )
    models = [name.decode() for name in wire.call("HKEYS", vectors.models)]
    marks = [vectors.models, *map(vectors.changes, models)]
    single: list[tuple[str, Iterable[str]]] = [
        (EVENTS, [log.stream]),
        (OWNERS, [*others, *marks, keys.checkpoint, keys.owners, keys.quarantine]),
    ]
    for part, names in single:
        found[part] = sum(_sizes(wire, names))
    found[IDS] = sum(_sizes(wire, buckets)) * DEDUPE_BUCKETS // len(buckets)
    if owners := _some_owners(wire, keys):
        found.update(_of_owners(wire, keys, [name for name in models if name], owners))
    return found


def _some_owners(wire: Wire, keys: BuildKeys) -> dict[str, bytes]:
    """Owners and their states, as Redis's hash function orders them, which knows nothing of their size."""
    found, cursor = dict[str, bytes](), b"0"
    while len(found) < MOST_OWNERS:
        cursor, page = wire.call("HSCAN", keys.owners, cursor, "COUNT", MOST_OWNERS)
        found |= {name.decode(): raw for name, raw in zip(page[::2], page[1::2], strict=True)}
        if cursor == b"0":
            break
    return dict(islice(found.items(), MOST_OWNERS))


def _of_owners(wire: Wire, keys: BuildKeys, models: Sequence[str], owners: dict[str, bytes]) -> Counter[str]:
    """What all owners of a partition take, by what these take."""
    vectors = VectorKeys(keys.tag)
    named = {
        MEMORIES: [keys.records(owner) for owner in owners],
        CHANGES: [keys.changes(owner) for owner in owners],
        LOG: [name for owner in owners for name in (keys.changelog(owner), keys.tail(owner))],
        INDEX: [keys.index(owner) for owner in owners],
        PASTS: [keys.moments(owner) for owner in owners],
        VECTORS: [
            key(model, owner) for owner in owners for model in models for key in (vectors.wholes, vectors.pieces)
        ],
    }
    found = Counter({part: sum(_sizes(wire, names)) for part, names in named.items()})
    total = int(wire.call("HLEN", keys.owners))
    if total <= len(owners):
        return found
    memories = sum(map(int, _asked(wire, [["HLEN", name] for name in named[MEMORIES]])))
    events = sum(decode_owner(raw).applied for raw in owners.values())
    all_memories, all_events = wire.call("HGET", keys.checkpoint, "memories"), wire.call("HGET", keys.checkpoint, "seq")
    by_memory = int(all_memories or 0) / memories if memories else total / len(owners)
    by_event = int(all_events or 0) / events if events else total / len(owners)
    shares = dict.fromkeys(_BY_MEMORY, by_memory) | dict.fromkeys(_BY_EVENT, by_event)
    return Counter({part: round(size * shares[part]) for part, size in found.items()})


def _sizes(wire: Wire, names: Iterable[str]) -> list[int]:
    asked: list[list[Argument]] = [["MEMORY", "USAGE", name, "SAMPLES", SAMPLES] for name in names]
    return [int(size or 0) for size in _asked(wire, asked)]


def _asked(wire: Wire, commands: Sequence[list[Argument]]) -> list[Any]:
    return wire.answers(commands) if commands else []


MOST_SAMPLED = 32
"""Partitions of which unfolded events are weighed: those that lag most."""
_PLACES = (1, 3, 5)
"""Sixths of a lag at which an event is weighed."""
_BODY = 7
"""Where the body stands among the names and values of an entry, in both formats."""


class FoldDebt:
    """Reads the debt of a store's live builds. Holds nothing, so it is safe for threads."""

    def __init__(self, tags: Sequence[str]) -> None:
        self._tags = list(tags)

    def __call__(self, wire: Wire, node: str = "") -> Debt:
        """The debt now, of what lies on one node of a Cluster where one is named; nothing where Redis refuses to tell.

        Raises StoreUnavailable where it does not answer.
        """
        tags = self._tags if not node else [one for one in self._tags if wire.node_of(LogKeys(one).meta) == node]
        metas = wire.pipeline([["HMGET", LogKeys(tag).meta, "head", "live"] for tag in tags]) if tags else []
        commands: list[list[Argument]] = []
        for tag, meta in zip(tags, metas, strict=True):
            live = meta[1] if isinstance(meta, list) and meta[1] else FIRST_BUILD.encode()
            keys = BuildKeys(tag, live.decode())
            commands += [["HGET", keys.checkpoint, "seq"], ["HLEN", keys.log.heads], ["HLEN", keys.owners]]
        answers = iter(wire.pipeline(commands) if commands else ())
        lags: list[tuple[int, int, str]] = []
        new_owners = 0
        for tag, meta, at, heads, owners in zip(tags, metas, answers, answers, answers, strict=True):
            if any(isinstance(told, Exception) for told in (meta, at, heads, owners)):
                return Debt()
            lag = int(meta[0] or 0) - int(at or 0)
            if lag > 0:
                lags.append((lag, int(at or 0), tag))
                new_owners += max(heads - owners, 0)
        events = sum(lag for lag, _, _ in lags)
        return Debt(events, int(events * self._mean_body(wire, lags)), new_owners)

    def _mean_body(self, wire: Wire, lags: Sequence[tuple[int, int, str]]) -> float:
        """Mean bytes of the bodies that wait, by a few of each partition."""
        chosen = sorted(lags, reverse=True)[:MOST_SAMPLED]
        commands: list[list[Argument]] = []
        for lag, at, tag in chosen:
            seqs = sorted({at + 1 + lag * place // 6 for place in _PLACES})
            commands += [["XRANGE", LogKeys(tag).stream, f"{seq}-0", "+", "COUNT", 1] for seq in seqs]
        found: list[int] = []
        answers: list[Any] = wire.pipeline(commands) if commands else []
        for answer in answers:
            found += [len(held[_BODY]) for _, held in answer if len(held) > _BODY] if isinstance(answer, list) else []
        return sum(found) / len(found) if found else 0.0


KEPT_DAYS = 400
MOST_FIELDS = 4_096
"""Fields of one hash: uses times models times counts. What would be beyond is not counted by day or in all, but told as lost."""
COUNTS = ("asked", "failed", "requests", "input_tokens", "output_tokens")
FIRST, LAST = "first", "last"


class UseCounted(NamedTuple):
    """What one model took for one use."""

    model: str
    use: str
    counts: Mapping[str, int]
    """By the names of `COUNTS`."""
    first: str = ""
    last: str = ""


def day_key(day: str) -> str:
    """The hash of one day, `2026-11-22`."""
    return f"{MODELS_KEY}:{day}"


def is_day_key(key: str) -> bool:
    """Whether a key is one of a day."""
    try:
        return key == day_key(date.fromisoformat(key.removeprefix(f"{MODELS_KEY}:")).isoformat())
    except ValueError:
        return False


class ModelLedger:
    """Counts questions to models. Safe for threads. `now`: a clock, in any zone."""

    def __init__(self, wires: WirePool, now: Callable[[], datetime]) -> None:
        self._wires = wires
        self._now = now
        self._lock = Lock()
        self.lost = 0
        """Questions that could not be counted: the store did not take it."""

    def note(self, asked: ModelAsked) -> None:
        """Count one question. A store that does not take it is told in `lost`, and nothing else: the question was answered."""
        try:
            with self._wires.wire() as wire:
                self._put(wire, asked)
        except StoreError:
            with self._lock:
                self.lost += 1

    def _put(self, wire: Wire, asked: ModelAsked) -> None:
        day = self._now().strftime("%Y-%m-%d")
        of, daily = f"{asked.use}|{asked.model}", day_key(day)
        counts = (1, int(asked.failed), *asked.usage)
        many, known = wire.answers([["HLEN", MODELS_KEY], ["HEXISTS", MODELS_KEY, f"{COUNTS[0]}|{of}"]])
        if not known and int(many) >= MOST_FIELDS:
            with self._lock:
                self.lost += 1
            return
        commands: list[list[Argument]] = [
            ["HINCRBY", key, f"{name}|{of}", count]
            for key in (MODELS_KEY, daily)
            for name, count in zip(COUNTS, counts, strict=True)
        ]
        commands += [["HSETNX", MODELS_KEY, f"{FIRST}|{of}", day], ["HSET", MODELS_KEY, f"{LAST}|{of}", day]]
        wire.answers([*commands, ["EXPIRE", daily, KEPT_DAYS * 86_400]])

    def close(self) -> None:
        """Close idle connections."""
        self._wires.close()


def read_uses(wire: Wire, days: Sequence[str] = ()) -> tuple[list[UseCounted], dict[str, list[UseCounted]]]:
    """What was counted in all, and of each of these days. Raises StoreError."""
    in_all, *by_day = wire.answers([["HGETALL", MODELS_KEY], *(["HGETALL", day_key(day)] for day in days)])
    return list(_uses(in_all)), {day: list(_uses(flat)) for day, flat in zip(days, by_day, strict=True)}


def last_days(now: datetime, many: int) -> list[str]:
    """So many days until now, the newest first."""
    return [(now - timedelta(days=back)).strftime("%Y-%m-%d") for back in range(many)]


def _uses(flat: Sequence[bytes]) -> Iterator[UseCounted]:
    """What a hash tells, by model and use; fields that nothing writes are passed over."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    for field, value in zip(flat[::2], flat[1::2], strict=True):
        name, _, rest = field.decode("utf-8", "replace").partition("|")
        use, between, model = rest.partition("|")
        if between and name in (*COUNTS, FIRST, LAST):
            found.setdefault((model, use), {})[name] = value.decode("utf-8", "replace")
    for (model, use), told in sorted(found.items()):
        counts = {name: whole(told.get(name, "")) or 0 for name in COUNTS}
        yield UseCounted(model, use, counts, told.get(FIRST, ""), told.get(LAST, ""))
