"""The verbs `import_chats` and `extract` against the running service, of both kinds of client."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from engramlog import Conflict, InputError, Memory
from tests.given.chats import AT, OPENAI, SHAPES
from tests.given.client import KINDS, Service, connected, new_owner, owner_of, proxy
from tests.rows import each_row

NOON = "2026-01-05T12:00:00Z"
STATED = "I live in Berlin. 我喜欢爬山。"
TALK = {"id": "c1", "created_at": AT, "messages": [{"role": "user", "content": STATED}]}


@pytest.fixture
def memory(running: Service) -> Iterator[Any]:
    """A client of an owner of its own."""
    with connected("sync", running.url) as client:
        yield client.of(new_owner())


@pytest.mark.parametrize("shape", SHAPES)
def test_an_export_is_taken_in_as_text_bytes_or_conversations_and_once(memory: Any, shape: str) -> None:
    text = json.dumps([SHAPES[shape]], ensure_ascii=False)
    answers = [memory.import_chats(chats) for chats in (text, text.encode(), [SHAPES[shape]], SHAPES[shape])]
    assert [(one.shape, one.appended, one.already_appended) for one in answers] == [(shape, 4, 0)] + 3 * [(shape, 0, 4)]
    assert (answers[0].turns, memory.get_all(mode="debug").total) == (2, 2)


def test_turns_alone_are_taken_in_and_conversations_without_times_begin_when_told(memory: Any) -> None:
    answer = memory.import_chats([{"role": "user", "content": "早"}], since="2024-01-01T00:00:00Z", turns_only=True)
    assert (answer.appended, answer.newest_turn.year, memory.get_all(mode="debug").total) == (1, 2024, 0)


def test_a_bad_message_is_left_out_and_named(memory: Any) -> None:
    bad = {"id": "c2", "messages": [{"role": "boss", "content": "x"}]}
    answer = memory.import_chats([OPENAI, bad])
    assert (answer.turns, answer.left_out["unknown_role"]) == (2, 1)
    assert "conversation 2 (c2), message 1: role: got 'boss'" in answer.unreadable[0].why


def test_what_is_there_with_another_text_is_a_conflict(memory: Any) -> None:
    line = {"turn_id": "t1", "occurred_at": "2024-01-01T08:00:00Z", "text": "I drink coffee"}
    memory.import_chats(json.dumps(line))
    with pytest.raises(Conflict) as refusal:
        memory.import_chats(json.dumps(line | {"text": "I drink tea"}))
    assert refusal.value.context["conflicts"][0]["line"] == 1


@each_row("chats", [7, None, {1, 2}, [{"messages": {1}}], "\ud83d"], ids=repr)
def test_what_is_no_export_is_refused_before_anything_is_sent(memory: Any, chats: Any) -> None:
    with pytest.raises(InputError):
        memory.import_chats(chats)


@each_row("kind", KINDS)
def test_an_import_whose_answer_is_lost_is_done_once(running: Service, kind: str) -> None:
    with proxy(running.url) as between, connected(kind, between.url, owner=new_owner()) as memory:
        between.fates = ["lose"]
        answer = memory.import_chats([TALK])
        assert (answer.appended, answer.already_appended, len(running.log(owner_of(memory)))) == (0, 2, 1)


def test_turns_become_typed_memories_once_and_are_told_before(memory: Any) -> None:
    memory.add([{"role": "user", "content": STATED}, {"role": "assistant", "content": "I live in Paris."}])
    told = memory.extract(dry_run=True)
    assert ([one.operation for one in told.statements], told.decisions) == (["ADD", "ADD"], [])
    done, again = memory.extract(), memory.extract()
    assert (done.counts["add"], done.appended > 0, again.appended) == (2, True, 0)
    assert {one.content for one in told.statements} <= {one.memory for one in memory.get_all().memories}


def test_turns_that_were_recorded_alone_are_read_too(memory: Any) -> None:
    memory.add([{"role": "user", "content": STATED}], remember=())
    assert (memory.extract().counts["add"], memory.extract().appended) == (2, 0)


def test_what_a_service_leaves_for_want_of_time_is_asked_for_again_and_told_in_one() -> None:
    parts = [part(read=10, left=15, add=3), part(read=10, left=5, add=1), part(read=5, left=0, trouble=None)]
    asked: list[bytes] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        asked.append(request.content)
        return httpx2.Response(200, json=parts[len(asked) - 1])

    with Memory(transport=httpx2.MockTransport(answer), owner="alice") as client:
        told = client.extract(by="model")
    assert (told.read, told.left, told.appended, told.counts) == (25, 0, 4, {"add": 4})
    assert (told.usage and told.usage.requests, len(told.decisions)) == (3, 3)
    assert asked == [b'{"dry_run":false,"by":"model"}'] * 3


@each_row("last", [{"left": 5, "trouble": "the endpoint is down"}, {"left": 5, "read": 0}], ids=str)
def test_a_service_that_does_not_go_on_is_not_asked_again(last: dict[str, Any]) -> None:
    parts = [part(read=10, left=15), part(**{"read": 10} | last)]
    with Memory(transport=httpx2.MockTransport(lambda _: httpx2.Response(207, json=parts.pop(0))), owner="a") as client:
        told = client.extract(by="model")
    assert (parts, told.left, told.trouble) == ([], 5, last.get("trouble"))


def part(read: int, left: int, add: int = 0, trouble: str | None = None) -> dict[str, Any]:
    """An answer to a part of an extraction by a model."""
    decision = {
        "job": "extract",
        "action": "add",
        "ids": ["m"],
        "due_at": NOON,
        "reason": "new",
        "event": "MemoryCreated",
    }
    told: dict[str, Any] = {"owner": "alice", "dry_run": False, "counts": {"add": add}, "decisions": [decision]}
    usage = {"requests": 1, "input_tokens": 10, "output_tokens": 5}
    told |= {"appended": add, "position": "3:1", "by": "a model", "read": read, "left": left, "by_rules": []}
    return told | {"usage": usage, "trouble": trouble}


@each_row("kind", KINDS)
def test_an_extraction_whose_answer_is_lost_is_done_once(running: Service, kind: str) -> None:
    with proxy(running.url) as between, connected(kind, between.url, owner=new_owner()) as memory:
        memory.add([{"role": "user", "content": STATED}])
        between.fates = ["lose"]
        memory.extract()
        assert len([one for one in memory.get_all().memories if one.kind != "episode"]) == 2


def test_half_a_character_is_refused_by_name(memory: Any) -> None:
    with pytest.raises(InputError, match="half of one"):
        memory.add("\ud83d")
