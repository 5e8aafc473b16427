"""What somebody who can write to Redis does about single memories that were erased is told by `engramlog verify`; and none of it
lets words be read, or has a forged body folded."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from redis import Redis

from engramlog_server.consumers.fold.rebuild import rebuild_partition
from engramlog_server.events.envelope import encode, new_event_id
from engramlog_server.events.errors import DamagedState
from engramlog_server.events.redis.opening import laid_left
from engramlog_server.events.redis.secrets import read_cipher
from engramlog_server.ops.erasing.fence_list import FenceList
from tests.integration.erasing.words.erased_words import ADA, CANARY, GOING, ErasingWords, leaks
from tests.servers import RedisServer


class Planted(NamedTuple):
    """A store of which memories were erased, and what somebody needs who writes to its Redis."""

    store: ErasingWords
    redis: Redis
    wiped: list[int]
    free: int
    """Seq of an entry of hers whose words stand."""
    of_twin: int
    """Of another owner of the partition."""
    salts: bytes
    """As they were before."""
    erasure: str

    @property
    def tag(self) -> str:
        return f"{{{self.store.tag()}}}"

    def salt(self, seq: int) -> bytes:
        return self.salts[16 * seq : 16 * seq + 16]

    def left(self, seq: int) -> bytes:
        return self.redis.hget(f"{self.tag}:wl", str(seq)) or b""

    def sealed(self, seq: int, owner: str = ADA, event: Any = None, erasure: str | None = None) -> bytes:
        """As whoever holds the key would seal what is left of an entry."""
        found = {one.seq: said for one, said in self.store.log(owner)}[seq] if event is None else event
        with self.store.wire() as wire:
            cipher = read_cipher(wire, self.store.keys(), owner)
        assert cipher is not None
        return laid_left(cipher, owner, seq, erasure or self.erasure, encode(found))


@pytest.fixture
def planted(redis_server: RedisServer, tmp_path: Path) -> Planted:
    store = ErasingWords(redis_server, tmp_path)
    redis = store.server.client()
    salts = bytes(redis.get(f"{{{store.tag()}}}:salts"))
    done = store.erase_words()
    store.fold()
    (wiped,) = store.wiped().values()
    return Planted(store, redis, wiped, store.seqs()["paint"], store.seqs(store.twin)["pet"], salts, done.erasure)


def lost(of: Planted) -> None:
    of.redis.hdel(f"{of.tag}:wl", str(of.wiped[0]))


def all_lost(of: Planted) -> None:
    of.redis.delete(f"{of.tag}:wl")


def salt_back(of: Planted) -> None:
    of.redis.setrange(f"{of.tag}:salts", 16 * of.wiped[0], of.salt(of.wiped[0]))


def salt_back_and_nothing_left(of: Planted) -> None:
    salt_back(of)
    lost(of)


def another_salt(of: Planted) -> None:
    of.redis.setrange(f"{of.tag}:salts", 16 * of.wiped[0], b"x" * 16)


def row_in_the_open(of: Planted) -> None:
    body = encode({one.seq: said for one, said in of.store.log()}[of.wiped[0]])
    of.redis.hset(f"{of.tag}:wl", str(of.wiped[0]), of.erasure.encode() + body)


def row_of_no_erasure(of: Planted) -> None:
    of.redis.hset(f"{of.tag}:wl", str(of.wiped[0]), b"nothing")


def row_of_no_seq(of: Planted) -> None:
    of.redis.hset(f"{of.tag}:wl", "no seq", of.left(of.wiped[0]))


def row_of_a_seq_that_is_not_there(of: Planted) -> None:
    of.redis.hset(f"{of.tag}:wl", "999999", of.left(of.wiped[0]))


def row_of_another_seq(of: Planted) -> None:
    of.redis.hset(f"{of.tag}:wl", str(of.wiped[0]), of.left(of.wiped[1]))


def row_of_another_owner(of: Planted) -> None:
    of.redis.hset(f"{of.tag}:wl", str(of.wiped[0]), of.sealed(of.of_twin, of.store.twin))


def row_for_another_owner(of: Planted) -> None:
    of.redis.hset(f"{of.tag}:wl", str(of.of_twin), of.left(of.wiped[0]))


def row_beside_words_that_stand(of: Planted) -> None:
    of.redis.hset(f"{of.tag}:wl", str(of.free), of.left(of.wiped[0]))


def row_under_another_erasure(of: Planted) -> None:
    of.redis.hset(f"{of.tag}:wl", str(of.wiped[0]), new_event_id().encode() + of.left(of.wiped[0])[36:])


def gone_emptied(of: Planted) -> None:
    of.redis.delete(f"{of.tag}:gone")


def gone_forgotten(of: Planted) -> None:
    of.redis.delete(f"{of.tag}:gone")
    of.redis.hdel(f"{of.tag}:meta", "gone")


def a_mark_changed(of: Planted) -> None:
    for one in list(of.redis.smembers(f"{of.tag}:gone")):
        of.redis.srem(f"{of.tag}:gone", one)
        of.redis.sadd(f"{of.tag}:gone", one[::-1])


def count_changed(of: Planted) -> None:
    of.redis.hset(f"{of.tag}:meta", "gone", "1")


def count_taken(of: Planted) -> None:
    of.redis.hdel(f"{of.tag}:meta", "gone")


def count_of_no_number(of: Planted) -> None:
    of.redis.hset(f"{of.tag}:meta", "gone", "many")


KEYLESS: list[Callable[[Planted], None]] = [
    lost, all_lost, salt_back, salt_back_and_nothing_left, another_salt, row_in_the_open, row_of_no_erasure,
    row_of_no_seq, row_of_a_seq_that_is_not_there, row_of_another_seq, row_of_another_owner, row_for_another_owner,
    row_beside_words_that_stand, row_under_another_erasure, gone_emptied, gone_forgotten, a_mark_changed, count_changed,
    count_taken, count_of_no_number,
]  # fmt: skip
BROUGHT_BACK = {salt_back, salt_back_and_nothing_left}
"""Whoever kept the salts of before, and can write to Redis, has the words of the log back: who holds an old copy has all of it."""


@pytest.mark.parametrize("plant", KEYLESS, ids=lambda one: one.__name__)
def test_verify_tells_of_it_and_no_word_is_read_by_it(planted: Planted, plant: Callable[[Planted], None]) -> None:
    store = planted.store
    assert store.differences() == []
    records = store.records(ADA, *store.others)
    plant(planted)
    found = store.differences()
    assert found, "nobody tells of it"
    assert all(CANARY not in str(one) for one in found)
    assert store.records(ADA, *store.others) == records, "what is folded is as it was"
    with store.http() as client:
        assert leaks(faces(client)) == []
    if plant not in BROUGHT_BACK:
        assert CANARY not in log_of(store)


@pytest.mark.parametrize("plant", KEYLESS, ids=lambda one: one.__name__)
def test_a_fold_of_it_takes_nothing_that_was_planted(planted: Planted, plant: Callable[[Planted], None]) -> None:
    """Where something cannot be read its owner stands still, as after any damage; nobody else notices, and no word comes back."""
    store = planted.store
    others = store.records(*store.others)
    plant(planted)
    client = store.client()
    rebuild_partition(client, store.tag(), holder="again")
    client.close()
    assert store.records(*store.others) == others
    records = store.records(ADA)[ADA]
    assert all(not records[name].content for name in GOING & records.keys())
    assert CANARY not in repr(records)
    with store.http() as http:
        assert leaks(faces(http)) == []


def faces(client: Any) -> dict[str, str]:
    """What is answered; what is refused, loudly, tells nothing."""
    asked = (
        "memories?mode=debug&limit=100", "events?limit=100", "history?limit=100", "facts", "export?everything=true",
    )  # fmt: skip
    return {path: client.get(f"/v1/owners/{ADA}/{path}").text for path in asked}


def log_of(store: ErasingWords) -> str:
    """Her log as it is read; where it is refused, nothing."""
    with suppress(DamagedState):
        return repr(store.log())
    return ""


def test_words_sealed_by_whoever_holds_the_key_are_told_too(planted: Planted) -> None:
    """Then it is no stranger: but `verify` tells that what should have no words has some."""
    store, seq = planted.store, planted.wiped[0]
    said = {one.seq: event for one, event in store.log(store.twin)}[store.seqs(store.twin)["turn 1"]]
    planted.redis.hset(f"{planted.tag}:wl", str(seq), planted.sealed(seq, event=said))
    assert "what is left of an erased entry and is no event without words" in [
        one["what"] for one in store.differences()
    ]


def test_another_event_without_words_sealed_by_the_right_key_is_told(planted: Planted) -> None:
    store = planted.store
    at = store.seqs()["pet"]
    other = {one.seq: event for one, event in store.log()}[store.seqs()["hat"]]
    planted.redis.hset(f"{planted.tag}:wl", str(at), planted.sealed(at, event=other))
    assert store.differences(), "it is not the event of that id"


def test_an_erasure_that_the_log_does_not_tell_of_is_told(planted: Planted) -> None:
    store = planted.store
    planted.redis.hset(
        f"{planted.tag}:wl", str(planted.wiped[0]), planted.sealed(planted.wiped[0], erasure=new_event_id())
    )
    found = [one["what"] for one in store.differences()]
    assert "entries that lost their words by no erasure that the log tells of" in found
    assert "an erasure of words that left other entries than it says" in found


def test_an_end_that_counts_otherwise_is_told(planted: Planted, monkeypatch: pytest.MonkeyPatch) -> None:
    store = planted.store
    monkeypatch.setattr("engramlog_server.ops.erasing.words.positions_digest", lambda _partition, _seqs: "0" * 64)
    monkeypatch.setattr(FenceList, "append", lambda _self, _one: None)
    store.erase_words()
    assert [one["what"] for one in store.differences()] == ["an erasure of words that left other entries than it says"]


def test_the_fence_still_refuses_where_its_marks_were_taken_away_but_for_a_new_process(planted: Planted) -> None:
    """What it does without the marks: `verify` says so, and an erasure of the same ids puts them back."""
    store = planted.store
    gone_forgotten(planted)
    found = [one["what"] for one in store.differences()]
    assert "a memory that was erased, and under whose id words are taken in again" in found
    assert store.erase_words().verified
    assert store.differences() == []


def test_what_was_lost_of_it_is_put_right_by_the_copy_that_has_it(planted: Planted) -> None:
    store, seq = planted.store, planted.wiped[0]
    held = planted.left(seq)
    lost(planted)
    assert store.differences()
    planted.redis.hset(f"{planted.tag}:wl", str(seq), held)
    assert store.differences() == []
