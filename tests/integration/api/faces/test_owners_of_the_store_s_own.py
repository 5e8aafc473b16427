"""Owner names that begin with `:` are the store's own: no door takes anything new under one; what an older release took stays."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from engramlog import InputError as Refused
from engramlog_server.events.envelope import from_micros
from engramlog_server.events.errors import InvalidEvent
from engramlog_server.events.partitions import partition_of
from engramlog_server.events.standing import ENDING, Speaker
from engramlog_server.events.validation import make_event
from tests.given.client import Service, connected
from tests.given.events import created, deleted, mentioned
from tests.given.mcp import in_process, talk
from tests.given.samples import NOW
from tests.integration.api.faces.test_nobody_promotes_himself import World

AT = from_micros(NOW)
TURN = {"turn_id": "t1", "speaker": "user", "text": "早上好", "session": "s"}
RECORD = {"content": "x", "createdAt": "2026-01-01T00:00:00Z", "id": "m", "category": "work", "confidence": 1.0}


@pytest.fixture
def world(running: Service, tmp_path: Path) -> World:
    return World(running, f":{uuid4()}", tmp_path)


def by_the_client(w: World) -> str:
    with connected("sync", w.running.url, owner=w.owner) as memory:
        try:
            memory.add("I drink tea")
        except Refused as refused:
            return str(refused)
    return ""


def by_a_tool(w: World) -> str:
    async def talking(agent: Any) -> str:
        return str(await agent.refused("add_memory", content="I drink tea"))

    return talk(in_process(w.app, w.owner), talking)


def posted(w: World, path: str, **body: Any) -> str:
    answer = w.running.http.client.post(path, json=body.pop("whole", body))
    assert answer.status_code == 422, answer.text
    return answer.text


def command(w: World, *words: str) -> str:
    code, said = w.command(*words)
    assert code == 2, said
    return said


def turn(w: World) -> str:
    return w.lines(TURN | {"occurred_at": w.now()})


FACES: dict[str, Callable[[World], str]] = {
    "http": lambda w: posted(w, "/v1/events", whole=[w.made("user")]),
    "http, by a judge": lambda w: posted(w, "/v1/events", whole=[w.made("judge")]),
    "a verb over http": lambda w: posted(w, f"/v1/owners/{w.owner}/synonyms", word="a", synonym="b"),
    "a profile over http": lambda w: posted(w, f"/v1/owners/{w.owner}/profile", profile="tiered"),
    "the client": by_the_client,
    "mcp": by_a_tool,
    "append": lambda w: command(w, "append", w.lines(w.made("operator"))),
    "a profile": lambda w: command(w, "profile", w.owner, "tiered"),
    "turns": lambda w: command(w, "import", "turns", turn(w), "--owner", w.owner),
    "records": lambda w: command(w, "import", "records", w.lines(RECORD), "--owner", w.owner),
    "chats": lambda w: command(w, "import", "turns", "--shape", "auto", turn(w), "--owner", w.owner),
}


@pytest.mark.parametrize("face", FACES.values(), ids=FACES)
def test_nothing_new_begins_under_a_name_of_the_store_s_own_at_any_face_and_the_owner_is_named(
    world: World, face: Callable[[World], str]
) -> None:
    partition = partition_of(world.owner, world.app.log.partitions)
    head = world.app.log.head(partition)
    told = " ".join(face(world).split())
    assert "owner" in told
    assert world.owner[:20] in told
    assert "does not begin with" in told
    assert world.app.log.head(partition) == head


def test_what_only_ends_or_reads_is_taken_and_all_else_is_refused() -> None:
    for told in (created("x", "m"), mentioned("m")):
        assert type(told.data).__name__ not in ENDING
        with pytest.raises(InvalidEvent) as refused:
            make_event(told.data, owner=":ops", occurred_at=AT, actor="operator", now=NOW)
        assert (refused.value.field, refused.value.got) == ("owner", ":ops")
    assert make_event(deleted("m").data, owner=":ops", occurred_at=AT, actor="user", now=NOW)
    assert make_event(created("x", "m").data, owner="ops:", occurred_at=AT, actor="user", now=NOW)
    assert make_event(created("x", "m").data, owner=":ops", occurred_at=AT, actor="system", now=NOW, by=Speaker("job"))


def test_an_owner_that_an_older_release_took_in_is_read_exported_looked_after_and_deleted(world: World) -> None:
    world.in_an_old_log(
        world.made("user", 24 * 400, memory_id="tea", category="fact", content="I drink tea"),
        world.made("user", 24 * 400, memory_id="car", category="fact", content="My car is red"),
    )
    assert world.app.reader.get(world.owner, "tea")["memory"] == "I drink tea"
    assert [one["id"] for one in world.app.reader.search(world.owner, "tea", mode="review")["results"]] == ["tea"]
    code, said = world.command("export", world.owner)
    assert (code, said.count("I drink tea")) == (0, 1)
    swept = world.app.cleaner.clean(world.owner)
    assert swept["appended"] >= 2
    assert world.command("delete", world.owner, "tea")[0] == 0
    assert world.command("delete", "--undo", world.owner, "tea")[0] == 0
    assert world.post("/memories/delete", ids=["tea", "car"]) == 200
    assert world.app.reader.search(world.owner, "tea", mode="review")["results"] == []
