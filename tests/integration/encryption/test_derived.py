"""What is made of words for speed lies sealed, counts as missing where it does not open, and is never written open instead."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import redis

from engramlog_server.events.catalogue import MemoryCreated
from engramlog_server.events.cipher import VALUE_MARK
from engramlog_server.events.envelope import prepare
from engramlog_server.events.errors import KeyUnavailable
from engramlog_server.events.keys import KeyRing
from engramlog_server.events.partitions import LogKeys
from engramlog_server.events.redis.log import RedisEventLog
from engramlog_server.events.redis.server import connect
from engramlog_server.events.redis.wire import StoreClient, WirePool, open_wire
from engramlog_server.events.validation import make_event
from engramlog_server.projections.embedding.meaning import Embedded
from engramlog_server.projections.redis.create import StoreIdentity, open_store
from engramlog_server.projections.redis.vectors import RedisVectors
from tests.given.events import moment
from tests.given.key_stores import shared_keys
from tests.servers import RedisServer

STORE = "5f0c7d0e-8f0c-4f47-8b7f-3a1e5c1d2a90"
MODEL, KEYS = "words@1", [bytes([n]) * 16 for n in range(3)]
WHOLE = np.array([0.6, 0.8, 0.0, 0.0], np.float32)
PIECES = np.eye(4, dtype=np.float32)[:2]


class Sealed:
    """A sealed store with one owner, and processes that open it."""

    def __init__(self, url: str) -> None:
        self.url, self.master = url, KeyRing([bytes(32)])
        self.client, self.identity = self.process(self.master)
        log = RedisEventLog(self.client, self.identity.tags)
        said = MemoryCreated(memory_id="m", content="words", category="fact", kind="fact", source="user")
        log.append([prepare(make_event(said, owner="ada", occurred_at=moment(), actor="user", now=log.now()))])
        log.close()
        self.keys = LogKeys(self.identity.tags[0])

    def process(self, master: Any) -> tuple[StoreClient, StoreIdentity]:
        client = connect(self.url, master=master, keys=shared_keys)
        return client, open_store(open_wire(client), store_id=STORE, partitions=1)

    def vectors(self, client: StoreClient | None = None) -> RedisVectors:
        return RedisVectors(WirePool(client or self.client), self.identity.tags)


class Away(KeyRing):
    """A master key that cannot be reached for owners' secrets."""

    def unwrap(self, lines: Any) -> Any:
        return [KeyUnavailable("the key service does not answer") for _ in lines]


@pytest.fixture
def sealed(bundled_redis: redis.Redis, redis_servers: Any) -> Iterator[Sealed]:
    server: RedisServer = redis_servers.get("valkey")
    made = Sealed(server.url)
    yield made
    made.client.close()


def test_a_vector_lies_sealed_and_comes_back_as_it_was(sealed: Sealed) -> None:
    vectors = sealed.vectors()
    vectors.put("ada", MODEL, {KEYS[0]: Embedded(WHOLE, PIECES), KEYS[1]: Embedded(WHOLE, PIECES)})
    names = vectors.keys_of("ada")
    for name in (names.wholes(MODEL, "ada"), names.pieces(MODEL, "ada")):
        stored = sealed.client.hgetall(name)
        assert sorted(stored) == KEYS[:2]
        assert {raw[:1] for raw in stored.values()} == {VALUE_MARK}
        assert stored[KEYS[0]] != stored[KEYS[1]]  # the same vector of two contents: that tells nothing either
    fresh = sealed.vectors()
    assert np.allclose(fresh.wholes("ada", MODEL, KEYS)[KEYS[0]], WHOLE, atol=4e-3)
    assert fresh.pieces("ada", MODEL, KEYS[:1], 4).counts.tolist() == [2]
    assert fresh.stored("ada", MODEL) == dict.fromkeys(KEYS[:2], 4)


def test_a_vector_that_was_changed_or_moved_counts_as_missing(sealed: Sealed) -> None:
    vectors = sealed.vectors()
    vectors.put("ada", MODEL, {key: Embedded(WHOLE, PIECES) for key in KEYS})
    names = vectors.keys_of("ada")
    for name in (names.wholes(MODEL, "ada"), names.pieces(MODEL, "ada")):
        raw = sealed.client.hget(name, KEYS[0])
        assert raw is not None
        sealed.client.hset(name, KEYS[0], raw[:-1] + bytes([raw[-1] ^ 1]))
        sealed.client.hset(name, KEYS[1], raw)
    fresh = sealed.vectors()
    assert list(fresh.wholes("ada", MODEL, KEYS)) == KEYS[2:]
    assert fresh.pieces("ada", MODEL, KEYS, 4).counts.tolist() == [0, 0, 2]
    assert fresh.stored("ada", MODEL) == {KEYS[0]: 0, KEYS[1]: 0, KEYS[2]: 4}


def test_without_the_key_no_vector_is_read_and_none_is_written(sealed: Sealed) -> None:
    sealed.vectors().put("ada", MODEL, {KEYS[0]: Embedded(WHOLE, PIECES)})
    client, _ = sealed.process(Away([bytes(32)]))
    away = sealed.vectors(client)
    with pytest.raises(KeyUnavailable):
        away.wholes("ada", MODEL, KEYS)
    with pytest.raises(KeyUnavailable):
        away.put("ada", MODEL, {KEYS[1]: Embedded(WHOLE, PIECES)})
    with pytest.raises(KeyUnavailable, match="no secret"):
        sealed.vectors().put("nobody", MODEL, {KEYS[1]: Embedded(WHOLE, PIECES)})
    assert sealed.client.hkeys(away.keys_of("ada").wholes(MODEL, "ada")) == KEYS[:1]
    assert not sealed.client.exists(away.keys_of("nobody").wholes(MODEL, "nobody"))
    client.close()
