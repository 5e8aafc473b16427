"""A populated store, and changes of one byte in whatever is stored: each must be found by a verification."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from random import Random
from typing import Any, NamedTuple, Protocol

import redis

from engramlog_server.api.services.living import TimeLines
from engramlog_server.api.services.reading import Reader
from engramlog_server.consumers.jobs.embedding import EmbeddingJob
from engramlog_server.consumers.verify.partition import verify_partition
from engramlog_server.consumers.verify.store import verify_store
from engramlog_server.events.catalogue import (
    Access,
    Hit,
    MemoriesAccessed,
    MemoriesLinked,
    MemoryDeleted,
    MemoryMerged,
    MemoryNegated,
    MemoryRevised,
    ParametersChanged,
    SynonymDefined,
    ToolResultRecorded,
    TurnRecorded,
)
from engramlog_server.events.envelope import from_micros, prepare_body
from engramlog_server.events.partitions import STORE_KEY
from engramlog_server.events.redis.wire import WirePool, open_wire
from engramlog_server.projections.embedding.choosing import Embedders
from engramlog_server.projections.redis.create import StoreIdentity
from engramlog_server.projections.redis.history import ChangeLogs, MomentLimits
from engramlog_server.projections.redis.job_notes import RedisDeletions
from engramlog_server.projections.redis.vectors import RedisVectors
from engramlog_server.projections.redis.view import RedisViews
from tests.doubles.embedding import WordEmbedder
from tests.integration.live import Live, wait_until

OWNERS = ("alice", "bob", "小林", "team:blue")
STUCK = "stuck"


def populate(store: Live, rounds: int = 6) -> None:
    """Every kind of key: owners with histories, one that stands still, vectors, a request, a build on its way out."""
    store.start_worker("filler")
    for owner in OWNERS:
        store.append(*(store.created(owner, f"m{n}", f"{owner} said {n} 我喜欢咖啡") for n in range(4)))
    for number in range(rounds):
        store.append(*(store.mentioned(owner, f"m{number % 4}") for owner in OWNERS))
        wait_until(store.folded)  # a commit of its own, so that packs have chunks
    store.append(
        *(store.mentioned(owner, f"m{number % 4}") for owner in OWNERS for number in range(60))
    )  # several packs
    then = from_micros(store.log.now()) - timedelta(hours=1)
    hit = Hit(memory_id="m1", count=2, best_rank=1, last_at=then)
    more = [
        MemoryNegated(memory_id="m1", reason="said in jest"),
        MemoryRevised(memory_id="m2", content="I like tea better 茶"),
        MemoryMerged(sources=("m3", "m0"), into="m9", summary="both 都是"),
        MemoriesAccessed(hits=(hit,), via="recall"),
        MemoriesAccessed(accesses=(Access(at=then, shown=("m1", "m3"), query="茶"),), via="recall"),
        MemoriesAccessed(accesses=(Access(at=then, shown=("m2",), mode="review"),), via="inspection"),
        TurnRecorded(turn_id="t1", role="user", text="早上好"),
        ToolResultRecorded(tool="clock", text="09:30"),
        SynonymDefined(keyword="java", synonym="coffee"),
        ParametersChanged(parameters={"user_factor": 1.25}),
        MemoriesLinked(a="m0", b="m2", weight=0.5, link="about"),
        MemoryDeleted(memory_id="m2"),
    ]
    for owner in OWNERS:
        store.append(*(store.event(data, owner) for data in more))
    store.append(*(store.created(OWNERS[0], f"p{n}") for n in range(40)))  # more than a tail holds: a pack by itself
    store.append(store.created(STUCK, "m0"))
    nonsense = prepare_body("00000000-0000-7000-8000-00000000abcd", "Nothing", 1, STUCK, b'{"a":1}')
    store.append(nonsense, store.created(STUCK, "m1"), store.created(STUCK, "m2"))
    wait_until(store.folded)
    store.stop_worker("filler")
    wires = WirePool(store.client)
    vectors, embedder = RedisVectors(wires, store.identity.tags), WordEmbedder()
    for partition, tag in enumerate(store.identity.tags):
        EmbeddingJob(vectors, Embedders.alone(lambda: embedder)).walk(partition)
        store.client.hset(f"{{{tag}}}:meta", "old:v2", "1")
        store.client.hset(f"{{{tag}}}:v2:ck", "seq", "1")
    RedisDeletions(wires, store.identity.tags).add(OWNERS[0], {"m2": 1}, store.log.now())
    RedisDeletions(wires, store.identity.tags).add(STUCK, {"m0": 1}, store.log.now())
    logs = ChangeLogs(wires, store.identity.tags)
    views = RedisViews(store.client, store.identity.tags)
    views.moments.limits = MomentLimits(1, 1, 8)
    views.moments.worth = 1
    reader = Reader(store.log, views)
    lines = TimeLines(store.log, views, reader)
    for owner in OWNERS:
        logs.index(owner, worth=1)
        lines.times(owner)
        for end in ("2026-01-02", "2100-01-01"):
            reader.list(owner, as_of=end)
    views.close()
    wires.close()
    for owner in (STUCK, OWNERS[0]):
        store.client.hset(f"{{{store.tag_of(owner)}}}:ctl", f"retry:{owner}", owner)


class Held(Protocol):
    """A store whose keys can be reached."""

    @property
    def client(self) -> redis.Redis:
        """Of its Redis."""

    @property
    def identity(self) -> StoreIdentity:
        """Its partitions."""


class Flip(NamedTuple):
    """One byte to be changed: how it is written, and what is told where nobody finds it."""

    key: bytes
    told: str
    write: Callable[[], None]


def findings(store: Held, key: bytes | None = None) -> list[dict[str, Any]]:
    """What a verification finds: of the whole store, or of the partition of a key and of what belongs to none."""
    numbers = [n for n, tag in enumerate(store.identity.tags) if key is None or key.startswith(f"{{{tag}}}:".encode())]
    found = [one for n in numbers for one in verify_partition(store.client, n, store.identity.tags[n]).differences]
    wire = open_wire(store.client)
    try:
        return found + verify_store(wire, store_id=store.identity.store_id).differences
    finally:
        wire.close()


@contextmanager
def flipped(client: redis.Redis, flip: Flip) -> Iterator[None]:
    """The store with one byte changed, and as it was afterwards."""
    before: Any = client.dump(flip.key)
    flip.write()
    try:
        yield
    finally:
        client.restore(flip.key, 0, before, replace=True)


def flips(store: Held, chance: Random, count: int) -> Iterator[Flip]:
    """Changes of one byte: each kind of key as often as any other, whatever its size."""
    kinds: dict[str, list[bytes]] = {}
    for key in sorted(store.client.scan_iter()):
        if (kind := _kind(key)) is not None:
            kinds.setdefault(kind, []).append(key)
    while count:
        flip = _flip(store.client, chance.choice(kinds[chance.choice(sorted(kinds))]), chance)
        if flip is not None:
            count -= 1
            yield flip


def kinds_of(store: Held) -> set[str]:
    """The kinds of keys that are changed."""
    return {kind for key in store.client.scan_iter() if (kind := _kind(key)) is not None}


def _kind(key: bytes) -> str | None:
    """What a key is, without its partition, owner or number; None for what a verification does not prove."""
    if key == STORE_KEY.encode():
        return "store"
    if not key.startswith(b"{"):
        return None
    parts = key.split(b"}:", 1)[1].split(b":")
    if parts[0] == b"v2":
        return None  # a build on its way out is not looked into
    return (parts[1] if parts[0][1:2].isdigit() else parts[0]).decode()


def missed(store: Held, chance: Random, count: int) -> tuple[list[str], Counter[str]]:
    """Flips that a verification did not find, and how many there were of each kind of key. The store is sound again afterwards."""
    unfound, kinds = list[str](), Counter[str]()
    for flip in flips(store, chance, count):
        kinds[str(_kind(flip.key))] += 1
        with flipped(store.client, flip):
            if not findings(store, flip.key):
                unfound.append(f"{flip.key!r}: {flip.told}")
    return unfound, kinds


ABOUT_NOW = {(b"ck", b"epoch"), (b"ck", b"until"), (b"ck", b"holder"), (b"meta", b"old:v2")}
"""Values that say how things stand now, which no log can prove: only their form can be wrong."""
DERIVED = {"del", "vec", "vep", "ven", "vea", "vem"}
"""Of vectors, whose values a model made, and of when a deletion was seen, the names are changed: whose they are, of which text."""


def _flip(client: redis.Redis, key: bytes, chance: Random) -> Flip | None:
    kind = client.type(key)
    if kind == b"hash":
        return _of_hash(client, key, chance)
    if kind == b"zset":
        return _of_sorted_set(client, key, chance)
    if kind == b"list":
        at = chance.randrange(client.llen(key))
        value = _other(client.lindex(key, at), chance)
        return Flip(key, f"item {at}", lambda: client.lset(key, at, value))
    if kind == b"string":
        changed = _other(client.get(key), chance)
        return Flip(key, "the string", lambda: client.set(key, changed))
    return _of_stream(client, key, chance)


def _other(raw: Any, chance: Random) -> bytes:
    """The same bytes but for one bit."""
    at = chance.randrange(len(raw))
    return bytes([*raw[:at], raw[at] ^ (1 << chance.randrange(8)), *raw[at + 1 :]])


def _of_hash(client: redis.Redis, key: bytes, chance: Random) -> Flip | None:
    name, kind = chance.choice(sorted(client.hkeys(key))), _kind(key)
    value: Any = client.hget(key, name)
    if kind not in DERIVED and (str(kind).encode(), name) not in ABOUT_NOW and value and chance.random() < 0.7:
        changed = _other(value, chance)
        return Flip(key, f"value of {name!r}: {changed!r}", lambda: client.hset(key, name, changed))
    if not name:
        return None
    other = _other(name, chance)
    if client.hexists(key, other):
        return None
    return Flip(key, f"name {name!r}: {other!r}", lambda: _rename(client, key, name, other, value))


def _rename(client: redis.Redis, key: bytes, name: bytes, other: bytes, value: bytes) -> None:
    client.hdel(key, name)  # type: ignore[arg-type]
    client.hset(key, other, value)  # type: ignore[arg-type]


def _of_sorted_set(client: redis.Redis, key: bytes, chance: Random) -> Flip | None:
    member, score = chance.choice(client.zrange(key, 0, -1, withscores=True))
    if chance.random() < 0.5:
        other = float(int(score) ^ (1 << chance.randrange(8)))
        return Flip(key, f"score of {member!r}: {other}", lambda: client.zadd(key, {member: other}))
    name = _other(member, chance)
    if client.zscore(key, name) is not None:
        return None
    return Flip(key, f"member {member!r}: {name!r}", lambda: _rename_member(client, key, member, name, score))


def _rename_member(client: redis.Redis, key: bytes, member: bytes, name: bytes, score: float) -> None:
    client.zrem(key, member)
    client.zadd(key, {name: score})


def _of_stream(client: redis.Redis, key: bytes, chance: Random) -> Flip:
    answer: Any = client.execute_command("XRANGE", key, "-", "+")
    entries = [(entry_id, _words(fields)) for entry_id, fields in answer]
    at = chance.randrange(len(entries))
    entry_id, words = entries[at]
    word = chance.choice([number for number, one in enumerate(words) if one])
    changed = [_other(one, chance) if number == word else one for number, one in enumerate(words)]
    entries[at] = (entry_id, changed)
    return Flip(key, f"entry {entry_id!r}, word {word}", lambda: _lay(client, key, entries))


def _words(fields: Any) -> list[bytes]:
    return [part for pair in fields.items() for part in pair] if isinstance(fields, dict) else list(fields)


def _lay(client: redis.Redis, key: bytes, entries: list[tuple[bytes, list[bytes]]]) -> None:
    with client.pipeline() as writes:
        writes.delete(key)
        for entry_id, words in entries:
            writes.execute_command("XADD", key, entry_id, *words)
        writes.execute()
