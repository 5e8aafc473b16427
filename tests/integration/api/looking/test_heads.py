"""Heads over HTTP: told with their times, and compared with what somebody holds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from engramlog_server.events.envelope import utc_text
from engramlog_server.events.heads import FIRST, Head, HeadLine, write_line
from engramlog_server.events.partitions import LogKeys, partition_of
from engramlog_server.ops.clock import now
from engramlog_server.ops.kept.heads import keep_now
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.wiring import kept_heads
from tests.given.http import HttpStore, created, http_store, mentioned

OWNERS = ("alice", "林")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[HttpStore]:
    with http_store(tmp_path / "store") as opened:
        for owner in OWNERS:
            opened.told(owner, created("tea", "I drink tea"), *(mentioned("tea", key=n) for n in range(4)))
        yield opened


def heads(store: HttpStore) -> dict[str, Any]:
    answer = store.client.get("/v1/heads")
    assert answer.status_code == 200, answer.text
    return answer.json()  # type: ignore[no-any-return]


def check(store: HttpStore, text: str, **more: Any) -> dict[str, Any]:
    answer = store.client.post("/v1/heads/check", json={"text": text, **more})
    assert answer.status_code == 200, answer.text
    return answer.json()  # type: ignore[no-any-return]


def change(store: HttpStore, owner: str, seq: int) -> int:
    """The id of a stored event; its partition."""
    partition = partition_of(owner, 4)
    stream, client = LogKeys(store.store.identity.tags[partition]).stream, store.store.client
    entries = list(client.xrange(stream))
    client.delete(stream)
    for number, (entry_id, fields) in enumerate(entries, 1):
        client.xadd(stream, fields | {b"i": bytes(16)} if number == seq else fields, id=entry_id)
    return partition


def test_heads_tell_when_each_was_recorded_and_are_a_line_that_the_log_meets(store: HttpStore) -> None:
    before = utc_text(now())
    told = heads(store)
    assert {one["partition"] for one in told["heads"]} == {partition_of(owner, 4) for owner in OWNERS}
    assert all(one["seq"] == one["appended"] and one["at"] <= before and one["kept"] is None for one in told["heads"])
    assert (told["partitions"], told["keeping"]) == (4, None)
    for text in (told["line"], json.dumps(told)):
        found = check(store, text)
        assert (found["agrees"], found["complete"], found["unmet"], found["uncovered"]) == (True, True, [], [])
        assert {one["state"] for one in found["partitions"]} == {"agrees"}
        assert found["agreed"] == found["heads"] == len(told["heads"])


def test_a_changed_event_shows_from_its_head_on_and_not_before(store: HttpStore) -> None:
    partition = partition_of("alice", 4)
    early = heads(store)
    store.told("alice", mentioned("tea", key="later"))
    late = heads(store)
    seq = next(one["seq"] for one in late["heads"] if one["partition"] == partition)
    change(store, "alice", seq)
    assert check(store, early["line"])["agrees"]
    found = check(store, f"{early['line']}\n{late['line']}\n")
    assert (found["agrees"], found["differing"]) == (False, 1)
    (unmet,) = found["unmet"]
    assert (unmet["position"], unmet["state"], unmet["line"]) == (f"{partition}:{seq}", "differs", 1)
    assert unmet["found"] != unmet["kept"]
    state = next(one for one in found["partitions"] if one["partition"] == partition)
    assert (state["state"], state["agreed"], state["last_agreed"]) == ("differs", 1, seq - 1)


def test_a_log_that_ends_before_a_head_or_has_a_hole_lacks_it(store: HttpStore) -> None:
    partition = partition_of("alice", 4)
    line, tags = heads(store)["line"], store.store.identity.tags
    seq = next(one["seq"] for one in heads(store)["heads"] if one["partition"] == partition)
    farther = write_line(HeadLine(1, "", store.store.identity.store_id, (Head(partition, seq + 5, "a" * 64),), FIRST))
    (unmet,) = check(store, farther.decode())["unmet"]
    assert (unmet["state"], unmet["found"]) == ("missing", None)
    store.store.client.xdel(LogKeys(tags[partition]).stream, "2-0")
    found = check(store, line)
    state = next(one for one in found["partitions"] if one["partition"] == partition)
    assert (state["state"], state["read_to"], found["complete"], found["agrees"]) == ("missing", 1, True, False)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "text"),
        ({"text": ""}, "text"),
        ({"text": "{}\n{}"}, "text"),
        ({"text": 3}, "text"),
        ({"text": "x", "most": 0}, "most"),
        ({"text": "x", "most": 1_000_001}, "most"),
        ({"text": "x", "more": 1}, "more"),
        ({"text": "x" * 8_388_609}, "text"),
    ],
)
def test_what_cannot_be_compared_is_refused_by_its_field(store: HttpStore, body: dict[str, Any], field: str) -> None:
    answer = store.client.post("/v1/heads/check", json=body)
    assert (answer.status_code, answer.json()["field"]) == (422, field), answer.text


def test_heads_that_are_kept_here_stand_beside_those_of_now(store: HttpStore, tmp_path: Path) -> None:
    settings = Settings(data=tmp_path / "store", partitions=4)
    keep_now(store.store, settings)
    kept = {one["partition"]: one["seq"] for one in heads(store)["heads"]}
    store.told("alice", mentioned("tea", key="later"))
    service = store.application.heads
    service._kept = kept_heads(store.store, settings)
    told = heads(store)
    assert {one["partition"]: one["kept"]["seq"] for one in told["heads"]} == kept
    assert (told["keeping"]["lines"], told["keeping"]["problems"]) == (1, [])
    assert told["keeping"]["last"] == told["heads"][0]["kept"]["at"]


def test_an_owner_s_head_is_compared_today_and_as_of_then(store: HttpStore) -> None:
    path = f"/v1/owners/{quote('林', safe='')}/heads"
    then = store.client.get(path).json()
    assert (then["asked"], then["agrees"]) == (None, None)
    history = store.client.get(f"/v1/owners/{quote('林', safe='')}/history").json()
    assert then["chain"] == history["chain"]
    store.told("林", mentioned("tea", key="later"))
    asked = {"chain": then["chain"].upper()}
    assert store.client.get(path, params=asked).json()["agrees"] is False
    assert store.client.get(path, params=asked | {"known": then["position"]}).json()["agrees"] is True
    refused = store.client.get(path, params={"chain": "no chain"})
    assert (refused.status_code, refused.json()["field"]) == (422, "chain")
