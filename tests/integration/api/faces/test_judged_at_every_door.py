"""Whatever door a statement comes in by, it is judged there: a mention, an end of what held, or a conflict with both lines."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any
from urllib.parse import quote

import pytest

from engramlog import AsyncMemory
from engramlog_server.events.envelope import decode
from engramlog_server.events.partitions import partition_of
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.wiring import open_application
from tests.given.client import Service, connected, new_owner
from tests.given.http import TOKEN
from tests.given.mcp import in_process, talk
from tests.integration.api.faces.test_nobody_promotes_himself import World
from tests.patience import PATIENCE
from tests.rows import each_row


@pytest.fixture
def world(running: Service, tmp_path: Path) -> World:
    return World(running, new_owner(), tmp_path)


Answer = dict[str, Any]
"""`id`, `created`, and the ids of `mentioned`, `ended` and `conflicting`."""


def answered(told: Any) -> Answer:
    lines = {name: [one["id"] for one in told[name]] for name in ("ended", "waiting", "conflicting")}
    return {"id": told["id"], "created": told["created"], "mentioned": told["mentioned"], **lines}


def by_http(w: World, content: str, actor: str = "user") -> Answer:
    path = f"/v1/owners/{quote(w.owner, safe='')}/memories"
    answer = w.running.http.client.post(path, json={"content": content, "actor": actor})
    assert answer.status_code == 200, answer.text
    return answered(answer.json())


def by_command(w: World, content: str, actor: str = "user") -> Answer:
    code, told = w.command("add", w.owner, content, "--actor", actor, "--json")
    assert code == 0, told
    return answered(json.loads(told))


def by_client(w: World, content: str, actor: str = "user") -> Answer:
    with connected("sync", w.running.url, owner=w.owner) as memory:
        return answered(memory.add(content, actor=actor).as_dict())


def by_async_client(w: World, content: str, actor: str = "user") -> Answer:
    async def told() -> Any:
        async with AsyncMemory(url=w.running.url, token=TOKEN, owner=w.owner) as memory:
            return await memory.add(content, actor=actor)

    return answered(asyncio.run(told()).as_dict())


def by_tool(w: World, content: str, actor: str = "user") -> Answer:
    async def talking(agent: Any) -> Any:
        return await agent.call("add_memory", content=content, said_by=actor)

    told = talk(in_process(w.app, w.owner), talking)
    conflicts = [one["id"] for one in told["possible_conflicts"]]
    mentioned = told["id"] if told["mentioned"] else None
    made = {"id": told["id"], "created": told["created"], "mentioned": mentioned}
    return {**made, "ended": told["ended"], "waiting": told["waiting"], "conflicting": conflicts}


Door = Callable[..., Answer]
DOORS: dict[str, Door] = {
    "http": by_http,
    "command": by_command,
    "client": by_client,
    "async": by_async_client,
    "mcp": by_tool,
}
ENDS = [("我喜欢喝咖啡", "我不喜欢喝咖啡了"), ("I live in Berlin", "I live in Munich")]
FLAGS = [("I prefer tea", "I hate tea"), ("我更喜欢茶", "我讨厌茶")]
each_door = pytest.mark.parametrize("door", DOORS.values(), ids=list(DOORS))


def listed(w: World) -> dict[str, list[str]]:
    """What normal mode shows: id -> the ids that it may contradict."""
    told = w.app.reader.list(w.owner)["memories"]
    return {one["id"]: list(one.get("possible_conflicts") or ()) for one in told}


def types(w: World) -> list[str]:
    log = w.app.log
    stored = log.read(partition_of(w.owner, log.partitions), 0, 10_000)
    return [decode(one.kind, one.body).type for one in stored if one.owner == w.owner]


@each_door
@pytest.mark.parametrize(("first", "second"), ENDS)
def test_what_the_user_says_now_ends_what_he_said_before(world: World, door: Door, first: str, second: str) -> None:
    old = door(world, first)
    new = door(world, second)
    assert (new["created"], new["ended"], new["conflicting"]) == (True, [old["id"]], [])
    assert listed(world) == {new["id"]: []}


@each_door
@pytest.mark.parametrize(("first", "second"), FLAGS)
def test_what_may_contradict_is_told_and_shown_on_both(world: World, door: Door, first: str, second: str) -> None:
    old = door(world, first)
    new = door(world, second)
    assert (new["ended"], new["conflicting"]) == ([], [old["id"]])
    assert listed(world) == {old["id"]: [new["id"]], new["id"]: [old["id"]]}


@each_door
@pytest.mark.parametrize(("first", "second"), ENDS)
def test_what_an_assistant_says_against_the_user_s_own_word_waits(
    world: World, door: Door, first: str, second: str
) -> None:
    old = door(world, first)
    new = door(world, second, "assistant")
    told = {name: new[name] for name in ("ended", "waiting", "conflicting")}
    if door is by_tool:  # there the user's word is no higher: an agent brings it
        assert told == {"ended": [], "waiting": [], "conflicting": [old["id"]]}
        return
    assert told == {"ended": [], "waiting": [old["id"]], "conflicting": []}
    assert listed(world) == {old["id"]: []}


@each_door
def test_the_same_again_is_a_mention_of_the_memory_that_says_it(world: World, door: Door) -> None:
    first = door(world, "I drink green tea")
    again = door(world, "i drink green tea.")
    assert again == {
        "id": first["id"],
        "created": False,
        "mentioned": first["id"],
        "ended": [],
        "waiting": [],
        "conflicting": [],
    }
    assert types(world) == ["MemoryCreated", "MemoryMentioned"]
    assert world.app.reader.get(world.owner, first["id"])["mention_count"] == 2


def test_what_one_door_told_another_knows(world: World) -> None:
    told = [door(world, "I drink green tea") for door in DOORS.values()]
    assert len({one["id"] for one in told}) == 1
    assert types(world) == ["MemoryCreated", *["MemoryMentioned"] * (len(DOORS) - 1)]


def test_under_an_id_of_the_caller_s_own_it_is_a_memory_of_its_own(world: World) -> None:
    first = world.app.rememberer.add(world.owner, "I drink tea")
    second = world.app.rememberer.add(world.owner, "I drink tea", memory_id="mine")
    assert (second["id"], second["created"], second["mentioned"]) == ("mine", True, None)
    assert set(listed(world)) == {first["id"], "mine"}


def test_a_key_answers_the_same_whatever_was_told_meanwhile(world: World) -> None:
    add, owner = world.app.rememberer.add, world.owner
    add(owner, "I live in Berlin", memory_id="berlin")
    told = add(owner, "I live in Munich", key="k")
    add(owner, "I live in Rome")
    before = types(world)
    again = add(owner, "I live in Munich", key="k")
    names = ("id", "mentioned", "ended", "conflicting", "position")
    assert [again[one] for one in names] == [told[one] for one in names]
    assert (again["created"], types(world)) == (False, before)


def test_a_mention_under_a_key_is_told_once_and_its_key_stands_for_nothing_else(world: World) -> None:
    add, owner = world.app.rememberer.add, world.owner
    first = add(owner, "I drink tea")
    told = [add(owner, "I drink tea", key="k") for _ in range(2)]
    assert [one["mentioned"] for one in told] == [first["id"]] * 2
    assert types(world) == ["MemoryCreated", "MemoryMentioned"]
    with pytest.raises(Exception, match="key: got 'k'"):
        add(owner, "I drink milk", key="k")


def test_what_was_ended_stays_in_the_log_and_a_mention_brings_it_back(world: World) -> None:
    old = by_http(world, "I live in Berlin")
    by_http(world, "I live in Munich")
    world.app.writer.confirm(world.owner, old["id"])
    assert len(listed(world)) == 2


def test_what_arrives_late_is_ended_by_what_was_said_since_also_among_many(world: World) -> None:
    path = f"/v1/owners/{quote(world.owner, safe='')}/memories"

    def said(content: str, day: str) -> Answer:
        told = {"content": content, "occurred_at": f"2026-{day}T09:00:00Z"}
        answer: Answer = world.running.http.client.post(path, json=told).json()
        return answer

    new = said("I sold the Focus, I ride a bicycle now", "09-01")
    old = said("I drive a red Ford Focus", "03-01")
    assert ([one["id"] for one in old["ended_by"]], old["ended"]) == ([new["id"]], [])
    with connected("sync", world.running.url, owner=world.owner) as memory:
        many = memory.add_many([{"content": "My car is a Focus", "occurred_at": "2026-02-01T09:00:00Z"}])
        assert [one.id for one in many.ended_by] == [new["id"]]
    assert list(listed(world)) == [new["id"]]
    world.app.writer.confirm(world.owner, old["id"])
    assert old["id"] in listed(world)


def test_what_is_related_is_linked_and_named_at_every_door(world: World) -> None:
    lake = by_http(world, "I swim in the lake on Sundays")
    work = by_http(world, "I swim in the lake before work")
    with connected("sync", world.running.url, owner=world.owner) as memory:
        many = memory.add_many(["I swim in the lake after dinner"])
        one = memory.add("I swim in the lake near Bern")
    assert {one.id for one in many.related} == {lake["id"], work["id"]}
    assert {one.id for one in one.related} == {lake["id"], work["id"], many.ids[0]}
    (stored,) = [one for one in world.app.reader.get(world.owner, lake["id"])["edges"] if one["to"] == work["id"]]
    assert stored["link"] == "related"


def test_each_write_names_what_is_related_of_the_writes_just_before_it(world: World) -> None:
    with connected("sync", world.running.url, owner=world.owner) as memory:
        told = [
            memory.add(f"I swim in the lake {when}")
            for when in ("on Sundays", "before work", "after dinner", "near Bern", "with Nora", "every July")
        ]
    for number, one in enumerate(told):
        assert {other.id for other in one.related} == {other.id for other in told[:number]}


def test_turns_are_never_mentions(world: World) -> None:
    for _ in range(3):
        with connected("sync", world.running.url, owner=world.owner) as memory:
            memory.add([{"role": "user", "content": "ok"}])
    assert types(world) == ["TurnRecorded", "MemoryCreated"] * 3


MANY = 6
"""Fewer than a look is taken anew: so each of them is surely appended as it was seen."""


@each_row("texts", [["I drink tea"] * MANY, [f"I live in {one}" for one in ("Rome", "Paris", "Berlin")]])
def test_what_several_processes_tell_at_the_same_instant_is_judged_as_if_told_one_by_one(
    tmp_path: Path, texts: list[str]
) -> None:
    settings, start = Settings(data=tmp_path / "store", partitions=2), Barrier(len(texts))
    with (
        open_application(settings, "up") as one,
        open_application(settings) as other,
        ThreadPoolExecutor(MANY) as threads,
    ):

        def told(number: int) -> Any:
            start.wait(PATIENCE)
            return (one, other)[number % 2].rememberer.add("ada", texts[number])

        answers = list(threads.map(told, range(len(texts))))
        shown = one.reader.list("ada")["memories"]
    if len(set(texts)) == 1:
        assert [one["mention_count"] for one in shown] == [MANY]
        assert [one["created"] for one in answers].count(True) == 1
    # Whoever was first to tell may have looked last: what was said later is flagged, and never passed over.
    others = {one["id"]: {other["id"] for other in shown} - {one["id"]} for one in shown}
    assert {one["id"]: set(one.get("possible_conflicts") or ()) for one in shown} == others


def test_of_many_that_wait_each_names_the_memory_that_it_would_end(world: World) -> None:
    old = by_client(world, "I live in Berlin")
    with connected("sync", world.running.url, owner=world.owner) as memory:
        memory.add_many(["I live in Munich"], actor="assistant", source="assistant")
    log = world.app.log
    stored = log.read(partition_of(world.owner, log.partitions), 0, 10_000)
    last = [decode(one.kind, one.body).data for one in stored if one.owner == world.owner and "Created" in one.kind][-1]
    assert last.corrects == old["id"]  # type: ignore[union-attr]
    assert listed(world) == {old["id"]: []}
