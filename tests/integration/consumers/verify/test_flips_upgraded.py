"""A store that was brought over: whatever bit is changed in any field of either format, a verification says so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from random import Random
from typing import NamedTuple

import pytest
import redis

from consumers.fold.worker import FoldWorker
from events.catalogue import MemoryCreated
from events.partitions import LogKeys, partition_of
from events.redis.log import RedisEventLog
from projections.language.marks import MARKER
from projections.redis.create import StoreIdentity
from tests.conftest import REAL
from tests.given.samples import event, mention
from tests.integration.brought import Brought
from tests.release_0_2_0 import PARTITIONS
from tests.servers import Servers
from tests.tampering import Flip, findings, flipped, missed, of_entry, of_value

FLIPS = 150
"""On each of two servers, over every kind of key."""
OWNER = "ada"
STATED = MemoryCreated(memory_id="tea", content="I like oolong tea", category="fact", kind="note", source="user")
OLD_FIELDS, NEW_FIELDS = "tioe", "tioerpldcsw"


class Upgraded(NamedTuple):
    """A store with entries of format 1, a boundary, and entries of format 2, all folded."""

    client: redis.Redis
    identity: StoreIdentity
    old: int
    """Seq of an entry of format 1 in the owner's partition."""
    new: int
    """Seq of one of format 2, appended where the clock stood behind the partition's last time."""

    @property
    def keys(self) -> LogKeys:
        return LogKeys(self.identity.tags[partition_of(OWNER, PARTITIONS)])


@pytest.fixture(scope="module", params=REAL)
def store(
    request: pytest.FixtureRequest, redis_servers: Servers, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Upgraded]:
    brought = Brought(redis_servers.get(request.param), tmp_path_factory.mktemp("data"))
    brought.upgrade()
    identity, client = brought.store.identity, brought.client
    log = RedisEventLog(client, identity.tags, marker=MARKER)
    partition = partition_of(OWNER, PARTITIONS)
    for owner in {one.owner for one in brought.events()}:
        log.append([mention(f"{owner} {n}", owner=owner) for n in range(2)])
    meta = LogKeys(identity.tags[partition]).meta
    client.hincrby(meta, "rec", 60_000_000)  # as a clock leaves it that ran a minute ahead and was mended
    (receipt,) = log.append([event(STATED, owner=OWNER, number="behind")])
    seq = int(str(receipt.position).split(":")[1])
    log.append([mention("after", owner=OWNER)])
    worker = FoldWorker(client, identity.tags, "w")
    worker.drain({n: int(client.hget(LogKeys(tag).meta, "head") or 0) for n, tag in enumerate(identity.tags)}, 60.0)
    worker.hand_over()
    for tag in identity.tags:  # the build that 0.2.0 made is on its way out: nobody looks into it
        gone = [name for name in client.hkeys(LogKeys(tag).meta) if name.startswith(b"old:")]
        client.hdel(LogKeys(tag).meta, *gone)
        client.delete(*(key for name in gone for key in client.scan_iter(f"{{{tag}}}:{name[4:].decode()}:*")))
    first = next(one.seq for one in brought.events() if one.owner == OWNER)
    found = Upgraded(client, identity, first, seq)
    assert findings(found) == []
    yield found
    assert findings(found) == []
    client.close()
    log.close()


@pytest.mark.parametrize(("which", "field"), [("old", f) for f in OLD_FIELDS] + [("new", f) for f in NEW_FIELDS])
def test_each_bit_flipped_in_each_field_of_an_entry_is_found(store: Upgraded, which: str, field: str) -> None:
    """Of every byte one bit, at most 40 of a field."""
    seq: int = getattr(store, which)
    flips = list(of_entry(store.client, store.keys.stream.encode(), seq, field.encode(), Random(seq)))
    assert flips
    assert missing(store, flips) == []


def missing(store: Upgraded, flips: Iterable[Flip]) -> list[str]:
    """What is told of those that a verification does not find."""
    unfound = []
    for flip in flips:
        with flipped(store.client, flip):
            if not findings(store, flip.key):
                unfound.append(flip.told)
    return unfound


@pytest.mark.parametrize("field", ["format2", "format2_at", "format2_sum", "rec", "head", "seq", "live"])
def test_each_bit_flipped_in_meta_is_found(store: Upgraded, field: str) -> None:
    assert missing(store, of_value(store.client, store.keys.meta.encode(), field.encode())) == []


@pytest.mark.parametrize("table", ["keys", "dedupe"])
def test_each_byte_flipped_of_secrets_and_dedupe_is_found(store: Upgraded, table: str) -> None:
    tag = store.identity.tags[partition_of(OWNER, PARTITIONS)]
    if table == "keys":
        places = [(store.keys.secrets.encode(), name) for name in store.client.hkeys(store.keys.secrets)]
    else:
        buckets = sorted(store.client.scan_iter(f"{{{tag}}}:ids:*"))[:4]
        places = [(key, name) for key in buckets for name in store.client.hkeys(key)]
    assert places
    assert missing(store, (flip for key, name in places for flip in of_value(store.client, key, name, Random(7)))) == []


def test_random_flips_over_every_kind_of_key_are_found(store: Upgraded) -> None:
    unfound, _ = missed(store, Random(41), FLIPS)
    assert unfound == [], "\n".join(unfound)


def test_of_what_nobody_has_folded_yet_a_verification_proves_the_body_and_where_it_stands(store: Upgraded) -> None:
    """As the operating page says: the chain covers the rest once it is folded."""
    before = {key: store.client.dump(key) for key in store.client.scan_iter()}
    log = RedisEventLog(store.client, store.identity.tags, marker=MARKER)
    try:
        log.append([event(STATED, owner=OWNER, number="not folded")])
        seq = log.head(partition_of(OWNER, PARTITIONS))
        assert findings(store) == []
        unproven = {
            field
            for field in NEW_FIELDS[:-1]
            if missing(store, of_entry(store.client, store.keys.stream.encode(), seq, field.encode(), Random(3)))
        }
        assert unproven == set("pld")
    finally:
        for key in {*store.client.scan_iter()} - before.keys():
            store.client.delete(key)
        for key, held in before.items():
            store.client.restore(key, 0, held, replace=True)  # type: ignore[arg-type]
