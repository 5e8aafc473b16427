"""What is long ago says so at every face, and every face can ask for all of it, or for nothing of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.given.client import Service, connected, new_owner
from tests.given.mcp import Agent, in_process, talk
from tests.integration.api.faces.test_nobody_promotes_himself import World
from tests.rows import each_row

YEARS = 24 * 800
"""In hours."""
TALK = {
    "english": ("my passport is in the blue folder", "where is my passport?"),
    "chinese": ("我的护照放在蓝色文件夹里", "我的护照放在哪里？"),
}
FADED = [(None, ["old"]), (True, ["old"]), (False, [])]


@pytest.fixture
def world(running: Service, tmp_path: Path) -> World:
    return World(running, new_owner(), tmp_path)


def told(world: World, text: str) -> None:
    """One statement, made so long ago that normal mode withholds it under any law."""
    world.in_an_old_log(world.made("user", YEARS, memory_id="old", content=text, category="temporary"))


@each_row("said", TALK)
@each_row(("include_faded", "shown"), FADED)
def test_the_client_http_and_tools_mark_it_or_leave_it_out(
    running: Service, tmp_path: Path, said: str, include_faded: bool | None, shown: list[str]
) -> None:
    world, (text, question) = World(running, new_owner(), tmp_path), TALK[said]
    told(world, text)
    with connected("sync", world.running.url, owner=world.owner) as memory:
        found = memory.search(question, include_faded=include_faded, trace=False)
    assert [(one.id, one.long_ago) for one in found.results] == [(one, True) for one in shown]

    async def talking(agent: Agent) -> list[dict[str, Any]]:
        asked = {"query": question, "include_faded": include_faded}
        return [await agent.call(tool, **asked) for tool in ("search_memories", "memory_contextual_search")]

    for answer in talk(in_process(world.app, world.owner), talking):
        assert [one["id"] for one in answer["results"]] == shown
        assert all(one["metadata"]["long_ago"] for one in answer["results"])
        if not shown:
            assert "1 more are old and match less: include_faded=true shows them" in answer["hint"]
    code, table = world.command("search", world.owner, question)
    assert (code, "long ago" in table) == (0, True)


def test_review_mode_is_an_agent_s_to_ask_for_and_the_hint_names_it(world: World) -> None:
    told(world, TALK["english"][0])
    world.in_an_old_log(world.envelope("MemoryNegated", "user", 1, memory_id="old", resolution="latest_wins"))

    async def talking(agent: Agent) -> list[dict[str, Any]]:
        asked = {"query": "where is my passport?"}
        return [
            await agent.call("search_memories", **asked),
            await agent.call("search_memories", mode="review", **asked),
        ]

    normal, review = talk(in_process(world.app, world.owner), talking)
    assert normal["results"] == []
    assert "1 more do not hold as they were said: mode=review shows them, marked" in normal["hint"]
    assert [one["metadata"]["status"] for one in review["results"]] == ["superseded"]
