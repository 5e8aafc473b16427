"""What a commit is refused for on every Redis: then nothing of it is written, and the answer tells what is there instead."""

from __future__ import annotations

from typing import Any

import redis

from engramlog_server.events.redis.wire import open_wire
from engramlog_server.projections.redis.store import COMMIT
from tests.rows import each_row

CHECKPOINT, STREAM, RECORDS = "{c}:checkpoint", "{c}:stream", "{c}:records"
EPOCH, START, SEQ, EVENT = "7", "3", "5", b"sixteen bytes id"
WRITTEN = ["HSET", 3, 2, "m", "folded", "HSET", 1, 2, "seq", SEQ]
Commit = dict[str, Any]


def committed(client: redis.Redis, **asked: Any) -> list[bytes]:
    """The answer to a commit of a record and the checkpoint, from 3 to 5 under epoch 7 unless told otherwise."""
    client.flushall()
    told = {"epoch": EPOCH, "start": START, "seq": SEQ, "event": EVENT} | asked
    client.hset(CHECKPOINT, mapping={"epoch": EPOCH, "seq": START})
    client.xadd(STREAM, {"t": "kind", "i": EVENT}, id=f"{SEQ}-0")
    wire = open_wire(client)
    try:
        answer: list[bytes] = wire.run(COMMIT, [CHECKPOINT, STREAM, RECORDS], [*told.values(), *WRITTEN])
        return answer
    finally:
        wire.close()


def test_a_commit_under_its_lease_from_its_start_to_an_entry_that_is_there_is_written(
    redis_client: redis.Redis,
) -> None:
    assert committed(redis_client) == [b"ok"]
    assert redis_client.hgetall(RECORDS) == {b"m": b"folded"}
    assert redis_client.hget(CHECKPOINT, "seq") == SEQ.encode()


@each_row(
    ("asked", "answer"),
    [
        ({"epoch": "6"}, [b"fenced", b"7"]), ({"epoch": "8"}, [b"fenced", b"7"]), ({"start": "2"}, [b"elsewhere", b"3"]),
        ({"start": "5"}, [b"elsewhere", b"3"]), ({"seq": "6"}, [b"rolled", b"6"]),
        ({"event": b"another event id"}, [b"rolled", b"5"]),
    ],
    ids=["an older lease", "a newer lease", "behind", "ahead", "an entry that is not there", "another entry there"],
)  # fmt: skip
def test_any_other_is_refused_by_what_is_there_and_nothing_is_written(
    redis_client: redis.Redis, asked: Commit, answer: list[bytes]
) -> None:
    assert committed(redis_client, **asked) == answer
    assert redis_client.hgetall(RECORDS) == {}
    assert redis_client.hget(CHECKPOINT, "seq") == START.encode()
