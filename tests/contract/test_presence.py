"""A worker's sign of life: what Redis refuses is told as an error of the store, which the worker lives through."""

from __future__ import annotations

from contextlib import closing

import pytest

from consumers.fold.presence import Presence
from events.errors import StoreUnavailable
from events.redis.wire import Wire
from tests.contract.test_redis_log import user_without
from tests.servers import RedisServer


def test_a_refusal_is_no_list_of_workers(redis_server: RedisServer) -> None:
    with user_without(redis_server, "hgetall") as client, closing(Wire(client)) as wire:
        presence = Presence(wire, "w1", 1_000, {})
        with pytest.raises(StoreUnavailable, match="hgetall"):
            presence.beat(1, [], 0)


def test_a_worker_knows_itself_among_those_that_live(redis_server: RedisServer) -> None:
    with redis_server.client() as client, closing(Wire(client)) as wire:
        assert Presence(wire, "w1", 1_000, {}).beat(1, [], 0) == ["w1"]
        assert sorted(Presence(wire, "w2", 1_000, {}).beat(2, [], 0)) == ["w1", "w2"]
