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
from engramlog_server.events.cipher import salts_id
from engramlog_server.events.envelope import new_event_id
from engramlog_server.events.errors import DamagedState
from engramlog_server.events.keys import KeyStore, Wiped, wiped_value
from engramlog_server.ops.erasure.fence_list import FenceList
from engramlog_server.ops.keys.store import FileKeyStore
from tests.integration.erasure.words.erased_words import ADA, CANARY, GOING, ErasingWords, leaks
from tests.servers import RedisServer


class Planted(NamedTuple):
    """A store of which memories were erased, and what somebody needs who writes to its Redis and its key store."""

    store: ErasingWords
    redis: Redis
    keys: KeyStore
    wiped: list[int]
    of_twin: int
    """Of another owner of the partition."""
    before: dict[int, bytes]
    """Salts by their ids, as they were before."""
    erasure: str

    @property
    def tag(self) -> str:
        return f"{{{self.store.tag()}}}"

    def id(self, seq: int) -> int:
        """Of the salts of an entry."""
        ((_, fields),) = self.redis.xrange(f"{self.tag}:ev", f"{seq}-0", f"{seq}-0")
        return salts_id(fields[b"e"])

    def plant(self, seq: int, value: bytes) -> None:
        """Put something in place of an entry's salts."""
        self.keys.put_salts({self.id(seq): value})

    def left(self, seq: int) -> bytes:
        """What the key store has of an entry's salts."""
        return self.keys.salts([self.id(seq)])[self.id(seq)]


@pytest.fixture
def planted(redis_server: RedisServer, tmp_path: Path) -> Planted:
    store = ErasingWords(redis_server, tmp_path)
    redis = store.server.client()
    (file,) = store.settings.data.glob("keys-*.db")
    keys = FileKeyStore(file, make=False)
    before = keys.salts(list(keys.salt_ids(1 << 53)))
    done = store.erase_words()
    store.fold()
    (wiped,) = store.wiped().values()
    return Planted(store, redis, keys, wiped, store.seqs(store.twin)["pet"], before, done.erasure)


def lost(of: Planted) -> None:
    of.keys.delete_salts([of.id(of.wiped[0])])


def all_lost(of: Planted) -> None:
    of.keys.delete_salts([of.id(seq) for seq in of.wiped])


def salt_back(of: Planted) -> None:
    of.plant(of.wiped[0], of.before[of.id(of.wiped[0])])


def another_salt(of: Planted) -> None:
    of.plant(of.wiped[0], of.left(of.wiped[0])[:16] + b"x" * 16)


def another_skeleton_salt(of: Planted) -> None:
    of.plant(of.wiped[0], b"x" * 16 + of.left(of.wiped[0])[16:])


def row_of_no_erasure(of: Planted) -> None:
    of.plant(of.wiped[0], of.left(of.wiped[0])[:16])


def row_of_another_seq(of: Planted) -> None:
    of.plant(of.wiped[0], of.left(of.wiped[1]))


def row_that_names_another_seq(of: Planted) -> None:
    of.plant(of.wiped[0], wiped_value(of.left(of.wiped[0]), Wiped(of.erasure, of.store.number(), 999)))


def row_for_another_owner(of: Planted) -> None:
    of.plant(of.of_twin, wiped_value(of.left(of.of_twin), Wiped(of.erasure, of.store.number(), of.of_twin)))


def row_under_another_erasure(of: Planted) -> None:
    of.plant(of.wiped[0], wiped_value(of.left(of.wiped[0]), Wiped(new_event_id(), of.store.number(), of.wiped[0])))


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
    lost, all_lost, salt_back, another_salt, another_skeleton_salt, row_of_no_erasure, row_of_another_seq,
    row_that_names_another_seq, row_for_another_owner, row_under_another_erasure, gone_emptied, gone_forgotten,
    a_mark_changed, count_changed, count_taken, count_of_no_number,
]  # fmt: skip
BROUGHT_BACK = {salt_back}
"""Whoever kept the salts of before, and can write to the key store, has the words of the log back."""
TAKES_WORDS = {row_for_another_owner}
"""It takes words of an owner who was not erased: a fold has none of them any more."""


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
    assert plant in TAKES_WORDS or store.records(*store.others) == others
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


def test_an_erasure_that_the_log_does_not_tell_of_is_told(planted: Planted) -> None:
    store = planted.store
    row_under_another_erasure(planted)
    found = [one["what"] for one in store.differences()]
    assert "entries that lost their words by no erasure that the log tells of" in found
    assert "an erasure of words that left other entries than it says" in found


def test_an_end_that_counts_otherwise_is_told(planted: Planted, monkeypatch: pytest.MonkeyPatch) -> None:
    store = planted.store
    monkeypatch.setattr("engramlog_server.ops.erasure.machine.positions_digest", lambda _partition, _seqs: "0" * 64)
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
    held, number = planted.left(seq), planted.id(seq)
    lost(planted)
    assert store.differences()
    planted.keys.put_salts({number: held})
    assert store.differences() == []
