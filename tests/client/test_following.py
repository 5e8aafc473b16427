"""An export and the feed by the client: whole, resumable, and refused in the service's own words."""

from __future__ import annotations

import asyncio
from itertools import islice

import httpx2
import pytest

from engramlog import AsyncMemory, InputError, Memory, UnexpectedAnswer, Unreachable
from engramlog.reading import MOST_MESSAGE, Message, Messages, changes_in
from tests.given.client import Service, connected, new_owner
from tests.rows import each_row


@each_row("kind", ["sync", "async"])
def test_an_export_holds_every_memory_and_says_what_it_leaves_out(running: Service, kind: str) -> None:
    owner = new_owner()
    with connected(kind, running.url, owner=owner) as memory:
        memory.add("I drink tea 茶", memory_id="tea")
        memory.add("my password is hunter2-xyz", memory_id="pin", sensitivity=3)
        told = memory.export()
        with_secrets = memory.export(reveal=True, reason="asked for")
    assert [one["content"] for one in told.records] == ["I drink tea 茶"]
    assert told.left_out == {"sensitive": 1}
    assert told.revealed is None
    assert {one["memory_id"] for one in with_secrets.records} == {"tea", "pin"}
    assert with_secrets.revealed is not None


def test_an_export_reads_again_as_it_was(running: Service) -> None:
    with connected("sync", running.url, owner=new_owner()) as memory:
        memory.add("I drink tea", memory_id="tea")
        first = memory.export()
        assert first.text == memory.export(as_of=first.position).text
        assert memory.export(format="text").text.startswith("# Memories of")
        with pytest.raises(InputError, match="format"):
            memory.export(format="xml")


def test_the_feed_tells_what_changed_and_goes_on_after_a_position(running: Service) -> None:
    owner = new_owner()
    with connected("sync", running.url, owner=owner) as memory:
        assert isinstance(memory, Memory)
        first = memory.add("I drink tea", memory_id="tea").position
        memory.add("I drink coffee", memory_id="coffee")
        partition = first.partition(":")[0]
        whole = list(islice(memory.feed(since=f"{partition}:0"), 2))
        rest = list(islice(memory.feed(since=whole[0].position), 1))
    assert [one.changes[0].memory for one in whole] == ["tea", "coffee"]
    assert (whole[0].owner, whole[0].position) == (owner, first)
    assert rest == whole[1:]


def test_the_feed_can_be_followed_without_waiting_for_it(running: Service) -> None:
    owner = new_owner()

    async def followed() -> str:
        async with AsyncMemory(running.url, owner=owner) as memory:
            added = await memory.add("I drink tea", memory_id="tea")
            async for one in memory.feed(since=f"{added.position.partition(':')[0]}:0"):
                return str(one.changes[0].memory)
        raise AssertionError("the feed ended")

    assert asyncio.run(followed()) == "tea"


def test_a_feed_from_nowhere_is_refused_as_any_question_is(running: Service) -> None:
    with connected("sync", running.url, owner=new_owner()) as memory:
        with pytest.raises(InputError) as refusal:
            next(memory.feed(since="yesterday"))
        assert (refusal.value.field, str(refusal.value)[:6]) == ("since", "since:")


def test_a_stream_that_breaks_is_told() -> None:
    def broken(_request: httpx2.Request) -> httpx2.Response:
        raise httpx2.ReadError("gone")

    with Memory("http://127.0.0.1:1", transport=httpx2.MockTransport(broken), owner="alice") as memory:
        with pytest.raises(Unreachable, match="gone"):
            next(memory.feed())


@each_row("cut", [1, 7, 1_000])
def test_messages_are_put_together_wherever_the_stream_is_cut(cut: int) -> None:
    stream = ': still here\n\nevent: change\ndata: {"a": "\u2028 茶\x85"\ndata: }\r\nid: 3:1\n\n'.encode()
    messages = Messages()
    told = [one for start in range(0, len(stream), cut) for one in messages.take(stream[start : start + cut])]
    assert told == [("change", '{"a": "\u2028 茶\x85"\n}')]


@each_row("piece", [b"data: " + b"x" * MOST_MESSAGE, b"data: x\n" * MOST_MESSAGE])
def test_a_message_without_end_is_refused(piece: bytes) -> None:
    messages = Messages()
    with pytest.raises(UnexpectedAnswer):
        list(messages.take(piece))


def test_a_change_that_is_none_is_an_answer_that_nobody_expects() -> None:
    with pytest.raises(UnexpectedAnswer, match="Changed"):
        list(changes_in(Message("change", '{"owner": 1}')))


def test_an_export_as_a_text_has_no_records(running: Service) -> None:
    with connected("sync", running.url, owner=new_owner()) as memory:
        memory.add("I drink tea", memory_id="tea")
        with pytest.raises(InputError, match="jsonl"):
            _ = memory.export(format="text").records


@each_row("value", [4, 4.0, 0.1 + 0.2, 1e15, -1.5e-7, True, "a=b 茶"])
def test_a_memory_is_found_by_the_value_that_it_was_told_with(running: Service, value: str | float | bool) -> None:
    with connected("sync", running.url, owner=new_owner()) as memory:
        memory.add("I drink tea", memory_id="tea", metadata={"of": value})
        assert [one.id for one in memory.search("tea", metadata={"of": value}).results] == ["tea"]
        assert memory.search("tea", metadata={"of": "no"}).results == []
