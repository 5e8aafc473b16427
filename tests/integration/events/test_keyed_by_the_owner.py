"""What is derived from an owner's words and kept beside its events is keyed by its secret: in the fold, again, and of the past."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b

import pytest

from engramlog_server.api.services.reading import Reader
from engramlog_server.consumers.fold.rebuild import rebuild_partition
from engramlog_server.events.envelope import keyed
from engramlog_server.events.partitions import LogKeys
from engramlog_server.events.redis.wire import open_wire
from engramlog_server.projections.fold.changelog import Entry, unpack
from engramlog_server.projections.redis.builds import BuildKeys
from engramlog_server.projections.redis.history import read_packs
from engramlog_server.projections.redis.view import RedisViews
from tests.integration.live import Live, live_store, wait_until
from tests.servers import RedisServer

TEXT = "I like coffee"


@pytest.fixture
def store(redis_server: RedisServer) -> Iterator[Live]:
    with live_store(redis_server.url, partitions=1) as live:
        yield live


def keys_of(store: Live, owner: str) -> BuildKeys:
    tag = store.tag_of(owner)
    return BuildKeys(tag, (store.client.hget(LogKeys(tag).meta, "live") or b"").decode())


def logged(store: Live, owner: str) -> list[Entry]:
    """The owner's change log as it is stored."""
    return unpack(read_packs(open_wire(store.client), keys_of(store, owner), owner))[1]


def hashes(store: Live, owner: str) -> list[bytes]:
    return [one.content_hash for one in logged(store, owner) if one.content_hash]


def keyed_hash(store: Live, owner: str, text: str = TEXT) -> bytes:
    (secret,) = store.log.secrets_of([owner]).values()
    return keyed(secret, b"content hash", f"{text}\x00".encode(), 8)


def unkeyed(text: str = TEXT) -> bytes:
    """What 0.2.0 wrote."""
    return blake2b(f"{text}\x00".encode(), digest_size=8).digest()


def folded(store: Live, *events: object) -> None:
    store.append(*events)  # type: ignore[arg-type]
    wait_until(store.folded)


def test_the_same_words_of_two_owners_leave_hashes_that_tell_neither_the_words_nor_that_they_are_the_same(
    store: Live,
) -> None:
    store.start_worker("w")
    folded(store, *(store.created(owner, "m", TEXT) for owner in ("ada", "bob")))
    found = {owner: hashes(store, owner) for owner in ("ada", "bob")}
    assert found == {owner: [keyed_hash(store, owner)] for owner in ("ada", "bob")}
    assert len({unkeyed(), *found["ada"], *found["bob"]}) == 3
    assert store.differences() == []


def test_owners_that_come_later_or_are_loaded_again_are_keyed_as_well(store: Live) -> None:
    """A worker that folds from the beginning, one that goes on, and one that meets an owner for the first time."""
    store.start_worker("first")
    folded(store, store.created("ada", "m", TEXT))
    folded(store, store.created("bob", "m", TEXT))
    store.stop_worker("first")
    store.start_worker("second")
    folded(store, *(store.created(owner, "n", TEXT) for owner in ("ada", "bob", "cy")))
    assert {name: hashes(store, name) for name in ("ada", "bob", "cy")} == {
        "ada": 2 * [keyed_hash(store, "ada")],
        "bob": 2 * [keyed_hash(store, "bob")],
        "cy": [keyed_hash(store, "cy")],
    }


def test_a_rebuild_and_a_fold_of_the_past_make_the_same_hashes(store: Live) -> None:
    store.start_worker("w")
    folded(store, store.created("ada", "m", TEXT), store.created("ada", "n", "I like tea"))
    before = logged(store, "ada")
    rebuild_partition(store.client, store.identity.tags[0], holder="anew")
    assert logged(store, "ada") == before
    assert store.differences() == []
    views = RedisViews(store.client, store.identity.tags)
    reader = Reader(store.log, views, None, None)
    folded(store, store.created("ada", "o", "later"))
    then = reader.history("ada", as_of="0:2")["changes"]
    assert [one["content_hash"] for one in then] == [one.content_hash.hex() for one in before]
    views.close()


def test_an_owner_whose_secret_is_lost_is_folded_without_hashes_and_verify_says_so(store: Live) -> None:
    store.append(store.created("ada", "m", TEXT), store.created("bob", "m", TEXT), store.mentioned("ada", "m"))
    lost = store.client.hget(LogKeys(store.tag_of("ada")).secrets, "ada")
    store.client.hdel(LogKeys(store.tag_of("ada")).secrets, "ada")
    store.start_worker("w")
    wait_until(store.folded)
    assert (hashes(store, "ada"), hashes(store, "bob")) == ([], [keyed_hash(store, "bob")])
    found = store.differences()
    assert {one["what"] for one in found} == {"an owner without a secret", "dedupe of events"}
    (told,) = (one for one in found if one["what"] == "an owner without a secret")
    assert (told["owner"], told["position"]) == ("ada", "0:1")
    assert lost is not None
    store.client.hset(LogKeys(store.tag_of("ada")).secrets, "ada", lost)
    assert "entries of a change log" in {one["what"] for one in store.differences()}
    rebuild_partition(store.client, store.identity.tags[0], holder="anew")
    assert (hashes(store, "ada"), store.differences()) == ([keyed_hash(store, "ada")], [])


def test_a_worker_takes_up_a_secret_that_came_after_the_owner_was_loaded(store: Live) -> None:
    store.start_worker("w")
    folded(store, store.created("ada", "m", TEXT))
    store.stop_worker("w")
    store.client.hdel(LogKeys(store.tag_of("ada")).secrets, "ada")
    worker = store.start_worker("again")
    wait_until(lambda: worker.held)
    store.log.close()
    folded(store, store.created("bob", "m", TEXT))
    folded(store, store.created("ada", "n", TEXT))
    assert hashes(store, "ada")[-1] == keyed_hash(store, "ada")


def test_what_no_append_made_a_secret_of_stops_the_partition_and_the_right_one_lets_it_go_on(store: Live) -> None:
    """A fold without the right one would leave other hashes than the log asks for, and nobody would know."""
    store.append(store.created("ada", "m", TEXT))
    table = LogKeys(store.tag_of("ada")).secrets
    right = store.client.hget(table, "ada")
    assert right is not None
    store.client.hset(table, "ada", b"short")
    store.start_worker("w", standing_seconds=0.05)
    (told, *_) = wait_until(lambda: store.told("fold stopped"))
    assert "the secret of owner 'ada' has 5 bytes, 32 are allowed" in told["reason"]
    assert any(one["what"] == "a secret that no append made" for one in store.differences())
    store.client.hset(table, "ada", right)
    wait_until(store.folded)
    assert (hashes(store, "ada"), store.differences()) == ([keyed_hash(store, "ada")], [])
