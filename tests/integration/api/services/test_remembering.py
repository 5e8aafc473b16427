"""Saying something to be remembered, once whatever is sent again: on a real store."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

import orjson
import pytest

from engramlog_server.api.application import Application
from engramlog_server.api.exchange.turns import ImportOptions, import_turns
from engramlog_server.api.services.remembering import MOST_TURNS, NewTurn, Rememberer
from engramlog_server.events.catalogue import TurnRecorded
from engramlog_server.events.envelope import decode
from engramlog_server.events.errors import InputError
from engramlog_server.events.partitions import partition_of
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.wiring import open_application

NUMBERS = count(1)


@pytest.fixture(scope="module")
def application(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    with open_application(Settings(data=tmp_path_factory.mktemp("said") / "store", partitions=2)) as opened:
        yield opened


@pytest.fixture
def rememberer(application: Application) -> Rememberer:
    return application.rememberer


@pytest.fixture
def owner() -> str:
    return f"owner-{next(NUMBERS)}"


def contents(application: Application, owner: str) -> list[str]:
    """What the owner's memories say, oldest first."""
    return [one["memory"] for one in application.reader.list(owner)["memories"]][::-1]


def events_of(application: Application, owner: str) -> list[Any]:
    """Everything in the log about an owner."""
    log = application.log
    stored = log.read(partition_of(owner, log.partitions), 0, 10_000)
    return [decode(one.kind, one.body) for one in stored if one.owner == owner]


def test_the_same_told_again_is_a_mention_of_the_memory_that_says_it(
    application: Application, rememberer: Rememberer, owner: str
) -> None:
    first, second = rememberer.add(owner, "tea"), rememberer.add(owner, "Tea.")
    assert (first["created"], second["created"], second["mentioned"], second["id"]) == (
        True,
        False,
        first["id"],
        first["id"],
    )
    assert contents(application, owner) == ["tea"]
    assert application.reader.get(owner, first["id"])["mention_count"] == 2


def test_under_a_key_it_is_said_once_also_when_the_clock_has_moved_on(
    application: Application, rememberer: Rememberer, owner: str
) -> None:
    said = [rememberer.add(owner, "喝茶", key="k", kind="preference", keywords=["茶"]) for _ in range(3)]
    assert [one["created"] for one in said] == [True, False, False]
    assert len({one["id"] for one in said}) == 1
    assert len(events_of(application, owner)) == 1


def test_at_a_told_time_it_is_the_same_event(application: Application, rememberer: Rememberer, owner: str) -> None:
    for _ in range(2):
        rememberer.add(owner, "tea", key="k", occurred_at="2026-01-05T08:00:00Z")
    assert len(events_of(application, owner)) == 1


@pytest.mark.parametrize("more", [{}, {"kind": "lesson"}, {"actor": "assistant"}])
def test_a_key_stands_for_what_was_said_first(
    application: Application, rememberer: Rememberer, owner: str, more: dict[str, Any]
) -> None:
    rememberer.add(owner, "tea", key="k")
    with pytest.raises(InputError, match="something else was said under this one"):
        rememberer.add(owner, "tea" if more else "coffee", key="k", **more)
    assert contents(application, owner) == ["tea"]


def test_turns_keep_their_order_roles_and_session_and_are_memories_too(
    application: Application, rememberer: Rememberer, owner: str
) -> None:
    turns = [NewTurn("user", "我搬到里斯本了", "林"), NewTurn("assistant", "恭喜"), NewTurn("tool", "18 °C")]
    told = rememberer.add_turns(owner, turns, session="s1")
    events = events_of(application, owner)
    said = [event for event in events if isinstance(event.data, TurnRecorded)]
    assert [(one.data.turn_id, one.data.role, one.data.speaker) for one in said] == [
        (told["turns"][0], "user", "林"),
        (told["turns"][1], "assistant", None),
        (told["turns"][2], "tool", None),
    ]
    assert {event.session_id for event in events} == {"s1"}
    assert [event.causation_id for event in events if event not in said] == [one.event_id for one in said]
    assert sorted(contents(application, owner)) == sorted(turn.text for turn in turns)


def test_a_block_of_ours_within_a_turn_is_not_recorded_by_any_way(
    application: Application, rememberer: Rememberer, owner: str
) -> None:
    rememberer.add_turns(owner, [NewTurn("user", "I live in Porto")])
    block = application.contexts.context(owner, "Where do I live?")["block"]
    assert "Porto" in block
    rememberer.add_turns(owner, [NewTurn("user", f"{block}\nWhat is near?"), NewTurn("user", "</memory> is a tag")])
    line = {"turn_id": "t1", "occurred_at": "2026-01-05T08:00:00Z", "speaker": "user", "text": f"I like tea\n{block}"}
    import_turns(application.log, [orjson.dumps(line)], ImportOptions(owner=owner))
    chats = orjson.dumps([{"role": "user", "content": f"{block} I like jazz"}])
    application.chats.take_in_whole(owner, chats, since="2026-01-05T08:00:00Z")
    told = [event.data.text for event in events_of(application, owner) if isinstance(event.data, TurnRecorded)]
    assert told == ["I live in Porto", "What is near?", "</memory> is a tag", "I like tea", "I like jazz"]


def test_a_bad_turn_is_named_and_nothing_is_written(
    application: Application, rememberer: Rememberer, owner: str
) -> None:
    with pytest.raises(InputError, match="turn 2: "):
        rememberer.add_turns(owner, [NewTurn("user", "fine"), NewTurn("user", "  ")])
    with pytest.raises(InputError, match="turns: got '101 of them'"):
        rememberer.add_turns(owner, [NewTurn("user", "x")] * (MOST_TURNS + 1))
    assert events_of(application, owner) == []
