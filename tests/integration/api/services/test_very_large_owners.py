"""An owner whose memories would take too much of a process is refused with the reason, and what needs no memories goes on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from engramlog_server.events.errors import OwnerTooLarge
from engramlog_server.projections.redis import view as views
from tests.given.http import HttpStore, created, http_store, mentioned

OWNER = "alice"
MEMORIES = 40
HELD = MEMORIES * 1_000


@pytest.fixture
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpStore]:
    """Alice has forty memories and Ben one; nobody has been asked about since the process began."""
    with http_store(tmp_path_factory.mktemp("large")) as opened:
        opened.told(OWNER, *(created(f"m{number}", f"Alice drinks tea of kind {number}") for number in range(MEMORIES)))
        opened.told("ben", created("b0", "Ben drinks coffee"))
        opened.store.views.forget(OWNER)
        yield opened


@pytest.fixture
def bounded(store: HttpStore) -> HttpStore:
    store.store.views.most_of_one = HELD
    return store


def test_the_refusal_says_who_has_what_how_much_is_allowed_and_by_which_setting(bounded: HttpStore) -> None:
    answer = bounded.client.get(f"/v1/owners/{OWNER}/search", params={"query": "tea"})
    told = answer.json()
    assert (answer.status_code, told["error"], told["owner"], told["memories"], told["allowed_bytes"]) == (
        507, "OwnerTooLarge", OWNER, MEMORIES, HELD,
    )  # fmt: skip
    assert told["view_bytes"] > HELD
    assert "ENGRAMLOG_VIEW_BYTES" in told["detail"]


def test_nothing_of_it_is_read_before_it_is_refused(bounded: HttpStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views.RedisViews, "_load", lambda *_: pytest.fail("it was loaded"))
    with pytest.raises(OwnerTooLarge):
        bounded.application.reader.list(OWNER)


def test_where_redis_does_not_say_how_large_records_are_they_are_counted_as_they_come(
    bounded: HttpStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(views.RedisViews, "_refuse_large", lambda *_: None)
    with pytest.raises(OwnerTooLarge):
        bounded.application.reader.list(OWNER)


def test_who_turns_out_too_large_once_loaded_is_not_loaded_again(
    bounded: HttpStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Long texts have more terms than is estimated: each question would take the memory of all of it, and its time."""
    monkeypatch.setattr(views, "_BYTES_A_MEMORY", 1)
    loaded, load = [], views.RedisViews._load
    monkeypatch.setattr(views.RedisViews, "_load", lambda *given: (loaded.append(1), load(*given)))
    for _ in range(3):
        with pytest.raises(OwnerTooLarge):
            bounded.application.reader.list(OWNER)
    assert loaded == [1]
    bounded.store.views.most_of_one = 1 << 30
    assert len(bounded.application.reader.list(OWNER)["memories"]) == MEMORIES


def test_what_the_refusal_says_goes_on_does(bounded: HttpStore) -> None:
    told = bounded.client.post(f"/v1/owners/{OWNER}/memories/delete", json={"ids": ["m3"]}).json()
    assert "a memory's history, events and appends work as before" in told["detail"]
    assert "delete" not in told["detail"], "what is refused here is no cure"
    assert bounded.client.get(f"/v1/owners/{OWNER}/memories/m3/history").status_code == 200
    assert bounded.client.get(f"/v1/owners/{OWNER}/export").status_code == 507


def test_another_owner_is_answered_meanwhile(bounded: HttpStore) -> None:
    with pytest.raises(OwnerTooLarge):
        bounded.application.reader.list(OWNER)
    assert bounded.application.reader.search("ben", "coffee")["results"]


def test_a_memory_s_history_and_an_append_need_no_memories(bounded: HttpStore) -> None:
    bounded.append(mentioned("m3"))
    assert bounded.application.reader.history(OWNER, "m3", limit=5)["changes"]


def test_a_write_by_which_an_owner_outgrows_the_bound_still_tells_what_it_did(store: HttpStore) -> None:
    assert len(store.application.reader.list(OWNER)["memories"]) == MEMORIES
    with store.store.views.view(OWNER) as (view, _):
        store.store.views.most_of_one = view.bytes_of_memories() + 100
    answer = store.client.post(f"/v1/owners/{OWNER}/memories", json={"content": "Alice has a dog called Rex"})
    assert (answer.status_code, answer.json()["created"]) == (200, True)
    assert answer.json()["changes"]
    with pytest.raises(OwnerTooLarge):
        store.application.reader.list(OWNER)


def test_a_sensitivity_by_which_an_owner_outgrows_the_bound_is_told_as_set(
    store: HttpStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = store.application.writer
    carried = writer.tell

    def outgrown(*given: Any, **more: Any) -> dict[str, Any]:
        told = carried(*given, **more)
        store.store.views.most_of_one = HELD
        store.store.views.forget(OWNER)
        return told

    monkeypatch.setattr(writer, "tell", outgrown)
    told = writer.set_sensitivity(OWNER, "m0", 3, reason="mine")
    assert told["changes"]
    assert "statements" not in told


def test_an_owner_is_answered_again_once_more_is_allowed(bounded: HttpStore) -> None:
    with pytest.raises(OwnerTooLarge):
        bounded.application.reader.list(OWNER)
    bounded.store.views.most_of_one = 1 << 30
    assert len(bounded.application.reader.list(OWNER)["memories"]) == MEMORIES
