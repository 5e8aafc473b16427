"""Handles in place of memory ids: every verb, route, command and tool finds the memory, and events have its id."""

from __future__ import annotations

import io
import json
from contextlib import nullcontext, redirect_stdout
from typing import Any

import pytest

from engramlog_server.api.cli.main import run
from engramlog_server.events.envelope import decode
from engramlog_server.events.errors import InputError, NotFound
from engramlog_server.events.partitions import partition_of
from engramlog_server.projections.index.names import Handles
from engramlog_server.projections.memory.record import handle_of
from tests.acceptance.helpers.store import Store
from tests.given.events import created
from tests.given.http import app_of, client_of
from tests.given.mcp import Agent, in_process, talk
from tests.rows import each_row

LONG, OTHER = "m-01a22317-bd41-76a3-8573-d9942cfdb6fb", "m-01a22317-bc15-7623-9ed6-4f3fb999dfc7"


def owner_of(store: Store, *ids: str) -> str:
    owner = store.owner()
    texts = ("I drink coffee", "I live in Utrecht", "I like jazz")
    named = zip(ids or (LONG, OTHER), texts, strict=False)
    store.tell(owner, *(created(text, one, store.yesterday) for one, text in named))
    return owner


def written(store: Store, owner: str) -> list[Any]:
    """The data of everything that the owner's log has."""
    log = store.app.log
    partition = partition_of(owner, log.partitions)
    events = [decode(one.kind, one.body) for one in log.read_at(partition, range(1, log.head(partition) + 1))]
    return [one.data for one in events if one.owner == owner]


@each_row(
    "verb, body",
    [
        ("mention", {}),
        ("confirm", {}),
        ("negate", {"replaced_by": handle_of(OTHER)}),
        ("edit", {"content": "I drink tea"}),
        ("sensitivity", {"level": 2, "reason": "private"}),
        ("reinforce", {"outcome": "used", "from_memory": handle_of(OTHER)}),
        ("grade", {"grade": 4}),
        ("delete", {}),
    ],
)
def test_a_verb_takes_a_handle_and_its_event_has_the_id(store: Store, verb: str, body: dict[str, Any]) -> None:
    owner, handle = owner_of(store), handle_of(LONG)
    with client_of(app_of(store.app)) as client:
        answer = client.post(f"/v1/owners/{owner}/memories/{handle}/{verb}", json=body)
    assert answer.status_code == 200, answer.text
    data = repr(written(store, owner)[2:])
    assert LONG in data
    assert handle not in data
    assert handle_of(OTHER) not in data


@each_row("what", ["", "/why", "/history", "/provenance", "/uses", "/associations", "/compare"])
def test_a_question_takes_a_handle(store: Store, what: str) -> None:
    owner = owner_of(store)
    with client_of(app_of(store.app)) as client:
        by_handle, by_id = (
            client.get(f"/v1/owners/{owner}/memories/{name}{what}", params={"trace": "false"} if not what else {})
            for name in (handle_of(LONG), LONG)
        )
    assert by_handle.status_code == 200, by_handle.text
    assert by_handle.json().keys() == by_id.json().keys()
    assert by_handle.json().get("id") == by_id.json().get("id")


def test_the_memory_that_another_is_ranked_above_is_named_by_its_handle(store: Store) -> None:
    owner = owner_of(store)
    asked = {"above": handle_of(OTHER), "query": "what do I drink"}
    with client_of(app_of(store.app)) as client:
        answer = client.get(f"/v1/owners/{owner}/memories/{handle_of(LONG)}/why", params=asked)
    assert answer.status_code == 200, answer.text
    assert [answer.json()["above"][side]["id"] for side in ("first", "second")] == [LONG, OTHER]


def test_lists_of_ids_take_handles(store: Store) -> None:
    owner = owner_of(store)
    with client_of(app_of(store.app)) as client:
        handles = [handle_of(LONG), handle_of(OTHER)]
        deleted = client.post(f"/v1/owners/{owner}/memories/delete", json={"ids": handles}).json()
        restored = client.post(f"/v1/owners/{owner}/memories/restore", json={"ids": handles}).json()
        merged = client.post(f"/v1/owners/{owner}/merge", json={"sources": handles}).json()
    assert set(deleted["deleted"]) == set(restored["restored"]) == set(merged["sources"]) == {LONG, OTHER}


def test_an_export_takes_handles(store: Store) -> None:
    owner = owner_of(store)
    with client_of(app_of(store.app)) as client:
        answer = client.get(f"/v1/owners/{owner}/export", params={"ids": handle_of(LONG)})
    assert (answer.status_code, answer.headers["engramlog-memories"]) == (200, "1"), answer.text


def test_a_command_takes_a_handle(store: Store) -> None:
    owner, printed = owner_of(store), io.TextIOWrapper(io.BytesIO(), "utf-8")
    with redirect_stdout(printed):
        assert run(lambda: nullcontext(store.app), ["negate", owner, handle_of(LONG), "--json"]) == 0
    printed.seek(0)
    assert json.loads(printed.read())["id"] == LONG


@each_row(
    "tool, told",
    [
        ("get_memory_detail", {}),
        ("reinforce_memory", {"outcome": "mentioned"}),
        ("update_memory", {"content": "I drink tea"}),
        ("update_memory", {"no_longer_true": True, "replaced_by": handle_of(OTHER)}),
        ("reinforce_memory", {"from_memory": handle_of(OTHER)}),
        ("delete_memory", {}),
    ],
)
def test_a_tool_takes_a_handle_and_answers_with_the_id(store: Store, tool: str, told: dict[str, Any]) -> None:
    owner = owner_of(store)

    async def talking(agent: Agent) -> Any:
        return await agent.call(tool, memory_id=handle_of(LONG), **told)

    assert talk(in_process(store.app, owner), talking)["id"] == LONG


def test_an_exact_id_wins_over_a_handle(store: Store) -> None:
    handle = handle_of(LONG)
    owner = owner_of(store, LONG, handle)
    assert store.app.named(owner, handle) == handle


def test_a_handle_that_two_memories_share_is_refused_with_both_ids(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engramlog_server.projections.index.names.handle_of", lambda _: "shared")
    owner = owner_of(store)
    with pytest.raises(InputError, match=f"^memory_id: got 'shared'; allowed: {LONG} or {OTHER}"):
        store.app.named(owner, "shared")


def test_a_handle_that_no_memory_has_is_not_found(store: Store) -> None:
    owner = owner_of(store)
    assert store.app.named(owner, "zzzzzz") == "zzzzzz"
    with pytest.raises(NotFound):
        store.reader.get(owner, store.app.named(owner, "zzzzzz"))


def test_the_index_is_level_with_memories_that_are_made_later(store: Store) -> None:
    owner = owner_of(store)
    assert store.app.named(owner, handle_of(LONG)) == LONG
    later = "m-01a22317-a488-7146-8264-412a6af6aeb1"
    store.tell(owner, created("I like jazz", later, store.yesterday))
    assert store.app.named(owner, handle_of(later)) == later
    with store.reader.snapshot(owner) as snapshot:
        index = snapshot.view.index(Handles)
        assert [index.ids(handle_of(one)) for one in (LONG, OTHER, later)] == [(LONG,), (OTHER,), (later,)]
        assert index.bytes_used() > 0
