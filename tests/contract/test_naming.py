"""What every log tells of how ids of words are made: a secret that stands before anything is derived, and ids that are held."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
import redis

from engramlog_server.events.errors import StoreMismatch
from engramlog_server.events.log import EventLog
from engramlog_server.events.partitions import LogKeys, spread_tags
from engramlog_server.events.redis.log import RedisEventLog
from tests.contract.test_log_format_2 import BESIDE, HERE, PARTITIONS, opened, read
from tests.given.samples import mention
from tests.servers import RedisServer

Open = Callable[..., EventLog]
KEYS = LogKeys(spread_tags(PARTITIONS)[1])
__all__ = ["opened"]


def test_an_owner_without_events_has_no_secret_until_one_is_asked_to_be_made_and_keeps_it(opened: Open) -> None:
    log = opened()
    assert (log.naming(HERE), log.secrets_of([HERE])) == ((HERE, b""), {})
    made = log.naming(HERE, make=True)
    assert len(made.secret) == 32
    assert log.naming(HERE, make=True) == log.naming(HERE) == made
    log.append([mention(1, HERE), mention(2, BESIDE)])
    assert log.secrets_of([HERE]) == {HERE: made.secret}
    assert log.naming(HERE) == made != log.naming(BESIDE)
    assert [one.owner for one in read(log)] == [HERE, BESIDE]


def test_what_is_held_is_the_owners_own(opened: Open) -> None:
    log = opened()
    events = [mention(number, HERE) for number in range(3)]
    log.append(events)
    log.append([mention(7, BESIDE)])
    names = [one.event_id for one in (*events, mention(7, BESIDE))]
    assert log.seqs_of(HERE, names) == {names[0]: 1, names[1]: 2, names[2]: 3}
    assert log.seqs_of(BESIDE, names).keys() == {names[3]}
    assert (log.seqs_of(HERE, []), log.seqs_of("nobody", names)) == ({}, {})


def test_many_ids_are_looked_up_in_pieces(opened: Open) -> None:
    log = opened()
    names = [mention(number, HERE).event_id for number in range(2_300)]
    log.append([mention(2_299, HERE), mention(0, HERE)])
    assert log.seqs_of(HERE, names).keys() == {names[0], names[-1]}


def test_all_that_make_a_new_owners_secret_at_once_have_the_same(redis_server: RedisServer) -> None:
    begun = Barrier(8)

    def asks(_number: int) -> bytes:
        with redis_server.client() as client:
            log = RedisEventLog(client, spread_tags(PARTITIONS))
            begun.wait()
            secret = log.naming(HERE, make=True).secret
            log.close()
            return secret

    with ThreadPoolExecutor(8) as threads:
        assert len(set(threads.map(asks, range(8)))) == 1


def test_a_secret_made_elsewhere_keys_what_a_process_appends_that_had_proposed_another(
    redis_client: redis.Redis,
) -> None:
    log = RedisEventLog(redis_client, spread_tags(PARTITIONS))
    log.append([mention(1, HERE)], expected_heads={HERE: 7})  # proposes a secret, and writes nothing
    elsewhere = RedisEventLog(redis_client, spread_tags(PARTITIONS))
    made = elsewhere.naming(HERE, make=True)
    assert log.append([mention(1, HERE)])[0].status == "appended"
    assert (log.naming(HERE), elsewhere.append([mention(1, HERE)])[0].status) == (made, "already_appended")
    log.close()
    elsewhere.close()


def test_a_damaged_secret_makes_no_id(redis_client: redis.Redis) -> None:
    log = RedisEventLog(redis_client, spread_tags(PARTITIONS))
    redis_client.hset(KEYS.secrets, HERE, b"short")
    with pytest.raises(StoreMismatch, match="has 5 bytes"):
        log.naming(HERE, make=True).made("turn", "I like tea")
    log.close()
