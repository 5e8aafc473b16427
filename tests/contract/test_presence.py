"""A worker's sign of life: what Redis refuses is told as an error of the store, which the worker lives through."""

from __future__ import annotations

from contextlib import closing

import pytest

from engramlog_server.consumers.fold.presence import Presence, live_workers
from engramlog_server.events.errors import StoreUnavailable
from engramlog_server.events.partitions import WORKERS_KEY
from engramlog_server.events.redis.wire import open_wire
from engramlog_server.projections.fold.owner import PROJECTION_VERSION
from tests.contract.test_redis_log import user_without
from tests.servers import RedisServer


def test_a_refusal_is_no_list_of_workers(redis_server: RedisServer) -> None:
    with user_without(redis_server, "hgetall") as client, closing(open_wire(client)) as wire:
        presence = Presence(wire, "w1", 1_000, {})
        with pytest.raises(StoreUnavailable, match="hgetall"):
            presence.beat(1, [], 0)


def test_a_worker_knows_itself_among_those_that_live(redis_server: RedisServer) -> None:
    with redis_server.client() as client, closing(open_wire(client)) as wire:
        assert Presence(wire, "w1", 1_000, {}).beat(1, [], 0) == ["w1"]
        assert sorted(Presence(wire, "w2", 1_000, {}).beat(2, [], 0)) == ["w1", "w2"]


def test_a_worker_leaves_nothing_for_those_who_fold_builds_of_another_version(redis_server: RedisServer) -> None:
    with redis_server.client() as client, closing(open_wire(client)) as wire:
        next_one = Presence(wire, "w3", 1_000, {}, version=PROJECTION_VERSION + 1)
        assert next_one.beat(1, [], 0) == ["w3"]
        assert Presence(wire, "w1", 1_000, {}).beat(2, [], 0) == ["w1"]
        assert sorted(live_workers(wire, 2, 1_000)) == ["w1", "w3"]


def test_a_worker_that_does_not_tell_its_version_shares(redis_server: RedisServer) -> None:
    with redis_server.client() as client, closing(open_wire(client)) as wire:
        wire.call("HSET", WORKERS_KEY, "before", b'{"beat_ms":1,"partitions":[],"folded":0,"rate":null}')
        assert sorted(Presence(wire, "w1", 1_000, {}).beat(1, [], 0)) == ["before", "w1"]
