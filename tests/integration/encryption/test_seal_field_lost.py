"""A sealed store that does not say any more that it is: nobody takes it for an open one, and nothing open is written to it."""

from __future__ import annotations

from uuid import uuid4

import pytest

from engramlog_server.events.catalogue import SynonymDefined
from engramlog_server.events.errors import StoreMismatch
from engramlog_server.events.keys import KeyRing
from engramlog_server.events.partitions import STORE_KEY, LogKeys
from engramlog_server.events.redis.log import RedisEventLog
from engramlog_server.events.redis.server import connect
from engramlog_server.events.redis.wire import open_wire
from engramlog_server.projections.redis.create import SEALED, known_identity, open_store
from tests.given.key_stores import shared_keys
from tests.integration.live import Live, live_store
from tests.servers import RedisServer
from tests.tampering import OWNERS

MASTER = KeyRing([b"m" * 32])
GONE = r"this store was sealed, and the field `sealed` of engramlog:store.* is gone"


def said(store: Live, owner: str) -> None:
    store.append(store.event(SynonymDefined(keyword="java", synonym="coffee"), owner))


@pytest.mark.parametrize("events", [0, 1])
@pytest.mark.parametrize("master", [MASTER, None])
def test_a_sealed_store_without_its_check_line_is_not_opened(
    redis_server: RedisServer, events: int, master: KeyRing | None
) -> None:
    with live_store(redis_server.url, 2, master=MASTER) as store:
        for _ in range(events):
            said(store, OWNERS[0])
        store.client.hdel(STORE_KEY, SEALED)
        client = connect(redis_server.url, master=master, keys=shared_keys)
        wire = open_wire(client)
        with pytest.raises(StoreMismatch, match=GONE):
            known_identity(wire)
        with pytest.raises(StoreMismatch, match=GONE):
            open_store(wire, store_id=str(uuid4()), partitions=2)
        wire.close()
        client.close()


def test_a_store_of_before_has_salts_by_which_it_is_known(redis_server: RedisServer) -> None:
    with live_store(redis_server.url, 1, master=MASTER) as store:
        said(store, OWNERS[0])
        store.client.hdel(STORE_KEY, SEALED)
        store.client.hdel(LogKeys(store.identity.tags[0]).meta, SEALED)
        wire = open_wire(store.client)
        with pytest.raises(StoreMismatch, match=GONE):
            known_identity(wire)
        wire.close()


def test_whoever_takes_every_mark_away_has_left_what_was_said(redis_server: RedisServer) -> None:
    """It is known by the bodies of its log, which he cannot open: it would be taken for an open one else."""
    with live_store(redis_server.url, 2, master=MASTER) as store:
        said(store, OWNERS[0])
        store.client.hdel(STORE_KEY, SEALED)
        for tag in store.identity.tags:
            store.client.hdel(LogKeys(tag).meta, SEALED)
        wire = open_wire(store.client)
        with pytest.raises(StoreMismatch, match=GONE):
            known_identity(wire)
        wire.close()


def test_a_store_that_was_made_sealed_takes_no_event_that_lies_open(redis_server: RedisServer) -> None:
    """Of a process that takes it for an open one, whatever it read."""
    with live_store(redis_server.url, 1, master=MASTER) as store:
        client = connect(redis_server.url)
        log = RedisEventLog(client, store.identity.tags)
        event = store.event(SynonymDefined(keyword="java", synonym="coffee"), OWNERS[0])
        (receipt,) = log.append([event])
        assert (receipt.status, store.client.exists(LogKeys(store.identity.tags[0]).secrets)) == ("failed", 0)
        said(store, OWNERS[0])
        log.close()
        client.close()
