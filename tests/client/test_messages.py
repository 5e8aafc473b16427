"""Messages, ids and paths, without any service."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramlog import EngramlogError, InputError, OwnerTooLarge, StoreFull, Unavailable
from engramlog.errors import error_of
from engramlog.events import said, spoken
from engramlog.wire import Edge, Lost, Pause, Request, Scope, ask, got, instant, quoted, uuid7
from tests.rows import each_row

EDGE = Edge(now=lambda: 1_767_600_000_000_000, random_bytes=bytes)
ALICE = Scope(owner="alice", edge=EDGE)


def turns(*messages: Any) -> list[tuple[str, str, str]]:
    told = said(ALICE, None, "user", None)
    made = spoken(ALICE, told, messages, remember=())
    return [(one["data"]["role"], one["data"]["text"], one["actor"]) for one in made.events]


def test_parts_with_text_are_joined_and_pictures_passed_over() -> None:
    parts = [
        {"type": "text", "text": "Look"},
        {"type": "image_url", "image_url": {}},
        {"type": "text", "text": "there"},
    ]
    assert turns({"role": "user", "content": parts}) == [("user", "Look\nthere", "user")]


@each_row("content", [None, "", "  ", []])
def test_a_message_without_text_is_no_turn(content: Any) -> None:
    assert turns({"role": "assistant", "content": content}, {"role": "user", "content": "Hello"}) == [
        ("user", "Hello", "user")
    ]


def test_what_the_model_said_is_the_assistants() -> None:
    assert turns({"role": "assistant", "content": "Hello"}) == [("assistant", "Hello", "assistant")]


@each_row(
    ("message", "field"),
    [
        ("hello", "messages[0]"),
        ({"content": "hello"}, "messages[0].role"),
        ({"role": "owner", "content": "hello"}, "messages[0].role"),
        ({"role": "user", "content": 3}, "messages[0].content"),
    ],
)
def test_what_is_no_message_is_named(message: Any, field: str) -> None:
    with pytest.raises(InputError) as refusal:
        turns(message)
    assert refusal.value.field == field


def test_a_conversation_in_which_nobody_says_anything_is_refused() -> None:
    from engramlog.writing import add

    with pytest.raises(InputError, match="at least one has text"):
        next(add(ALICE, [{"role": "user", "content": ""}]))


@given(st.integers(0, 2**47), st.binary(min_size=10, max_size=10))
def test_an_id_is_of_version_7_and_tells_its_millisecond(millis: int, entropy: bytes) -> None:
    made = UUID(uuid7(millis * 1_000 + 999, entropy))
    assert (made.version, made.variant, made.int >> 80) == (7, "specified in RFC 4122", millis)


def test_an_instant_is_spelled_in_utc() -> None:
    assert (instant(0), instant(1_500_000)) == ("1970-01-01T00:00:00Z", "1970-01-01T00:00:01.500000Z")


@given(st.text(min_size=1))
def test_an_id_stays_one_segment_of_a_path(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        return
    assert (unquote(quoted(text)), set(quoted(text)) & set("/?#&")) == (text, set())


def test_what_is_not_asked_is_not_sent() -> None:
    assert got("/x", a=None, b=(), c=False, d=("1", "2"), e=0).path == "/x?c=false&d=1&d=2&e=0"


def test_every_try_sends_the_same_request() -> None:
    request = Request("POST", "/v1/events", b"[]")
    plan = ask(ALICE, request)
    steps = [next(plan), *(plan.send(one) for one in (Lost("reset"), None, Lost("reset"), None))]
    assert [type(step) for step in steps] == [Request, Pause, Request, Pause, Request]
    assert all(step is request for step in steps[::2])


@each_row(("name", "kind"), [("StoreFull", StoreFull), ("OwnerTooLarge", OwnerTooLarge), ("OutputCut", Unavailable)])
def test_whatever_has_no_room_says_which_room_that_is(name: str, kind: type[EngramlogError]) -> None:
    found = error_of(507, {"error": name, "detail": "there is no room"})
    assert (type(found), found.error) == (kind, name)
