"""The same events, secrets and salts give the same chains, digests and values, whether they lie open or sealed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from consumers.verify.store_and_log import verify_partition
from events.redis.wire import Wire
from events.sealing.key_ring import KeyRing
from projections.fold.builds import FIRST_BUILD, BuildKeys
from projections.fold.changelog import unpack
from projections.redis.changelog import read_packs
from projections.redis.sealed import cipher_of, open_record
from projections.redis.store import read_checkpoint
from tests.integration.live import Live, live_store, wait_until
from tests.integration.sealing.laid_open import lay_open
from tests.servers import RedisServer, Servers, wheel_server
from tests.tampering import OWNERS, findings, populate

MASTER = KeyRing([b"m" * 32])


@pytest.fixture
def another() -> Iterator[RedisServer]:
    """A second server, for the open store."""
    server = RedisServer(wheel_server())
    yield server
    server.stop()


def facts_of(store: Live) -> dict[str, Any]:
    """What a store makes of its log: checkpoints, chains, records and change logs."""
    wire, found = Wire(store.client), dict[str, Any]()
    for partition, tag in enumerate(store.identity.tags):
        keys = BuildKeys(tag, FIRST_BUILD)
        found[f"checkpoint {tag}"] = read_checkpoint(wire, keys)
        told = verify_partition(store.client, partition, tag, chain_at=(1, 5))
        found[f"verified {tag}"] = (told.head, told.digest, told.memories, told.events, told.chains, told.differences)
        for owner in OWNERS:
            cipher, raw = cipher_of(wire, keys, owner), store.client.hgetall(keys.records(owner))
            found[f"records {tag} {owner}"] = {
                name: open_record(cipher, owner, name, one)
                for name, one in raw.items()  # type: ignore[union-attr]
            }
            found[f"log {tag} {owner}"] = unpack(read_packs(wire, keys, owner))
    wire.close()
    return found


@pytest.mark.parametrize("partitions", [1, 2])
def test_heads_digests_records_and_change_logs_are_those_of_an_open_store(
    redis_servers: Servers, another: RedisServer, partitions: int
) -> None:
    server = redis_servers.get("redis-6.2")
    with live_store(server.url, partitions, master=MASTER) as sealed, live_store(another.url, partitions) as opened:
        populate(sealed)
        for one in (sealed, opened):
            assert one.client.seals.is_on == (one is sealed)
        lay_open(sealed.client, opened.client, sealed.identity.tags)
        opened.start_worker("anew")
        wait_until(opened.folded)
        opened.stop_worker("anew")
        assert findings(sealed) == []
        assert facts_of(sealed) == facts_of(opened)
