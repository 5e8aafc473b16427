"""Under an id whose words were erased nobody brings words in again, whoever brings them and by whatever path."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engramlog_server.events.catalogue import (
    Hit,
    MemoriesAccessed,
    MemoriesLinked,
    MemoryCompressed,
    MemoryMentioned,
    MemoryMerged,
    MemoryNegated,
    MemoryRevised,
    ToolResultRecorded,
    TurnRecorded,
)
from engramlog_server.events.envelope import Prepared, derived_id
from engramlog_server.events.errors import InputError
from engramlog_server.events.partitions import partition_of
from tests.acceptance.helpers.cli import Cli, event, lines
from tests.given.mcp import Agent, in_process, talk
from tests.integration.erasure.words.erased_words import ADA, ErasingWords, made, told_of, without_search
from tests.servers import RedisServer

WHY = "the words under this one were erased for good"


@pytest.fixture
def store(redis_server: RedisServer, tmp_path: Path) -> ErasingWords:
    return ErasingWords(redis_server, tmp_path)


@pytest.fixture
def erased(store: ErasingWords) -> ErasingWords:
    assert store.erase_words().verified
    return store


def heads(store: ErasingWords) -> list[int]:
    with store.live() as live:
        return [live.log.head(number) for number in range(store.partitions)]


REFUSED: dict[str, tuple[Any, str | None, str]] = {
    "created": (made("pet", "keeps a dog"), None, "memory_id"),
    "created where it was merged": (made("desk", "a desk"), None, "memory_id"),
    "created where it went along": (made("stretch", "they spoke"), None, "memory_id"),
    "revised": (MemoryRevised(memory_id="hat", content="a hat of straw"), None, "memory_id"),
    "negated with a correction": (MemoryNegated(memory_id="pet", correction="a dog"), None, "memory_id"),
    "compressed with words": (MemoryCompressed(memory_id="pet", level="summary", content="a dog"), None, "memory_id"),
    "merged into": (MemoryMerged(sources=("paint", "tea"), into="both", summary="both"), None, "into"),
    "merged from": (MemoryMerged(sources=("paint", "ink"), into="new", summary="both"), None, "sources"),
    "a turn": (TurnRecorded(turn_id="t1", role="user", text="hello"), "s1", "turn_id"),
    "a turn in which it was mentioned": (TurnRecorded(turn_id="t3", role="user", text="hello"), "s1", "turn_id"),
    "what a tool said in a turn": (ToolResultRecorded(tool="zoo", text="a dog", turn_id="t4"), "s1", "turn_id"),
}  # fmt: skip
TAKEN: dict[str, tuple[Any, str | None]] = {
    "a turn of the same id in another session": (TurnRecorded(turn_id="t1", role="user", text="hello"), "s2"),
    "a turn of the same id in no session": (TurnRecorded(turn_id="t1", role="user", text="hello"), None),
    "a mention, which has no words": (MemoryMentioned(memory_id="pet"), None),
    "a negation without any": (MemoryNegated(memory_id="pet"), None),
    "a link": (MemoriesLinked(a="pet", b="paint", weight=0.5, link="related"), None),
    "a memory drawn from an erased turn": (made("new", "drinks juice", source_turns=("t1",)), "s1"),
    "the id of its turn as a memory's": (made("t1", "drinks juice"), "s1"),
    "a compression without words": (MemoryCompressed(memory_id="pet", level="trace"), None),
}  # fmt: skip


def by_who_learns_of_it(store: ErasingWords, one: Prepared) -> None:
    """A process that begins to append after the erasure."""
    with store.opened() as opened:
        opened.log.append([one])


@pytest.mark.parametrize("what", REFUSED)
def test_words_under_an_erased_id_are_refused_by_the_field_s_name_and_nothing_is_written(
    erased: ErasingWords, what: str
) -> None:
    data, session, field = REFUSED[what]
    before, state = heads(erased), erased.records(ADA)
    with pytest.raises(InputError, match=WHY) as caught:
        by_who_learns_of_it(erased, erased.event(ADA, f"again {what}", data, session))
    assert caught.value.context["field"] == f"data.{field}"
    assert heads(erased) == before
    assert erased.records(ADA) == state
    for other in erased.others:  # whose ids they are too
        by_who_learns_of_it(erased, erased.event(other, f"again {what}", data, session))


@pytest.mark.parametrize("what", TAKEN)
def test_what_brings_no_words_under_it_is_taken(erased: ErasingWords, what: str) -> None:
    data, session = TAKEN[what]
    with erased.opened() as opened:
        (receipt,) = opened.log.append([erased.event(ADA, f"again {what}", data, session)])
    assert receipt.status == "appended"
    erased.fold()
    assert erased.differences() == []
    assert erased.records(ADA)[ADA]["pet"].content == ""


def test_its_own_events_sent_again_were_appended_already(erased: ErasingWords) -> None:
    """Whoever was not told that they arrived is told so now; nothing comes back."""
    before = heads(erased)
    told = [erased.event(ADA, *one) for one in told_of(ADA, erased.began)]
    with erased.opened() as opened:
        receipts = opened.log.append(told)
    assert {one.status for one in receipts} == {"already_appended"}
    assert heads(erased) == before
    erased.fold()
    assert erased.records(ADA)[ADA]["pet"].content == ""
    assert erased.differences() == []


def test_other_words_under_an_event_s_own_id_are_no_way_in(erased: ErasingWords) -> None:
    before = heads(erased)
    with erased.opened() as opened:
        (receipt,) = opened.log.append([erased.event(ADA, "pet", made("pet", "keeps a dog"), "s1")])
    assert receipt.status in ("already_appended", "conflict")
    assert heads(erased) == before
    assert erased.records(ADA)[ADA]["pet"].content == ""


@pytest.mark.parametrize("warm", [True, False])
def test_a_process_that_appended_before_and_does_not_know_of_it_yet_is_refused_too(
    store: ErasingWords, warm: bool
) -> None:
    with store.opened() as opened:
        if warm:
            (receipt,) = opened.log.append([store.event(ADA, "before", MemoryMentioned(memory_id="pet"), None)])
            assert receipt.status == "appended"
        store.erase_words()
        before = heads(store)
        for number in range(2):
            with pytest.raises(InputError, match=WHY):
                opened.log.append([store.event(ADA, f"late {number}", made("pet", "keeps a dog"), None)])
        assert heads(store) == before
        (receipt,) = opened.log.append([store.event(ADA, "another", made("dog", "keeps a dog"), None)])
        assert receipt.status == "appended"


def test_of_a_request_over_partitions_the_part_that_names_it_is_refused_or_all(erased: ErasingWords) -> None:
    """Nothing of it is written where that is known before anything is; the producer mends one event and sends all again."""
    other = next(
        one for one in (*erased.others, "eve", "bob") if partition_of(one, erased.partitions) != erased.number()
    )
    mine = erased.event(ADA, "late", made("pet", "keeps a dog"), None)
    near = erased.event(erased.twin, "near", made("near", "of the same partition"), None)
    far = erased.event(other, "far", made("far", "of another partition"), None)
    before = heads(erased)
    with erased.opened() as opened:
        written = list[str]()
        for asked in ([near, mine], [far, mine], [mine, far], [far, near, mine]):
            try:
                receipts = opened.log.append(asked)
            except InputError as refused:
                assert WHY in str(refused)
                continue
            by_id = {one.event_id: one for one in receipts}
            assert by_id[mine.event_id].status == "failed"
            assert WHY in str(by_id[mine.event_id].error)
            if near.event_id in by_id:
                assert by_id[near.event_id].status == "failed"  # a partition's part is written whole, or not at all
            written += [one.event_id for one in receipts if one.written]
        assert set(written) <= {far.event_id}
        after = heads(erased)
        assert after[erased.number()] == before[erased.number()], "nothing of that partition"
        receipts = opened.log.append([far, near])
        assert all(one.written for one in receipts)


def test_a_flush_of_accesses_that_names_it_among_others_is_taken(erased: ErasingWords) -> None:
    hits = tuple(Hit(memory_id=one, count=2, best_rank=1, last_at=erased.began) for one in ("pet", "paint"))
    before = erased.records(ADA)[ADA]
    erased.add(ADA, ("flush", MemoriesAccessed(hits=hits, via="recall", query="who paints", turn_id="t1"), "s1"))
    after = erased.records(ADA)[ADA]
    assert after["paint"].access_count == before["paint"].access_count + 2
    assert (after["pet"].content, after["pet"].purged_at) == ("", before["pet"].purged_at)
    assert erased.differences() == []


def test_http_refuses_by_the_field_and_writes_nothing(erased: ErasingWords) -> None:
    envelope = event(1, ADA, content="keeps a dog") | {"data": event(1, content="a dog")["data"] | {"memory_id": "pet"}}
    turn = event(2, ADA, "TurnRecorded") | {
        "session_id": "s1",
        "data": {"turn_id": "t1", "role": "user", "text": "hello"},
    }
    with erased.http() as client:
        before = heads(erased)
        for one, field in ((envelope, "data.memory_id"), (turn, "data.turn_id")):
            answer = client.post("/v1/events", json=[one])
            assert (answer.status_code, answer.json()["field"]) == (422, field), answer.text
            assert WHY in answer.text
        for path, body in {
            "memories/pet/edit": {"content": "keeps a dog"},
            "memories/pet/negate": {"correction": "a dog"},
            "merge": {"sources": ["paint", "pet"], "summary": "both"},
        }.items():
            answer = client.post(f"/v1/owners/{ADA}/{path}", json=body)
            assert 400 <= answer.status_code < 500, (path, answer.text)
        assert heads(erased) == before
        answer = client.post(f"/v1/owners/{ADA}/memories/pet/restore", json={})
        assert answer.status_code != 200 or erased.records(ADA)[ADA]["pet"].content == ""
        assert erased.records(ADA)[ADA]["pet"].content == ""


def test_an_agent_is_refused(erased: ErasingWords) -> None:
    with erased.application() as (application, _):

        async def talking(agent: Agent) -> list[Any]:
            calls = {
                "update_memory": {"memory_id": "pet", "content": "a dog"},
                "reinforce_memory": {"memory_id": "pet", "outcome": "confirmed"},
                "restore_memory": {"memory_id": "pet"},
            }
            tools = {one.name for one in (await agent.client.list_tools()).tools}
            return [await agent.client.call_tool(name, given) for name, given in calls.items() if name in tools]

        update, *others = talk(in_process(application, ADA), talking)
        assert update.is_error
        assert WHY in repr(update.content) or "purged" in repr(update.content), update.content
        assert others
    erased.fold()
    assert erased.records(ADA)[ADA]["pet"].content == ""
    assert not [
        event for _, event in erased.log() if event is not None and getattr(event.data, "content", "") == "a dog"
    ]


COMMANDS: dict[str, Callable[[list[dict[str, Any]]], tuple[tuple[str, ...], bytes]]] = {
    "append": lambda told: (("append", "-"), lines([told[0] | {"event_id": derived_id("another")}])),
    "edit": lambda _: (("edit", ADA, "m0", "keeps a dog"), b""),
    "import turns": lambda _: (
        ("import", "turns", "-"),
        lines([{"conversation": ADA, "turn_id": "t7", "session": "s1", "occurred_at": "2026-01-05T08:00:00Z",
                "speaker": "user", "text": "hello"}]),
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", COMMANDS)
def test_commands_and_imports_are_refused_and_told_why(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, what: str
) -> None:
    cli, ended = Cli(monkeypatch, capsys), without_search(monkeypatch)
    monkeypatch.delenv("ENGRAMLOG_REDIS_URL", raising=False)
    monkeypatch.setenv("ENGRAMLOG_DATA", str(tmp_path / "data"))
    told = [event(at, ADA, content=f"the marten {at} sings") for at in range(2)]
    cli.json("append", "-", stdin=lines(told))
    said = {
        "conversation": ADA, "turn_id": "t7", "session": "s1", "occurred_at": "2026-01-05T08:00:00Z", "speaker": "user",
    }  # fmt: skip
    cli.json("import", "turns", "-", stdin=lines([said | {"text": "my marten"}]))
    turn = next(
        one["id"]
        for one in cli.json("list", ADA, "--mode", "debug")["memories"]
        if "marten" in one["memory"] and one["id"] not in ("m0", "m1")
    )
    assert cli.json("erase", ADA, "m0", turn, "--yes", code=ended)["memories"] == 2
    before = cli.json("events", ADA)["events"]
    words, given = COMMANDS[what](told)
    with pytest.raises(AssertionError, match="ended with") as refused:
        cli(*words, "--json", code=99, stdin=given)
    assert "ended with 0" not in str(refused.value)
    # a turn of the same conversation is the same event with other words: a conflict, told by its line
    assert any(one in str(refused.value) for one in (WHY, "was purged", '"event_id"')), str(refused.value)
    assert cli.json("events", ADA)["events"] == before
    assert "marten 0" not in json.dumps(cli.json("events", ADA))
