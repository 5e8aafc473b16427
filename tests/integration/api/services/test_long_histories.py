"""A long history: what happened to one memory is found without the owner's other memories, and without the rest of the log."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from engramlog_server.consumers.verify.partition import verify_partition
from engramlog_server.events.errors import DamagedState
from engramlog_server.events.partitions import partition_of
from engramlog_server.projections.redis import history
from engramlog_server.projections.redis.builds import BuildKeys
from engramlog_server.projections.redis.history import ChangeLogs
from tests.given.http import HttpStore, created, event, http_store, mentioned

MEMORIES = 30
ROUNDS = 20


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpStore]:
    """Alice's thirty memories were mentioned in turn, twenty times."""
    with http_store(tmp_path_factory.mktemp("long")) as opened:
        opened.told(
            "alice", *(created(f"m{number}", f"Alice likes tea of kind {number}") for number in range(MEMORIES))
        )
        for turn in range(ROUNDS):
            opened.told("alice", *(mentioned(f"m{number}", key=turn) for number in range(MEMORIES)))
        opened.told(
            "alice", event("MemoryNegated", memory_id="m3", reason="the doctor said so", at="2026-02-01T00:00:00Z")
        )
        yield opened


@pytest.fixture
def indexed(store: HttpStore, monkeypatch: pytest.MonkeyPatch) -> ChangeLogs:
    """The index of Alice's change log is made as soon as there is anything."""
    monkeypatch.setattr(history, "ENTRIES_WORTH", 1)
    return store.application.views.changelogs


def about(logs: ChangeLogs, memory_id: str) -> list[Any]:
    """The entries about a memory, found by reading all."""
    return [entry for _, entry in logs.entries("alice") if entry.memory_id == memory_id]


@pytest.mark.parametrize("newest", [False, True])
def test_entries_found_by_the_index_are_those_of_the_whole_log(
    store: HttpStore, indexed: ChangeLogs, newest: bool
) -> None:
    for number in range(0, MEMORIES, 7):
        store.told("alice", mentioned(f"m{number}", key=f"meanwhile {newest}"))
        found = [entry for _, entry in indexed.entries("alice", [f"m{number}"], newest=newest)]
        assert found == about(indexed, f"m{number}")[:: -1 if newest else 1]
    told = {one.memory_id for _, one in indexed.entries("alice", ["m1", "m2"])}
    assert told == {"m1", "m2"}
    assert indexed.unread("alice", len(list(indexed.entries("alice")))) < MEMORIES * ROUNDS


def test_pages_of_a_history_go_on_by_the_index(store: HttpStore, indexed: ChangeLogs) -> None:
    pages, cursor = list[str](), None
    while True:
        page = store.application.reader.history("alice", "m5", limit=3, cursor=cursor, order="newest")
        pages += [one["position"] for one in page["changes"]]
        cursor = page["next"]
        if cursor is None:
            break
    whole = store.application.reader.history("alice", "m5", order="newest")["changes"]
    assert pages == [one["position"] for one in whole]
    assert len(whole) > ROUNDS


def test_a_history_loads_none_of_the_owners_memories_and_tells_words_all_the_same(
    store: HttpStore, indexed: ChangeLogs
) -> None:
    views = store.application.views
    views._kept.let_go("alice")
    told = store.application.reader.history("alice", "m3")
    assert "alice" not in views._kept
    assert told["changes"][-1]["said_reason"] == "the doctor said so"
    assert store.application.reader.list("alice")["position"] == told["position"]


def test_what_the_index_tells_is_proven_and_damage_is_told(store: HttpStore, indexed: ChangeLogs) -> None:
    keys = indexed.index("alice", worth=1)
    partition = partition_of("alice", len(store.store.identity.tags))

    def differences() -> list[str]:
        return [one["what"] for one in verify_partition(store.store.client, partition, keys.tag).differences]

    assert differences() == []
    kept = store.store.client.dump(keys.index("alice"))
    last = store.store.client.hlen(keys.index("alice")) - 1
    try:
        store.store.client.hset(keys.index("alice"), f"entries:{last}", b"nonsense")
        assert differences() == ["an index of a change log that cannot be read"]
        with pytest.raises(DamagedState, match="index of the change log of owner alice"):
            store.application.reader.history("alice", "m5")
    finally:
        store.store.client.restore(keys.index("alice"), 0, kept, replace=True)
    assert differences() == []


def test_a_build_that_is_not_live_gets_no_index(store: HttpStore, indexed: ChangeLogs) -> None:
    keys = BuildKeys(indexed.index("alice", worth=1).tag, "v8.77")
    indexed._indexed("alice", keys.build, 1, lambda _done, _total: None)
    assert store.store.client.exists(keys.index("alice")) == 0
