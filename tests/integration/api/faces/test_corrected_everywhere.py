"""What holds now comes first, and what it replaced is marked, at every face: HTTP, command line, MCP, the client, a block."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import nullcontext, redirect_stdout
from datetime import timedelta
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import orjson
import pytest

from engramlog_server.api.cli.main import run
from engramlog_server.events.envelope import from_micros, utc_text
from tests.given.client import Service, service
from tests.given.mcp import Agent, in_process, talk
from tests.rows import each_row

LINES = {"content-type": "application/x-ndjson"}
PLACES = {
    "zh": ("我住在东京。", "我搬到大阪了，现在住在大阪。", "主人住在哪里"),
    "en": ("I live in Tokyo.", "I moved to Osaka.", "Where do I live?"),
}
TASTES = {
    "zh": ("我喜欢吃香菜。", "我不喜欢吃香菜了。", "香菜"),
    "en": ("I like coriander.", "I don't like coriander any more.", "coriander"),
}
STORIES = {
    f"{name}-{language}": told for name, of in (("place", PLACES), ("taste", TASTES)) for language, told in of.items()
}


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with service(tmp_path_factory.mktemp("corrected")) as opened:
        for owner, (before, after, _) in STORIES.items():
            for number, text in enumerate((before, after)):
                hour = from_micros(opened.http.application.log.now()) + timedelta(hours=number - 3)
                turn = {"turn_id": f"t{number}", "occurred_at": utc_text(hour), "speaker": "user", "text": text}
                turn |= {"session": f"s{number}"}
                post = opened.http.client.post
                chats = post(f"/v1/owners/{owner}/chats", content=orjson.dumps(turn), headers=LINES)
                assert chats.status_code == 200, chats.text
                assert post(f"/v1/owners/{owner}/extract").status_code == 200
        yield opened


def asked(running: Service, owner: str, mode: str = "normal", **times: Any) -> dict[str, Any]:
    """The answer to the question of a story, over HTTP."""
    asks = {"query": STORIES[owner][2], "mode": mode, "trace": False} | times
    answer = running.http.client.get(f"/v1/owners/{quote(owner)}/search", params=asks)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def commanded(running: Service, *words: str) -> str:
    """What a command of this process prints."""
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    with redirect_stdout(out):
        assert run(lambda: nullcontext(running.http.application), list(words)) == 0
    out.flush()
    return out.buffer.getvalue().decode()  # type: ignore[attr-defined]


@each_row("owner", STORIES)
def test_over_http_the_outdated_turn_stands_below_what_replaced_it_marked_and_out_of_normal_mode(
    running: Service, owner: str
) -> None:
    old, new, _ = STORIES[owner]
    review = asked(running, owner, "review")["results"]
    texts = [one["memory"] for one in review]
    (outdated,) = (one for one in review if one["memory"] == old)
    (told,) = outdated["corrected"]
    by = next(one for one in review if one["id"] == told["by"])
    assert texts.index(by["memory"]) < texts.index(old)
    assert texts.index(new) < texts.index(old)
    assert by["memory"] == told["now"]
    normal = asked(running, owner)
    assert normal["results"][0]["memory"] in (new, by["memory"])
    assert old not in [one["memory"] for one in normal["results"]]
    assert [(one["count"], one["ids"]) for one in normal["withheld"] if one["reason"] == "corrected"] == [
        (1, [outdated["id"]])
    ]
    assert not any("corrected" in one for one in normal["results"])


@each_row("owner", STORIES)
def test_the_command_line_says_so_in_words_and_as_json(running: Service, owner: str) -> None:
    old, _, question = STORIES[owner]
    words = ("search", owner, question, "--no-trace")
    answer = orjson.loads(commanded(running, *words, "--mode", "review", "--json"))
    (outdated,) = (one for one in answer["results"] if one["memory"] == old)
    table = commanded(running, *words, "--mode", "review")
    for told in (
        table,
        *(commanded(running, *more) for more in (("list", owner, "--mode", "review"), ("why", owner, outdated["id"]))),
    ):
        line = next(line for line in told.splitlines() if line.startswith(f"{outdated['id']} no longer so: "))
        assert outdated["corrected"][0]["was"] in line
        assert outdated["corrected"][0]["by"] in told
    got = commanded(running, "get", owner, outdated["id"])  # its cells may be wrapped
    assert all(word in got for word in outdated["corrected"][0]["now"].split())
    assert "no longer so" not in commanded(running, *words)
    assert "corrected" in commanded(running, *words)


@each_row("owner", STORIES)
def test_an_agent_finds_what_holds_now_first_and_not_what_it_replaced(running: Service, owner: str) -> None:
    old, _, question = STORIES[owner]

    async def talking(agent: Agent) -> Any:
        found = await agent.call("search_memories", query=question)
        return found, await agent.call("memory_context", text=question, session="elsewhere")

    found, context = talk(in_process(running.http.application, owner), talking)
    now = asked(running, owner, "review")["results"][0]["memory"]
    assert found["results"][0]["content_preview"] == now
    assert old not in [one["content_preview"] for one in found["results"]]
    assert found["withheld"]["corrected"] == 1
    assert old not in context["block"]


@each_row("owner", STORIES)
def test_before_the_correction_the_value_is_first_and_unmarked(running: Service, owner: str) -> None:
    old = STORIES[owner][0]
    changes = running.http.application.reader.history(owner)["changes"]
    made = [one for one in changes if one["decision"] == "create"]
    partition, _, seq = made[2]["position"].partition(":")
    for before in ({"known": f"{partition}:{int(seq) - 1}"}, {"as_of": made[0]["time"]}):
        first, *_ = asked(running, owner, **before)["results"]
        assert first["source_turns"] == ["t0"]
        both = [*asked(running, owner, **before)["results"], *asked(running, owner, "review", **before)["results"]]
        assert [one["memory"] for one in both].count(old) == 2
        assert not any("corrected" in one for one in both)


def test_what_holds_for_a_time_only_says_until_when_on_the_command_line(running: Service) -> None:
    owner, words = f"ann-{uuid4().hex}", "Until next Friday I am in Paris"
    told = orjson.loads(commanded(running, "add", owner, words, "--json"))["id"]
    found = orjson.loads(commanded(running, "search", owner, "Paris", "--json"))["results"][0]
    for more in (("search", owner, "Paris"), ("list", owner)):
        shown = commanded(running, *more)
        line = next(line for line in shown.splitlines() if line.startswith(f"{told} says that it holds until "))
        assert found["until"][:10] in line
    assert found["until"][:10] in commanded(running, "get", owner, told)
