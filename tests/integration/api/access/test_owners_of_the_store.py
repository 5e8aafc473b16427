"""What is said of the store itself stands under owners of its own, who are in no list, no count, no export and no job."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engramlog_server.consumers.jobs.lifecycle import owners_of
from engramlog_server.events.partitions import ACCESS, READS
from tests.given.http import HttpStore, created, http_store
from tests.rows import each_row

GRANTS = [{"verbs": ["read"], "owners": ["alice"]}]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpStore]:
    """Somebody with a memory; a key; a look that was refused."""
    with http_store(tmp_path_factory.mktemp("own")) as opened:
        opened.told("alice", created("coffee", "I drink coffee"))
        key = opened.application.keys.issue("support", grants=GRANTS)["key"]
        shown = {"authorization": f"Bearer {key}"}
        assert opened.client.get("/v1/owners/bob/memories", headers=shown).status_code == 403
        for owner in (ACCESS, READS):
            last = opened.application.events.events(owner)["head"]
            assert opened.client.get(f"/v1/owners/{owner}/memories", params={"after": last}).status_code == 200
        yield opened


def test_they_are_folded_and_have_no_memories(store: HttpStore) -> None:
    for owner in (ACCESS, READS):
        assert store.application.reader.list(owner, mode="debug")["memories"] == []
        assert store.application.reader.history(owner)["changes"] == []


def test_they_are_in_no_list_and_no_count(store: HttpStore) -> None:
    assert [one["owner"] for one in store.client.get("/v1/owners").json()["owners"]] == ["alice"]
    assert store.client.get("/v1/owners", params={"prefix": ":"}).json()["matching"] == 0
    stats = store.client.get("/v1/stats").json()
    assert (stats["owners"], [one["owner"] for one in stats["largest_owners"]]) == (1, ["alice"])


def test_no_job_walks_them(store: HttpStore) -> None:
    wire = store.store.wire()
    named = [owner for tag in store.store.identity.tags for owner in owners_of(wire, tag)]
    wire.close()
    assert named == ["alice"]


@each_row("owner", [ACCESS, READS])
def test_their_events_are_read_and_said_by_nobody_as_events(store: HttpStore, owner: str) -> None:
    types = {one["type"] for one in store.application.events.events(owner)["events"]}
    assert types == ({"KeyIssued", "GrantsSet"} if owner == ACCESS else {"ReadRecorded"})
    told = created("x", "I run", owner=owner)
    answer = store.client.post("/v1/events", json=[told])
    assert answer.status_code == 422
    assert "does not begin with ':'" in answer.text


def test_the_store_verifies_with_them(store: HttpStore) -> None:
    answer = store.client.get(f"/v1/owners/{ACCESS}/heads").json()
    assert answer["chain"]
